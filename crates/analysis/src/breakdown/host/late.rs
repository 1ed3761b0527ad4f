//! Why a timer interrupt came late: were interrupts off, or was the CPU stopped? Three answers, each with what it rests on.

use super::kernel::MeasuredKernel;
use super::opened::Reached;
use super::points::HostMilestones;
use super::threads::{task, threads};
use crate::breakdown::milestones::not_armed;
use crate::breakdown::spans::{CodePlace, KernelTask, Span};
use worstcase_base::format::{counted, micros};
use worstcase_contract::Nanos;
use worstcase_host::trace::{EventSnapshot, LatenessParts};

/// The place at which an interrupt came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ArrivalPlace {
    /// User code, where interrupts are on.
    User,
    /// The idle loop.
    Idle,
    /// The kernel at work.
    Kernel(Reached, CodePlace),
}

/// An interrupt that came late.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LateArrival {
    /// How late.
    pub(crate) late: Nanos,
    /// Into what.
    pub(crate) place: ArrivalPlace,
    /// The thread that kept the hardware unarmed, until so long after the due time.
    pub(crate) unarmed: Option<(KernelTask, Nanos)>,
    /// The kernel put it off, for as long as the one before had taken.
    pub(crate) is_held_back: bool,
}

/// Why it was late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LateReason {
    /// Interrupts were off: shown.
    InterruptsOff,
    /// The hardware was not armed for the timer: shown.
    NotArmed,
    /// The kernel put its timers off: shown.
    HeldBack,
    /// Interrupts were on, and nothing of the kernel ran: something below it stopped the CPU, or held its timer back. Shown.
    CpuStopped,
    /// It cannot be told.
    NotKnown,
}

/// What a run tells of stops of its CPUs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunStops {
    /// Recordings that were read.
    pub(crate) recordings: usize,
    /// How late the interrupt was in those in which it came late into code that has interrupts on: the stop was at least as
    /// long.
    pub(crate) stops: Vec<Nanos>,
    /// Those of them in which it was user code.
    pub(crate) in_user_code: usize,
    /// How late it was, and in which function, in those in which it came right behind what lets interrupts in.
    pub(crate) behind: Vec<(Nanos, String)>,
    /// Time that the hypervisor took from the CPU meanwhile, where it is counted.
    pub steal: Option<Nanos>,
    /// The longest time that `noise` lost in this run with nothing of the kernel in it.
    pub hole: Option<Nanos>,
    /// Whether the machine is a guest.
    pub is_guest: Option<bool>,
}

/// So many recordings at one place are no accident.
const MANY: usize = 3;

impl LateArrival {
    /// The one of a recording, if it came late: more than twice as late as ordinary.
    pub(crate) fn find(
        snapshot: &EventSnapshot,
        points: &HostMilestones,
        ordinary: &LatenessParts,
        kernel: &MeasuredKernel,
    ) -> Option<LateArrival> {
        let late = points.let_in?.saturating_sub(snapshot.ask.due);
        let stood_at = points.stood_at.as_ref()?;
        let usual = ordinary.irq_latency + ordinary.irq_latency;
        (late > usual).then(|| LateArrival {
            late,
            place: match stood_at.at {
                _ if !stood_at.is_kernel_work() => match stood_at.tid {
                    0 => ArrivalPlace::Idle,
                    _ if stood_at.chain.is_empty() => ArrivalPlace::User,
                    _ => ArrivalPlace::Idle,
                },
                Some(at) => ArrivalPlace::Kernel(
                    kernel.reached(at, stood_at.returns_to),
                    stood_at.place().unwrap_or_default(),
                ),
                None => ArrivalPlace::User,
            },
            unarmed: points.unarmed.as_ref().and_then(|unarmed| {
                let until = unarmed.until - snapshot.ask.due;
                let known = threads(snapshot).into_iter().find(|thread| thread.tid == unarmed.by);
                let unknown = || KernelTask {
                    pid: unarmed.by,
                    ..KernelTask::default()
                };
                // What is late once it was armed has another reason.
                (late.saturating_sub(until) <= usual).then(|| (known.as_ref().map_or_else(unknown, task), until))
            }),
            is_held_back: points.held_back.is_some(),
        })
    }

    /// Whether a span is before it.
    pub(crate) fn covers(&self, span: &Span) -> bool {
        span.start_ns < self.late
    }

