//! An experiment's measurements on this machine.

use super::matrix::HostMatrix;
use super::placement::{self, Topology};
use super::timer::Clocks;
use super::{io_scheduler, origin, speed, subject, timerlat, trial};
use crate::HostSpec;
use crate::cpus::Cpus;
use crate::doctor::examine;
use crate::facts::FileTree;
use crate::spec::{ThreadScheduling, WakeSource};
use crate::trace::{Purpose, Tracer};
use crate::{CpuList, HostError, MachineFacts};
use std::path::PathBuf;
use worstcase_base::distinct;
use worstcase_contract::bench::{Bench, Switch};
use worstcase_contract::prng::SplitMix64;
use worstcase_contract::{Nanos, Probe};
use worstcase_instruments::environment;
use worstcase_plan::{Combination, Experiment, IoSchedulers, Part, SchedulingPolicy, Subjects, Venue};

/// Captures of `response` by default.
const CAPTURES: usize = 10;
/// Gaps at least this long are kept by `noise` by default.
const THRESHOLD: Nanos = Nanos(1_000);
/// Scheduling of the kernel's timerlat threads.
const TIMERLAT: ThreadScheduling = ThreadScheduling::new(SchedulingPolicy::Fifo, 95);

/// The measurements of an experiment on this machine.
pub fn matrix(experiment: &Experiment) -> Result<HostMatrix, HostError> {
    let facts = MachineFacts::of("/".as_ref());
    let available = Cpus::of(&facts);
    let clocks = Clocks::of(&facts);
    let setup = &experiment.setup;
    let load_cpus = match &setup.load_cpus {
        Some(asked) => {
            available.check(asked)?;
            Some(asked.clone())
        }
        None => available.usual_load(),
    };
    let mut specs: Vec<HostSpec> = Vec::new();
    let mut measured = Vec::new();
    let recorder = RecorderByDefault::of(experiment, &available.usual());
    for part in &experiment.parts {
        let cpus = match &part.subjects {
            Subjects::Cpus(Some(cpus)) => cpus.clone(),
            Subjects::Cpus(None) => available.usual(),
            Subjects::Kernels(_) => {
                return Err(HostError::Argument("a host has CPUs in place of kernels".into()));
            }
        };
        available.check(&cpus)?;
        measured.extend(cpus.iter());
        let cpus: Vec<u32> = cpus.iter().collect();
        let earlier = specs.len();
        for spec in of_part(part, &cpus, clocks, &recorder)? {
            let spec = HostSpec {
                load_cpus: load_cpus.iter().flat_map(CpuList::iter).collect(),
                isolated: spec
                    .cpus
                    .iter()
                    .copied()
                    .collect::<CpuList>()
                    .common(available.isolated()),
                ..spec
            };
            for spec in under_each(spec, &setup.io_schedulers) {
                if !specs[..earlier].contains(&spec) {
                    specs.push(spec);
                }
            }
        }
    }
    let work_parent = setup.work_dir.clone().unwrap_or_else(std::env::temp_dir);
    if !setup.io_schedulers.is_empty() {
        let queue = io_scheduler::RequestQueue::below(&work_parent)?;
        setup
            .io_schedulers
            .0
            .iter()
            .try_for_each(|scheduler| queue.check(scheduler))?;
    }
    if specs.iter().any(|spec| spec.probe == Probe::Timerlat) {
        timerlat::check()?;
    }
    let measured: CpuList = measured.into_iter().collect();
    let findings = examine(&facts, &measured);
    Ok(HostMatrix {
        notes: {
            let of_cpus = available.notes(&measured, load_cpus.as_ref());
            of_cpus.into_iter().chain(recorder.note()).collect()
        },
        subject: subject::of(&facts, &environment::read()),
        has_policies: distinct(experiment.parts.iter().map(|part| part.method.policy_in_words())).len() > 1,
        specs,
        work_parent,
        origin: origin::of(&facts, &findings),
        apply: trial::checked(&setup.apply, &findings)?,
        chrt: setup.chrt.clone(),
        findings,
    })
}

