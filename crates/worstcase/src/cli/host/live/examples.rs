//! Measurements as tests need them.

use std::path::PathBuf;
use worstcase_contract::Nanos;
use worstcase_contract::Probe;
use worstcase_contract::record::Work;
use worstcase_host::HostSpec;
use worstcase_host::message::{CpuStats, Message};
use worstcase_host::spec::{ThreadScheduling, WakeSource};
use worstcase_plan::{SchedulingPolicy, TimerKind};

/// A minute under `fork`.
pub fn spec(probe: Probe, cpus: u32) -> HostSpec {
    HostSpec {
        probe,
        waker: WakeSource::Timer(TimerKind::Nanosleep),
        scheduling: ThreadScheduling::new(SchedulingPolicy::Fifo, 90),
        cpus: (0..cpus).collect(),
        interval: Nanos::from_millis(1),
        distance: Nanos(0),
        periods: 60_000,
        warmup: Nanos::from_millis(1_000),
        seed: 1,
        load: "fork".parse().expect("a load"),
        io_scheduler: None,
        load_cpus: Vec::new(),
        isolated: Default::default(),
        threshold: Nanos(1_000),
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

/// The messages at a time: latencies around 3 us, rarely up to 90, later on higher CPUs.
pub(crate) fn tick(spec: &HostSpec, elapsed: Nanos) -> Message {
    let cpu = |cpu: &u32| {
        let mut stats = CpuStats {
            cpu: *cpu,
            ..CpuStats::default()
        };
        for n in 0..elapsed.0 / spec.interval.0 {
            let late = if n % 1_000 == 999 {
                20_000 + n + u64::from(*cpu) * 100
            } else {
                0
            };
            stats.missed = u64::from(n >= 500);
            stats.add(n + stats.missed, 2_000 + n * 7_919 % 3_000 + late);
        }
        stats
    };
    let work = |unit: &str, a_second: u64| Work {
        unit: unit.into(),
        count: elapsed.0 / 1_000_000 * a_second / 1_000,
    };
    Message::Tick {
        elapsed,
        cpus: spec.cpus.iter().map(cpu).collect(),
        work: vec![work("forks", 1_204), work("bytes", 22_400_000)],
    }
}
