mod cpus;

use super::words::sentence;
use super::*;
use crate::events::{CpuContext, CpuEvent, TracedChange, TracedThread};
use syscalls::Sysno;

const CTL: u32 = 10;
const LOGGER: u32 = 11;
const HOG: u32 = 12;
const OTHER: u32 = 13;

fn thread(tid: u32) -> TracedThread {
    let (comm, priority) = match tid {
        CTL => ("ctl", 49),
        LOGGER => ("logger", 120),
        HOG => ("hog", 79),
        OTHER => ("other", 120),
        _ => ("swapper", 120),
    };
    TracedThread {
        tid,
        priority,
        comm: comm.into(),
    }
}

/// A trace made by hand: the current thread of each CPU is known, as the kernel knows it.
struct Trace {
    follower: Follower,
    at: u64,
    current: [u32; 2],
    cpu: usize,
}

const MUTEX: [u64; 4] = [0x7f00, 0x80, 2, 0];

impl Trace {
    fn new(request: FollowRequest) -> Trace {
        let mut trace = Trace {
            follower: Follower::new(FollowRequest {
                program: vec![CTL, LOGGER],
                ..request
            }),
            at: 0,
            current: [0, 0],
            cpu: 0,
        };
        for cpu in [0, 1] {
            let began = TracedChange::Lost {
                since: Nanos(0),
                count: 0,
            };
            trace = trace.on(cpu).push(0, began);
        }
        trace.on(0)
    }

    fn on(mut self, cpu: usize) -> Trace {
        self.cpu = cpu;
        self
    }

    fn push(mut self, at: u64, what: TracedChange) -> Trace {
        self.at = at;
        self.follower.feed(&CpuEvent {
            at: Nanos(at),
            cpu: self.cpu as u32,
            tid: self.current[self.cpu],
            what,
            chain: &[],
        });
        self
    }

    fn switch(self, at: u64, to: u32, asleep: bool) -> Trace {
        let from = self.current[self.cpu];
        let mut trace = self.push(
            at,
            TracedChange::Switch {
                from: thread(from),
                asleep,
                to: thread(to),
            },
        );
        trace.current[trace.cpu] = to;
        trace
    }

    fn call(self, at: u64, call: Sysno, arguments: [u64; 4]) -> Trace {
        let call = call.id() as u32;
        self.push(at, TracedChange::SysEnter { call, arguments })
    }

    fn returns(self, at: u64, call: Sysno) -> Trace {
        let call = call.id() as u32;
        self.push(at, TracedChange::SysExit { call, result: 0 })
    }

    fn wakes(self, at: u64, tid: u32) -> Trace {
        self.push(at, TracedChange::Waking { tid })
    }

    /// The current thread sleeps until `due`; the CPU is idle until its timer wakes it, and it returns at `due` + 30.
    fn sleeps(self, at: u64, due: u64) -> Trace {
        self.sleeps_with(1, at, due)
    }

    /// The same with these flags: 0 is for a time instead of until an instant.
    fn sleeps_with(self, flags: u64, at: u64, due: u64) -> Trace {
        self.call(at, Sysno::clock_nanosleep, [1, flags, 0, 0])
            .push(
                at + 1,
                TracedChange::TimerSet {
                    timer: 0xdead,
                    function: 0xf00,
                    earliest: Nanos(due),
                    latest: Nanos(due),
                },
            )
            .switch(at + 2, 0, true)
            .timer(due + 10)
            .switch(due + 20, CTL, false)
            .returns(due + 30, Sysno::clock_nanosleep)
    }

    fn timer(self, at: u64) -> Trace {
        let function = CpuContext::TimerFunction {
            timer: 0xdead,
            function: 0xf00,
        };
        self.push(at, TracedChange::Enter(CpuContext::Timer))
            .push(at, TracedChange::Enter(function))
            .wakes(at + 2, CTL)
            .push(at + 3, TracedChange::Exit(function))
            .push(at + 4, TracedChange::Exit(CpuContext::Timer))
    }

    fn finish(self) -> Followed {
        self.follower.finish()
    }
}

/// Twelve cycles of 1000, of which one contains what `one` does with the trace at its beginning; the cycle then goes on at the
/// instant that it returns.
fn cycles(request: FollowRequest, one: impl Fn(Trace, u64) -> (Trace, u64)) -> Followed {
    all_cycles(request, |nth, trace, at| match nth {
        6 => one(trace, at),
        _ => (trace, at),
    })
}

