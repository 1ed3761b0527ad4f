//! A synthetic run: four subjects, three loads, samples drawn from a seeded generator.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;
use worstcase_contract::RawRecord;
use worstcase_contract::prng::SplitMix64;
use worstcase_contract::record::{Sample, SelfCost, Work};
use worstcase_contract::{CellSpec, Instructions, Nanos, Probe};
use worstcase_plan::Claim;
use worstcase_plan::study::claim::{
    ClaimFigure, ClaimOrigin, Compare, NEAR, OurCell, PublishedValue, Relation, Statistic,
};
use worstcase_plan::{Arch, PreemptName, Seeds, StudyVariant, Venue, VirtualMachine, study};
use worstcase_results::record::build::samples_file;
use worstcase_results::record::parquet::{FileLabels, SamplesReader, encode};
use worstcase_results::record::samples::digest;
use worstcase_results::record::{
    Accounting, CellEntry, CellId, CellResult, GapAccount, HostMachine, LabMachine, MethodRecord, Periods, Preempt,
    Run, RunPlan, SamplesFile, Stamp, Subject, SubjectKernel, SubjectMachine,
};

pub const LOADS: [&str; 3] = ["shm", "procread", "fork"];
pub const SEEDS: u64 = 3;
pub const PERIODS: u32 = 1_000;

/// Kernel label, preemption model, and the worst latency in ns that a load can cause.
const SUBJECTS: [(&str, &str, [u64; 3]); 3] = [
    ("6.1.0-50-amd64", "none", [83_712, 216_729, 28_950]),
    ("6.1.0-50-amd64", "full", [76_310, 4_110, 9_271]),
    ("6.1.0-50-rt-amd64", "rt", [4_714, 5_424, 6_057]),
];

pub fn subject(label: &str, preempt: &str) -> Subject {
    Subject {
        kernel: SubjectKernel {
            name: "debian:6.1".into(),
            label: label.into(),
            release: label.into(),
            version: "#1 SMP Debian 6.1.1".into(),
            digest: "sha256:00".into(),
        },
        preempt: Preempt {
            asked: Some(preempt.into()),
            in_force: preempt.into(),
        },
        machine: SubjectMachine::Lab(Box::new(LabMachine {
            qemu: "QEMU emulator version 7.2.22".into(),
            machine: VirtualMachine::default(),
            qemu_cpu: "max,-erms,-fsrm".into(),
            command_line: format!("nokaslr preempt={preempt}"),
            modules: Vec::new(),
            key: "0".repeat(64),
        })),
    }
}

/// A real machine.
pub fn host(label: &str) -> Subject {
    Subject {
        preempt: Preempt {
            asked: None,
            in_force: "rt".into(),
        },
        machine: SubjectMachine::Host(HostMachine {
            cpu: "a CPU".into(),
            cpus: 4,
            memory_mb: 8_192,
            command_line: "quiet".into(),
            io_scheduler: None,
            policy: None,
        }),
        ..subject(label, "rt")
    }
}

/// What a host's cell says: 20 000 periods in a minute, nothing interfered.
pub fn host_raw(seed: u64, latencies: &[u64]) -> RawRecord {
    let spec = CellSpec {
        period: Nanos(3_000_000),
        periods: 20_000,
        ..spec("idle", seed)
    };
    let mut raw = raw(&spec, latencies);
    let facts = [
        ("rt_throttled", "0"),
        ("steal_ns", "30000000"),
        ("measured_ns", "60000000000"),
    ];
    let facts = facts.map(|(key, value)| (key.to_string(), value.to_string()));
    raw.environment.extend(facts);
    raw
}

/// The record of a CPU.
pub fn on_cpu(cpu: u32, raw: &RawRecord) -> CellResult {
    let mut result = host_result(raw);
    let (record, subject) = (&mut result.record, host("6.18").id());
    record.cell.cpu = Some(cpu);
    record.id = CellId::new(
        &subject,
        &record.cell.load,
        &record.cell.probe,
        record.cell.seed,
        Some(cpu),
    );
    result
}

pub fn host_result(raw: &RawRecord) -> CellResult {
    CellResult::new(host("6.18"), raw, &[], None).unwrap()
}

pub fn spec(load: &str, seed: u64) -> CellSpec {
    CellSpec {
        probe: Probe::Wakeup,
        load: load.into(),
        period: Nanos(251_000),
        periods: PERIODS,
        seed,
        warmup: Nanos::from_millis(100),
        priority: 98,
    }
}

