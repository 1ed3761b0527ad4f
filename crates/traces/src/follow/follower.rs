//! Follows a program through its events.

use super::candidates::{Candidates, SeenWait};
use super::causes::{ExplainedCycle, LateCause, Tally, UsualPart};
use super::changes::PeriodChange;
use super::cycles::{CycleMaker, CycleSpan, CycleWait};
use super::machine::{Event, Machine};
use super::notes::{NotedCycles, cpus};
use super::path::{Doing, Part, path};
use super::task::Task;
use super::waits::Wait;
use super::{CycleTimes, FollowRequest, WantedWait};
use crate::events::{CpuEvent, TracedThread};
use worstcase_contract::Nanos;

/// The most cycles that are kept.
pub const MOST_CYCLES: usize = 2_000_000;
/// After this time a cycle is looked for.
const LEARN: Nanos = Nanos::from_millis(1_500);
/// After this time what is irregular is taken for a cycle.
const SETTLE: Nanos = Nanos::from_millis(3_000);
/// An irregular cycle is questioned again after this time.
const AGAIN: Nanos = Nanos::from_millis(2_000);
/// Waits that are remembered before a cycle was found.
const WAITS: usize = 200_000;
/// Stretches of CPUs and threads that are remembered; a thousand take about 0.3 MB.
const STRETCHES: usize = 600_000;
/// Changes of the period that are told.
const CHANGES: usize = 100;
/// Parts of all cycles that are told.
const USUAL: usize = 500;

/// Follows a program through its events.
pub struct Follower {
    request: FollowRequest,
    machine: Machine,
    /// Events that may not be in order yet.
    pending: Vec<Event>,
    candidates: Candidates,
    /// Waits before a cycle was found.
    waits: Vec<Wait>,
    maker: Option<CycleMaker>,
    tally: Tally,
    cycles: Vec<CycleTimes>,
    changes: Vec<PeriodChange>,
    began: Option<Nanos>,
    asked: Nanos,
    lost: u64,
    /// The first late cycle since it was asked for.
    late: Option<CycleTimes>,
    /// The cycle whose parts are asked for.
    wanted: Option<ExplainedCycle>,
    /// Times from which nothing is known, because more happened than is remembered.
    forgotten: u64,
}

/// All that was found.
#[derive(Debug)]
pub struct Followed {
    /// The thread whose cycles these are; none if no thread of the program waited again and again.
    pub thread: Option<TracedThread>,
    /// The CPUs on which it ran.
    pub cpus: Vec<u32>,
    /// The wait that ends a cycle.
    pub wait: Option<CycleWait>,
    /// What the program does at the mark that the user named to end one.
    pub mark: Option<String>,
    /// Where it got another period.
    pub changes: Vec<PeriodChange>,
    /// Too many releases lie on no multiple of the period.
    pub is_off_grid: bool,
    /// The cycles in order.
    pub cycles: Vec<CycleTimes>,
    /// Periods that passed without a cycle of their own, because the one before was late.
    pub missed: u64,
    /// Cycles whose wait did not block, because they were late already or had work to do.
    pub at_once: u64,
    /// A cycle with a longer response is late.
    pub limit: Nanos,
    /// How many are late.
    pub late: u64,
    /// Why, the most frequent cause first.
    pub causes: Vec<LateCause>,
    /// Late cycles of whose CPUs something was seen besides what they ran.
    pub noted: NotedCycles,
    /// The slowest cycles, the slowest first.
    pub slowest: Vec<ExplainedCycle>,
    /// The cycle whose parts were asked for.
    pub wanted: Option<ExplainedCycle>,
    /// What takes time in all cycles, the largest part first.
    pub usual: Vec<UsualPart>,
    /// Time of all cycles that is not explained.
    pub unexplained: Nanos,
    /// The program's waits.
    pub waits: Vec<SeenWait>,
    /// Events of the thread in its cycles.
    pub events: u64,
    /// Events that were lost.
    pub lost: u64,
    /// Threads that ran without having been switched to: events that the kernel does not report.
    pub holes: u64,
    /// From the first event to the last.
    pub length: Nanos,
    /// Times at which more had happened than is remembered.
    pub forgotten: u64,
}

