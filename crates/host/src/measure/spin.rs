//! `noise`: a thread that never sleeps and reads the clock; time between two reads was taken from it.
//!
//! The kernel would throttle a real-time thread that never sleeps (and other threads of its CPU would starve), so it rests for
//! a tenth of every window.

use super::ring::RingWriter;
use crate::packed::wide;
use std::sync::atomic::{AtomicBool, Ordering};
use worstcase_contract::Nanos;
use worstcase_instruments::sys::clock;

/// The result of spinning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spun {
    /// Time in which gaps were looked for, gaps included.
    pub spun: Nanos,
    /// Gaps that did not fit into the ring.
    pub lost: u64,
    /// Windows that were begun.
    pub(crate) windows: u32,
}

/// The windows in which a thread spins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpinWindows {
    /// When the first one begins.
    pub start: Nanos,
    /// Length of a window, rest included.
    pub length: Nanos,
    /// Length of the rest at the end of each window.
    pub rest: Nanos,
    /// Number of windows.
    pub count: u32,
    /// Gaps at least this long are kept.
    pub threshold: Nanos,
}

/// Spins through all windows, or until `stop`. A gap is handed over as (begin since the start, length).
pub fn spin(windows: SpinWindows, ring: &mut RingWriter, stop: &AtomicBool) -> Spun {
    let mut spun = Spun::default();
    for n in 0..windows.count {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let begin = Nanos(windows.start.0 + u64::from(n) * windows.length.0);
        let end = begin + windows.length - windows.rest;
        clock::sleep_until(begin);
        let first = clock::monotonic();
        let mut before = first;
        while before < end {
            let now = clock::monotonic();
            let gap = now - before;
            if gap >= windows.threshold && !ring.push(&wide((before - windows.start).0, gap.0)) {
                spun.lost += 1;
            }
            before = now;
        }
        spun.spun = spun.spun + (before.saturating_sub(first));
        spun.windows += 1;
    }
    spun
}

#[cfg(test)]
mod tests {
    use super::super::ring::ring;
    use super::*;
    use crate::packed::Unpacker;

    /// With a threshold that every read exceeds, the gaps are the whole time.
    #[test]
    fn gaps_follow_each_other_and_fit_into_what_was_spun() {
        let (mut writer, mut reader) = ring(1 << 20);
        let windows = SpinWindows {
            start: clock::monotonic(),
            length: Nanos::from_millis(3),
            rest: Nanos::from_millis(1),
            count: 2,
            threshold: Nanos(0),
        };
        let spun = spin(windows, &mut writer, &AtomicBool::new(false));
        let (mut unpacker, mut gaps) = (Unpacker::default(), Vec::new());
        reader.drain(|word| gaps.extend(unpacker.push(word)));
        let sum: u64 = gaps.iter().map(|(_, length)| length).sum();
        assert_eq!((sum, spun.lost, spun.windows), (spun.spun.0, 0, 2));
        assert!(gaps.windows(2).all(|w| w[0].0 + w[0].1 <= w[1].0));
    }
}
