//! Facts that no file holds: measured on this machine, in a quarter of a second.

use super::busy::{BusyProcess, ProcessTimes};
use super::tree::FileTree;
use super::virtualization::CpuTimes;
use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;
use worstcase_instruments::sys::clock::{self, Clock};

/// The measured facts.
#[derive(Clone, Debug, Default)]
pub(crate) struct LiveFacts {
    /// What reading the clock costs (ns).
    pub clock_read_ns: Option<f64>,
    /// The tick's length (ns).
    pub(crate) tick_ns: Option<u64>,
    /// How busy each CPU was (%).
    pub busy_percent: BTreeMap<u32, f64>,
    /// The processes that kept them busy, the busiest first.
    pub(crate) busy_processes: Vec<BusyProcess>,
    /// How much of all CPUs' time this machine's host took (%).
    pub steal_percent: Option<f64>,
}

/// Long enough for some ticks of /proc/stat on each CPU.
const WINDOW: Duration = Duration::from_millis(250);
const BATCHES: u32 = 200;
const READINGS: u32 = 500;

impl LiveFacts {
    /// Measures.
    pub(crate) fn measure() -> LiveFacts {
        let before = cpu_times();
        let tree = FileTree::at("/".as_ref());
        let processes = ProcessTimes::read(&tree);
        std::thread::sleep(WINDOW);
        let busy_processes = processes.busy_since(&tree, WINDOW.as_secs_f64());
        let window: BTreeMap<String, CpuTimes> = cpu_times()
            .into_iter()
            .filter_map(|(name, after)| Some((name.clone(), after.since(*before.get(&name)?))))
            .collect();
        let number = |name: &str| name.strip_prefix("cpu")?.parse().ok();
        let busy = |(name, times): (&String, &CpuTimes)| Some((number(name)?, times.busy_percent()?));
        LiveFacts {
            clock_read_ns: Some(clock_read_ns()),
            tick_ns: clock::resolution(Clock::Tick).ok().map(|n| n.0),
            busy_percent: window.iter().filter_map(busy).collect(),
            busy_processes,
            steal_percent: window.get("cpu").and_then(CpuTimes::steal_percent),
        }
    }
}

/// The smallest of many batches: a disturbance can only have made the others longer.
fn clock_read_ns() -> f64 {
    let batch = |_| {
        let start = clock::monotonic();
        for _ in 1..READINGS {
            std::hint::black_box(clock::monotonic());
        }
        clock::monotonic().0.saturating_sub(start.0)
    };
    let least = (0..BATCHES).map(batch).min().unwrap_or_default();
    least as f64 / f64::from(READINGS)
}

fn cpu_times() -> BTreeMap<String, CpuTimes> {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    let line = |line: &str| Some((line.split(' ').next()?.to_string(), CpuTimes::parse(line)?));
    text.lines().filter(|l| l.starts_with("cpu")).filter_map(line).collect()
}