/// The same of each cycle, which are numbered from 1.
fn all_cycles(request: FollowRequest, each: impl Fn(u64, Trace, u64) -> (Trace, u64)) -> Followed {
    let mut trace = Trace::new(request).switch(500, CTL, false);
    let mut at = 600;
    for nth in 1..=12_u64 {
        let due = nth * 1_000;
        trace = trace.sleeps(at, due);
        (trace, at) = each(nth, trace, due + 130);
    }
    trace
        .call(at, Sysno::clock_nanosleep, [1, 1, 0, 0])
        .returns(at + 1, Sysno::clock_nanosleep)
        .finish()
}

fn said(cause: &PartCause) -> String {
    sentence(cause, &|_| None)
}

fn adds_up(followed: &Followed) {
    for cycle in &followed.slowest {
        let mut at = cycle.times.release;
        for part in &cycle.parts {
            assert_eq!(part.from, at, "{:?}", cycle.parts);
            assert!(part.to > part.from);
            at = part.to;
        }
        assert_eq!(at, cycle.times.end);
    }
    for cycle in &followed.cycles {
        let sum = cycle.execution.0 + cycle.interference.0 + cycle.blocked.0 + cycle.unexplained.0;
        assert_eq!(sum, cycle.response().0);
    }
}

#[test]
fn cycles_are_found_with_period_and_times() {
    let followed = cycles(FollowRequest::default(), |trace, at| (trace, at));
    let wait = followed.wait.unwrap();
    assert_eq!(
        (wait.tid, wait.period, wait.is_relative),
        (CTL, Some(Nanos(1_000)), false)
    );
    assert_eq!((followed.cycles.len(), followed.missed, followed.late), (12, 0, 0));
    let cycle = followed.cycles[3];
    assert_eq!(
        (cycle.release, cycle.start, cycle.end),
        (Nanos(4_000), Nanos(4_030), Nanos(4_130))
    );
    // 10 late, 10 until it ran, of which 2 in the timer's function.
    assert_eq!(
        (cycle.interference, cycle.execution, cycle.blocked),
        (Nanos(20), Nanos(110), Nanos(0))
    );
    adds_up(&followed);
    assert!(followed.wanted.is_none());
}

#[test]
fn a_cycle_that_is_asked_for_is_kept_with_its_parts_whether_it_is_late_or_not() {
    let request = FollowRequest {
        cycle: Some(Nanos(4_000)),
        ..FollowRequest::default()
    };
    let followed = cycles(request, |trace, at| (trace, at));
    let wanted = followed.wanted.as_ref().unwrap();
    assert_eq!(wanted.times, followed.cycles[3]);
    let lengths = wanted.parts.iter().map(|part| part.to.0 - part.from.0);
    assert_eq!(lengths.sum::<u64>(), 130);
    let ran = wanted.parts.last().unwrap();
    assert_eq!((ran.cpu, &ran.cause.what), (Some(0), &Doing::User));
}

#[test]
fn a_wait_that_comes_in_some_cycles_ends_none_however_regular_it_is() {
    let mut trace = Trace::new(FollowRequest::default()).switch(500, CTL, false);
    let mut at = 600;
    for nth in 1..=40_u64 {
        let due = nth * 1_000;
        trace = trace.sleeps_with(0, at, due);
        at = due + 130;
        if nth % 4 == 0 {
            trace = trace
                .call(at, Sysno::futex, MUTEX)
                .switch(at + 2, LOGGER, true)
                .wakes(at + 50, CTL)
                .switch(at + 60, CTL, false)
                .returns(at + 70, Sysno::futex);
            at += 80;
        }
    }
    let followed = trace.sleeps_with(0, at, 41_000).finish();
    let wait = followed.wait.unwrap();
    assert!(wait.call.is(Sysno::clock_nanosleep) && wait.is_relative, "{wait:?}");
    assert_eq!(wait.period, Some(Nanos(1_000)));
    adds_up(&followed);
}

/// Ten periods, as a loop has them that is late by more than two of them, and then sleeps for no time.
#[test]
fn a_loop_that_catches_up_by_sleeps_for_no_time_has_its_period() {
    let mut trace = Trace::new(FollowRequest::default()).switch(500, CTL, false);
    let mut at = 600;
    for due in (0..10)
        .flat_map(|ten| [1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000, 9_125, 9_385].map(|due| ten * 10_000 + due))
    {
        trace = trace.sleeps(at, due);
        at = due + 130;
    }
    let followed = trace.sleeps(at, 101_000).finish();
    assert_eq!(followed.wait.unwrap().period, Some(Nanos(1_000)));
    adds_up(&followed);
}

