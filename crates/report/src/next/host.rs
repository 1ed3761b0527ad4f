//! After a run of this machine, or of another tool on one.

use super::{JudgedRun, NextRule, NextStep, option, page, the_rest};
use worstcase_contract::Nanos;
use worstcase_contract::loads::LoadSpec;
use worstcase_plan::{CellLength, CpuList, Experiment, PlannedSubject, PreemptChoice, Subjects, Venue, VirtualMachine};
use worstcase_results::record::{CAPTURES, Record};
use worstcase_results::stats::Percentile;
use worstcase_results::verdict::Outcome;

pub(super) const RULES: [NextRule; 12] = [
    the_rest,
    as_root,
    with_load,
    longer,
    recorded,
    remedies,
    settings,
    other_models,
    causes,
    who_enters,
    for_weeks,
    page,
];

pub(super) const OF_FOREIGN: [NextRule; 3] = [judged, measured_here, page];

pub(super) const OF_PROGRAM: [NextRule; 3] = [told, judged, page];

/// The kernel that a machine's is set beside.
const KERNEL: &str = "debian:6.12";

fn as_root(run: &JudgedRun) -> Option<NextStep> {
    run.view.records.iter().find(|r| r.is_refused_real_time())?;
    let command = run.anew("root", |_| ())?;
    let command = ["sudo".to_string()].into_iter().chain(command).collect();
    Some(NextStep::new("the same as a real-time thread", command))
}

fn with_load(run: &JudgedRun) -> Option<NextStep> {
    let idle = |r: &Record| r.awaits_timer() && r.cell.load == "idle";
    if !run.view.records.iter().all(idle) {
        return None;
    }
    let desktop: LoadSpec = "desktop".parse().ok()?;
    let command = run.again("desktop", |experiment| experiment.parts[0].loads = vec![desktop])?;
    Some(NextStep::new("the same at work: this was an idle machine", command))
}

/// A minute and ten thousand samples of each CPU, or as many as the percentile needs, where that is what a PASS lacks.
fn longer(run: &JudgedRun) -> Option<NextStep> {
    let (criterion, _) = run.view.verdicts.as_ref().filter(|_| run.is(Outcome::Inconclusive))?;
    let needed = criterion
        .percentile
        .map_or(0, Percentile::bearing)
        .max(criterion.min_samples);
    let short = |r: &&Record| r.awaits_timer() && r.accounting.taken() < needed;
    let early = |r: &&Record| r.awaits_timer() && r.observation_time() < criterion.min_time;
    let records = run.view.records.iter();
    let period = records
        .filter(|r| short(r) || early(r))
        .map(|r| r.cell.period_ns)
        .max()?;
    // A tenth more: some periods are missed.
    let samples = needed.saturating_mul(period) / 10 * 11;
    let time = Nanos(samples.max(criterion.min_time.0).div_ceil(1_000_000_000) * 1_000_000_000);
    let command = run.again("longer", |e| e.parts[0].timing.length = Some(CellLength::Time(time)))?;
    Some(NextStep::new("long enough for a PASS", command))
}

fn is_recorded(run: &JudgedRun) -> bool {
    run.view.records.iter().any(|r| r.environment.contains_key(CAPTURES))
}

/// All late samples whose trace was kept, by cause.
fn causes(run: &JudgedRun) -> Option<NextStep> {
    if !run.is(Outcome::Fail) || !is_recorded(run) {
        return None;
    }
    let mut command = run.about("explain");
    command.push("--all".into());
    Some(NextStep::new(
        "the latest samples of every CPU and load, by cause",
        command,
    ))
}

/// The same with the trace kept, where that was switched off.
fn recorded(run: &JudgedRun) -> Option<NextStep> {
    let off = run
        .view
        .plan
        .experiment
        .parts
        .iter()
        .any(|part| part.method.captures == Some(0));
    if !run.is(Outcome::Fail) || !off {
        return None;
    }
    let command = run.again("why", |experiment| experiment.parts[0].method.captures = None)?;
    Some(NextStep::new("the same with the cause of each late sample", command))
}

/// The wake-up that made the run fail.
fn failed<'a>(run: &'a JudgedRun) -> Option<&'a Record> {
    run.worst(|r| r.cell.probe == "wakeup")
        .filter(|_| run.is(Outcome::Fail))
}

fn on_cpus(command: &mut Vec<String>, record: &Record) {
    if let Some(method) = &record.cell.method {
        let cpus: CpuList = method.cpus.iter().copied().collect();
        option(command, "cpus", cpus);
    }
}

