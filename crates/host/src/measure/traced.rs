//! The kernel's trace of all measuring threads, if it is asked for.

use super::MeasureError;
use super::decode::Collected;
use super::observe::{ThreadObservations, TraceObserver, WatchedThread};
use crate::spec::HostSpec;
use crate::trace::EventSnapshot;
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;

pub(super) struct TracedThreads {
    observer: Option<TraceObserver>,
    pub threads: Vec<WatchedThread>,
    /// For each CPU the samples that were not examined yet.
    samples: Vec<Vec<Collected>>,
}

impl TracedThreads {
    /// Begins to observe.
    pub(super) fn open(
        spec: &HostSpec,
        threads: Vec<WatchedThread>,
        warnings: &mut Vec<String>,
    ) -> Result<TracedThreads, MeasureError> {
        Ok(TracedThreads {
            observer: TraceObserver::open(spec, &threads, warnings)?,
            samples: vec![Vec::new(); threads.len()],
            threads,
        })
    }

    /// Puts what the trace costs, and who records it, into a record's environment.
    pub(super) fn tell_cost(&mut self, environment: &mut BTreeMap<String, String>) {
        if let Some(observer) = &mut self.observer {
            observer.tell_cost(environment);
        }
    }

    /// Takes the samples of a CPU.
    pub(super) fn inbox(&mut self, place: usize) -> impl FnMut(Collected) + '_ {
        let mut samples = self.observer.is_some().then(|| &mut self.samples[place]);
        move |sample| {
            if let Some(samples) = &mut samples {
                samples.push(sample);
            }
        }
    }

    /// Examines the samples before `end`. Later samples wait, so that none takes the place of one in a segment that is not
    /// over. The samples were taken before the events are read: so the events of each of them are there.
    pub(super) fn look(&mut self, end: u64) -> io::Result<()> {
        let Some(observer) = &mut self.observer else {
            return Ok(());
        };
        let until_end = |samples: &mut Vec<Collected>| {
            let count = samples.partition_point(|sample| sample.at < end);
            samples.drain(..count).collect()
        };
        let samples: Vec<Vec<Collected>> = self.samples.iter_mut().map(until_end).collect();
        observer.look(&self.threads, &samples)
    }

    /// Takes out the captures of the latest samples of a finished segment with these periods, with their index in the segment.
    pub(super) fn captures(&mut self, place: usize, segment: Range<u64>) -> Vec<EventSnapshot> {
        let observer = self.observer.as_mut();
        let mut captures = observer.map_or(Vec::new(), |o| o.captures_before(place, segment.end));
        captures.iter_mut().for_each(|capture| capture.index -= segment.start);
        captures
    }

    /// Events that the kernel has dropped so far.
    pub(super) fn lost(&self) -> u64 {
        self.observer.as_ref().map_or(0, TraceObserver::lost)
    }

    /// Ends observing.
    pub(super) fn finish(self) -> io::Result<ThreadObservations> {
        self.observer
            .map_or_else(|| Ok(ThreadObservations::default()), TraceObserver::finish)
    }
}