    /// Why it was late.
    pub(crate) fn reason(&self, run: &RunStops) -> LateReason {
        match &self.place {
            // An interrupt that comes where interrupts are let in may have waited for that alone.
            place if self.is_held_back && !matches!(place, ArrivalPlace::Kernel(Reached::Behind(_), _)) => {
                LateReason::HeldBack
            }
            _ if self.unarmed.is_some() => LateReason::NotArmed,
            ArrivalPlace::User | ArrivalPlace::Idle | ArrivalPlace::Kernel(Reached::Open, _) => LateReason::CpuStopped,
            // A stop begins anywhere, and so within a section with interrupts off as well.
            ArrivalPlace::Kernel(Reached::Behind(_), at) => {
                let is_doubtful = run.has_stops_like(self.late, None) && !run.is_of_the_place(&at.function, self.late);
                match is_doubtful {
                    true => LateReason::NotKnown,
                    false => LateReason::InterruptsOff,
                }
            }
            ArrivalPlace::Kernel(Reached::NotKnown, _) => LateReason::NotKnown,
        }
    }

    /// What the reason rests on.
    pub(crate) fn rests_on(&self, run: &RunStops) -> String {
        if let Some((by, until)) = &self.unarmed {
            return not_armed(*until, by, "softirq HRTIMER");
        }
        let place = match &self.place {
            ArrivalPlace::User => "it came into user code, where interrupts are on".to_string(),
            ArrivalPlace::Idle => "it came into the idle loop".to_string(),
            ArrivalPlace::Kernel(Reached::Open, at) => {
                format!(
                    "it came into {} behind no instruction that lets interrupts in (sti, popf), so that they were on before",
                    at.function
                )
            }
            ArrivalPlace::Kernel(Reached::Behind(name), at) => {
                format!(
                    "it came into {} right behind {name}, which lets interrupts in",
                    at.function
                )
            }
            ArrivalPlace::Kernel(Reached::NotKnown, at) => format!(
                "it came into {}, whose code cannot be read, or does not tell whether interrupts had been off (root, and the boot that \
                 was measured)",
                at.function
            ),
        };
        format!("why the interrupt was late rests on: {place}; {}", run.words())
    }
}

impl RunStops {
    /// Adds a recording.
    pub(crate) fn add(&mut self, arrival: Option<&LateArrival>) {
        self.recordings += 1;
        let Some(LateArrival {
            late,
            place,
            unarmed: None,
            is_held_back: false,
        }) = arrival
        else {
            return;
        };
        if let ArrivalPlace::Kernel(Reached::Behind(_), at) = place {
            self.behind.push((*late, at.function.clone()));
        }
        if matches!(place, ArrivalPlace::User | ArrivalPlace::Kernel(Reached::Open, _)) {
            self.stops.push(*late);
            self.in_user_code += usize::from(*place == ArrivalPlace::User);
        }
    }

    /// Whether CPUs were stopped in this run for at least half this time, and no longer than `most`. Steal alone says so only
    /// where there is no other recording: it comes in steps of 10 ms, and a stop that delayed samples is most often among the
    /// recordings.
    pub(crate) fn has_stops_like(&self, time: Nanos, most: Option<Nanos>) -> bool {
        let is_like = |stop: Nanos| stop.0 * 2 >= time.0 && most.is_none_or(|most| stop <= most);
        let is_alone = self.recordings <= 1;
        let mut seen = self.stops.iter().copied().chain(self.hole);
        seen.any(is_like) || is_alone && self.steal.is_some_and(|steal| steal >= time)
    }

    /// Recordings in which the interrupt came this late or half, right behind what lets interrupts in, in this function.
    fn at_place(&self, function: &str, late: Nanos) -> usize {
        let is_like = |(other, place): &&(Nanos, String)| other.0 * 2 >= late.0 && place == function;
        self.behind.iter().filter(is_like).count()
    }

    /// Whether so many are at one place that stops, which begin anywhere, do not explain them.
    fn is_of_the_place(&self, function: &str, late: Nanos) -> bool {
        let stops = self.stops.iter().filter(|stop| stop.0 * 2 >= late.0).count();
        self.at_place(function, late) > stops.max(MANY - 1)
    }

    /// Whether such a stop may be in this span. One that begins later than the due time is whole: no stop in it is longer.
    pub(crate) fn may_be_in(&self, span: &Span) -> bool {
        let is_whole = span.start_ns > Nanos(0);
        self.has_stops_like(span.length_ns, is_whole.then_some(span.length_ns))
    }

