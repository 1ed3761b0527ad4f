//! The metrics of a watch.

use worstcase_contract::Nanos;
use worstcase_host::message::Pulse;
use worstcase_host::watch::{KeptSegment, WatchGap};

/// The state of a watch.
#[derive(Clone, Debug, Default)]
pub struct WatchMetrics {
    /// The version of worstcase.
    pub version: String,
    /// The probe.
    pub probe: String,
    /// The load.
    pub load: String,
    /// The limit that is asked for, if there is one.
    pub criterion: Option<Nanos>,
    /// Each CPU, since measuring began.
    pub cpus: Vec<Pulse>,
    /// The last segment that is over.
    pub last: Option<LastSegment>,
    /// Segments that were kept since measuring began.
    pub segments: u64,
    /// Gaps that this process saw, the one before it included.
    pub gaps: u64,
    /// Their time in seconds.
    pub gap_seconds: u64,
}

/// A segment that is over.
#[derive(Clone, Copy, Debug)]
pub struct LastSegment {
    /// Its largest latency.
    pub max: Option<Nanos>,
    /// When it ended, in seconds since 1970.
    pub ended: u64,
}

impl WatchMetrics {
    /// A segment is over.
    pub fn kept(&mut self, kept: &KeptSegment) {
        self.segments += 1;
        self.last = Some(LastSegment {
            max: kept.max.map(|(max, _)| max),
            ended: kept.ended.seconds(),
        });
    }

    /// Counts a time without measurements.
    pub fn gap(&mut self, gap: &WatchGap) {
        self.gaps += 1;
        self.gap_seconds += gap.seconds();
    }
}
