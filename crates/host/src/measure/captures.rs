//! The trace around the latest samples of each segment.

use super::MeasureError;
use super::collect::Collected;
use super::observe::{TraceObserver, WatchedThread};
use crate::spec::HostSpec;
use crate::trace::EventSnapshot;
use std::io;

/// Looks on, if that is asked for.
pub(super) struct Captures {
    observer: Option<TraceObserver>,
    watched: Vec<WatchedThread>,
    /// Periods of a segment.
    periods: u64,
    /// Of each CPU the samples that were not looked at yet, by their number of all segments.
    pub samples: Vec<Vec<Collected>>,
}

impl Captures {
    /// Begins to look on.
    pub fn open(
        spec: &HostSpec,
        watched: Vec<WatchedThread>,
        warnings: &mut Vec<String>,
    ) -> Result<Captures, MeasureError> {
        Ok(Captures {
            observer: TraceObserver::open(spec, &watched, warnings)?,
            samples: vec![Vec::new(); watched.len()],
            periods: u64::from(spec.periods),
            watched,
        })
    }

    /// Looks at what was taken until a segment's end. What is later waits: it must not take the place of an earlier one.
    pub fn look(&mut self, segment: u64) -> io::Result<()> {
        let end = (segment + 1).saturating_mul(self.periods);
        let until_end = |samples: &mut Vec<Collected>| {
            let count = samples.partition_point(|sample| sample.at < end);
            samples.drain(..count).collect()
        };
        let samples: Vec<Vec<Collected>> = self.samples.iter_mut().map(until_end).collect();
        match &mut self.observer {
            Some(observer) => observer.look(&self.watched, &samples),
            None => Ok(()),
        }
    }

    /// What led to the latest samples of a segment that is over, by their number within it.
    pub fn snapshots(&mut self, segment: u64, place: usize) -> Vec<EventSnapshot> {
        let first = segment * self.periods;
        let observer = self.observer.as_mut();
        let mut captures = observer.map_or(Vec::new(), |o| o.captures_before(place, first + self.periods));
        captures.iter_mut().for_each(|capture| capture.index -= first);
        captures
    }

    /// Events that the kernel dropped until now.
    pub fn lost(&self) -> u64 {
        self.observer.as_ref().map_or(0, TraceObserver::lost)
    }
}
