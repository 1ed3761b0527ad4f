//! `noise`: compute a little, read the CPU's counter, without end. A turn that takes longer than the shortest is a gap: the
//! CPU did something else.
//!
//! Nothing is allocated, no system call is made, and the kernel's clock, which another CPU may be setting, is not read: what
//! enters the CPU was not called by this thread. The counter has to count nanoseconds, as it does in the lab.

use worstcase_instruments::record::Sample;
use worstcase_instruments::sys::{clock, memory};
use worstcase_logs::Nanos;
use worstcase_logs::mark::{MarkKind, mark};

/// Gaps of one cell that are kept.
const MOST_GAPS: usize = 1 << 17;
/// A turn that takes more than so many of the shortest is a gap. The shortest way into the kernel and back takes three.
const TURNS: u64 = 2;
/// What a turn computes.
const STEPS: u64 = 40;

/// Takes gaps without allocating, faulting or calling the system.
pub(super) struct Noise {
    /// Length in ns of each gap, in order; what the marks store to.
    slots: Box<[u64]>,
    taken: usize,
    /// Gaps for which there was no slot.
    lost: u32,
    /// Turns longer than this are gaps.
    threshold: Nanos,
    /// The shortest turn.
    pub turn: Nanos,
}

impl Noise {
    /// With all its memory present; the shortest of so many turns is what a turn takes.
    pub fn new(trials: usize) -> Noise {
        let mut slots = vec![0; MOST_GAPS].into_boxed_slice();
        memory::prefault(&mut slots);
        let mut noise = Noise {
            slots,
            taken: 0,
            lost: 0,
            threshold: Nanos(u64::MAX),
            turn: Nanos(u64::MAX),
        };
        let mut before = clock::counter();
        for _ in 0..trials {
            let now = turn();
            noise.turn = noise.turn.min(now - before);
            before = now;
        }
        noise.threshold = Nanos(noise.turn.0 * TURNS);
        noise
    }

    /// Watches for this long.
    pub fn measure(&mut self, time: Nanos) {
        mark::<{ MarkKind::Begin as u8 }>(&mut self.slots[0], 0);
        let mut before = clock::counter();
        let end = before + time;
        while before < end {
            let now = turn();
            if now - before > self.threshold {
                self.keep(now - before);
            }
            before = now;
        }
        let first = self.slots[0];
        mark::<{ MarkKind::End as u8 }>(&mut self.slots[0], first);
    }

    #[inline(always)]
    fn keep(&mut self, gap: Nanos) {
        match self.slots.get_mut(self.taken) {
            Some(slot) => {
                mark::<{ MarkKind::Sample as u8 }>(slot, gap.0);
                self.taken += 1;
            }
            None => self.lost += 1,
        }
    }

    /// How many gaps there were, and those that were kept.
    pub fn finish(self) -> (u32, Vec<Sample>) {
        let gaps = (0..).zip(&self.slots[..self.taken]);
        let samples: Vec<Sample> = gaps
            .map(|(index, gap)| Sample {
                index,
                latency: Nanos(*gap),
            })
            .collect();
        (samples.len() as u32 + self.lost, samples)
    }
}

/// Computes, and tells when that is done.
#[inline(always)]
fn turn() -> Nanos {
    for step in 0..STEPS {
        std::hint::black_box(step);
    }
    clock::counter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_of_the_thread_is_a_gap() {
        let mut noise = Noise::new(100);
        assert!(noise.turn < Nanos::from_millis(1));
        noise.threshold = Nanos::from_millis(5);
        let thread = std::thread::spawn(move || {
            noise.measure(Nanos::from_millis(1));
            noise.keep(Nanos(7));
            noise.finish()
        });
        let (gaps, samples) = thread.join().unwrap();
        assert_eq!(gaps as usize, samples.len());
        assert_eq!(samples.last().map(|s| s.latency), Some(Nanos(7)));
    }

    #[test]
    fn gaps_without_a_slot_are_counted() {
        let mut noise = Noise::new(1);
        noise.slots = vec![0; 2].into_boxed_slice();
        (1..=5).for_each(|gap| noise.keep(Nanos(gap)));
        let (gaps, samples) = noise.finish();
        assert_eq!((gaps, samples.len()), (5, 2));
    }
}
