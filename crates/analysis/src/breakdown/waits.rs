//! A probe that is not asleep on its timer when that is due, but waits for something else: a page, a lock. Its time begins with
//! the due time all the same, for its user is late.

use super::frames::{FrameEvent, FrameMark, WindowWalk};
use super::roles::{self, FunctionRole};
use super::shares::place;
use super::spans::CodePlace;
use super::stacks::{FrameKind, StackId};

/// Where threads sleep until their timer wakes them.
const OWN_SLEEPS: [&str; 4] = [
    "do_nanosleep",
    "timerfd_read",
    "do_sigtimedwait",
    "__x64_sys_rt_sigtimedwait",
];

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waits {
    /// The instruction from which the probe's thread runs again.
    pub until: u64,
    /// Its call chain there.
    stack: StackId,
}

impl Waits {
    /// What the probe's thread comes back from first, if it is a wait.
    pub fn find(walk: &WindowWalk, due: u64, sample: u64, probe: u32) -> Option<Waits> {
        if walk.at(due)?.pid == probe {
            return None;
        }
        let back = walk.within(due, sample).find(|i| i.pid == probe)?;
        let waits = Waits {
            until: back.start,
            stack: back.stack,
        };
        let is_woken_by_timer = |mark: &FrameMark| walk.stacks.find(mark.stack, FunctionRole::Wake).is_some();
        let is_wait = waits.is_wait(walk) && !waits.waker(walk, due).is_some_and(is_woken_by_timer);
        is_wait.then_some(waits)
    }

    /// Whether it gave the CPU away by itself, in a function that is seen, and not to its timer.
    fn is_wait(&self, walk: &WindowWalk) -> bool {
        let frames = || walk.stacks.upwards(self.stack).map(|id| walk.stacks.frame(id));
        let of_scheduler = frames().take_while(|frame| is_scheduler(&frame.function));
        let way: Vec<&str> = of_scheduler.map(|frame| frame.function.as_str()).collect();
        let waits_in = frames().nth(way.len());
        let is_preempted = |name: &&str| name.contains("preempt_schedule") || name.contains("cond_resched");
        let is_sleep = |name: &str| OWN_SLEEPS.contains(&name) || roles::role(name) == Some(FunctionRole::ExitToUser);
        way.iter().any(|name| roles::role(name) == Some(FunctionRole::Schedule))
            && !way.iter().any(is_preempted)
            && waits_in.is_some_and(|frame| matches!(frame.kind, FrameKind::Function | FrameKind::TailCall))
            && !frames().any(|frame| is_sleep(&frame.function))
    }

    /// The function that waits.
    pub fn place(&self, walk: &WindowWalk) -> CodePlace {
        place(walk, self.stack, is_scheduler).0
    }

    /// Whether it waits for memory that it touched.
    pub fn is_fault(&self, walk: &WindowWalk) -> bool {
        let mut frames = walk.stacks.upwards(self.stack);
        frames.any(|id| walk.stacks.frame(id).function.contains("exc_page_fault"))
    }

    /// Where its thread was woken, which has the running one marked for rescheduling.
    pub fn waker<'a>(&self, walk: &'a WindowWalk, due: u64) -> Option<&'a FrameMark> {
        let mut marks = walk.marks_within(due, self.until).iter().rev();
        marks.find(|m| m.what == FrameEvent::Enter(FunctionRole::Resched))
    }
}

/// Whether a function belongs to the scheduler's way between two threads.
fn is_scheduler(name: &str) -> bool {
    const OF: [FunctionRole; 5] = [
        FunctionRole::SwitchTo,
        FunctionRole::SwitchWork,
        FunctionRole::Schedule,
        FunctionRole::ScheduleGlue,
        FunctionRole::Thunk,
    ];
    roles::role(name).is_some_and(|role| OF.contains(&role))
        || name.starts_with("schedule")
        || name.starts_with("io_schedule")
}

#[cfg(test)]
mod tests {
    use crate::breakdown::build::{Explanation, LabSurroundings, tell};
    use crate::breakdown::cause::Mechanism;
    use crate::breakdown::spans::SpanKind;
    use crate::breakdown::testing::{SyntheticMachine, sample};
    use worstcase_contract::Nanos;

    const WAITS: [(&str, u64); 7] = [
        ("", crate::breakdown::testing::USER),
        ("asm_exc_page_fault", 9),
        ("do_user_addr_fault", 9),
        ("down_read", 9),
        ("rwsem_down_read_slowpath", 9),
        ("schedule", 9),
        ("__schedule", 9),
    ];

