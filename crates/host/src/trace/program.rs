//! The trace of a program's threads and of all that can keep them: by two instances of tracefs, or by perf's rings.
//!
//! The instances cost the program less, and report of idle CPUs what perf cannot on every machine. They have to be made, so where
//! that is refused perf is left.

use super::call_cost::cost_of_a_call;
use super::events::CpuEvent;
use super::instances::{Instances, TracedMark, room_kib};
use super::points::points;
use super::tracefs::{InstanceFolder, Tracefs};
use super::{Purpose, Tracer, TracingError};
use crate::facts::FileTree;
use crate::facts::tree::field;
use crate::{HostError, Journal, StateFolder};
use serde::Serialize;
use std::fmt;
use std::path::Path;
use worstcase_contract::Nanos;
use worstcase_instruments::sys::clock;
use worstcase_instruments::sys::rlimit::{Raised, Resource};

/// What records events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TraceRecorder {
    /// Instances of the kernel's own trace.
    Tracefs,
    /// perf's rings.
    Perf,
}

impl fmt::Display for TraceRecorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TraceRecorder::Tracefs => "tracefs",
            TraceRecorder::Perf => "perf",
        })
    }
}

/// A trace that is ready to begin.
#[derive(Debug)]
pub(crate) struct ReadyTrace {
    cpus: Vec<u32>,
    instances: Option<Instances>,
    /// So much longer a system call of the program takes with its two events, if that could be measured.
    pub call_ns: Option<Nanos>,
    /// Why it is not the better recorder.
    pub note: Option<String>,
}

/// A trace that runs until it is dropped.
#[derive(Debug)]
pub(crate) struct ProgramTrace {
    recorder: Recorder,
    /// The program's threads when it began.
    pub tids: Vec<u32>,
    /// Each thread needs some descriptors on each CPU.
    _files: Option<Raised>,
}

#[derive(Debug)]
enum Recorder {
    Instances(Box<Instances>),
    Perf(Tracer),
}

/// Bytes of the ring in which the cost of a call is measured: two events of some hundred bytes a call.
const COST_RING: usize = 1 << 20;
/// So often at most threads are looked for that began meanwhile.
const LOOKS: usize = 3;
/// Who makes the instances, in journals.
const OWNER: &str = "worstcase host follow";

impl ReadyTrace {
    /// Makes ready what takes time, for a trace of these CPUs by this recorder; perf is always left.
    pub fn new(cpus: &[u32], recorder: TraceRecorder) -> ReadyTrace {
        let made = match recorder {
            TraceRecorder::Tracefs => made(cpus, None).map_err(Some),
            TraceRecorder::Perf => Err(None),
        };
        let (instances, note) = match made {
            Ok(instances) => (Some(instances), None),
            Err(why) => (None, why.map(|why| costs_more(&why))),
        };
        let call_ns = match &instances {
            Some(instances) => instances.call_ns,
            None => cost_of_a_call(perf_of_calls),
        };
        ReadyTrace {
            cpus: cpus.to_vec(),
            instances,
            call_ns,
            note,
        }
    }

    /// The same with a mark, which the instances alone record.
    pub fn with_mark(cpus: &[u32], mark: &TracedMark) -> Result<ReadyTrace, HostError> {
        let instances = made(cpus, Some(mark)).map_err(|why| HostError::Missing(format!("marks: {why}")))?;
        Ok(ReadyTrace {
            cpus: cpus.to_vec(),
            call_ns: instances.call_ns,
            instances: Some(instances),
            note: None,
        })
    }

    /// Begins with the threads that `list` gives, and with those that it gives after that. The second value is whether all are
    /// recorded as the program's.
    pub fn begin(self, list: impl Fn() -> Vec<u32>) -> Result<(ProgramTrace, bool), TracingError> {
        match self.instances {
            Some(instances) => with_instances(instances, list),
            None => with_perf(&self.cpus, list),
        }
    }
}

/// What is told where no instance of tracefs records.
pub(super) fn costs_more(why: &str) -> String {
    format!("perf recorded, at a higher cost: {why}")
}

/// Threads that begin while the instances are switched on are added.
fn with_instances(mut instances: Instances, list: impl Fn() -> Vec<u32>) -> Result<(ProgramTrace, bool), TracingError> {
    let mut tids = list();
    instances.begin(&tids)?;
    let mut is_whole = false;
    for _ in 0..LOOKS {
        let fresh: Vec<u32> = list().into_iter().filter(|tid| !tids.contains(tid)).collect();
        is_whole = fresh.is_empty();
        if is_whole {
            break;
        }
        instances.add(&fresh)?;
        tids.extend(fresh);
    }
    let trace = ProgramTrace {
        recorder: Recorder::Instances(Box::new(instances)),
        tids,
        _files: None,
    };
    Ok((trace, is_whole))
}