/// A thread that yields stays able to run: its timer gives it the next period's runtime.
#[test]
fn a_thread_with_a_deadline_waits_for_its_period_by_yielding() {
    let mut trace = Trace::new(FollowRequest::default()).switch(500, CTL, false);
    let mut at = 600;
    for due in (1..=12).map(|nth| nth * 1_000) {
        let function = CpuContext::TimerFunction {
            timer: 0xdead,
            function: 0xd1,
        };
        trace = trace
            .call(at, Sysno::sched_yield, [0; 4])
            .push(
                at + 1,
                TracedChange::TimerSet {
                    timer: 0xdead,
                    function: 0xd1,
                    earliest: Nanos(due),
                    latest: Nanos(due),
                },
            )
            .switch(at + 2, OTHER, false)
            .push(due + 1, TracedChange::Enter(CpuContext::Timer))
            .push(due + 2, TracedChange::Enter(function))
            .push(due + 3, TracedChange::Exit(function))
            .push(due + 4, TracedChange::Exit(CpuContext::Timer))
            .switch(due + 20, CTL, false)
            .returns(due + 30, Sysno::sched_yield);
        at = due + 130;
    }
    let followed = trace
        .call(at, Sysno::sched_yield, [0; 4])
        .returns(at + 1, Sysno::sched_yield)
        .finish();
    let wait = followed.wait.unwrap();
    assert!(wait.call.is(Sysno::sched_yield), "{wait:?}");
    assert_eq!(
        (wait.period, followed.cycles.len(), followed.at_once),
        (Some(Nanos(1_000)), 12, 0)
    );
    let cycle = followed.cycles[3];
    assert_eq!(
        (cycle.release, cycle.start, cycle.interference),
        (Nanos(4_000), Nanos(4_030), Nanos(20))
    );
    adds_up(&followed);
}

/// A loop that never waits: a write, which the user names, is what a cycle begins and ends with.
#[test]
fn a_call_that_is_named_is_a_mark_though_it_never_waits() {
    let with = |wait: Option<WantedWait>, deadline: Option<u64>| {
        let request = FollowRequest {
            wait,
            deadline: deadline.map(Nanos),
            ..FollowRequest::default()
        };
        let mut trace = Trace::new(request).switch(500, CTL, false);
        // A mark that comes late is one, too.
        for at in [
            1_000, 2_000, 3_200, 4_000, 5_000, 7_000, 8_000, 9_000, 10_000, 11_000, 12_000,
        ] {
            trace = trace
                .call(at, Sysno::write, [7, 0, 1, 0])
                .returns(at + 5, Sysno::write)
                .call(at + 300, Sysno::write, [8, 0, 1, 0])
                .returns(at + 301, Sysno::write);
            if at == 5_000 {
                trace = trace.switch(5_400, HOG, false).switch(6_900, CTL, true);
            }
        }
        trace.finish()
    };
    let write = |descriptor| WantedWait::Call {
        call: Sysno::write.id() as u32,
        argument: Some(descriptor),
    };
    let of = |wait| with(wait, Some(1_500));
    assert!(of(None).wait.is_none() && of(Some(write(9))).wait.is_none());
    // Every cycle takes a period.
    assert!(with(Some(write(7)), None).late <= 1);
    let followed = of(Some(write(7)));
    adds_up(&followed);
    assert_eq!((followed.cycles.len(), followed.late, followed.at_once), (10, 1, 0));
    assert_eq!(
        said(&followed.causes[0].cause),
        "ctl was preempted while hog (thread 12, RT 20) ran, whose priority is lower"
    );
}

/// From one mark to the next, of the program's threads alone.
#[test]
fn a_mark_that_is_named_begins_and_ends_a_cycle() {
    let line = WantedWait::Line("step".into());
    let request = FollowRequest {
        wait: Some(line),
        deadline: Some(Nanos(1_500)),
        ..FollowRequest::default()
    };
    let mut trace = Trace::new(request).switch(500, CTL, false);
    for at in (1_000..12_000).step_by(1_000).filter(|at| *at != 6_000) {
        trace = trace.push(at, TracedChange::Mark);
        if at == 5_000 {
            trace = trace
                .switch(5_400, HOG, false)
                .push(5_500, TracedChange::Mark)
                .switch(6_900, CTL, true);
        }
    }
    let followed = trace.finish();
    adds_up(&followed);
    assert_eq!((followed.cycles.len(), followed.late, followed.missed), (9, 1, 1));
    assert_eq!(followed.wait.unwrap().by, Some(WokenBy::Mark));
    assert_eq!(followed.mark.as_deref(), Some("line 'step' in trace_marker"));
    assert_eq!(followed.cycles[4].response(), Nanos(2_000));
}

