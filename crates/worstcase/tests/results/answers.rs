//! What stands beside an answer, and the commands that follow it.

use crate::fixture::{host_raw, on_cpu, plan_of, raw, result, spec, subject};
use clap::Parser;
use worstcase::cli::Cli;
use worstcase_analysis::breakdown::spans::Mechanism;
use worstcase_analysis::explain::{hides_tasks, is_worth_explaining};
use worstcase_contract::{Nanos, RawRecord};
use worstcase_plan::{
    CpuModel, Experiment, ExperimentPlan, PlannedSubject, PreemptChoice, Subjects, Venue, VirtualMachine,
};
use worstcase_report::ReportView;
use worstcase_report::next::next;
use worstcase_results::record::explanations::NOTHING_EXPLAINED;
use worstcase_results::record::{
    CAPTURES, CellId, CellResult, DoctorFinding, MethodRecord, NOT_REAL_TIME, Quantity, Record, RunPlan,
    SubjectMachine, TRACE_COST,
};
use worstcase_results::verdict::{Criterion, Outcome, PeriodsAbove, Verdict, verdicts};

const LIMIT: Nanos = Nanos(100_000);

fn records(all: &[CellResult]) -> Vec<Record> {
    all.iter().map(|r| r.record.clone()).collect()
}

fn judge(all: &[CellResult]) -> Verdict {
    let records = records(all);
    verdicts(&plan_of(all).cells, &records, &Criterion::of(LIMIT, &records)).remove(0)
}

/// A minute of a CPU, with a change.
fn minute(latencies: &[u64], change: impl FnOnce(&mut RawRecord)) -> CellResult {
    let mut raw = host_raw(1, latencies);
    change(&mut raw);
    on_cpu(0, &raw)
}

fn under(load: &str, mut result: CellResult) -> CellResult {
    let record = &mut result.record;
    record.cell.load = load.into();
    let cell = &record.cell;
    record.id = CellId::new(&record.subject.id(), &cell.load, &cell.probe, cell.seed, cell.cpu);
    result
}

fn with_one_late() -> Vec<u64> {
    let mut latencies = vec![50_000; 20_000];
    latencies[700] = 250_000;
    latencies
}

/// 15 000 periods of 1 ms: 1 277 samples are late, one of them by so much that 331 periods are missed behind it.
#[test]
fn the_share_above_the_limit_counts_missed_periods() {
    let spec = worstcase_contract::CellSpec {
        period: Nanos(1_000_000),
        periods: 15_000,
        ..spec("shm", 1)
    };
    let mut raw = raw(&spec, &[50_000; 15_000]);
    for sample in &mut raw.samples[1..1_277] {
        sample.latency = Nanos(150_000);
    }
    raw.samples.drain(2_000..2_331);
    raw.samples[1_999].latency = Nanos(331_900_000);
    let all = [result(&subject("6.1", "none"), &raw)];
    let records = records(&all);
    let above = PeriodsAbove::of(&records, Quantity::Latency, LIMIT).unwrap();
    assert_eq!(
        above.words(),
        "1 608 of 15 000 periods are above, 10.7 %: 1 277 late, 331 of the missed"
    );
    let verdict = judge(&all);
    assert!(verdict.reasons.contains(&above.words()), "{verdict:?}");
    assert_eq!(verdict.evidence.above, Some(above));
    let none = PeriodsAbove::of(&records, Quantity::Latency, Nanos(400_000_000)).unwrap();
    assert_eq!((none.count(), none.of), (0, 15_000));
}

#[test]
fn the_largest_sample_alone_is_above_though_its_bucket_holds_the_limit() {
    let mut latencies = vec![50_000; 1_000];
    latencies[3] = 100_001;
    let all = [result(&subject("6.1", "none"), &raw(&spec("shm", 1), &latencies))];
    let above = PeriodsAbove::of(&records(&all), Quantity::Latency, LIMIT).unwrap();
    assert_eq!((above.late, above.missed), (1, 0));
}

fn ordinary(raw: &mut RawRecord) {
    raw.warnings
        .push(format!("{NOT_REAL_TIME}: fifo:90 is refused (Operation not permitted)"));
}

#[test]
fn late_but_not_as_a_real_time_thread() {
    let failed = judge(&[under("fork", minute(&with_one_late(), ordinary))]);
    assert_eq!((failed.outcome, failed.evidence.ordinary_cells), (Outcome::Fail, 1));
    assert!(
        failed.reservations[0].starts_with("late, but not as a real-time thread"),
        "{failed:?}"
    );
    let within = judge(&[under("fork", minute(&[50_000; 20_000], ordinary))]);
    assert_eq!(within.outcome, Outcome::Inconclusive);
    assert!(
        within.reservations[0].starts_with("not measured as a real-time thread"),
        "{within:?}"
    );
    let chosen = judge(&[under("fork", {
        let mut result = minute(&with_one_late(), |_| ());
        result.record.cell.method = Some(MethodRecord {
            timer: "nanosleep".into(),
            policy: "other".into(),
            cpus: vec![0],
            distance_ns: 0,
            threshold_ns: None,
        });
        result
    })]);
    assert_eq!(
        chosen.reservations,
        ["late, but not as a real-time thread: its policy was other"]
    );
}

