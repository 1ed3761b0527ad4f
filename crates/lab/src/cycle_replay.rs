//! A cycle of a program that was followed, and what ran meanwhile, instruction by instruction.

use super::again::RepeatableCell;
use super::guest_clock::{self, ClockEvent, GuestClock, TimerAnchor};
use super::replay::Counted;
use super::{LabError, cell, followed, replay, stamps};
use crate::execution::{Elsewhere, Execution, Why};
use std::collections::BTreeSet;
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

/// From the event that tells of a wake-up to the interrupt that is sent for it, at most, in instructions.
const SENDING: u64 = 2_500;

/// An interrupt is seen by its CPU after this time at most, in ns: it may have to wait for its turn.
const DELIVERY: u64 = 100_000;

/// A cycle and what ran meanwhile.
#[derive(Debug)]
pub struct CycleReplay {
    /// The cycle with its parts.
    pub cycle: ExplainedCycle,
    /// What ran on the CPU that measures, from before the release on.
    pub measuring: CpuReplay,
    /// What ran on the other CPUs of its parts, as far as that could be found.
    pub others: Vec<CpuReplay>,
}

/// What one CPU ran.
#[derive(Debug)]
pub struct CpuReplay {
    /// The CPU.
    pub cpu: u32,
    /// What it ran.
    pub execution: Execution,
    /// When that was.
    pub clock: GuestClock,
}

impl CpuReplay {
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
        let times = cycle.times.release..cycle.times.end;
        let anchors = guest_clock::anchors(&stamps::timer_entries(&self.raw.events), &own, shift);
        let anchors = anchors.ok_or_else(|| misfit("the trace has more timer interrupts"))?;
        let window = window(&anchors, &times, shift).ok_or_else(|| misfit("there is no timer interrupt"))?;
        let length = window.end.0 - window.start.0;
        if length > LONGEST {
            let why =
                format!("the cycle has {length} instructions, too many to be told one by one; choose another --sample");
            return Err(told(why));
        }
        let (execution, modules) = self.replay_window(cache, window, Counted::Nothing)?;
        let clock = GuestClock::of(&execution, &own, &anchors);
        let (known, all) = found_of(&clock, &own, &times);
        if !is_enough(known, all) {
            return Err(misfit(&format!("{known} of {all} events of the cycle were found")));
        }
        self.kernel.code.add_modules(modules);
        let measuring = CpuReplay { cpu, execution, clock };
        let others = self.others(cache, &cycle, &measuring, &events)?;
        Ok(CycleReplay {
            cycle,
            measuring,
            others,
        })
    }

    /// What ran on the other CPUs meanwhile: each is followed in a replay of its own.
    fn others(
        &mut self,
        cache: &Cache,
        cycle: &ExplainedCycle,
        measuring: &CpuReplay,
        events: &[CpuEvent<'_>],
    ) -> Result<Vec<CpuReplay>, LabError> {
        let cpus: BTreeSet<u32> = cycle.parts.iter().filter_map(|part| part.cpu).collect();
        let mut others = Vec::new();
        for cpu in cpus.into_iter().filter(|cpu| *cpu != measuring.cpu) {
            self.follow(cpu)?;
            let other = self.other(cache, cpu, cycle, measuring, events);
            self.follow(measuring.cpu)?;
            others.extend(other?);
        }
        Ok(others)
    }

    /// What ran on another CPU in the parts that are told of it; none if it is not known where that is.
    fn other(
        &mut self,
        cache: &Cache,
        cpu: u32,
        cycle: &ExplainedCycle,
        measuring: &CpuReplay,
        events: &[CpuEvent<'_>],
    ) -> Result<Option<CpuReplay>, LabError> {
        let shift = self.mips().shift();
        let parts = || cycle.parts.iter().filter(|part| part.cpu == Some(cpu));
        let from = parts().map(|part| part.from).min().unwrap_or_default();
        let to = parts().map(|part| part.to).max().unwrap_or_default();
        let anchors: Vec<TimerAnchor> = parts().filter_map(|part| wake_up(measuring, cpu, part.to)).collect();
        let Some(window) = window(&anchors, &(from..to), shift) else {
            return Ok(None);
        };
        if window.end.0 - window.start.0 > LONGEST {
            return Ok(None);
        }
        let (execution, modules) = self.replay_window(cache, window, Counted::Nothing)?;
        self.kernel.code.add_modules(modules);
        let own: Vec<ClockEvent> = events.iter().filter(|e| e.cpu == cpu).map(clock_event).collect();
        let clock = GuestClock::of(&execution, &own, &anchors);
        let (known, all) = found_of(&clock, &own, &(from..to));
        Ok(is_enough(known, all).then_some(CpuReplay { cpu, execution, clock }))
    }
}

/// How many events of these times were found, and how many there are.
fn found_of(clock: &GuestClock, events: &[ClockEvent], times: &Range<Nanos>) -> (usize, usize) {
    let within = || {
        events
            .iter()
            .filter(|event| event.at >= times.start && event.at <= times.end)
    };
    (within().filter(|event| clock.knows(event.at)).count(), within().count())
}

fn is_enough(known: usize, all: usize) -> bool {
    known as f64 >= FOUND * all as f64
}

/// Where another CPU was when it woke a thread of the CPU that measures at this instant: it sent it an interrupt just after
/// the event that tells of the wake-up.
fn wake_up(measuring: &CpuReplay, cpu: u32, at: Nanos) -> Option<TimerAnchor> {
    let sent = |other: &&Elsewhere| other.why == Why::Sends && other.cpu == cpu;
    let off = |other: &Elsewhere| Some(measuring.clock.time_of(other.at.0)?.0.abs_diff(at.0));
    let sends = measuring.execution.elsewhere.iter().filter(sent);
    let (off, nearest) = sends
        .filter_map(|other| Some((off(other)?, other)))
        .min_by_key(|(off, _)| *off)?;
    (off <= DELIVERY).then_some(TimerAnchor {
        count: nearest.count.0.saturating_sub(SENDING),
        at,
    })
}

/// From before these times to behind them.
fn window(anchors: &[TimerAnchor], times: &Range<Nanos>, shift: u32) -> Option<Range<Instructions>> {
    let from = guest_clock::roughly(anchors, times.start, shift)?;
    let to = guest_clock::roughly(anchors, times.end, shift)?;
    Some(Instructions(from.start.saturating_sub(replay::LEAD.0))..Instructions(to.end + TAIL))
}

fn clock_event(event: &CpuEvent<'_>) -> ClockEvent {
    ClockEvent {
        at: event.at,
        is_timer: matches!(event.what, TracedChange::Enter(CpuContext::Timer)),
        is_idle: matches!(event.what, TracedChange::Switch { to, .. } if to.tid == 0),
    }
}
