//! The trace of entries into some CPUs, and of what other CPUs send there: for `worstcase host isolate`.

use super::TracingError;
use super::events::CpuEvent;
use super::points::points;
use super::probes;
use super::tracefs::Tracefs;
use super::tracer::{CHAINS_RING, Tracer};
use crate::CpuList;
use worstcase_traces::purpose::Purpose;
use worstcase_traces::table::{CALLS, SENDS};

/// A trace of entries into some CPUs.
#[derive(Debug)]
pub(crate) struct EntryTrace {
    tracer: Tracer,
    /// The kernel reports who calls a function on another CPU.
    pub tells_callers: bool,
    /// The kernel reports who sends an interrupt without a function.
    pub tells_senders: bool,
    /// Senders are reported through probes in the kernel's functions.
    pub uses_probes: bool,
}

impl EntryTrace {
    /// Begins a trace of entries into `watched`, and of what any of `all` sends there.
    pub(crate) fn open(watched: &CpuList, all: &CpuList) -> Result<EntryTrace, TracingError> {
        let tracefs = Tracefs::of_threads()?;
        let entries = points(&tracefs, &Purpose::Entries)?;
        let mut sends = points(
            &tracefs,
            &Purpose::Sends {
                watched: watched.clone(),
            },
        )?;
        let has = |name: &str| sends.iter().any(|point| point.name == name);
        let (has_calls, has_sends) = (has(CALLS), has(SENDS));
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
            tracer: Tracer::of_points(&plan, CHAINS_RING)?,
            tells_callers,
            tells_senders,
            uses_probes,
        })
    }

    /// Hands over all available events, CPU by CPU, each CPU's in order of time.
    pub fn drain(&mut self, each: impl FnMut(&CpuEvent<'_>)) {
        self.tracer.drain(each);
    }
}
