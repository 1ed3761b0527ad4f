//! What the kernel counts of this machine while it is measured.

use std::fs;
use worstcase_probe::Nanos;

/// A count of /proc/stat in ns: it counts in hundredths of a second, whatever HZ is.
const NANOS_PER_TICK: u64 = 10_000_000;

/// Time that a hypervisor took from each of `cpus` so far, in their order.
pub fn steal(cpus: &[u32]) -> Vec<Option<Nanos>> {
    let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
    cpus.iter().map(|cpu| steal_in(&stat, *cpu)).collect()
}

fn steal_in(stat: &str, cpu: u32) -> Option<Nanos> {
    let name = format!("cpu{cpu}");
    let line = stat
        .lines()
        .find(|line| line.split_ascii_whitespace().next() == Some(&name))?;
    let ticks: u64 = line.split_ascii_whitespace().nth(8)?.parse().ok()?;
    Some(Nanos(ticks * NANOS_PER_TICK))
}

/// What was added between two readings of [`steal`].
pub fn steal_between(before: &[Option<Nanos>], after: &[Option<Nanos>]) -> Vec<Option<Nanos>> {
    let one = |(before, after): (&Option<Nanos>, &Option<Nanos>)| Some((*after)?.saturating_sub((*before)?));
    before.iter().zip(after).map(one).collect()
}

/// Whether real-time threads may have been throttled while no sample was later than `worst_ns`. The kernel tells nobody when it
/// throttles; it then takes a CPU from all of them for the rest of a period, and a sample is that late.
pub fn may_be_throttled(worst_ns: u64) -> Option<bool> {
    let read = |name: &str| -> Option<i64> {
        fs::read_to_string(format!("/proc/sys/kernel/{name}"))
            .ok()?
            .trim()
            .parse()
            .ok()
    };
    let (runtime, period) = (read("sched_rt_runtime_us")?, read("sched_rt_period_us")?);
    may_be(runtime, period, worst_ns)
}

fn may_be(runtime_us: i64, period_us: i64, worst_ns: u64) -> Option<bool> {
    let pause_ns = u64::try_from(period_us - runtime_us).ok()? * 1_000;
    if runtime_us < 0 || runtime_us >= period_us || worst_ns < pause_ns {
        return Some(false);
    }
    None
}

/// The most memory that this process ever held.
pub fn peak_memory_kb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|l| l.trim().strip_suffix("kB")?.trim().parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steal_is_the_eighth_count() {
        let stat = "cpu  1 2 3 4 5 6 7 80 9 10\ncpu1 1 2 3 4 5 6 7 8 9 10\ncpu11 1 2 3 4 5 6 7 9 9 10\n";
        assert_eq!(steal_in(stat, 1), Some(Nanos(80_000_000)));
        assert_eq!(steal_in(stat, 11), Some(Nanos(90_000_000)));
        assert_eq!(steal_in(stat, 2), None);
    }

    #[test]
    fn a_throttled_cpu_is_late_by_the_rest_of_the_period() {
        assert_eq!(may_be(950_000, 1_000_000, 49_999_999), Some(false));
        assert_eq!(may_be(950_000, 1_000_000, 50_000_000), None);
        assert_eq!(may_be(-1, 1_000_000, 90_000_000), Some(false));
    }
}