/// What the doctor found harmful, whether it can be set or needs a boot.
fn remedies(run: &JudgedRun) -> Option<NextStep> {
    let worst = failed(run)?;
    let harmful = worst
        .origin
        .iter()
        .flat_map(|origin| &origin.findings)
        .filter(|f| f.level == "harmful");
    let harmful: Vec<&str> = harmful.map(|f| f.what.as_str()).take(2).collect();
    if harmful.is_empty() {
        return None;
    }
    let mut command: Vec<String> = ["worstcase", "host", "doctor"].map(String::from).into();
    on_cpus(&mut command, worst);
    Some(NextStep::new(format!("the remedies: {}", harmful.join("; ")), command))
}

/// What the settings of this machine that the doctor found, and can make, would gain.
fn settings(run: &JudgedRun) -> Option<NextStep> {
    let worst = failed(run)?;
    let origin = worst.origin.as_ref().filter(|origin| origin.applied.is_none())?;
    let found: Vec<&str> = origin
        .findings
        .iter()
        .filter(|f| f.can_be_set)
        .map(|f| f.id.as_str())
        .collect();
    if found.is_empty() {
        return None;
    }
    let mut command: Vec<String> = ["sudo", "worstcase", "host", "try"].map(String::from).into();
    option(&mut command, "load", &worst.cell.load);
    on_cpus(&mut command, worst);
    if let Some((criterion, _)) = run.view.verdicts.as_ref().filter(|(c, _)| c.percentile.is_none()) {
        option(&mut command, "criterion", worstcase_plan::typed(criterion.limit));
    }
    let what_for = format!("what helps, measured: the doctor can set {} here", found.join(", "));
    Some(NextStep::new(what_for, command))
}

fn who_enters(run: &JudgedRun) -> Option<NextStep> {
    let noise = run.view.records.iter().find(|r| r.accounting.gaps().is_some())?;
    let mut command: Vec<String> = ["sudo", "worstcase", "host", "isolate"].map(String::from).into();
    option(&mut command, "cpus", noise.cell.cpu?);
    Some(NextStep::new("who enters this CPU, with the remedy", command))
}

/// The same load on a stock kernel in all its preemption models.
fn other_models(run: &JudgedRun) -> Option<NextStep> {
    let worst = failed(run)?;
    let load: LoadSpec = worst.cell.load.parse().ok().filter(|_| run.may_be_of_the_model())?;
    load.check_venue(Venue::Lab).ok()?;
    let kernel = PlannedSubject {
        kernel: KERNEL.into(),
        preempt: PreemptChoice::All,
        optional: false,
        machine: VirtualMachine::default(),
    };
    let mut experiment = Experiment::usual(Venue::Lab, Subjects::Kernels(vec![kernel]));
    experiment.parts[0].loads = vec![load];
    let command = worstcase_plan::command(&experiment, None, format!("{}-models", run.run()).as_ref());
    let what_for =
        format!("whether a preemption model of {KERNEL} is better under this load, in the lab's virtual time");
    Some(NextStep::new(what_for, command))
}

fn for_weeks(run: &JudgedRun) -> Option<NextStep> {
    let asked = run.view.verdicts.as_ref().filter(|(c, _)| c.percentile.is_none());
    let (criterion, _) = asked.filter(|_| run.is(Outcome::Pass))?;
    run.worst(|r| r.cell.probe == "wakeup")?;
    let mut command: Vec<String> = ["worstcase", "host", "watch"].map(String::from).into();
    option(&mut command, "criterion", worstcase_plan::typed(criterion.limit));
    Some(NextStep::new(
        "whether it stays so for weeks, at your own work",
        command,
    ))
}

/// What was found while a program was followed.
fn told(run: &JudgedRun) -> Option<NextStep> {
    Some(NextStep::new(
        "where the time of its latest cycles went",
        run.about("explain"),
    ))
}

fn judged(run: &JudgedRun) -> Option<NextStep> {
    if run.outcome.is_some() {
        return None;
    }
    let mut command = run.about("verdict");
    option(&mut command, "criterion", "100us");
    Some(NextStep::new("whether it keeps a limit", command))
}

/// Another tool keeps no trace.
fn measured_here(run: &JudgedRun) -> Option<NextStep> {
    let asked = run.view.verdicts.as_ref().filter(|(c, _)| c.percentile.is_none());
    let limit = asked.map(|(criterion, _)| criterion.limit);
    let mut command: Vec<String> = ["sudo", "worstcase", "host", "run"].map(String::from).into();
    option(&mut command, "load", "desktop");
    option(
        &mut command,
        "criterion",
        worstcase_plan::typed(limit.unwrap_or(Nanos(100_000))),
    );
    Some(NextStep::new(
        "why this machine is late: another tool's file does not tell",
        command,
    ))
}
