//! The wait that a cycle ends with, and the cycles.

use super::calls::CallKind;
use super::changes::{LatestReleases, PeriodChange};
use super::releases::OFF;
use super::waits::{Wait, WokenBy};
use worstcase_contract::Nanos;

/// So many waits off the grid can be sleeps within a cycle; the next one begins another phase.
const HELD: usize = 3;
/// If more of so many waits are off the grid, the loop has got another period.
const MOST_OFF_GRID: u32 = 11;
const LOOKED_BACK: u32 = 32;

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
