//! A cycle of a program that was followed, and what ran meanwhile, instruction by instruction.

use super::again::RepeatableCell;
use super::guest_clock::{self, ClockEvent, GuestClock, TimerAnchor};
use super::{LabError, cell, followed, replay, stamps};
use crate::execution::Execution;
use std::ops::Range;
use worstcase_base::cache::Cache;
use worstcase_contract::{Instructions, Nanos};
use worstcase_traces::events::{CpuContext, CpuEvent, TracedChange};
use worstcase_traces::follow::ExplainedCycle;

/// How long a window goes on after what is known roughly to be the cycle's end.
const TAIL: u64 = 5_000;

/// Longest window: its steps, about one for every five instructions, are held in memory.
const LONGEST: u64 = 200_000_000;

/// Of the events in a cycle at least this part must be found in the replay.
const FOUND: f64 = 0.9;

/// A cycle and what ran meanwhile.
#[derive(Debug)]
pub struct CycleReplay {
    /// The cycle with its parts.
    pub cycle: ExplainedCycle,
    /// What ran on the CPU that is followed, from before the release on.
    pub execution: Execution,
    /// When that was.
    pub clock: GuestClock,
}

impl CycleReplay {
    /// The instructions between two instants.
    pub fn counts(&self, from: Nanos, to: Nanos) -> Range<u64> {
        self.clock.count_at(from)..self.clock.count_at(to)
    }
}

impl RepeatableCell {
    /// Replays the cycle that was released at this instant.
    pub fn replay_cycle(&mut self, cache: &Cache, release: Nanos) -> Result<CycleReplay, LabError> {
        let what = cell::described(self.prepared(), self.spec());
        let told = |why: String| LabError::Followed(what.clone(), why);
        let trace = self.raw.record.trace.as_ref();
        let trace = trace.ok_or_else(|| told("no program was followed".into()))?;
        let events = followed::events(trace).map_err(told)?;
        let cycle = followed::cycle(trace, &events, release);
        let cycle = cycle.ok_or_else(|| told(format!("no cycle was released at {} ns", release.0)))?;
        let cpu = self.followed();
        let own: Vec<ClockEvent> = events.iter().filter(|e| e.cpu == cpu).map(clock_event).collect();
        let shift = self.mips().shift();
        let misfit = |why: &str| LabError::Stamps(what.clone(), why.to_string());
        let anchors = guest_clock::anchors(&stamps::timer_entries(&self.raw.events), &own, shift);
        let anchors = anchors.ok_or_else(|| misfit("the trace has more timer interrupts"))?;
        let window = window(&anchors, &cycle, shift).ok_or_else(|| misfit("there is no timer interrupt"))?;
        let length = window.end.0 - window.start.0;
        if length > LONGEST {
            let why =
                format!("the cycle has {length} instructions, too many to be told one by one; choose another --sample");
            return Err(told(why));
        }
        let mut found = None;
        let modules = self.replay_window(cache, window, |execution| found = Some(execution))?;
        let execution = found.ok_or_else(|| misfit("the window was not reached"))?;
        let clock = GuestClock::of(&execution, &own, &anchors);
        let within: Vec<Nanos> = own
            .iter()
            .map(|event| event.at)
            .filter(|at| (cycle.times.release..=cycle.times.end).contains(at))
            .collect();
        let known = within.iter().filter(|at| clock.knows(**at)).count();
        if (known as f64) < FOUND * within.len() as f64 {
            return Err(misfit(&format!(
                "{known} of {} events of the cycle were found",
                within.len()
            )));
        }
        self.kernel.code.add_modules(modules);
        Ok(CycleReplay {
            cycle,
            execution,
            clock,
        })
    }
}

/// From before the cycle's release to behind its end.
fn window(anchors: &[TimerAnchor], cycle: &ExplainedCycle, shift: u32) -> Option<Range<Instructions>> {
    let from = guest_clock::roughly(anchors, cycle.times.release, shift)?;
    let to = guest_clock::roughly(anchors, cycle.times.end, shift)?;
    Some(Instructions(from.start.saturating_sub(replay::LEAD.0))..Instructions(to.end + TAIL))
}

fn clock_event(event: &CpuEvent<'_>) -> ClockEvent {
    ClockEvent {
        at: event.at,
        is_timer: matches!(event.what, TracedChange::Enter(CpuContext::Timer)),
        is_idle: matches!(event.what, TracedChange::Switch { to, .. } if to.tid == 0),
    }
}