impl Follower {
    /// Follows what is asked for.
    pub fn new(request: FollowRequest) -> Follower {
        Follower {
            machine: Machine::new(&request),
            request,
            pending: Vec::new(),
            candidates: Candidates::default(),
            waits: Vec::new(),
            maker: None,
            tally: Tally::default(),
            cycles: Vec::new(),
            changes: Vec::new(),
            began: None,
            asked: Nanos(0),
            lost: 0,
            late: None,
            wanted: None,
            forgotten: 0,
        }
    }

    /// Takes the events of one CPU in order of time; those of several CPUs need not be.
    pub fn feed(&mut self, event: &CpuEvent<'_>) {
        if let crate::events::TracedChange::Lost { count, since } = event.what
            && since > Nanos(0)
        {
            self.lost += count.max(1);
        }
        self.pending.push(Event {
            at: event.at,
            cpu: event.cpu,
            tid: event.tid,
            what: event.what,
        });
    }

    /// All events before this instant have been fed.
    pub fn complete(&mut self, until: Nanos) {
        // Stable, so that events of one CPU stay in order.
        self.pending.sort_by_key(|event| event.at);
        let whole = self.pending.partition_point(|event| event.at < until);
        let whole: Vec<Event> = self.pending.drain(..whole).collect();
        for event in &whole {
            self.began.get_or_insert(event.at);
            if let Some(wait) = self.machine.feed(event) {
                self.waited(wait);
            }
        }
        self.look_for_cycle(false);
        self.forget();
    }

    /// As many cycles as are kept have been seen: more would be counted, and not kept.
    pub fn is_full(&self) -> bool {
        self.cycles.len() >= MOST_CYCLES
    }

    /// The first cycle later than the deadline since this was asked.
    pub fn take_late(&mut self) -> Option<CycleTimes> {
        self.late.take()
    }

    fn waited(&mut self, mut wait: Wait) {
        let is_named = |wanted: &WantedWait| wanted.is(&wait.call.kind());
        wait.is_mark = self.request.wait.as_ref().is_some_and(is_named);
        self.candidates.note(&wait);
        match &mut self.maker {
            Some(_) => self.take(&wait),
            None if self.waits.len() < WAITS => self.waits.push(wait),
            None => {}
        }
    }

    /// The cycles that end with this wait.
    fn take(&mut self, wait: &Wait) {
        let Some(maker) = self.maker.as_mut() else { return };
        let ended = maker.take(wait);
        let change = maker.take_change();
        ended.into_iter().for_each(|span| self.explain(span));
        let Some(change) = change else { return };
        // Some of these were taken for one, because the other period was not known yet.
        if self.request.deadline.is_none() {
            self.tally.judge_none_from(change.at);
        }
        if self.changes.len() < CHANGES {
            self.changes.push(change);
        }
    }

    fn explain(&mut self, span: CycleSpan) {
        let Some((wait, limit)) = self.maker.as_ref().map(|maker| (maker.wait, maker.limit())) else {
            return;
        };
        let parts = path(&self.machine, wait.tid, span.release, span.end);
        let times = times(&span, &parts);
        if self.cycles.len() < MOST_CYCLES {
            self.cycles.push(times);
        }
        if self
            .request
            .deadline
            .is_some_and(|deadline| times.response() > deadline)
        {
            self.late.get_or_insert(times);
        }
        let limit = self.request.deadline.or(limit);
        let notes = self.machine.notes(&cpus(&parts), span.release, span.end);
        let cycle = ExplainedCycle { times, parts, notes };
        if self.request.cycle == Some(times.release) {
            self.wanted = Some(cycle.clone());
        }
        self.tally.add(cycle, limit);
    }

