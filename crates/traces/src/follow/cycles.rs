//! The wait that a cycle ends with, and the cycles.

use super::calls::CallKind;
use super::changes::{LatestReleases, PeriodChange};
use super::machine::Machine;
use super::waits::{Wait, WaitClass, WokenBy};
use super::{FollowRequest, WantedThread};
use crate::events::{ShortName, TracedThread};
use std::collections::HashMap;
use syscalls::Sysno;
use worstcase_contract::Nanos;

/// The wait that ends a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CycleWait {
    /// The thread.
    pub tid: u32,
    /// The call.
    pub call: CallKind,
    /// What ends the wait; none where several things do.
    pub by: Option<WokenBy>,
    /// The distance of two releases, if they are regular.
    pub period: Option<Nanos>,
    /// It sleeps for a time instead of until an instant: what the cycle takes is added to the period.
    pub is_relative: bool,
    /// Most releases are exact multiples of the period apart: a timer that is set to instants.
    pub is_exact: bool,
    /// The clock that it sleeps by, as clock_nanosleep names it.
    pub clock: Option<u64>,
}

impl CycleWait {
    /// What takes longer is late where nobody has said what is. From one mark to the next it takes a period at least.
    pub fn limit(&self) -> Option<Nanos> {
        self.period.filter(|_| self.by != Some(WokenBy::Mark))
    }
}

/// Releases of a class that are looked at.
const LOOKED_AT: usize = 256;
/// Fewer waits are no cycle.
const LEAST: usize = 8;
/// Fewer waits are no cycle, if the user has named the call.
const LEAST_NAMED: usize = 2;
/// So many of the releases of a regular wait lie on multiples of its period.
const ON_GRID: f64 = 0.7;
/// So many of the distances are multiples of a period that is shorter than the usual one of them.
const ALMOST_ALL: f64 = 0.95;
/// A multiple is off by less than this part of such a period.
const NEAR: f64 = 0.1;
/// Fewer distances that differ from the usual one say nothing.
const LEAST_FAR: usize = 4;
/// Of a shorter period than this part of the usual distance too little is seen.
const MOST_MISSED: u64 = 16;
/// Who is late may sleep for no time, at an instant of its own: a release lies on the grid by one of so many before it.
const AFTER_SLEEPS: usize = 3;
/// A release lies on the grid if it is off by less than this part of the period.
const OFF: f64 = 0.02;
/// A release is an exact multiple of the period after another if it is off by less than this part of the period.
const EXACT: f64 = 1e-4;
/// So many waits off the grid can be sleeps within a cycle; the next one begins another phase.
const HELD: usize = 3;
/// If more of so many waits are off the grid, the loop has got another period.
const MOST_OFF_GRID: u32 = 11;
const LOOKED_BACK: u32 = 32;
/// Fewer irregular waits are no cycle.
const LEAST_IRREGULAR: usize = 50;
/// So many of the waits in a call are regular, or the call waits for other things, and now and then for a timer.
const SHARE: f64 = 0.25;
/// A timer that is due so many times as often as another wait of the thread.
const MUCH_MORE_OFTEN: u64 = 2;
/// Classes that are kept.
const CLASSES: usize = 4_096;

/// The waits that were seen.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    classes: HashMap<WaitClass, Releases>,
}

#[derive(Debug, Default)]
struct Releases {
    latest: std::collections::VecDeque<Nanos>,
    count: u64,
    is_relative: bool,
    clock: Option<u64>,
}

impl Releases {
    /// The median distance of two, if most releases lie on multiples of it.
    fn period(&self) -> Option<Nanos> {
        if self.latest.len() < LEAST {
            return None;
        }
        let releases: Vec<u64> = self.latest.iter().map(|release| release.0).collect();
        let mut steps: Vec<u64> = releases
            .windows(2)
            .map(|pair| pair[1].saturating_sub(pair[0]))
            .collect();
        let (_, median, _) = steps.select_nth_unstable(releases.len() / 2 - 1);
        let median = *median;
        if median == 0 {
            return None;
        }
        let is_whole = |from: &u64, to: u64| {
            let periods = to.saturating_sub(*from) as f64 / median as f64;
            periods.round() >= 1.0 && (periods - periods.round()).abs() < OFF
        };
        let before = if self.clock.is_some() { AFTER_SLEEPS } else { 1 };
        let is_on_grid = |nth: &usize| {
            let earlier = &releases[nth.saturating_sub(before)..*nth];
            earlier.iter().any(|from| is_whole(from, releases[*nth]))
        };
        let on_grid = (1..releases.len()).filter(is_on_grid).count();
        let least = if self.is_relative { 0.5 } else { ON_GRID };
        let usual = (on_grid as f64 >= least * steps.len() as f64).then_some(median);
        self.finer(&steps, median).or(usual).map(Nanos)
    }