/// A raw record with these latencies, one a period from period 0 on; the rest is missed.
pub fn raw(spec: &CellSpec, latencies: &[u64]) -> RawRecord {
    let sample = |(i, ns): (usize, &u64)| Sample {
        index: i as u32,
        latency: Nanos(*ns),
    };
    RawRecord {
        spec: spec.to_text().unwrap(),
        start: Nanos(3_000_000_000),
        expected: spec.periods,
        samples: latencies.iter().enumerate().map(sample).collect(),
        self_cost: SelfCost {
            clock_read: Nanos(25),
            empty_sample: Nanos(61),
            cpu_time: Nanos(1_200_000),
            minor_faults: 0,
            major_faults: 0,
        },
        work: vec![Work {
            unit: "rounds".into(),
            count: 1_234,
        }],
        warnings: vec![],
        environment: BTreeMap::from([("clocksource".into(), "tsc".into())]),
        details: None,
        counters: BTreeMap::new(),
        trace: None,
    }
}

/// `noise` on a CPU: a minute of windows in which these gaps were seen.
pub fn noise(cpu: u32, seed: u64, lengths: &[u64]) -> CellResult {
    let mut result = on_cpu(cpu, &host_raw(seed, lengths));
    let record = &mut result.record;
    record.cell.probe = "noise".into();
    (record.cell.period_ns, record.cell.periods) = (100_000_000, 600);
    record.cell.method = Some(MethodRecord {
        timer: "none".into(),
        policy: "fifo:90".into(),
        cpus: vec![cpu],
        distance_ns: 0,
        threshold_ns: Some(1_000),
    });
    record.accounting = Accounting::Gaps(GapAccount {
        observed_ns: 60_000_000_000,
        gaps: lengths.len() as u64,
        lost: 0,
        noise_ns: lengths.iter().sum(),
        max_single_ns: lengths.iter().copied().max().unwrap_or(0),
    });
    record.id = CellId::new(&record.subject.id(), "idle", "noise", seed, Some(cpu));
    result
}

/// A host's cell of which the samples of these periods could not be kept.
pub fn without(cpu: u32, seed: u64, periods: std::ops::Range<usize>) -> CellResult {
    let mut raw = host_raw(seed, &[50_000; 20_000]);
    raw.samples.drain(periods.clone());
    let mut result = on_cpu(cpu, &raw);
    result.record.accounting = Accounting::Periods(Periods {
        expected: 20_000,
        taken: 20_000 - periods.len() as u64,
        lost: periods.len() as u64,
        ..Periods::default()
    });
    result
}

/// Latencies that are mostly small and at worst `worst`, which one of them is.
pub fn latencies(seed: u64, worst: u64) -> Vec<u64> {
    let mut random = SplitMix64::new(seed);
    let floor = 2_400;
    let mut draw = || {
        let share = random.below(1_000_000) as f64 / 1e6;
        floor + ((worst - floor) as f64 * share.powi(12)) as u64
    };
    let mut all: Vec<u64> = (0..PERIODS).map(|_| draw()).collect();
    all[417] = worst - (seed - 1) * 321;
    all
}

pub fn stamps(raw: &RawRecord) -> Vec<Stamp> {
    let stamp = |s: &Sample| Stamp {
        irq_latency: Some(Nanos(92 + s.latency.0 / 100)),
        instructions: Instructions(u64::from(s.index) * 251_000 + s.latency.0),
    };
    raw.samples.iter().map(stamp).collect()
}

pub fn result(subject: &Subject, raw: &RawRecord) -> CellResult {
    CellResult::new(subject.clone(), raw, &stamps(raw), Some(Instructions(251_000_000))).unwrap()
}

/// All cells of the synthetic run, in order.
pub fn results() -> &'static [CellResult] {
    static RESULTS: OnceLock<Vec<CellResult>> = OnceLock::new();
    RESULTS.get_or_init(make_results)
}

fn make_results() -> Vec<CellResult> {
    let mut all = Vec::new();
    for (label, preempt, worst) in SUBJECTS {
        for (load, worst) in LOADS.into_iter().zip(worst) {
            for seed in 1..=SEEDS {
                all.push(result(
                    &subject(label, preempt),
                    &raw(&spec(load, seed), &latencies(seed, worst)),
                ));
            }
        }
    }
    all
}

