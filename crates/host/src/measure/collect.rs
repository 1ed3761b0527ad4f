//! The collecting side of one CPU: words from its ring to its file, and its statistics.

use super::ring::RingReader;
use crate::message::CpuStats;
use crate::packed::Unpacker;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use worstcase_contract::Probe;

/// The index of its period; for a gap its begin, in ns since the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collected {
    /// Which period; of a gap, when it began, in ns since the start.
    pub at: u64,
    /// Its latency or length in ns.
    pub length: u64,
}

pub(super) struct Collector {
    ring: RingReader,
    unpacker: Unpacker,
    file: BufWriter<File>,
    stats: CpuStats,
    kind: RingContent,
}

/// The meaning of the number pairs in the ring.
enum RingContent {
    /// Periods since the last sample, and latency.
    Samples {
        /// The period of the last sample.
        last: i64,
    },
    /// Begin since the start, and length.
    Gaps,
}

impl Collector {
    /// A collector that writes a new file.
    pub fn new(cpu: u32, probe: Probe, ring: RingReader, path: &Path) -> io::Result<Collector> {
        Ok(Collector {
            ring,
            unpacker: Unpacker::default(),
            file: BufWriter::with_capacity(1 << 16, File::create_new(path)?),
            stats: CpuStats {
                cpu,
                ..CpuStats::default()
            },
            kind: match probe {
                Probe::Noise => RingContent::Gaps,
                _ => RingContent::Samples { last: -1 },
            },
        })
    }

    /// Takes all samples that are in the ring.
    pub fn collect(&mut self, mut each: impl FnMut(Collected)) -> io::Result<()> {
        let mut result = Ok(());
        self.ring.drain(|word| {
            if result.is_ok() {
                result = self.file.write_all(&word.to_le_bytes());
            }
            if let Some((first, length)) = self.unpacker.push(word) {
                let at = match &mut self.kind {
                    RingContent::Gaps => {
                        self.stats.add(self.stats.taken, length);
                        first
                    }
                    RingContent::Samples { last } => {
                        *last += first as i64;
                        self.stats.add(*last as u64, length);
                        *last as u64
                    }
                };
                each(Collected { at, length });
            }
        });
        self.stats.lost = self.ring.refused();
        if let RingContent::Samples { last } = self.kind {
            // Samples that were lost since the last one in the ring do not show as a step yet.
            let steps = (last + 1) as u64 - self.stats.taken;
            self.stats.missed = steps.saturating_sub(self.stats.lost);
        }
        result
    }

    /// The statistics so far.
    pub fn stats(&self) -> &CpuStats {
        &self.stats
    }

    /// Ends collecting: everything is in the file.
    pub fn finish(mut self) -> io::Result<CpuStats> {
        self.file.flush()?;
        Ok(self.stats)
    }
}