#[test]
fn a_thread_that_is_stopped_waits_for_nobody() {
    let followed = cycles(with_deadline(), |trace, at| {
        let taken = TracedChange::SignalTaken {
            signal: 19,
            has_handler: false,
        };
        let trace = trace
            .on(1)
            .switch(at, OTHER, false)
            .push(at, TracedChange::SignalSent { tid: CTL, signal: 19 })
            .on(0)
            .push(at + 1, taken)
            .switch(at + 2, 0, true)
            .on(1)
            .switch(at + 490, HOG, true)
            .push(at + 495, TracedChange::SignalSent { tid: CTL, signal: 18 })
            .wakes(at + 500, CTL)
            .on(0)
            .switch(at + 510, CTL, false);
        (trace, at + 520)
    });
    adds_up(&followed);
    let cause = &followed.causes[0].cause;
    // Not the one that let it go on.
    assert_eq!(
        said(cause),
        "ctl was stopped by a signal, which other (thread 13, SCHED_OTHER) had sent"
    );
    assert_eq!(advice(cause), None);
}

/// Its timers are put off by more than four periods of 2000, and it leaves out those that are over.
#[test]
fn a_loop_that_always_misses_periods_has_its_own_period() {
    let mut trace = Trace::new(FollowRequest::default()).switch(500, CTL, false);
    let (mut at, mut due) = (600, 0);
    for nth in 0..40 {
        due += if nth % 3 == 0 { 10_000 } else { 8_000 };
        trace = trace.sleeps(at, due);
        at = due + 6_130;
    }
    let followed = trace.sleeps(at, due + 8_000).finish();
    assert_eq!(followed.wait.unwrap().period, Some(Nanos(2_000)));
    assert_eq!((followed.cycles.len(), followed.late), (40, 40));
    adds_up(&followed);
}

/// As `time.sleep` of Python does it: until an instant, which is now and a time.
#[test]
fn a_sleep_that_ends_late_ends_a_cycle() {
    let mut trace = Trace::new(FollowRequest::default()).switch(500, CTL, false);
    let mut at = 600;
    for nth in 0..60 {
        trace = trace.sleeps(at, at + 1_000);
        at += 1_130 + if nth % 10 == 9 { 400 } else { nth * 7 % 11 };
    }
    let followed = trace.sleeps(at, at + 1_000).finish();
    assert_eq!(followed.cycles.len(), 60);
    assert_eq!(followed.late, 0);
    adds_up(&followed);
}

/// After a cycle that took too long it counts its periods from there.
#[test]
fn another_phase_begins_with_a_cycle() {
    let mut trace = Trace::new(FollowRequest::default()).switch(500, CTL, false);
    let (mut at, mut due) = (600, 0);
    for nth in 0..90 {
        due += 1_000;
        trace = trace.sleeps(at, due);
        at = due + 130;
        if nth % 20 == 19 {
            at = due + 1_350;
            due = at;
        }
    }
    let followed = trace.sleeps(at, due + 1_000).finish();
    assert_eq!((followed.cycles.len(), followed.late), (90, 4));
    assert_eq!(
        followed.cycles.iter().map(|cycle| cycle.response().0).max(),
        Some(1_350)
    );
    adds_up(&followed);
}

#[test]
fn another_period_later_is_no_sleep_within_a_cycle() {
    let mut trace = Trace::new(FollowRequest::default()).switch(500, CTL, false);
    let (mut at, mut due) = (600, 0);
    for nth in 0..500 {
        due += if nth < 300 { 1_000 } else { 700 };
        trace = trace.sleeps(at, due);
        at = due + 130;
    }
    let followed = trace.sleeps(at, due + 700).finish();
    assert!(followed.cycles.len() > 450, "{}", followed.cycles.len());
    adds_up(&followed);
}

#[test]
fn a_thread_that_was_made_is_ready_until_it_runs() {
    const MADE: u32 = 14;
    let followed = cycles(with_deadline(), |trace, at| {
        let made = TracedChange::Named {
            tid: MADE,
            name: "made".into(),
            is_new: Some(true),
        };
        let trace = trace
            .on(1)
            .switch(at, OTHER, false)
            .on(0)
            .push(at + 1, made)
            .call(at + 2, Sysno::futex, MUTEX)
            .switch(at + 3, 0, true)
            .on(1)
            .switch(at + 500, MADE, false)
            .wakes(at + 520, CTL)
            .on(0)
            .switch(at + 530, CTL, false)
            .returns(at + 540, Sysno::futex);
        (trace, at + 550)
    });
    adds_up(&followed);
    assert_eq!(followed.unexplained, Nanos(0));
    let cause = &followed.causes[0].cause;
    assert!(
        said(cause).contains("which was ready while other ordinary threads ran"),
        "{}",
        said(cause)
    );
}

