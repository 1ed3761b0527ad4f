//! The system calls in which the program's threads wait.

use super::calls::{Call, CallKind};
use super::task::{SetTimer, Waker};
use crate::events::{CpuContext, ShortName};
use worstcase_contract::Nanos;

/// A system call of the program that has returned.
#[derive(Clone, Debug)]
pub(super) struct Wait {
    pub tid: u32,
    pub call: Call,
    pub returned: Nanos,
    pub result: i64,
    /// It was blocked.
    pub was_blocked: bool,
    /// And last woken so, if that was reported.
    pub woken: Option<Waker>,
    /// The first timer that it set.
    pub set: Option<SetTimer>,
    /// It did not wait: the timer that had woken the thread from this call before has expired so since.
    pub past: Option<SetTimer>,
    /// The user names it: it ends a cycle, though it may never wait.
    pub is_mark: bool,
}

/// What ends a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WokenBy {
    /// A timer with this function; the timer itself where it matters which.
    Timer {
        /// The function's address.
        function: u64,
        /// The timer's address, where it matters which.
        timer: Option<u64>,
    },
    /// An interrupt, by its name.
    Interrupt(ShortName),
    /// A thread, by its name.
    Thread(ShortName),
    /// Nothing: what the user names is a mark.
    Mark,
}

/// Waits that may end cycles: one thread, one call, one kind of waker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WaitClass {
    /// The thread.
    pub tid: u32,
    /// The call, and the descriptor that it waits for. A call that sleeps has none.
    pub call: CallKind,
    /// What ends it.
    pub by: WokenBy,
}

/// Errors that a call returns when a signal has ended it.
const EINTR: i64 = -4;
const RESTARTS: std::ops::RangeInclusive<i64> = -516..=-512;

impl Wait {
    /// The mark that a thread passed.
    pub fn mark(tid: u32, at: Nanos) -> Wait {
        Wait {
            tid,
            call: Call {
                number: CallKind::MARK.number,
                arguments: Default::default(),
                entered: at,
            },
            returned: at,
            result: 0,
            was_blocked: false,
            woken: None,
            set: None,
            past: None,
            is_mark: true,
        }
    }

    /// A signal ended it before its time.
    pub fn is_interrupted(&self) -> bool {
        self.result == EINTR || RESTARTS.contains(&self.result)
    }

    /// The timer that ended it: the one that woke the thread, or one that was past already when it was set.
    fn timer(&self) -> Option<SetTimer> {
        let woke = self.woken.as_ref().and_then(|waker| waker.timer?.set);
        let past = self
            .set
            .filter(|set| self.woken.is_none() && set.earliest <= self.returned);
        woke.or(past).or(self.past)
    }

    /// What it waited for; none if it did not wait.
    pub fn class(&self, which_timer: bool) -> Option<WaitClass> {
        if self.is_interrupted() {
            return None;
        }
        let expired = self.woken.as_ref().and_then(|waker| waker.timer);
        let by = match (expired, self.timer(), &self.woken) {
            (Some(expired), ..) => WokenBy::Timer {
                function: expired.function,
                timer: which_timer.then_some(expired.timer),
            },
            (None, Some(set), _) => WokenBy::Timer {
                function: set.function,
                timer: which_timer.then_some(set.timer),
            },
            (None, None, Some(waker)) => match &waker.thread {
                Some(thread) => WokenBy::Thread(thread.comm),
                None => WokenBy::Interrupt(interrupt(&waker.contexts)),
            },
            (None, None, None) if self.is_mark => WokenBy::Mark,
            (None, None, None) => return None,
        };
        Some(WaitClass {
            tid: self.tid,
            call: self.call.kind(),
            by,
        })
    }

    /// When it was over: when its timer was due, or when it was woken; at once if it did not wait.
    pub fn release(&self) -> Nanos {
        let due = self.timer().map(|set| set.earliest);
        let woken = self.woken.as_ref().map(|waker| waker.at);
        due.filter(|due| *due <= self.returned)
            .or(woken)
            .unwrap_or(self.call.entered)
    }
}

/// The interrupt that contexts began with.
fn interrupt(contexts: &[CpuContext]) -> ShortName {
    let first = contexts.first().map_or_else(String::new, ToString::to_string);
    first.as_str().into()
}