#[test]
fn a_pass_of_an_idle_machine_says_so() {
    let idle = judge(&[minute(&[50_000; 20_000], |_| ())]);
    assert_eq!(idle.outcome, Outcome::Pass);
    assert!(idle.reservations[0].contains("without a load alone (idle)"), "{idle:?}");
    assert!(
        judge(&[under("fork", minute(&[50_000; 20_000], |_| ()))])
            .reservations
            .is_empty()
    );
}

#[test]
fn a_guest_of_a_hypervisor_says_so_whatever_the_answer() {
    for latencies in [vec![50_000; 20_000], with_one_late()] {
        let mut result = under("fork", minute(&latencies, |_| ()));
        result.record.origin.get_or_insert_with(origin).findings = vec![finding("hypervisor", false)];
        let [said] = judge(&[result]).reservations.try_into().unwrap();
        assert!(said.starts_with("this is hypervisor"), "{said}");
    }
}

#[test]
fn what_casts_doubt_on_a_fail_stands_beside_it() {
    let beside = "another measurement ran";
    let verdict = judge(&[under(
        "fork",
        minute(&with_one_late(), |raw| {
            raw.warnings.push(beside.into());
            raw.environment.insert("rt_throttled".into(), "3".into());
        }),
    )]);
    assert_eq!(verdict.outcome, Outcome::Fail);
    let said = verdict.reservations.join("\n");
    assert!(said.contains(beside) && said.contains("throttling"), "{said}");
}

#[test]
fn a_fail_that_the_trace_itself_may_have_made_says_so() {
    let of = |late: u64| {
        let mut latencies = vec![50_000; 20_000];
        latencies[700] = late;
        let cost = |raw: &mut RawRecord| drop(raw.environment.insert(TRACE_COST.into(), "20000".into()));
        judge(&[under("fork", minute(&latencies, cost))]).reservations
    };
    let [said] = of(110_000).try_into().unwrap();
    assert!(
        said.starts_with("the trace beside it makes a wake-up 20.0 us later"),
        "{said}"
    );
    assert!(of(130_000).is_empty());
}

fn origin() -> worstcase_results::record::RecordOrigin {
    serde_json::from_value(serde_json::json!({
        "host": "h", "began": "2026-11-22T01:02:03Z", "ended": "2026-11-22T01:03:03Z",
        "governors": {}, "isolation": {}, "mitigations": {}, "findings": [],
    }))
    .unwrap()
}

fn finding(id: &str, can_be_set: bool) -> DoctorFinding {
    DoctorFinding {
        id: id.into(),
        level: "notice".into(),
        what: format!("this is {id}"),
        can_be_set,
    }
}

/// The commands after a run, each of which a user can type.
fn steps(experiment: Experiment, all: &[CellResult], limit: Option<Nanos>) -> Vec<String> {
    steps_after(experiment, all, limit, &[])
}

fn steps_after(experiment: Experiment, all: &[CellResult], limit: Option<Nanos>, causes: &[Mechanism]) -> Vec<String> {
    let records = records(all);
    let plan = RunPlan::new(ExperimentPlan::new("a run", experiment), plan_of(all).cells);
    let criterion = limit.map(|limit| Criterion::of(limit, &records));
    let view = ReportView {
        plan: &plan,
        dir: "RUN".as_ref(),
        records: &records,
        explanations: &NOTHING_EXPLAINED,
        quantities: &[],
        verdicts: criterion.map(|c| (c, verdicts(&plan.cells, &records, &c))),
    };
    let steps = next(&view, causes);
    assert!((1..=3).contains(&steps.len()), "{steps:?}");
    let mut commands = Vec::new();
    for step in steps {
        let typed = step.command.iter().skip_while(|word| *word == "sudo");
        if let Err(e) = Cli::try_parse_from(typed) {
            panic!("{:?}: {e}", step.command);
        }
        commands.push(step.command.join(" "));
    }
    commands
}

fn on_host() -> Experiment {
    Experiment::usual(Venue::Host, Subjects::Cpus(None))
}

fn in_lab(preempt: &str) -> Experiment {
    let kernel = PlannedSubject {
        kernel: "debian:6.1".into(),
        preempt: PreemptChoice::One(preempt.parse().unwrap()),
        optional: false,
        machine: VirtualMachine::default(),
    };
    Experiment::usual(Venue::Lab, Subjects::Kernels(vec![kernel]))
}