fn with_deadline() -> FollowRequest {
    FollowRequest {
        deadline: Some(Nanos(300)),
        ..FollowRequest::default()
    }
}

#[test]
fn a_mutex_held_by_a_preempted_thread_is_named_with_who_preempts() {
    let followed = cycles(with_deadline(), |trace, at| {
        let trace = trace
            .call(at, Sysno::futex, MUTEX)
            .switch(at + 2, HOG, true)
            .on(1)
            .switch(at + 3, OTHER, false)
            .on(0)
            .switch(at + 400, LOGGER, true)
            .wakes(at + 450, CTL)
            .switch(at + 455, CTL, false)
            .returns(at + 460, Sysno::futex);
        (trace, at + 480)
    });
    adds_up(&followed);
    // The logger was not seen before it ran, so it is not known what it waited for.
    assert!(
        matches!(followed.causes[0].cause.what, Doing::Unexplained(_)),
        "{:?}",
        followed.causes
    );

    let followed = cycles(with_deadline(), |trace, at| {
        // The logger runs first and is preempted.
        let trace = trace
            .call(at, Sysno::futex, MUTEX)
            .switch(at + 2, LOGGER, true)
            .switch(at + 50, HOG, false)
            .switch(at + 400, LOGGER, true)
            .wakes(at + 450, CTL)
            .switch(at + 455, CTL, false)
            .returns(at + 460, Sysno::futex);
        (trace, at + 480)
    });
    adds_up(&followed);
    let cause = &followed.causes[0];
    assert_eq!((followed.late, cause.cycles, cause.longest), (1, 1, Nanos(350)));
    assert_eq!(
        said(&cause.cause),
        "ctl waited in futex(0x7f00) for logger (thread 11, SCHED_OTHER), which was preempted while hog (thread 12, RT 20) ran, \
         whose priority is higher"
    );
    assert!(advice(&cause.cause).unwrap().contains("PTHREAD_PRIO_INHERIT"));
    let worst = cause.worst.as_ref().unwrap();
    assert_eq!(worst.times.index, 5);
}

#[test]
fn the_worst_cycle_of_a_cause_is_the_latest_and_not_that_with_its_longest_part() {
    let followed = all_cycles(with_deadline(), |nth, trace, at| {
        let (by_hog, own) = match nth {
            4 => (350, 0),
            8 => (340, 200),
            _ => return (trace, at),
        };
        let trace = trace.switch(at, HOG, false).switch(at + by_hog, CTL, true);
        (trace, at + by_hog + own)
    });
    adds_up(&followed);
    let cause = &followed.causes[0];
    assert_eq!((followed.late, cause.cycles, cause.longest), (2, 2, Nanos(350)));
    let worst = cause.worst.as_ref().unwrap();
    assert_eq!(worst.times.response(), followed.slowest[0].times.response());
    assert!(worst.times.response() > Nanos(600), "{:?}", worst.times);
}

#[test]
fn what_is_in_every_cycle_is_a_cause_too() {
    let mut trace = Trace::new(with_deadline()).switch(500, CTL, false);
    let mut at = 600;
    for nth in 1..=12_u64 {
        let due = nth * 1_000;
        trace = trace
            .sleeps(at, due)
            .call(due + 40, Sysno::fsync, [3, 0, 0, 0])
            .switch(due + 50, 0, true);
        let disk = CpuContext::Device {
            irq: 36,
            name: "disk".into(),
        };
        trace = trace
            .push(due + 400, TracedChange::Enter(disk))
            .wakes(due + 401, CTL)
            .push(due + 402, TracedChange::Exit(disk))
            .switch(due + 410, CTL, false)
            .returns(due + 420, Sysno::fsync);
        at = due + 430;
    }
    let followed = trace
        .call(at, Sysno::clock_nanosleep, [1, 1, 0, 0])
        .returns(at + 1, Sysno::clock_nanosleep)
        .finish();
    adds_up(&followed);
    assert_eq!(followed.late, 12);
    let cause = &followed.causes[0];
    assert_eq!((cause.cycles, cause.usual), (12, Nanos(351)));
    assert_eq!(
        said(&cause.cause),
        "ctl waited in fsync(descriptor 3) for interrupt 36 (disk)"
    );
}