    /// A thread of a load runs, and somebody's timer wakes khugepaged, which gives back the lock that the probe waits for.
    fn machine(chain: &[(&str, u64)]) -> SyntheticMachine {
        let mut m = SyntheticMachine::in_user(7, "load-shm");
        m.park(1, chain);
        m.work(100).due().work(5_000);
        woken_by_a_timer(&mut m);
        m.switch(35, "khugepaged", "khugepaged").work(200);
        m.call("collapse_huge_page")
            .call("up_write")
            .call("rwsem_wake")
            .call("try_to_wake_up");
        m.calls("resched_curr", 3)
            .ret()
            .ret()
            .call("preempt_schedule")
            .call("__schedule");
        m.switch(1, "probe", "x").work(2);
        for _ in 0..chain.len() - 2 {
            m.ret();
        }
        m.iret().work(20).syscall().call("do_nanosleep");
        m
    }

    fn woken_by_a_timer(m: &mut SyntheticMachine) {
        m.timer_entry().call("hrtimer_interrupt").call("__hrtimer_run_queues");
        m.call("hrtimer_wakeup").call("try_to_wake_up").calls("resched_curr", 3);
        m.ret()
            .ret()
            .ret()
            .ret()
            .call("raw_irqentry_exit_cond_resched")
            .call("__schedule");
    }

    /// Its timer comes at once, or it need not even sleep, for that is due.
    fn sampled(m: &mut SyntheticMachine, sleeps: bool) -> Explanation {
        if sleeps {
            m.call("schedule").call("__schedule");
            m.switch(35, "khugepaged", "khugepaged");
            woken_by_a_timer(m);
            m.switch(1, "probe", "x").ret().ret();
        }
        m.ret().sysret().work(10).read_clock();
        let (execution, symbols) = m.execution();
        let latency = execution.latency.0;
        tell(
            &execution,
            &symbols,
            &(),
            sample("full", latency),
            &LabSurroundings::default(),
        )
        .unwrap()
    }

    #[test]
    fn who_waits_for_a_page_is_not_late_by_those_who_run_meanwhile() {
        for sleeps in [true, false] {
            let told = sampled(&mut machine(&WAITS), sleeps);
            let spans = told.breakdown.spans();
            let SpanKind::Waits { at, fault, waker, ran } = &spans[0].what else {
                panic!("{spans:#?}");
            };
            assert_eq!((at.function.as_str(), *fault), ("rwsem_down_read_slowpath", true));
            assert_eq!(at.caller.as_deref(), Some("down_read"));
            let waker = waker.as_ref().unwrap();
            assert_eq!(
                (waker.task.comm.as_str(), waker.at.function.as_str()),
                ("khugepaged", "collapse_huge_page")
            );
            let ran = ran.as_ref().unwrap();
            assert_eq!(ran.task.comm, "load-shm");
            assert!((Nanos(5_000)..spans[0].length_ns).contains(&ran.length_ns), "{ran:?}");
            let cause = told.breakdown.cause();
            assert_eq!(cause.mechanism, Mechanism::Waits);
            let expected = "the probe was not asleep but waited in rwsem_down_read_slowpath (called by down_read), in a page \
                            fault, until khugepaged (35) ended that in collapse_huge_page";
            assert!(cause.sentence.contains(expected), "{}", cause.sentence);
            assert!(cause.remedy.contains("transparent_hugepage"), "{}", cause.remedy);
        }
    }

    #[test]
    fn who_was_preempted_or_sleeps_on_its_timer_does_not_wait() {
        for own in [
            [("do_nanosleep", 9), ("schedule", 9), ("__schedule", 9)],
            [("down_read", 9), ("preempt_schedule", 9), ("__schedule", 9)],
            [("exit_to_user_mode_loop", 9), ("schedule", 9), ("__schedule", 9)],
        ] {
            let chain = [&WAITS[..3], &own[..]].concat();
            let told = sampled(&mut machine(&chain), true);
            assert!(!waits(&told), "{own:?}");
        }
        // Whatever the function is in which its timer finds it.
        let mut m = SyntheticMachine::in_user(7, "load-shm");
        m.park(1, &WAITS).work(100).due().work(50);
        woken_by_a_timer(&mut m);
        m.switch(1, "probe", "x");
        for _ in 0..WAITS.len() - 2 {
            m.ret();
        }
        m.iret().syscall().call("do_nanosleep");
        assert!(!waits(&sampled(&mut m, false)));
    }

    fn waits(told: &Explanation) -> bool {
        let mut spans = told.breakdown.spans().iter();
        spans.any(|span| matches!(span.what, SpanKind::Waits { .. }))
    }
}