/// A kernel that hides its tasks, and a probe without a latest sample, are two reasons for not explaining.
#[test]
fn a_kernel_hides_its_tasks_whatever_the_probe_is() {
    let of = |kernel: &str, release: &str, cpu: CpuModel, probe: &str| {
        let mut subject = subject(release, "full");
        subject.kernel.name = kernel.into();
        let SubjectMachine::Lab(lab) = &mut subject.machine else {
            panic!("{subject:?}");
        };
        lab.machine.cpu = cpu;
        let mut record = result(&subject, &raw(&spec("idle", 1), &[1_000])).record;
        record.cell.probe = probe.into();
        record
    };
    let board = CpuModel::CortexA72;
    let old = ("debian:6.1/arm64", "6.1.0-35-arm64");
    let new = ("debian:7.3/arm64", "7.3.4+deb14-arm64");
    let told = |(kernel, release): (&str, &str), cpu, probe| {
        let record = of(kernel, release, cpu, probe);
        (hides_tasks(&record), is_worth_explaining(&record))
    };
    assert_eq!(told(old, board, "wakeup"), (true, false));
    assert_eq!(told(old, board, "hackbench"), (true, false));
    assert_eq!(told(new, board, "wakeup"), (false, true));
    assert_eq!(told(new, board, "hackbench"), (false, false));
    assert_eq!(
        told(("debian:6.1", "6.1.0-35-amd64"), CpuModel::Rome, "wakeup"),
        (false, true)
    );
}

#[test]
fn the_next_step_fits_what_was_found() {
    let late = |change: fn(&mut RawRecord)| [under("fork", minute(&with_one_late(), change))];
    insta::assert_snapshot!(steps(on_host(), &late(ordinary), Some(LIMIT)).join("\n"));
    let recorded = |raw: &mut RawRecord| drop(raw.environment.insert(CAPTURES.into(), "10".into()));
    let mut settable = late(recorded);
    settable[0].record.origin.get_or_insert_with(origin).findings =
        vec![finding("governor", true), finding("quota", false)];
    insta::assert_snapshot!(steps(on_host(), &settable, Some(LIMIT)).join("\n"));
    let mut off = on_host();
    off.parts[0].method.captures = Some(0);
    insta::assert_snapshot!(steps(off, &late(|_| ()), Some(LIMIT)).join("\n"));
    let idle = [minute(&[50_000; 20_000], |_| ())];
    insta::assert_snapshot!(steps(on_host(), &idle, Some(LIMIT)).join("\n"));
    let good = [under("fork", minute(&[50_000; 20_000], |_| ()))];
    insta::assert_snapshot!(steps(on_host(), &good, Some(LIMIT)).join("\n"));
    let periods = worstcase_contract::CellSpec {
        period: Nanos(3_000_000),
        periods: 200,
        ..spec("idle", 1)
    };
    let short = RawRecord {
        environment: host_raw(1, &[50_000]).environment,
        ..raw(&periods, &[50_000; 200])
    };
    let short = [under("fork", on_cpu(0, &short))];
    insta::assert_snapshot!(steps(on_host(), &short, Some(LIMIT)).join("\n"));
}

#[test]
fn no_step_is_against_the_cause_that_the_run_itself_tells() {
    let late = [under("fork", minute(&with_one_late(), |_| ()))];
    let asks_for_models = |causes: &[Mechanism]| {
        let steps = steps_after(on_host(), &late, Some(LIMIT), causes);
        steps.iter().any(|step| step.starts_with("worstcase lab run"))
    };
    assert!(asks_for_models(&[]) && asks_for_models(&[Mechanism::NoReschedulePoint]));
    for cause in [Mechanism::Unexplained, Mechanism::OtherThread, Mechanism::InterruptsOff] {
        assert!(!asks_for_models(&[cause]), "{cause:?}");
    }
}

#[test]
fn what_the_doctor_found_harmful_comes_before_what_it_can_set() {
    let mut late = [under("fork", minute(&with_one_late(), |_| ()))];
    let mut harmful = finding("preemption", false);
    harmful.level = "harmful".into();
    late[0].record.origin.get_or_insert_with(origin).findings = vec![finding("governor", true), harmful];
    let steps = steps(on_host(), &late, Some(LIMIT));
    assert_eq!(steps[0], "worstcase host doctor", "{steps:?}");
    assert!(steps[1].starts_with("sudo worstcase host try"), "{steps:?}");
}

#[test]
fn after_a_run_of_the_lab_too() {
    let of = |preempt: &str, ns: u64, seeds: u64| -> Vec<CellResult> {
        let one = |seed| result(&subject("6.1", preempt), &raw(&spec("shm", seed), &[ns; 1_000]));
        (1..=seeds).map(one).collect()
    };
    insta::assert_snapshot!(steps(in_lab("none"), &of("none", 90_000, 1), Some(LIMIT)).join("\n"));
    let two: Vec<CellResult> = of("none", 150_000, 3)
        .into_iter()
        .chain(of("full", 20_000, 3))
        .collect();
    insta::assert_snapshot!(steps(in_lab("none"), &two, None).join("\n"));
}