#[test]
fn lost_events_make_a_cycle_unexplained() {
    let lost = |at: u64| TracedChange::Lost {
        since: Nanos(at + 10),
        count: 7,
    };
    // On the CPU of the thread, and on another one, where whoever it waits for may have run.
    for cpu in [0, 1] {
        let followed = cycles(with_deadline(), |trace, at| {
            let trace = trace
                .on(cpu)
                .push(at + 300, lost(at))
                .on(0)
                .push(at + 310, TracedChange::PageFault);
            (trace, at + 400)
        });
        adds_up(&followed);
        assert_eq!(followed.lost, 7);
        let cycle = followed.slowest[0].times;
        assert!(cycle.unexplained >= Nanos(290), "{cycle:?}");
        assert!(matches!(followed.causes[0].cause.what, Doing::Unexplained(_)));
    }
}

#[test]
fn a_thread_that_runs_without_a_switch_is_a_hole() {
    let followed = cycles(with_deadline(), |mut trace, at| {
        // Another thread runs suddenly, and then the first one again.
        trace.current[0] = OTHER;
        trace = trace.push(at + 100, TracedChange::Raise { vector: 3 });
        trace.current[0] = CTL;
        trace = trace.push(at + 250, TracedChange::PageFault);
        (trace, at + 400)
    });
    adds_up(&followed);
    assert_eq!(followed.holes, 2);
    assert!(followed.slowest[0].times.unexplained >= Nanos(200));
}

#[test]
fn a_switch_from_idle_that_is_not_reported_hides_only_when_it_was() {
    let followed = cycles(with_deadline(), |mut trace, at| {
        let disk = CpuContext::Device {
            irq: 36,
            name: "disk".into(),
        };
        trace = trace
            .call(at, Sysno::fsync, [3, 0, 0, 0])
            .switch(at + 2, 0, true)
            .push(at + 400, TracedChange::Enter(disk))
            .wakes(at + 401, CTL)
            .push(at + 402, TracedChange::Exit(disk));
        trace.current[0] = CTL;
        (trace.returns(at + 450, Sysno::fsync), at + 460)
    });
    adds_up(&followed);
    assert_eq!(followed.holes, 1);
    assert_eq!(
        said(&followed.causes[0].cause),
        "ctl waited in fsync(descriptor 3) for interrupt 36 (disk)"
    );
    let slowest = &followed.slowest[0];
    assert_eq!(slowest.times.unexplained, Nanos(0));
    let back = slowest
        .parts
        .iter()
        .find(|part| matches!(part.cause.what, Doing::FromIdle(_)))
        .unwrap();
    assert_eq!(back.to.0 - back.from.0, 48);
    assert_eq!(
        said(&back.cause),
        "ctl was ready while its CPU came back from idle, and ran on in fsync(descriptor 3)"
    );
}

#[test]
fn a_sleep_within_a_cycle_by_the_same_call_does_not_end_it() {
    let followed = cycles(with_deadline(), |trace, at| (trace.sleeps(at, at + 300), at + 340));
    adds_up(&followed);
    assert_eq!((followed.cycles.len(), followed.missed, followed.late), (12, 0, 1));
    let cause = &followed.causes[0].cause;
    assert_eq!(said(cause), "ctl slept in clock_nanosleep until its timer was due");
    assert!(advice(cause).unwrap().contains("the cycle itself waits there"));
}

#[test]
fn what_other_waits_there_are_is_told() {
    let followed = cycles(FollowRequest::default(), |trace, at| (trace, at));
    let wait = followed.waits[0];
    assert_eq!(
        (wait.thread.tid, wait.count, wait.period),
        (CTL, 12, Some(Nanos(1_000)))
    );
    let named = FollowRequest {
        thread: WantedThread::Named("nobody".into()),
        ..FollowRequest::default()
    };
    let none = cycles(named, |trace, at| (trace, at));
    assert!(none.thread.is_none());
    assert_eq!(none.waits.len(), 1);
}

#[test]
fn a_soft_interrupt_wakes_for_whoever_raised_it() {
    let followed = cycles(with_deadline(), |trace, at| {
        let disk = CpuContext::Device {
            irq: 36,
            name: "disk".into(),
        };
        let block = CpuContext::Soft(4);
        let trace = trace
            .call(at, Sysno::fsync, [3, 0, 0, 0])
            .switch(at + 2, OTHER, true)
            .push(at + 300, TracedChange::Enter(disk))
            .push(at + 301, TracedChange::Raise { vector: 4 })
            .push(at + 302, TracedChange::Exit(disk))
            .push(at + 303, TracedChange::Enter(block))
            .wakes(at + 304, CTL)
            .push(at + 305, TracedChange::Exit(block))
            .switch(at + 306, CTL, false)
            .returns(at + 310, Sysno::fsync);
        (trace, at + 320)
    });
    adds_up(&followed);
    assert_eq!(
        said(&followed.causes[0].cause),
        "ctl waited in fsync(descriptor 3) for interrupt 36 (disk)"
    );
}

