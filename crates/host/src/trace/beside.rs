//! The trace beside samples: by an instance of tracefs, which costs a wake-up least, or by perf's rings where none can be made.

use super::events::CpuEvent;
use super::instances::samples::SampleInstance;
use super::points::{has_vectors, points};
use super::program::{TraceRecorder, costs_more};
use super::tracefs::Tracefs;
use super::tracer::room_of;
use super::{Purpose, Tracer, TracingError};
use crate::{HostError, Journal, StateFolder};

/// The command as journals name it.
const OWNER: &str = "worstcase host run";

/// It runs until it ends.
#[derive(Debug)]
pub(crate) enum TraceBeside {
    Instance(Box<SampleInstance>),
    /// With the reason why no instance records.
    Perf(Tracer, String),
}

impl TraceBeside {
    /// Begins a trace of these CPUs.
    pub fn open(cpus: &[u32], purpose: &Purpose) -> Result<TraceBeside, TracingError> {
        let tracefs = Tracefs::of_threads()?;
        let instance = match has_vectors(&tracefs) {
            true => {
                let (points, room) = (points(&tracefs, purpose)?, room_of(purpose, cpus.len()));
                let journal = guarded().map_err(|e| e.to_string());
                journal.and_then(|journal| SampleInstance::open(cpus, &points, room, journal))
            }
            false => Err(TracingError::NoVectors.to_string()),
        };
        match instance {
            Ok(instance) => Ok(TraceBeside::Instance(Box::new(instance))),
            Err(why) => Ok(TraceBeside::Perf(Tracer::open(cpus, purpose)?, why)),
        }
    }

    pub fn recorder(&self) -> TraceRecorder {
        match self {
            TraceBeside::Instance(_) => TraceRecorder::Tracefs,
            TraceBeside::Perf(..) => TraceRecorder::Perf,
        }
    }

    /// That it costs more than it could, and why.
    pub fn note(&self) -> Option<String> {
        match self {
            TraceBeside::Instance(_) => None,
            TraceBeside::Perf(_, why) => Some(costs_more(why)),
        }
    }

    /// Hands over all available events, each CPU's in order of time. All events of a sample that was taken before the call come
    /// with this call or an earlier one.
    pub fn drain(&mut self, each: impl FnMut(&CpuEvent<'_>)) {
        match self {
            TraceBeside::Instance(instance) => instance.drain(each),
            TraceBeside::Perf(tracer, _) => drop(tracer.drain(each)),
        }
    }

    /// Events that the kernel could not keep so far.
    pub fn lost(&self) -> u64 {
        match self {
            TraceBeside::Instance(instance) => instance.lost(),
            TraceBeside::Perf(tracer, _) => tracer.lost(),
        }
    }

    pub fn end(self) {
        if let TraceBeside::Instance(instance) = self {
            instance.end();
        }
    }
}

fn guarded() -> Result<Journal, HostError> {
    Journal::guarded(&StateFolder::open()?, OWNER)
}
