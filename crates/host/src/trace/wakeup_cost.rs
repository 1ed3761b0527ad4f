//! How much later a trace makes an ordinary wake-up: some are taken before it is opened, and as many beside it.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use worstcase_contract::Nanos;
use worstcase_instruments::sys::clock;
use worstcase_results::record::TraceCost;

/// Wake-ups with the trace, and as many without.
const WAKEUPS: usize = 200;
/// Distance of two of them.
const DISTANCE: Nanos = Nanos(500_000);

/// A thread that has taken its wake-ups without a trace.
#[derive(Debug)]
pub(crate) struct WakeupCost {
    /// Its id.
    pub tid: u32,
    without: Vec<Nanos>,
    again: Sender<()>,
    with: Receiver<Vec<Nanos>>,
}

impl WakeupCost {
    /// Takes the first ones, in a thread of its own, as its policy and its place end with it; `place` gives it both.
    pub fn begin(place: impl FnOnce() -> io::Result<()> + Send + 'static) -> Option<WakeupCost> {
        let (again, asked) = channel();
        let (tell, with) = channel();
        let (begun, first) = channel();
        std::thread::spawn(move || {
            if place().is_err() {
                return;
            }
            let tid = rustix::thread::gettid().as_raw_nonzero().get() as u32;
            // Who asked may have given up.
            let _ = begun.send((tid, latencies()));
            if asked.recv().is_ok() {
                let _ = tell.send(latencies());
            }
        });
        let (tid, without) = first.recv().ok()?;
        Some(WakeupCost {
            tid,
            without,
            again,
            with,
        })
    }

    /// Takes the others.
    pub fn end(self) -> Option<TraceCost> {
        self.again.send(()).ok()?;
        TraceCost::of(self.without, self.with.recv().ok()?)
    }
}

fn latencies() -> Vec<Nanos> {
    let begin = clock::monotonic() + DISTANCE;
    let late = |nth: usize| {
        let due = begin + Nanos(DISTANCE.0 * nth as u64);
        clock::sleep_until(due);
        clock::monotonic().saturating_sub(due)
    };
    (0..WAKEUPS).map(late).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_are_taken_and_a_thread_that_has_no_place_takes_none() {
        let own = rustix::thread::gettid().as_raw_nonzero().get() as u32;
        let begun = WakeupCost::begin(|| Ok(())).unwrap();
        assert_ne!(begun.tid, own);
        let cost = begun.end().unwrap();
        assert_eq!(cost.wakeups, WAKEUPS as u64);
        assert!(cost.with.min <= cost.with.median && cost.without.min <= cost.without.median);
        assert!(WakeupCost::begin(|| Err(io::ErrorKind::PermissionDenied.into())).is_none());
    }
}