#[test]
fn a_waking_may_come_before_the_switch_that_it_ends() {
    let followed = cycles(with_deadline(), |trace, at| {
        let trace = trace
            .call(at, Sysno::futex, MUTEX)
            .on(1)
            .switch(at + 1, OTHER, false)
            .wakes(at + 2, CTL)
            .on(0)
            .switch(at + 3, HOG, true)
            .switch(at + 400, CTL, false)
            .returns(at + 410, Sysno::futex);
        (trace, at + 420)
    });
    adds_up(&followed);
    // It was ready all that time, so who ran is what counts.
    assert_eq!(
        said(&followed.causes[0].cause),
        "ctl was ready while hog (thread 12, RT 20) ran, whose priority is lower"
    );
}

#[test]
fn a_period_that_passes_in_a_late_cycle_is_missed_and_a_sleep_into_the_past_is_a_cycle() {
    let mut trace = Trace::new(FollowRequest::default()).switch(500, CTL, false);
    let mut at = 600;
    for nth in 1..=12_u64 {
        trace = trace.sleeps(at, nth * 1_000);
        at = nth * 1_000 + 130;
    }
    // The next cycle runs until 15 500: the one of 14 000 is taken up at once, that of 15 000 is left out.
    trace = trace.sleeps(at, 13_000);
    let set = |due: u64| TracedChange::TimerSet {
        timer: 0xdead,
        function: 0xf00,
        earliest: Nanos(due),
        latest: Nanos(due),
    };
    trace = trace
        .call(15_500, Sysno::clock_nanosleep, [1, 1, 0, 0])
        .push(15_501, set(14_000))
        .returns(15_503, Sysno::clock_nanosleep);
    let followed = trace
        .sleeps(15_600, 16_000)
        .call(16_130, Sysno::clock_nanosleep, [1, 1, 0, 0])
        .returns(16_131, Sysno::clock_nanosleep)
        .finish();
    adds_up(&followed);
    assert_eq!((followed.cycles.len(), followed.missed, followed.at_once), (15, 1, 1));
    let past = followed.cycles[13];
    assert_eq!(
        (past.release, past.start, past.end),
        (Nanos(14_000), Nanos(15_503), Nanos(15_600))
    );
    assert_eq!(followed.late, 2);
}

const MS: u64 = 1_000_000;

/// Forty cycles of 50 ms, so that they are found, then as many of another period, of which the last work for some time.
fn changing(to: u64, work: u64) -> Followed {
    let mut trace = Trace::new(FollowRequest::default()).switch(500, CTL, false);
    let (mut at, mut due) = (600, 0);
    for (period, work) in [(50 * MS, MS), (to, work)] {
        for nth in 0..40 {
            due += period;
            trace = trace.sleeps(at, due);
            trace.follower.complete(Nanos(due));
            at = due + if nth < 20 { MS } else { work };
        }
    }
    let followed = trace
        .call(at, Sysno::clock_nanosleep, [1, 1, 0, 0])
        .returns(at + 1, Sysno::clock_nanosleep)
        .finish();
    adds_up(&followed);
    followed
}

#[test]
fn a_loop_that_gets_another_period_is_judged_by_that_and_misses_none() {
    for (to, work) in [(100 * MS, 70 * MS), (25 * MS, MS), (75 * MS, 60 * MS)] {
        let followed = changing(to, work);
        let [change] = followed.changes[..] else {
            panic!("{to}: {:?}", followed.changes)
        };
        assert_eq!((change.from, change.to), (Nanos(50 * MS), Nanos(to)));
        assert!(
            change.at.0 >= 2_000 * MS && change.at.0 <= 2_000 * MS + 4 * to,
            "{to}: {change:?}"
        );
        assert_eq!(followed.late, 0, "{to}");
        assert!(!followed.is_off_grid);
    }
    let followed = changing(100 * MS, 70 * MS);
    assert_eq!((followed.cycles.len(), followed.missed), (80, 0));
    assert!(changing(50 * MS, MS).changes.is_empty());
}

