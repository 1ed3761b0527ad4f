//! What enters a CPU, and what other CPUs send it: the events of `worstcase host isolate`.

use super::TracingError;
use super::events::{CpuContext, CpuEvent, ShortName, TracedThread};
use super::mark_points::{MarkRecord, points};
use super::probes;
use super::tracefs::Tracefs;
use super::tracer::Tracer;
use crate::CpuList;
use worstcase_contract::Nanos;

/// What runs within an interrupt, a soft interrupt or a thread on somebody's behalf.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallbackKind {
    /// The function of a timer.
    Timer,
    /// A function that another CPU has called here.
    Call,
    /// A work item.
    Work,
    /// A callback of RCU.
    RcuCallback,
}

/// Whether a new thread is of the process that made it.
pub type SameProcess = bool;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryMark {
    /// An interrupt or soft interrupt begins.
    Enter(CpuContext),
    /// It ends.
    Exit(CpuContext),
    /// A function begins within what runs.
    Begin {
        /// What for.
        part: CallbackKind,
        /// The address of the timer, call or work: what its sender queued. That of a call is 0 where a CPU calls the function
        /// itself.
        of: u64,
        /// The function's address.
        function: u64,
    },
    /// It ends.
    End {
        /// What for.
        part: CallbackKind,
        /// The address of the call; 0 for the others.
        of: u64,
    },
    /// The CPU goes over to another thread.
    Switch(TracedThread),
    /// A fault of user code.
    PageFault,
    /// A handler of a non-maskable interrupt ended.
    Nmi {
        /// How long it took.
        length: Nanos,
    },
    /// The kernel looked whether the tick can stop.
    Tick {
        /// It stops.
        stops: bool,
        /// What needs it: bits of the kernel's TICK_DEP_MASK.
        needed_by: u32,
    },
    /// A function is queued for a CPU.
    Calls {
        /// That CPU.
        cpu: u32,
        /// The address of the call.
        call: u64,
        /// The function's address.
        function: u64,
    },
    /// A function is queued for several CPUs; which ones is not told.
    CallsMany {
        /// The function's address.
        function: u64,
    },
    /// An interrupt without a function is sent to a CPU.
    Sends {
        /// That CPU.
        cpu: u32,
    },
    /// A thread's wake-up is issued.
    Wakes {
        /// The thread.
        tid: u32,
    },
    /// A work item is queued.
    Queues {
        /// Its address.
        work: u64,
    },
    /// A thread is new, or has another name.
    Named {
        /// The thread.
        tid: u32,
        /// Its name from now on.
        name: ShortName,
        /// It is new, and whether a thread of the same process made it.
        is_new: Option<SameProcess>,
    },
    /// Events of this CPU are missing from `since` on.
    Lost {
        /// The last event before.
        since: Nanos,
        /// How many; 0 if the ring was full and the kernel has not said so yet.
        count: u64,
    },
}

/// Bytes of a ring: thousands of call chains, of 4 kB at most.
const RING: usize = 8 << 20;

/// The trace of what enters some CPUs.
#[derive(Debug)]
pub struct EntryTrace {
    tracer: Tracer<MarkRecord>,
    /// The kernel tells who calls a function on another CPU.
    pub tells_callers: bool,
    /// The kernel tells who sends an interrupt without a function.
    pub tells_senders: bool,
    /// It does so through probes in its functions.
    pub uses_probes: bool,
}

impl EntryTrace {
    /// Begins a trace of what enters `watched`, and of what any of `all` sends there.
    pub fn open(watched: &CpuList, all: &CpuList) -> Result<EntryTrace, TracingError> {
        let tracefs = Tracefs::of_threads()?;
        let entries = points::entries(&tracefs)?;
        let mut sends = points::sends(&tracefs, watched)?;
        let has = |name: &str| sends.iter().any(|point| point.name == name);
        let (has_calls, has_sends) = (has(points::CALLS), has(points::SENDS));
        let calls_probed = if has_calls { Vec::new() } else { probes::calls() };
        let sends_probed = if has_sends { Vec::new() } else { probes::sends() };
        let (tells_callers, tells_senders) = (
            has_calls || !calls_probed.is_empty(),
            has_sends || !sends_probed.is_empty(),
        );
        let uses_probes = !(calls_probed.is_empty() && sends_probed.is_empty());
        sends.extend(calls_probed.into_iter().chain(sends_probed));
        let both: Vec<_> = entries.into_iter().chain(sends.iter().cloned()).collect();
        let plan: Vec<_> = all
            .iter()
            .map(|cpu| match watched.contains(cpu) {
                true => (cpu, &both[..]),
                false => (cpu, &sends[..]),
            })
            .filter(|(_, points)| !points.is_empty())
            .collect();
        Ok(EntryTrace {
            tracer: Tracer::of_points(&plan, RING)?,
            tells_callers,
            tells_senders,
            uses_probes,
        })
    }

    /// Hands over all events that are there, CPU by CPU, each CPU's in order of time.
    pub fn drain(&mut self, each: impl FnMut(&CpuEvent<'_, EntryMark>)) {
        self.tracer.drain(each);
    }
}

/// A thread's name as one of its kind: workers have numbers.
pub fn kind_of(comm: ShortName) -> ShortName {
    let text = comm.to_string();
    match text.split_once('/') {
        Some(("kworker", rest)) if rest.starts_with('u') => "kworker, unbound".into(),
        Some(("kworker", _)) => "kworker".into(),
        _ => comm,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_are_of_one_kind() {
        let kind = |name: &str| kind_of(name.into()).to_string();
        assert_eq!(kind("kworker/1:2-events"), "kworker");
        assert_eq!(kind("kworker/u8:0"), "kworker, unbound");
        assert_eq!(kind("migration/1"), "migration/1");
    }
}