    /// Whether most distances are exact multiples of this period.
    fn is_exact(&self, period: Nanos) -> bool {
        let pairs = self.latest.iter().zip(self.latest.iter().skip(1));
        let is_exact = |(a, b): &(&Nanos, &Nanos)| {
            let periods = b.0.saturating_sub(a.0) as f64 / period.0.max(1) as f64;
            (periods - periods.round()).abs() < EXACT
        };
        2 * pairs.filter(is_exact).count() >= self.latest.len()
    }

    /// A loop that always misses periods, now four of them and now five: its period is what the distances differ by, if each
    /// distance is a multiple of that.
    fn finer(&self, steps: &[u64], median: u64) -> Option<u64> {
        if self.is_relative || self.clock.is_none() {
            return None;
        }
        let far = steps.iter().map(|step| step.abs_diff(median));
        let mut far: Vec<u64> = far.filter(|far| *far as f64 > OFF * median as f64).collect();
        if far.len() < LEAST_FAR {
            return None;
        }
        far.sort_unstable();
        let period = far[far.len() / 4];
        let is_multiple = |step: &&u64| {
            let periods = **step as f64 / period as f64;
            (periods - periods.round()).abs() < NEAR
        };
        let multiples = steps.iter().filter(is_multiple).count();
        let is_period = period < median && period * MOST_MISSED >= median;
        (is_period && multiples as f64 >= ALMOST_ALL * steps.len() as f64).then_some(period)
    }
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
            if releases.latest.back().is_some_and(|last| release <= *last) {
                continue;
            }
            if releases.latest.len() == LOOKED_AT {
                releases.latest.pop_front();
            }
            releases.latest.push_back(release);
            releases.count += 1;
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
            if releases.latest.len() < least || !is_wanted(class, request, machine) {
                continue;
            }
            let of_call = all.get(&(class.tid, class.call)).copied().unwrap_or_default();
            let is_usual = releases.count as f64 >= SHARE * of_call as f64;
            let period = releases.period().filter(|_| is_usual);
            if period.is_none() && request.wait.is_none() && releases.latest.len() < LEAST_IRREGULAR {
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
}

impl Candidates {
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

/// Waits that are told.
const SEEN: usize = 20;

impl Candidates {
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

/// A cycle's limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CycleSpan {
    pub index: u32,
    pub release: Nanos,
    pub start: Nanos,
    pub end: Nanos,
}

/// Makes cycles of the waits that end them.
#[derive(Debug)]
pub(super) struct CycleMaker {
    pub wait: CycleWait,
    /// The period now.
    period: Option<Nanos>,
    latest: LatestReleases,
    /// The change to this period, until it is taken.
    change: Option<PeriodChange>,
    /// Release, and return from the wait, of the cycle that has not ended.
    open: Option<(u32, Nanos, Nanos)>,
    /// The last release, and its index.
    last: Option<(Nanos, u32)>,
    /// Periods without a cycle of their own.
    pub missed: u64,
    /// Cycles whose wait did not block, because what it waits for had happened.
    pub at_once: u64,
    /// Waits that ended where no cycle is due.
    held: Vec<Wait>,
    /// Waits, and those off the grid, since that was judged.
    seen: u32,
    off_grid: u32,
    /// Too many were: its releases lie on no grid.
    pub has_changed: bool,
}

impl CycleMaker {
    pub fn new(wait: CycleWait) -> CycleMaker {
        CycleMaker {
            period: wait.period,
            latest: LatestReleases::default(),
            change: None,
            wait,
            open: None,
            last: None,
            missed: 0,
            at_once: 0,
            held: Vec::new(),
            seen: 0,
            off_grid: 0,
            has_changed: false,
        }
    }

    /// What takes longer is late where nobody has said what is.
    pub fn limit(&self) -> Option<Nanos> {
        self.period.filter(|_| self.wait.limit().is_some())
    }

    /// The change that the last wait has told.
    pub fn take_change(&mut self) -> Option<PeriodChange> {
        self.change.take()
    }

    /// Looks whether the loop has got another period.
    fn look_for_change(&mut self, wait: &Wait) {
        let (Some(period), true, false) = (self.period, self.begins(wait), wait.is_mark) else {
            return;
        };
        self.latest.add(wait.release(), wait.call.entered, period);
        let Some(change) = self.latest.change(period, self.wait.is_relative) else {
            return;
        };
        self.period = Some(change.to);
        self.change = Some(change);
        self.held.clear();
        self.has_changed = false;
        (self.seen, self.off_grid) = (0, 0);
    }