    /// What the run tells, in words.
    pub(crate) fn words(&self) -> String {
        let mut words = format!(
            "of {} of this cell {} came late into code that has interrupts on ({} into user code)",
            counted(self.recordings as u64, "recording"),
            self.stops.len(),
            self.in_user_code
        );
        if let Some(longest) = self.stops.iter().max() {
            words += &format!(", up to {} us", micros(*longest));
        }
        if let Some(hole) = self.hole {
            words += &format!("; noise lost up to {} us to nothing of the kernel", micros(hole));
        }
        match self.steal {
            Some(steal) => words += &format!("; steal of this cell {} us", micros(steal)),
            None => words += "; steal is not counted",
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(longest: u64) -> RunStops {
        RunStops {
            recordings: 30,
            stops: vec![Nanos(longest); usize::from(longest > 0)],
            ..RunStops::default()
        }
    }

    fn reason(place: ArrivalPlace, run: &RunStops) -> LateReason {
        let arrival = LateArrival {
            late: Nanos(1_000_000),
            place,
            unarmed: None,
            is_held_back: false,
        };
        assert!(
            arrival.rests_on(run).contains("it came into"),
            "{}",
            arrival.rests_on(run)
        );
        arrival.reason(run)
    }

    fn kernel(reached: Reached) -> ArrivalPlace {
        ArrivalPlace::Kernel(reached, CodePlace::default())
    }

    #[test]
    fn code_with_interrupts_on_shows_a_stop() {
        for place in [ArrivalPlace::User, ArrivalPlace::Idle, kernel(Reached::Open)] {
            assert_eq!(reason(place.clone(), &run(0)), LateReason::CpuStopped, "{place:?}");
        }
    }

    #[test]
    fn behind_sti_interrupts_were_off_unless_the_cpu_is_stopped_that_long_elsewhere() {
        let behind = || kernel(Reached::Behind("sti"));
        assert_eq!(reason(behind(), &run(0)), LateReason::InterruptsOff);
        assert_eq!(reason(behind(), &run(499_999)), LateReason::InterruptsOff);
        assert_eq!(reason(behind(), &run(500_000)), LateReason::NotKnown);
        let hole = RunStops {
            hole: Some(Nanos(700_000)),
            ..run(0)
        };
        assert_eq!(reason(behind(), &hole), LateReason::NotKnown);
        let steal = |recordings| RunStops {
            recordings,
            steal: Some(Nanos(10_000_000)),
            ..run(0)
        };
        assert_eq!(reason(behind(), &steal(1)), LateReason::NotKnown);
        assert_eq!(reason(behind(), &steal(30)), LateReason::InterruptsOff);
    }

    #[test]
    fn more_at_one_place_than_stops_anywhere_are_of_the_place() {
        let at = |places: usize, stops: usize, late| RunStops {
            behind: vec![(Nanos(late), String::new()); places],
            stops: vec![Nanos(1_000_000); stops],
            ..run(0)
        };
        let told = |run| reason(kernel(Reached::Behind("sti")), &run);
        assert_eq!(told(at(5, 4, 900_000)), LateReason::InterruptsOff);
        assert_eq!(told(at(4, 4, 900_000)), LateReason::NotKnown);
        assert_eq!(told(at(2, 1, 900_000)), LateReason::NotKnown, "too few");
        assert_eq!(told(at(5, 4, 400_000)), LateReason::NotKnown, "shorter ones");
    }

    #[test]
    fn a_stop_in_a_whole_span_is_no_longer_than_it() {
        let span = |start| Span::unexplained(Nanos(start), Nanos(4_000_000), None);
        for (stop, within, from_due) in [
            (1_900_000, false, false),
            (3_000_000, true, true),
            (13_000_000, false, true),
        ] {
            assert_eq!(run(stop).may_be_in(&span(600)), within, "{stop}");
            assert_eq!(run(stop).may_be_in(&span(0)), from_due, "{stop}");
        }
    }

    #[test]
    fn code_that_cannot_be_read_tells_nothing() {
        assert_eq!(reason(kernel(Reached::NotKnown), &run(0)), LateReason::NotKnown);
    }

    #[test]
    fn a_run_counts_stops_where_interrupts_are_on() {
        let mut run = RunStops::default();
        let arrival = |late, place| LateArrival {
            late: Nanos(late),
            place,
            unarmed: None,
            is_held_back: false,
        };
        run.add(None);
        run.add(Some(&arrival(3_000_000, ArrivalPlace::User)));
        run.add(Some(&arrival(5_000_000, kernel(Reached::Open))));
        run.add(Some(&arrival(9_000_000, kernel(Reached::Behind("popf")))));
        run.add(Some(&arrival(9_000_000, ArrivalPlace::Idle)));
        run.steal = Some(Nanos(10_000_000));
        assert_eq!(
            run.words(),
            "of 5 recordings of this cell 2 came late into code that has interrupts on (1 into user code), up to 5000 us; steal \
             of this cell 10000 us"
        );
    }
}