#[test]
fn an_ordinary_thread_that_preempts_a_real_time_one_is_the_schedulers_share() {
    let followed = cycles(with_deadline(), |trace, at| {
        let trace = trace.switch(at, OTHER, false).switch(at + 500, CTL, true);
        (trace, at + 510)
    });
    adds_up(&followed);
    let cause = &followed.causes[0].cause;
    assert_eq!(
        said(cause),
        "ctl was preempted while other (thread 13, SCHED_OTHER) ran, whose priority is lower"
    );
    assert!(advice(cause).unwrap().contains("fair server"));
}

mod any {
    use super::*;
    use proptest::prelude::*;

    fn change() -> impl Strategy<Value = TracedChange> {
        let context = prop_oneof![
            Just(CpuContext::Timer),
            Just(CpuContext::Soft(3)),
            Just(CpuContext::Device {
                irq: 9,
                name: "disk".into()
            }),
            Just(CpuContext::TimerFunction {
                timer: 0xdead,
                function: 0xf00
            }),
        ];
        let call = prop_oneof![Just(Sysno::clock_nanosleep), Just(Sysno::futex), Just(Sysno::read)];
        prop_oneof![
            context.clone().prop_map(TracedChange::Enter),
            context.prop_map(TracedChange::Exit),
            (10..14_u32).prop_map(|tid| TracedChange::Waking { tid }),
            (prop_oneof![Just(0), 10..14_u32], any::<bool>()).prop_map(|(to, asleep)| TracedChange::Switch {
                from: thread(0),
                asleep,
                to: thread(to)
            }),
            (0..200_u64).prop_map(|ago| TracedChange::Lost {
                since: Nanos(ago),
                count: 1
            }),
            call.clone().prop_map(|call| TracedChange::SysEnter {
                call: call.id() as u32,
                arguments: [1, 0, 0, 0]
            }),
            call.prop_map(|call| TracedChange::SysExit {
                call: call.id() as u32,
                result: 0
            }),
            (0..500_u64).prop_map(|due| TracedChange::TimerSet {
                timer: 0xdead,
                function: 0xf00,
                earliest: Nanos(due),
                latest: Nanos(due + 10)
            }),
            Just(TracedChange::PageFault),
            Just(TracedChange::LockWait),
            Just(TracedChange::LockTaken),
            Just(TracedChange::Raise { vector: 3 }),
            Just(TracedChange::SignalTaken {
                signal: 10,
                has_handler: true
            }),
        ]
    }

    proptest! {
        /// Whatever comes, in whatever order: the parts of a cycle add up, and nothing is told twice.
        #[test]
        fn parts_add_up(events in proptest::collection::vec((0..2_usize, 0..60_u64, change(), prop_oneof![8 => Just(true), 1 => Just(false)]), 0..400)) {
            let mut trace = Trace::new(FollowRequest {
                wait: Some(WantedWait::Call { call: Sysno::clock_nanosleep.id() as u32, argument: None }),
                ..with_deadline()
            });
            let mut at = 1_000;
            for (cpu, step, what, is_seen) in events {
                at += step;
                trace = trace.on(cpu);
                match what {
                    TracedChange::Switch { asleep, to, .. } if is_seen => trace = trace.switch(at, to.tid, asleep),
                    TracedChange::Switch { to, .. } => trace.current[cpu] = to.tid,
                    TracedChange::Lost { since, count } => {
                        let since = Nanos(at.saturating_sub(since.0));
                        trace = trace.push(at, TracedChange::Lost { since, count });
                    }
                    TracedChange::TimerSet { timer, function, earliest, latest } => {
                        let (earliest, latest) = (Nanos(earliest.0 + at), Nanos(latest.0 + at));
                        trace = trace.push(at, TracedChange::TimerSet { timer, function, earliest, latest });
                    }
                    what => trace = trace.push(at, what),
                }
                if at % 7 == 0 {
                    trace.follower.complete(Nanos(at));
                }
            }
            adds_up(&trace.finish());
        }
    }
}

#[test]
fn in_any_run_a_cause_has_no_ids_and_no_addresses() {
    let followed = cycles(with_deadline(), |trace, at| {
        let trace = trace
            .call(at, Sysno::futex, MUTEX)
            .switch(at + 10, LOGGER, true)
            .wakes(at + 500, CTL)
            .switch(at + 510, CTL, false)
            .returns(at + 520, Sysno::futex);
        (trace, at + 530)
    });
    let cause = &followed.causes[0].cause;
    assert_eq!(
        said(cause),
        "ctl waited in futex(0x7f00) for logger (thread 11, SCHED_OTHER), which ran its own code"
    );
    assert_eq!(
        said(&in_any_run(cause)),
        "ctl waited in futex for logger (SCHED_OTHER), which ran its own code"
    );
}