/// A claim of an article, and cells of the synthetic run.
pub fn claim() -> Claim {
    let figure = |of: &str, value: f64, model| ClaimFigure {
        of: of.into(),
        said: PublishedValue::Value {
            value,
            unit: "us".into(),
            relation: Relation::About,
        },
        cell: Some(OurCell {
            subject: Some(worstcase_plan::PlannedSubject {
                kernel: "debian:6.1".into(),
                preempt: worstcase_plan::PreemptChoice::One(model),
                optional: false,
                machine: VirtualMachine::default(),
            }),
            policy: None,
            loads: vec!["shm".into()],
            probe: "wakeup".into(),
            quantity: "latency".into(),
            statistic: Statistic::Max,
        }),
        host: None,
    };
    Claim {
        says: "The worst response under shm is longer without preemption.".into(),
        origin: ClaimOrigin::Source("An Article, table 1".into()),
        compare: Compare::Rank,
        within: NEAR,
        because: None,
        doubt: None,
        terms: Vec::new(),
        why: "It is an example.".into(),
        figures: vec![
            figure("rt", 200.0, PreemptName::Rt),
            figure("no preemption", 1_000.0, PreemptName::None),
        ],
    }
}

pub fn plan() -> RunPlan {
    plan_of(results())
}

pub fn plan_of(results: &[CellResult]) -> RunPlan {
    let entry = |r: &CellResult| {
        let cell = &r.record.cell;
        CellEntry::named(&r.record.subject.id(), &cell.load, &cell.probe, cell.seed, cell.cpu)
    };
    let mut asked = study::plan("preemption-models", Venue::Lab, StudyVariant::Quick).unwrap();
    asked.title = "How late is a periodic process?".into();
    asked.experiment.criterion = None;
    asked.question = None;
    // Whatever the study's quick form is today.
    asked.experiment.parts.truncate(1);
    let part = &mut asked.experiment.parts[0];
    part.loads = LOADS.map(|load| load.parse().unwrap()).to_vec();
    part.seeds = Seeds::to(5);
    asked.claims = vec![claim()];
    let mut plan = RunPlan::new(asked, results.iter().map(entry).collect());
    plan.tool_version = "0.1.0".into();
    plan
}

/// Writes the whole synthetic run to `dir`.
pub fn write(dir: &Path) -> Run {
    let run = Run::create(dir, plan()).unwrap();
    for result in results() {
        run.write_cell(result).unwrap();
    }
    run
}

/// Seeds of one load on one kernel whose maxima differ by a few percent; `factor` times as late as they should be.
pub fn ensemble(label: &str, load: &str, seeds: std::ops::RangeInclusive<u64>, factor: f64) -> Vec<CellResult> {
    let mut subject = subject(label, "full");
    if let SubjectMachine::Lab(lab) = &mut subject.machine {
        // A kernel that is slower is another machine.
        lab.key = format!("{label} {factor}");
        if label.ends_with("-arm64") {
            lab.machine.set_arch(Arch::Arm64);
        }
    }
    let cell = |seed: u64| {
        let mut random = SplitMix64::new(seed * 77 + load.len() as u64);
        let worst = 80_000 + random.below(4_000);
        let late = latencies(1, worst)
            .into_iter()
            .map(|ns| (ns as f64 * factor) as u64 + random.below(40));
        result(&subject, &raw(&spec(load, seed), &late.collect::<Vec<u64>>()))
    };
    seeds.map(cell).collect()
}

/// Four seeds of `shm` on a kernel with this preemption model.
pub fn of_model(label: &str, model: &str) -> Vec<CellResult> {
    let mut results = ensemble(label, "shm", 1..=4, 1.0);
    for CellResult { record, .. } in &mut results {
        record.subject.preempt.asked = Some(model.to_string());
        record.id = CellId::new(&record.subject.id(), "shm", "wakeup", record.cell.seed, None);
    }
    results.iter().map(refitted).collect()
}

/// The same with a samples file of what its record has become, and that file's digests.
pub fn refitted(result: &CellResult) -> CellResult {
    let mut record = result.record.clone();
    let mut reader = SamplesReader::new(bytes::Bytes::from(result.samples.clone())).unwrap();
    let mut rows = Vec::new();
    while let Some(group) = reader.next_group().unwrap() {
        rows.extend(group);
    }
    let samples = encode(&rows, &FileLabels::new(&record.id, &record.subject), &record.accounting).unwrap();
    record.digest = digest(record.cell.periods, &rows);
    record.samples = SamplesFile {
        selection: record.samples.selection,
        ..samples_file(&samples, rows.len() as u64)
    };
    CellResult {
        record,
        samples,
        found: None,
    }
}

/// Writes a run of these cells.
pub fn write_cells(dir: &Path, results: &[CellResult]) -> Run {
    let run = Run::create(dir, plan_of(results)).unwrap();
    results.iter().for_each(|r| run.write_cell(&refitted(r)).unwrap());
    run
}