/// A thread that begins while perf's counters are opened may be missing in them, so they are opened anew.
fn with_perf(cpus: &[u32], list: impl Fn() -> Vec<u32>) -> Result<(ProgramTrace, bool), TracingError> {
    let files = Resource::Files.raise(Resource::Files.limit().hard).ok();
    let mut looks = 0;
    loop {
        let tids = list();
        let tracer = Tracer::open(cpus, &Purpose::Follow { tids: tids.clone() })?;
        looks += 1;
        let is_whole = list().iter().all(|tid| tids.contains(tid));
        if is_whole || looks > LOOKS {
            let trace = ProgramTrace {
                recorder: Recorder::Perf(tracer),
                tids,
                _files: files,
            };
            return Ok((trace, is_whole));
        }
    }
}

fn made(cpus: &[u32], mark: Option<&TracedMark>) -> Result<Instances, String> {
    let folder = InstanceFolder::find()?;
    let said = |e: HostError| e.to_string();
    let journal = Journal::guarded(&StateFolder::open().map_err(said)?, OWNER).map_err(said)?;
    Instances::make(cpus, room_kib(cpus.len(), free_kib()), folder, journal, mark)
}

fn free_kib() -> u64 {
    let memory = FileTree::at(Path::new("/")).text("proc/meminfo").unwrap_or_default();
    let free = field(&memory, "MemAvailable").and_then(|value| value.split(' ').next()?.parse().ok());
    free.unwrap_or(0)
}

/// Records one thread's system calls by perf.
fn perf_of_calls(tid: u32) -> Result<Tracer, TracingError> {
    let mut points = points(&Tracefs::of_threads()?, &Purpose::Follow { tids: vec![tid] })?;
    points.retain(|point| point.name.starts_with("raw_syscalls/"));
    let cpus = worstcase_instruments::sys::affinity::current().unwrap_or_default();
    let plan: Vec<_> = cpus.iter().map(|cpu| (*cpu, &points[..])).collect();
    Tracer::of_points(&plan, COST_RING)
}

impl ProgramTrace {
    pub fn recorder(&self) -> TraceRecorder {
        match &self.recorder {
            Recorder::Instances(_) => TraceRecorder::Tracefs,
            Recorder::Perf(_) => TraceRecorder::Perf,
        }
    }

    /// Hands over all available events, each CPU's in order of time but for those of another instance; returns their number, and
    /// the time before which all have been handed over.
    pub fn drain(&mut self, each: impl FnMut(&CpuEvent<'_>)) -> (u64, Nanos) {
        match &mut self.recorder {
            Recorder::Instances(instances) => instances.drain(each),
            Recorder::Perf(tracer) => {
                let now = clock::monotonic();
                (tracer.drain(each), now)
            }
        }
    }

    /// There was more than the last call took.
    pub fn is_behind(&self) -> bool {
        match &self.recorder {
            Recorder::Instances(instances) => instances.is_behind(),
            Recorder::Perf(_) => false,
        }
    }

    /// Leaves what was not read, as losses; tells since when.
    pub fn leave_rest(&mut self, each: impl FnMut(&CpuEvent<'_>)) -> Option<Nanos> {
        match &mut self.recorder {
            Recorder::Instances(instances) if instances.is_behind() => instances.leave_rest(each),
            _ => None,
        }
    }

    /// Events that the kernel could not keep.
    pub fn lost(&self) -> u64 {
        match &self.recorder {
            Recorder::Instances(instances) => instances.lost(),
            Recorder::Perf(tracer) => tracer.lost(),
        }
    }

    /// Bytes that the kernel wrote.
    pub fn bytes(&self) -> u64 {
        match &self.recorder {
            Recorder::Instances(instances) => instances.bytes(),
            Recorder::Perf(tracer) => tracer.bytes(),
        }
    }

    /// Ends it; what could not be taken back is told.
    pub fn end(self) -> Option<String> {
        match self.recorder {
            Recorder::Instances(instances) => instances.end().err().map(|e| e.to_string()),
            Recorder::Perf(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::TracedChange;
    use rustix::process::getppid;
    use rustix::thread::gettid;
    use worstcase_instruments::sys::affinity;

    #[test]
    fn perf_records_where_it_is_wanted() {
        worstcase_skips::needs_root!();
        let cpus = affinity::current().unwrap();
        let ready = ReadyTrace::new(&cpus, TraceRecorder::Perf);
        assert!(ready.call_ns.is_some() && ready.note.is_none());
        let own = gettid().as_raw_nonzero().get() as u32;
        let (mut trace, is_whole) = ready.begin(|| vec![own]).unwrap();
        assert!(is_whole && trace.recorder() == TraceRecorder::Perf);
        let before = clock::monotonic();
        std::hint::black_box(getppid());
        let mut calls = 0;
        let (count, reached) = trace.drain(|event| {
            calls += u32::from(event.tid == own && matches!(event.what, TracedChange::SysEnter { .. }));
        });
        assert!(calls > 0 && count >= 2 && reached > before);
        assert_eq!((trace.lost(), trace.end()), (0, None));
    }
}
