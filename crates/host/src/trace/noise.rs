//! Noise: what took the CPU from a spinning thread, for each gap that the thread sees.

use super::events::{CpuContext, CpuEvent, TracedThread};
use super::timeline::{StretchOwner, TimeStretch, Timeline};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use worstcase_contract::Nanos;

/// Limit for the stretches of a CPU that are kept.
const KEPT: usize = 1 << 14;
/// The tracepoints do not cover the way into the kernel and back: a stretch up to this long, next to something traced,
/// counts as that way (page table isolation and mitigations included).
const WAY: Nanos = Nanos(2_000);

/// How a record calls the time of a gap in which the trace shows nothing of the kernel.
pub const UNEXPLAINED: &str = "unexplained (hypervisor, firmware, hardware)";

/// What took the CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum NoiseSource {
    /// A hardware interrupt.
    Interrupt {
        /// The interrupt.
        source: CpuContext,
    },
    /// A soft interrupt.
    SoftInterrupt {
        /// The soft interrupt.
        source: CpuContext,
    },
    /// Another thread.
    Thread {
        /// The thread.
        thread: TracedThread,
    },
    /// A non-maskable interrupt.
    Nmi,
    /// The way into the kernel and back, around one of the others.
    Way,
    /// The trace shows nothing of the kernel: a hypervisor, firmware (SMI), or lost events.
    Unexplained,
}

/// A cause's part of a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CauseShare {
    /// What.
    pub cause: NoiseSource,
    /// How long.
    pub time: Nanos,
    /// In how many pieces.
    pub(crate) pieces: u32,
}

/// The noise of one CPU, on which one thread spins.
#[derive(Debug)]
pub(crate) struct CpuNoise {
    cpu: u32,
    tid: u32,
    timeline: Timeline,
    stretches: VecDeque<TimeStretch>,
}

impl CpuNoise {
    /// For the CPU on which thread `tid` spins.
    pub fn new(cpu: u32, tid: u32) -> CpuNoise {
        CpuNoise {
            cpu,
            tid,
            timeline: Timeline::default(),
            stretches: VecDeque::new(),
        }
    }

    /// Takes the next event; events of other CPUs are ignored.
    pub fn feed(&mut self, event: &CpuEvent<'_>) {
        if event.cpu != self.cpu {
            return;
        }
        let stretches = &mut self.stretches;
        self.timeline.feed(event, |stretch| {
            stretches.push_back(stretch);
            if stretches.len() > KEPT {
                stretches.pop_front();
            }
        });
    }

    /// The causes of a gap, the largest first; their times add up to the gap. Nested ones count for the innermost.
    pub(crate) fn attribute(&self, start: Nanos, end: Nanos) -> Vec<CauseShare> {
        let end = end.max(start);
        let first = self.stretches.partition_point(|s| s.end <= start);
        let within: Vec<TimeStretch> = self
            .stretches
            .range(first..)
            .take_while(|s| s.start < end)
            .copied()
            .collect();
        let mut shares = CauseShares::default();
        let is_traced = within.iter().any(|s| !self.is_own(s));
        let own = |shares: &mut CauseShares, time: Nanos| {
            let way = if is_traced { time.min(WAY) } else { Nanos(0) };
            shares.add(NoiseSource::Way, way);
            shares.add(NoiseSource::Unexplained, time - way);
        };
        let mut at = start;
        let mut spun = Nanos(0);
        for stretch in &within {
            let (from, to) = (stretch.start.max(at), stretch.end.min(end));
            spun = spun + (from - at);
            if self.is_own(stretch) {
                spun = spun + (to - from);
            } else {
                own(&mut shares, spun);
                spun = Nanos(0);
                shares.add(cause(stretch), to - from);
            }
            at = to;
        }
        own(&mut shares, spun + (end - at));
        shares.sorted()
    }

    fn is_own(&self, stretch: &TimeStretch) -> bool {
        stretch.owner == StretchOwner::Thread && stretch.thread.tid == self.tid
    }
}

fn cause(stretch: &TimeStretch) -> NoiseSource {
    match stretch.owner {
        StretchOwner::Thread => NoiseSource::Thread { thread: stretch.thread },
        StretchOwner::Context(source @ CpuContext::Soft(_)) => NoiseSource::SoftInterrupt { source },
        StretchOwner::Context(CpuContext::TimerFunction { .. }) => NoiseSource::Interrupt {
            source: CpuContext::Timer,
        },
        StretchOwner::Context(source) => NoiseSource::Interrupt { source },
        StretchOwner::Nmi => NoiseSource::Nmi,
        StretchOwner::Unknown => NoiseSource::Unexplained,
    }
}

#[derive(Default)]
struct CauseShares(Vec<CauseShare>);

impl CauseShares {
    fn add(&mut self, cause: NoiseSource, time: Nanos) {
        if time == Nanos(0) {
            return;
        }
        match self.0.iter_mut().find(|share| share.cause == cause) {
            Some(share) => {
                share.time = share.time + time;
                share.pieces += 1;
            }
            None => self.0.push(CauseShare { cause, time, pieces: 1 }),
        }
    }