/// A measurement under each I/O scheduler, in an order that the seed chooses, so that a disk that changes with time
/// favours none.
fn under_each(spec: HostSpec, schedulers: &IoSchedulers) -> Vec<HostSpec> {
    if schedulers.is_empty() {
        return vec![spec];
    }
    let mut all = schedulers.0.clone();
    let mut random = SplitMix64::new(spec.seed);
    for at in (1..all.len()).rev() {
        all.swap(at, random.below(at as u64 + 1) as usize);
    }
    let under = |scheduler| HostSpec {
        io_scheduler: Some(scheduler),
        ..spec.clone()
    };
    all.into_iter().map(under).collect()
}

fn wrong<T>(text: &str) -> Result<T, HostError> {
    Err(HostError::Argument(text.to_string()))
}

/// Whether the trace around the latest wake-ups is kept unasked: where a run is judged, a FAIL is to end with its cause.
enum RecorderByDefault {
    /// The run is not judged.
    NotJudged,
    /// It is judged, and the kernel lets this user trace it.
    Permitted,
    /// It is judged, and the kernel does not, for this reason.
    Refused(String),
}

impl RecorderByDefault {
    fn of(experiment: &Experiment, cpus: &CpuList) -> RecorderByDefault {
        let is_wakeup = |probe: &String| probe.parse() == Ok(Probe::Wakeup);
        let asks = |part: &Part| part.method.captures.is_none() && part.probes.iter().any(is_wakeup);
        if experiment.criterion.is_none() || !experiment.parts.iter().any(asks) {
            return RecorderByDefault::NotJudged;
        }
        let one: Vec<u32> = cpus.iter().take(1).collect();
        match Tracer::open(&one, &Purpose::Recorder { tids: Vec::new() }) {
            Ok(_) => RecorderByDefault::Permitted,
            Err(e) => RecorderByDefault::Refused(e.to_string()),
        }
    }

    fn note(&self) -> Option<String> {
        match self {
            RecorderByDefault::Refused(why) => Some(format!("why a sample was late will not be told: {why}")),
            RecorderByDefault::NotJudged | RecorderByDefault::Permitted => None,
        }
    }
}

fn of_part(
    part: &Part,
    cpus: &[u32],
    clocks: Clocks,
    recorder: &RecorderByDefault,
) -> Result<Vec<HostSpec>, HostError> {
    let combinations = part.combinations(Venue::Host);
    let combinations = combinations.map_err(|problem| HostError::Argument(problem.to_string()))?;
    let spec = |combination: &Combination| -> Result<HostSpec, HostError> {
        match combination.probe {
            Probe::Bench(bench) => bench_spec(part, combination, bench, cpus),
            timed => timed_spec(part, combination, timed, cpus, clocks, recorder),
        }
    };
    combinations.iter().map(spec).collect()
}

fn timed_spec(
    part: &Part,
    asked: &Combination,
    probe: Probe,
    cpus: &[u32],
    clocks: Clocks,
    recorder: &RecorderByDefault,
) -> Result<HostSpec, HostError> {
    let method = &part.method;
    let waker = match probe {
        Probe::Timerlat => WakeSource::Timerlat,
        _ => WakeSource::Timer(clocks.choose(method, probe, asked.interval, cpus.len())?),
    };
    let distance = method.distance.unwrap_or(Nanos(0));
    let is_judged = matches!(recorder, RecorderByDefault::Permitted);
    let by_default = probe == Probe::Wakeup && (method.break_at.is_some() || is_judged);
    let captures = method.captures.unwrap_or(match probe {
        Probe::Response => CAPTURES,
        _ if by_default => CAPTURES,
        _ => 0,
    });
    if method.break_at.is_some() && probe == Probe::Jitter {
        return wrong("--break: jitter has no latency; use --probe wakeup");
    }
    if probe == Probe::Noise && captures > 0 {
        return wrong(
            "--captures: noise keeps no trace of single gaps; 'worstcase host isolate' tells who enters a CPU",
        );
    }
    if probe == Probe::Timerlat && (method.timer.is_some() || distance.0 > 0 || captures > 0) {
        return wrong("--probe timerlat: the kernel's threads take no --timer, --distance or --captures");
    }
    let interval = asked.interval;
    if probe == Probe::Timerlat
        && (interval < Nanos(100_000) || interval > Nanos(1_000_000_000) || !interval.0.is_multiple_of(1_000))
    {
        return wrong("--interval: with timerlat from 100us to 1s, in whole microseconds");
    }
    Ok(HostSpec {
        probe,
        waker,
        scheduling: match probe {
            Probe::Timerlat => TIMERLAT,
            _ => ThreadScheduling::new(method.policy.unwrap_or(SchedulingPolicy::Fifo), method.priority)
                .at_nice(method.nice.unwrap_or(0)),
        },
        distance,
        threshold: method.threshold.unwrap_or(THRESHOLD),
        captures,
        captures_if_permitted: by_default && method.captures.is_none(),
        captures_refused: match (recorder, probe, method.captures) {
            (RecorderByDefault::Refused(why), Probe::Wakeup, None) => Some(why.clone()),
            _ => None,
        },
        break_at: method.break_at,
        ..spec(part, asked, probe, cpus.to_vec())
    })
}

