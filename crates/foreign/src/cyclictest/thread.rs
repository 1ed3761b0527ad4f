//! A line of a thread: `T: 0 (25462) P:90 I:1000 C: 2000 Min: 20 Act: 47 Avg: 49 Max: 1594`.

use crate::measured::Extremes;
use crate::text::{field, rt_thread, whole};

/// Widths to which cyclictest fills its numbers: the smallest, and the present one in us and in ns.
const MIN_WIDTH: usize = 7;
const NS_WIDTH: usize = 8;

/// A thread's number and process, of a line of cyclictest's; on a terminal the cursor moves before it.
pub(super) fn numbers(line: &str) -> Option<(&str, &str)> {
    fields(line).map(|(number, pid, _)| (number, pid))
}

fn fields(line: &str) -> Option<(&str, &str, &str)> {
    rt_thread(line).filter(|(_, _, fields)| fields.contains("P:") && fields.contains("I:"))
}

/// What a thread's line tells.
pub(super) struct ThreadLine {
    pub(super) thread: u32,
    pub(super) interval_us: u64,
    pub(super) priority: Option<u8>,
    pub(super) ends: Extremes,
}

impl ThreadLine {
    pub(super) fn of(line: &str, unit: u64) -> Option<ThreadLine> {
        let (number, _, fields) = fields(line)?;
        let number_of = |name: &str| field(fields, name)?.parse::<u64>().ok();
        let time = |name: &str| whole(number_of(name)?, unit).ok();
        Some(ThreadLine {
            thread: number.parse().ok()?,
            interval_us: number_of("I:")?,
            priority: number_of("P:").and_then(|n| u8::try_from(n).ok()).filter(|n| *n > 0),
            ends: Extremes {
                count: number_of("C:")?,
                min: Some(time("Min:")?),
                mean: Some(time("Avg:")?),
                max: time("Max:")?,
            },
        })
    }
}

/// The unit of a line's times in ns, as its blanks tell: with -N cyclictest fills the present and the mean one to
/// eight places, without it to five.
pub(super) fn unit(line: &str) -> Option<u64> {
    let between = |begin: &str, end: &str| Some(line.split_once(begin)?.1.split_once(end)?.0);
    let (min, act) = (between("Min:", " Act:")?, between("Act:", " Avg:")?);
    match (min.len() >= MIN_WIDTH, act.len(), act.starts_with(' ')) {
        (true, NS_WIDTH, true) => Some(1),
        (true, 5..NS_WIDTH, _) => Some(1_000),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_tell_the_unit() {
        let of = |act: &str| {
            unit(&format!(
                "T: 0 (7) P:90 I:1000 C:     20 Min:  13000 Act:{act} Avg:   41 Max:  99"
            ))
        };
        assert_eq!(
            (of("   13500"), of("   41"), of("13500")),
            (Some(1), Some(1_000), Some(1_000))
        );
        assert_eq!(
            unit("T: 0 (7) P:90 I:1000 C: 20 Min: 13000 Act: 13500 Avg: 14000 Max: 99"),
            None
        );
    }
}