    /// Whether the thread waited before the next period was due.
    fn was_waiting(&self, wait: &Wait) -> bool {
        let due = self.last.zip(self.period).map(|((last, _), period)| last + period);
        due.is_some_and(|due| wait.call.entered < due)
    }

    /// Nothing before this is needed any more.
    pub fn needs(&self) -> Option<Nanos> {
        self.open.map(|(_, release, _)| release)
    }

    /// Takes a wait that has returned, and gives the cycles that are known to have ended.
    pub fn take(&mut self, wait: &Wait) -> Vec<CycleSpan> {
        if wait.tid != self.wait.tid || !wait.call.kind().is_same_wait(&self.wait.call) {
            return Vec::new();
        }
        self.seen += 1;
        self.look_for_change(wait);
        let is_off = self.is_off(wait);
        let held = self.held.last();
        let is_another_phase = held.is_some_and(|held| self.is_whole(held.release(), wait.release()));
        if is_off && !is_another_phase && self.held.len() < HELD {
            self.held.push(wait.clone());
            return Vec::new();
        }
        let held = std::mem::take(&mut self.held);
        self.off_grid += held.len() as u32;
        if self.seen >= LOOKED_BACK {
            self.has_changed |= self.off_grid > MOST_OFF_GRID;
            (self.seen, self.off_grid) = (0, 0);
        }
        // If this one is off the grid too, the last one that was held began another phase; otherwise all of them were within.
        let begun = held.last().filter(|_| is_off).and_then(|held| self.border(held));
        begun.into_iter().chain(self.border(wait)).collect()
    }

    /// The cycle that ends with this wait; the next one begins with it.
    fn border(&mut self, wait: &Wait) -> Option<CycleSpan> {
        let ended = self.open.take().map(|(index, release, start)| CycleSpan {
            index,
            release,
            start,
            end: wait.call.entered,
        });
        let release = wait.release();
        if self.begins(wait) && self.last.is_none_or(|(last, _)| release > last) {
            let is_at_once = !wait.was_blocked && !wait.is_mark && release <= wait.call.entered;
            self.at_once += u64::from(is_at_once);
            let index = self.index(wait);
            self.last = Some((release, index));
            self.open = Some((index, release, wait.returned));
        }
        ended.filter(|cycle| cycle.end > cycle.release)
    }

    /// Whether a cycle begins with the end of this wait.
    fn begins(&self, wait: &Wait) -> bool {
        match self.wait.by {
            None => !wait.is_interrupted(),
            Some(by) => {
                let which = matches!(by, WokenBy::Timer { timer: Some(_), .. });
                wait.class(which).is_some_and(|class| class.by == by)
            }
        }
    }

    /// Whether it ends where no cycle is due: a sleep within a cycle, by the same call, or the first of another phase. The next
    /// one tells.
    fn is_off(&self, wait: &Wait) -> bool {
        let (Some(period), Some((last, _)), Some(_)) = (self.period, self.last, self.open) else {
            return false;
        };
        let release = wait.release();
        // Who is late may sleep for no time: that ends a cycle. And where a wait comes at any time there is no grid.
        let has_slept = release.saturating_sub(wait.call.entered).0 as f64 > OFF * period.0 as f64;
        let is_sleep = has_slept && self.wait.is_exact && !wait.is_mark && !self.has_changed;
        is_sleep && release > last && !self.is_whole(last, release)
    }

    /// Whether these releases are whole periods apart.
    fn is_whole(&self, from: Nanos, to: Nanos) -> bool {
        let Some(period) = self.period else { return false };
        let after = to.saturating_sub(from).0 % period.0;
        after.min(period.0 - after) as f64 <= OFF * period.0 as f64
    }

    /// The number of a release; periods that lie between it and the last one are missed, unless the thread itself has chosen to
    /// sleep for longer, in time.
    fn index(&mut self, wait: &Wait) -> u32 {
        let Some((last, index)) = self.last else { return 0 };
        let release = wait.release();
        let is_chosen = wait.set.is_some_and(|set| set.earliest == release) && self.was_waiting(wait);
        let Some(period) = self.period.filter(|_| !self.wait.is_relative && !is_chosen) else {
            return index + 1;
        };
        let steps = (release.0 - last.0 + period.0 / 2) / period.0;
        let steps = u32::try_from(steps.max(1)).unwrap_or(u32::MAX);
        self.missed += u64::from(steps - 1);
        index.saturating_add(steps)
    }
}
