//! The machine's own counters: interrupts of its firmware (SMI), and time that its hypervisor took.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use worstcase_contract::Nanos;

/// The register in which Intel processors count SMIs.
const SMI_COUNT: u64 = 0x34;

/// SMIs within a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Smis {
    /// So many.
    Count(u64),
    /// SMIs are not counted here, or this user may not read them: the reason.
    NotKnown(String),
}

/// Both counters of one CPU at one instant. Reading interrupts the CPU, so it is done before and after the observation.
#[derive(Clone, Debug)]
pub(crate) struct InterruptionCounters {
    smis: Result<u64, String>,
    stolen: Option<u64>,
}

impl InterruptionCounters {
    /// Reads the counters now.
    pub(crate) fn read(cpu: u32) -> InterruptionCounters {
        let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
        InterruptionCounters {
            smis: smis(cpu),
            stolen: stolen(&stat, cpu),
        }
    }

    /// The difference to an earlier reading.
    pub fn since(self, before: InterruptionCounters) -> (Smis, Option<Nanos>) {
        let smis = match (self.smis, before.smis) {
            (Ok(after), Ok(before)) => Smis::Count(after.wrapping_sub(before)),
            (Err(why), _) | (_, Err(why)) => Smis::NotKnown(why),
        };
        let ticks = self.stolen.zip(before.stolen).map(|(a, b)| a.saturating_sub(b));
        (smis, ticks.map(|ticks| Nanos(ticks * TICK.0)))
    }
}

/// /proc/stat counts in hundredths of a second (USER_HZ).
const TICK: Nanos = Nanos(10_000_000);

fn smis(cpu: u32) -> Result<u64, String> {
    if !cfg!(any(target_arch = "x86", target_arch = "x86_64")) {
        return Err("other processors than x86 do not tell what their firmware takes".into());
    }
    let intel = fs::read_to_string("/proc/cpuinfo").is_ok_and(|text| text.contains("GenuineIntel"));
    if !intel {
        return Err("only Intel's processors count them (MSR 0x34)".into());
    }
    let path = format!("/dev/cpu/{cpu}/msr");
    let mut bytes = [0; 8];
    let read = File::open(&path).and_then(|file| file.read_exact_at(&mut bytes, SMI_COUNT));
    read.map(|()| u64::from_le_bytes(bytes))
        .map_err(|e| format!("{path}: {e}; load the module msr"))
}

/// Steal is the eighth figure of a CPU's line.
fn stolen(stat: &str, cpu: u32) -> Option<u64> {
    let name = format!("cpu{cpu}");
    let mut line = stat
        .lines()
        .map(str::split_whitespace)
        .find_map(|mut words| (words.next()? == name).then_some(words))?;
    line.nth(7)?.parse().ok()
}

/// The share of the time between two texts of /proc/stat in which programs ran on a CPU.
pub fn busy(before: &str, after: &str, cpu: u32) -> Option<f64> {
    let name = format!("cpu{cpu}");
    let figures = |text: &str| -> Option<Vec<u64>> {
        let mut lines = text.lines().map(str::split_whitespace);
        let words = lines.find_map(|mut words| (words.next()? == name).then_some(words))?;
        words.map(|word| word.parse().ok()).collect()
    };
    let (before, after) = (figures(before)?, figures(after)?);
    let step = |n: usize| Some(after.get(n)?.saturating_sub(*before.get(n)?));
    let all: u64 = (0..8).map_while(step).sum();
    // user, nice and system
    let programs: u64 = (0..3).filter_map(step).sum();
    Some(programs as f64 / all.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_one_cpu() {
        let before = "cpu 9 9 9 9 9 9 9 9\ncpu1 10 0 5 100 0 0 0 3 0 0\ncpu10 1 1 1 1 1 1 1 1\n";
        let after = "cpu 9 9 9 9 9 9 9 9\ncpu1 30 0 10 170 0 0 0 8 0 0\ncpu10 1 1 1 1 1 1 1 1\n";
        assert_eq!(stolen(after, 1), Some(8));
        assert_eq!(stolen(after, 2), None);
        assert_eq!(busy(before, after, 1), Some(0.25));
        assert_eq!(busy(before, after, 10), Some(0.0));
    }

    #[test]
    fn what_is_not_counted_is_said() {
        let at = |smis, stolen| InterruptionCounters { smis, stolen };
        let (smis, stolen) = at(Ok(7), Some(5)).since(at(Ok(4), Some(2)));
        assert_eq!((smis, stolen), (Smis::Count(3), Some(Nanos(30_000_000))));
        let (smis, _) = at(Err("no".into()), None).since(at(Ok(4), None));
        assert_eq!(smis, Smis::NotKnown("no".into()));
    }
}