    fn sorted(mut self) -> Vec<CauseShare> {
        self.0.sort_by_key(|share| std::cmp::Reverse(share.time));
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::events::TracedChange;
    use proptest::prelude::*;

    const SPINS: u32 = 7;

    fn noise(events: &[(u64, u32, TracedChange)]) -> CpuNoise {
        let mut noise = CpuNoise::new(0, SPINS);
        for (at, tid, what) in events {
            noise.feed(&CpuEvent {
                at: Nanos(*at),
                cpu: 0,
                tid: *tid,
                what: *what,
                chain: &[],
            });
        }
        noise
    }

    fn thread(tid: u32) -> TracedThread {
        TracedThread {
            tid,
            ..TracedThread::default()
        }
    }

    fn switch(from: u32, to: u32) -> TracedChange {
        TracedChange::Switch {
            from: thread(from),
            asleep: false,
            to: thread(to),
        }
    }

    fn shares(noise: &CpuNoise, start: u64, end: u64) -> Vec<(NoiseSource, u64)> {
        let shares = noise.attribute(Nanos(start), Nanos(end));
        shares.iter().map(|share| (share.cause, share.time.0)).collect()
    }

    const NET: CpuContext = CpuContext::Soft(3);

    #[test]
    fn a_gap_with_nested_causes() {
        let noise = noise(&[
            (1_000, SPINS, TracedChange::Enter(CpuContext::Timer)),
            (3_000, SPINS, TracedChange::Exit(CpuContext::Timer)),
            (3_100, SPINS, TracedChange::Enter(NET)),
            (4_000, SPINS, TracedChange::Enter(CpuContext::Timer)),
            (4_500, SPINS, TracedChange::Exit(CpuContext::Timer)),
            (9_000, SPINS, TracedChange::Exit(NET)),
            (9_300, SPINS, switch(SPINS, 9)),
            (19_300, 9, switch(9, SPINS)),
            (30_000, SPINS, TracedChange::Enter(CpuContext::Timer)),
        ]);
        let found = shares(&noise, 500, 20_000);
        let timer = NoiseSource::Interrupt {
            source: CpuContext::Timer,
        };
        assert_eq!(
            found,
            [
                (NoiseSource::Thread { thread: thread(9) }, 10_000),
                (NoiseSource::SoftInterrupt { source: NET }, 5_400),
                (timer, 2_500),
                (NoiseSource::Way, 500 + 100 + 300 + 700),
            ]
        );
    }

    #[test]
    fn nothing_ran_in_a_gap() {
        let noise = noise(&[
            (1_000, SPINS, TracedChange::Enter(CpuContext::Timer)),
            (3_000, SPINS, TracedChange::Exit(CpuContext::Timer)),
            (90_000, SPINS, TracedChange::Enter(CpuContext::Timer)),
        ]);
        assert_eq!(shares(&noise, 10_000, 60_000), [(NoiseSource::Unexplained, 50_000)]);
        assert_eq!(shares(&noise, 95_000, 96_000), [(NoiseSource::Unexplained, 1_000)]);
        let late = [
            (NoiseSource::Unexplained, 46_000),
            (
                NoiseSource::Interrupt {
                    source: CpuContext::Timer,
                },
                2_000,
            ),
            (NoiseSource::Way, 3_000),
        ];
        let mut found = shares(&noise, 0, 51_000);
        found.sort_by_key(|(cause, _)| *cause == NoiseSource::Way);
        assert_eq!(found, late, "a long way back is not the way");
    }

    fn any_event() -> impl Strategy<Value = (u64, u32, TracedChange)> {
        let context = prop_oneof![
            Just(CpuContext::Timer),
            Just(CpuContext::Vector("reschedule".into())),
            Just(NET),
            Just(CpuContext::Device {
                irq: 3,
                name: "eth0".into()
            }),
        ];
        let what = prop_oneof![
            context.clone().prop_map(TracedChange::Enter),
            context.prop_map(TracedChange::Exit),
            (0u32..3, 0u32..3).prop_map(|(from, to)| switch(from + SPINS, to + SPINS)),
            (0u64..2_000).prop_map(|n| TracedChange::Nmi { length: Nanos(n) }),
            (0u64..9_000).prop_map(|n| TracedChange::Lost {
                since: Nanos(n),
                count: 1
            }),
        ];
        (0u64..9_000, SPINS..SPINS + 3, what)
    }

    proptest! {
        #[test]
        fn causes_add_up_to_the_gap(
            mut events in prop::collection::vec(any_event(), 0..40),
            start in 0u64..9_000,
            length in 0u64..5_000,
            in_order in any::<bool>(),
        ) {
            if in_order {
                events.sort_by_key(|(at, ..)| *at);
            }
            let found = noise(&events).attribute(Nanos(start), Nanos(start + length));
            prop_assert_eq!(found.iter().map(|share| share.time.0).sum::<u64>(), length);
            prop_assert!(found.iter().all(|share| share.time > Nanos(0)));
        }
    }
}
