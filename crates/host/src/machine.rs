//! What the kernel counts on this machine while it is measured.

use std::fs;
use worstcase_contract::Nanos;

/// /proc/stat counts in hundredths of a second, whatever HZ is.
const NANOS_PER_TICK: u64 = 10_000_000;

/// Time that a hypervisor took from each of `cpus` so far, in the order of `cpus`.
pub(crate) fn steal(cpus: &[u32]) -> Vec<Option<Nanos>> {
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

/// The difference of two readings of [`steal`].
pub(crate) fn steal_between(before: &[Option<Nanos>], after: &[Option<Nanos>]) -> Vec<Option<Nanos>> {
    let one = |(before, after): (&Option<Nanos>, &Option<Nanos>)| Some((*after)?.saturating_sub((*before)?));
    before.iter().zip(after).map(one).collect()
}

/// The kernel adds up a real-time thread's time at ticks, of which it has at least 100 a second: throttling may begin one
/// tick late, and the pause is shorter by that.
const TICK: Nanos = Nanos::from_millis(10);

/// Whether real-time threads may have been throttled although no sample was later than `worst`, with at most `unseen`
/// between two samples. The kernel does not report throttling, which takes a CPU from all real-time threads for the rest
/// of a period. The first sample that is due in this pause comes at most `unseen` after its begin, and is late by what
/// is left of it.
pub(crate) fn may_be_throttled(worst: Nanos, unseen: Nanos) -> Option<bool> {
    let read = |name: &str| -> Option<i64> {
        fs::read_to_string(format!("/proc/sys/kernel/{name}"))
            .ok()?
            .trim()
            .parse()
            .ok()
    };
    let (runtime, period) = (read("sched_rt_runtime_us")?, read("sched_rt_period_us")?);
    may_be(runtime, period, worst, unseen)
}

fn may_be(runtime_us: i64, period_us: i64, worst: Nanos, unseen: Nanos) -> Option<bool> {
    if runtime_us < 0 || runtime_us >= period_us {
        return Some(false);
    }
    let pause = Nanos(u64::try_from(period_us - runtime_us).ok()?.checked_mul(1_000)?);
    let seen = pause.saturating_sub(TICK).saturating_sub(unseen);
    (worst < seen).then_some(false)
}

/// The peak memory of this process.
pub(crate) fn peak_memory_kb() -> u64 {
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
        let may_be = |runtime, worst, unseen| may_be(runtime, 1_000_000, Nanos(worst), Nanos(unseen));
        assert_eq!(may_be(950_000, 39_999_999, 0), Some(false));
        assert_eq!(may_be(950_000, 40_000_000, 0), None);
        assert_eq!(may_be(-1, 90_000_000, 0), Some(false));
        assert_eq!(may_be(1_000_000, 90_000_000, 0), Some(false));
    }

    #[test]
    fn a_pause_between_two_samples_is_not_ruled_out() {
        let may_be = |worst, unseen| may_be(950_000, 1_000_000, Nanos(worst), Nanos(unseen));
        let ms = 1_000_000;
        // Every 1 ms: a sample later than 39 ms may have met the end of a pause of 50 ms.
        assert_eq!(may_be(39 * ms - 1, ms), Some(false));
        assert_eq!(may_be(39 * ms, ms), None);
        // Every 30 ms: the pause may have begun 30 ms before the sample that was 10 ms late.
        assert_eq!(may_be(10 * ms - 1, 30 * ms), Some(false));
        assert_eq!(may_be(10 * ms, 30 * ms), None);
        // Every 40 ms or more: the pause fits between two punctual samples.
        for unseen in [40 * ms, 50 * ms, 1_000 * ms, u64::MAX] {
            assert_eq!(may_be(0, unseen), None);
        }
    }
}