fn bench_spec(part: &Part, asked: &Combination, bench: Bench, cpus: &[u32]) -> Result<HostSpec, HostError> {
    let method = &part.method;
    if method.timer.is_some() || method.distance.is_some_and(|d| d.0 > 0) || method.captures.is_some_and(|n| n > 0) {
        return wrong(&format!(
            "--probe {}: no timer wakes it; it takes no --timer, --distance or --captures",
            bench.name()
        ));
    }
    if method.break_at.is_some() {
        return wrong("--break: is for wakeup, response, timerlat and noise");
    }
    let tree = FileTree::at("/".as_ref());
    let cpus = placement::place(&bench, &Topology::read(&tree, cpus))?;
    if let Bench::Switch(Switch { mhz: mhz @ 1.., .. }) = bench {
        speed::check(&tree, &bench.to_string(), &cpus, mhz)?;
    }
    Ok(HostSpec {
        scheduling: match asked.interval {
            Nanos(0) => ThreadScheduling::OTHER,
            _ => ThreadScheduling::new(SchedulingPolicy::Fifo, method.priority),
        },
        ..spec(part, asked, Probe::Bench(bench), cpus)
    })
}

/// The fields that every probe has; folders are filled in when it runs, the load's CPUs by [`matrix`].
fn spec(part: &Part, asked: &Combination, probe: Probe, cpus: Vec<u32>) -> HostSpec {
    HostSpec {
        probe,
        waker: WakeSource::None,
        scheduling: ThreadScheduling::OTHER,
        cpus,
        interval: asked.interval,
        distance: Nanos(0),
        periods: asked.periods,
        warmup: part.timing.warmup,
        seed: asked.seed,
        load: asked.load.clone(),
        io_scheduler: None,
        load_cpus: Vec::new(),
        isolated: CpuList::default(),
        threshold: Nanos(0),
        captures: 0,
        captures_if_permitted: false,
        captures_refused: None,
        break_at: None,
        work_dir: PathBuf::new(),
        cgroup: None,
        tracing: None,
        samples_dir: PathBuf::new(),
        segments: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use worstcase_plan::study::parse;

    const POLICIES: &str = r#"schema = "worstcase-study/4"
name = "s"
title = "t"
question = "q"
source = "me"
[full]
kernels = [{ kernel = "debian:6.1", preempt = ["full"] }]
loads = ["idle"]
probes = ["wakeup"]
seeds = 5
[host]
loads = ["idle"]
probes = ["wakeup", "hackbench:1"]
seeds = 5
[[host.part]]
probes = ["wakeup"]
[[host.part]]
policy = "other"
"#;

    #[test]
    fn each_policy_of_a_run_is_a_subject() {
        let names = |text: &str| -> Vec<String> {
            let study = parse("s", text).unwrap();
            let matrix = matrix(&study.host.unwrap().full).unwrap();
            let tasks = matrix.tasks().into_iter().flat_map(|task| task.cells);
            tasks.map(|cell| cell.id.to_string()).collect()
        };
        let several = names(POLICIES);
        let once: BTreeSet<&String> = several.iter().collect();
        assert_eq!(once.len(), several.len());
        let has = |word: &str| several.iter().any(|name| name.contains(word));
        assert!(has(".host.fifo-90.idle.wakeup.") && has(".host.other.idle.wakeup."));
        assert!(has(".host.idle.hackbench"), "it has no policy: {several:?}");
        let one = names(&POLICIES.replace("policy = \"other\"", ""));
        assert!(one.iter().all(|name| name.contains(".host.idle.")), "{one:?}");
    }
}
