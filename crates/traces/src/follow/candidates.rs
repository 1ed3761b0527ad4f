//! The waits that a cycle may end with, and which of them it is.

use super::calls::CallKind;
use super::cycles::CycleWait;
use super::machine::Machine;
use super::releases::{LEAST, Releases};
use super::waits::{Wait, WaitClass, WokenBy};
use super::{FollowRequest, WantedThread};
use crate::events::{ShortName, TracedThread};
use std::collections::HashMap;
use syscalls::Sysno;
use worstcase_contract::Nanos;

/// Fewer waits are no cycle, if the user has named the call.
const LEAST_NAMED: usize = 2;
/// Fewer irregular waits are no cycle.
const LEAST_IRREGULAR: usize = 50;
/// So many of the waits in a call are regular, or the call waits for other things, and now and then for a timer.
const SHARE: f64 = 0.25;
/// A timer that is due so many times as often as another wait of the thread.
const MUCH_MORE_OFTEN: u64 = 2;
/// Classes that are kept.
const CLASSES: usize = 4_096;
/// Waits that are told.
const SEEN: usize = 20;

/// The waits that were seen.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    classes: HashMap<WaitClass, Releases>,
}

impl Candidates {
    /// Notes a wait.
    pub fn note(&mut self, wait: &Wait) {
        if self.classes.len() >= CLASSES {
            self.classes.clear();
        }
        for which_timer in [false, true] {
            let Some(class) = wait.class(which_timer) else { return };
            if which_timer && !matches!(class.by, WokenBy::Timer { .. }) {
                return;
            }
            let releases = self.classes.entry(class).or_default();
            let release = wait.release();
            if releases.last().is_some_and(|last| release <= last) {
                continue;
            }
            releases.add(release);
            releases.is_relative = class.call.is_relative_sleep();
            releases.clock = class.call.is(Sysno::clock_nanosleep).then_some(wait.call.arguments[0]);
        }
    }

    /// The wait that ends a cycle: of those that are asked for a regular one, of the thread with the highest priority, the
    /// most frequent one.
    pub fn choose(&self, request: &FollowRequest, machine: &Machine) -> Option<CycleWait> {
        let least = if request.wait.is_some() { LEAST_NAMED } else { LEAST };
        let mut all: HashMap<(u32, CallKind), u64> = HashMap::new();
        for (class, releases) in &self.classes {
            // A timer is in two classes.
            if !matches!(class.by, WokenBy::Timer { timer: Some(_), .. }) {
                *all.entry((class.tid, class.call)).or_default() += releases.count;
            }
        }
        let mut best: Option<(Rank, CycleWait)> = None;
        for (class, releases) in &self.classes {
            if releases.len() < least || !is_wanted(class, request, machine) {
                continue;
            }
            let of_call = all.get(&(class.tid, class.call)).copied().unwrap_or_default();
            let is_usual = releases.count as f64 >= SHARE * of_call as f64;
            let period = releases.period().filter(|_| is_usual);
            if period.is_none() && request.wait.is_none() && releases.len() < LEAST_IRREGULAR {
                continue;
            }
            if request.wait.is_none() && self.is_within_a_timers(class, releases) {
                continue;
            }
            let thread = machine.task(class.tid).map(|task| task.thread);
            let is_by_timer = matches!(class.by, WokenBy::Timer { .. });
            let rank = Rank {
                is_regular: period.is_some(),
                is_absolute: period.is_some() && !releases.is_relative,
                priority: thread.filter(TracedThread::is_real_time).map(|thread| -thread.priority),
                is_by_timer,
                count: releases.count,
                is_any_timer: !matches!(class.by, WokenBy::Timer { timer: Some(_), .. }),
                tid: class.tid,
                call: class.call,
                by: class.by,
            };
            let wait = CycleWait {
                tid: class.tid,
                call: class.call,
                by: period.is_some().then_some(class.by),
                period,
                is_relative: releases.is_relative,
                is_exact: period.is_some_and(|period| releases.is_exact(period)),
                clock: releases.clock,
            };
            if best.as_ref().is_none_or(|(there, _)| rank > *there) {
                best = Some((rank, wait));
            }
        }
        best.map(|(_, wait)| wait)
    }

    /// Whether the thread has a regular timer that is due much more often: then it waits here within some of its cycles.
    fn is_within_a_timers(&self, class: &WaitClass, releases: &Releases) -> bool {
        let is_timers = |class: &WaitClass| matches!(class.by, WokenBy::Timer { .. });
        !is_timers(class)
            && self.classes.iter().any(|(other, of_other)| {
                other.tid == class.tid
                    && is_timers(other)
                    && of_other.count >= MUCH_MORE_OFTEN * releases.count
                    && of_other.period().is_some()
            })
    }

    /// The waits that were seen, those with a period first, then the most frequent.
    pub fn seen(&self, machine: &Machine) -> Vec<SeenWait> {
        let mut seen: Vec<SeenWait> = self
            .classes
            .iter()
            .filter(|(class, _)| !matches!(class.by, WokenBy::Timer { timer: Some(_), .. }))
            .filter_map(|(class, releases)| {
                Some(SeenWait {
                    thread: machine.task(class.tid)?.usual(),
                    call: class.call,
                    count: releases.count,
                    period: releases.period(),
                })
            })
            .collect();
        seen.sort_by_key(|wait| {
            (
                wait.period.is_none(),
                std::cmp::Reverse(wait.count),
                wait.thread.tid,
                wait.call,
            )
        });
        seen.truncate(SEEN);
        seen
    }
}

/// A wait that was seen.
#[derive(Clone, Copy, Debug)]
pub struct SeenWait {
    /// The thread.
    pub thread: TracedThread,
    /// The call.
    pub call: CallKind,
    /// How often.
    pub count: u64,
    /// The distance of two releases, if they are regular.
    pub period: Option<Nanos>,
}

/// What makes one wait more likely than another, the most important first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    is_regular: bool,
    is_absolute: bool,
    /// None of an ordinary thread.
    priority: Option<i32>,
    is_by_timer: bool,
    count: u64,
    is_any_timer: bool,
    tid: u32,
    call: CallKind,
    /// So that of two that are alike the same one is chosen every time.
    by: WokenBy,
}

fn is_wanted(class: &WaitClass, request: &FollowRequest, machine: &Machine) -> bool {
    let thread = match &request.thread {
        WantedThread::Found => true,
        WantedThread::Tid(tid) => class.tid == *tid,
        WantedThread::Named(name) => machine
            .task(class.tid)
            .is_some_and(|task| task.thread.comm == ShortName::of_thread(name)),
    };
    thread && request.wait.as_ref().is_none_or(|wanted| wanted.is(&class.call))
}
