//! Captures the trace around the latest samples of each segment.

use super::MeasureError;
use super::collect::Collected;
use super::observe::{TraceObserver, WatchedThread};
use crate::spec::HostSpec;
use crate::trace::EventSnapshot;
use std::io;

/// The observer, if captures are asked for.
pub(super) struct Captures {
    observer: Option<TraceObserver>,
    watched: Vec<WatchedThread>,
    /// Periods of a segment.
    periods: u64,
    /// For each CPU the samples that were not examined yet, with their index over all segments.
    pub samples: Vec<Vec<Collected>>,
}

impl Captures {
    /// Begins to observe.
    pub(crate) fn open(
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

    /// Examines the samples up to a segment's end. Later samples wait, so that none takes the place of one in this
    /// segment.
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

    /// The captures of the latest samples of a finished segment, with their index in the segment.
    pub fn snapshots(&mut self, segment: u64, place: usize) -> Vec<EventSnapshot> {
        let first = segment * self.periods;
        let observer = self.observer.as_mut();
        let mut captures = observer.map_or(Vec::new(), |o| o.captures_before(place, first + self.periods));
        captures.iter_mut().for_each(|capture| capture.index -= first);
        captures
    }

    /// Events that the kernel has dropped so far.
    pub fn lost(&self) -> u64 {
        self.observer.as_ref().map_or(0, TraceObserver::lost)
    }
}