    /// Chooses the wait that ends a cycle, once there was time to see some.
    fn look_for_cycle(&mut self, at_end: bool) {
        let (Some(began), last) = (self.began, self.machine.last) else {
            return;
        };
        let length = last.saturating_sub(began);
        let is_regular = self.maker.as_ref().map(|maker| maker.wait.period.is_some());
        let is_time = match is_regular {
            Some(true) => false,
            Some(false) => last.saturating_sub(self.asked) >= AGAIN,
            None => length >= LEARN,
        };
        if !(is_time || at_end && is_regular.is_none()) {
            return;
        }
        self.asked = last;
        let Some(wait) = self.candidates.choose(&self.request, &self.machine) else {
            return;
        };
        let takes = match is_regular {
            None => at_end || wait.period.is_some() || length >= SETTLE,
            Some(_) => wait.period.is_some(),
        };
        if !takes {
            return;
        }
        self.maker = Some(CycleMaker::new(wait));
        self.tally = Tally::default();
        self.wanted = None;
        self.cycles.clear();
        for wait in std::mem::take(&mut self.waits) {
            self.take(&wait);
        }
    }

    /// Forgets what no cycle needs any more.
    fn forget(&mut self) {
        if let Some(maker) = &self.maker {
            let needed = maker.needs().unwrap_or(self.machine.last);
            self.machine.prune(needed);
        }
        if self.machine.len() > STRETCHES {
            self.forgotten += 1;
            self.waits.clear();
            self.machine.prune(self.machine.last);
        }
    }

    /// Ends, and tells what was found.
    pub fn finish(mut self) -> Followed {
        self.complete(Nanos(u64::MAX));
        self.look_for_cycle(true);
        let wait = self.maker.as_ref().map(|maker| maker.wait);
        let percentile = self.tally.percentile(99);
        let limit = self
            .request
            .deadline
            .or(wait.and_then(|wait| wait.limit()))
            .unwrap_or(percentile);
        let (late, causes) = self.tally.causes(limit);
        let task = wait.and_then(|wait| self.machine.task(wait.tid));
        Followed {
            cpus: task.map(|task| task.cpus.iter().copied().collect()).unwrap_or_default(),
            thread: task.map(Task::usual),
            wait,
            mark: self.request.wait.as_ref().and_then(WantedWait::mark),
            missed: self.maker.as_ref().map_or(0, |maker| maker.missed),
            at_once: self.maker.as_ref().map_or(0, |maker| maker.at_once),
            limit,
            late,
            noted: self.tally.noted(limit),
            causes,
            usual: self.tally.usual(USUAL),
            changes: self.changes,
            is_off_grid: self.maker.as_ref().is_some_and(|maker| maker.has_changed),
            unexplained: self.tally.unexplained(),
            slowest: std::mem::take(&mut self.tally.slowest),
            wanted: self.wanted,
            cycles: self.cycles,
            waits: self.candidates.seen(&self.machine),
            events: task.map(|task| task.events).unwrap_or_default(),
            lost: self.lost,
            holes: self.machine.holes,
            length: self.machine.last.saturating_sub(self.began.unwrap_or_default()),
            forgotten: self.forgotten,
        }
    }
}

/// A cycle's times from its parts.
fn times(span: &CycleSpan, parts: &[Part]) -> CycleTimes {
    let mut times = CycleTimes {
        index: span.index,
        release: span.release,
        start: span.start,
        end: span.end,
        execution: Nanos(0),
        interference: Nanos(0),
        blocked: Nanos(0),
        unexplained: Nanos(0),
    };
    for part in parts {
        let length = part.to.0 - part.from.0;
        let sum = match &part.cause.what {
            Doing::Unexplained(_) | Doing::FromIdle(None) => &mut times.unexplained,
            _ if !part.cause.via.is_empty() => &mut times.blocked,
            Doing::User
            | Doing::Code
            | Doing::Call(_)
            | Doing::Fault
            | Doing::Handler { .. }
            | Doing::KernelLock(_) => &mut times.execution,
            Doing::Interrupted(_)
            | Doing::Ready { .. }
            | Doing::FromIdle(Some(_))
            | Doing::Slack(_)
            | Doing::TimerLate(_)
            | Doing::TimerInterrupt => &mut times.interference,
            Doing::Sleeps(_) | Doing::Device { .. } | Doing::WokenBy { .. } | Doing::Stopped { .. } => {
                &mut times.blocked
            }
        };
        sum.0 += length;
    }
    times
}
