//! The collecting side of one CPU: words from its ring to its file, and its statistics.

use super::ring::Reader;
use crate::message::CpuStats;
use crate::packed::Unpacker;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// One sample, as the collector passes it on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collected {
    /// Which period.
    pub index: u64,
    /// Its latency in ns.
    pub latency: u64,
}

/// Collects one CPU's samples.
pub(super) struct Collector {
    ring: Reader,
    unpacker: Unpacker,
    file: BufWriter<File>,
    stats: CpuStats,
    next_index: i64,
}

impl Collector {
    /// Into a new file.
    pub fn new(cpu: u32, ring: Reader, path: &Path) -> io::Result<Collector> {
        Ok(Collector {
            ring,
            unpacker: Unpacker::default(),
            file: BufWriter::with_capacity(1 << 16, File::create_new(path)?),
            stats: CpuStats {
                cpu,
                ..CpuStats::default()
            },
            next_index: -1,
        })
    }

    /// Takes what is there.
    pub fn collect(&mut self, mut each: impl FnMut(Collected)) -> io::Result<()> {
        let mut result = Ok(());
        self.ring.drain(|word| {
            if result.is_ok() {
                result = self.file.write_all(&word.to_le_bytes());
            }
            if let Some((step, latency)) = self.unpacker.push(word) {
                self.stats.add(step, latency);
                self.next_index += step as i64;
                each(Collected {
                    index: self.next_index as u64,
                    latency,
                });
            }
        });
        result
    }

    /// What was collected so far.
    pub fn stats(&self) -> &CpuStats {
        &self.stats
    }

    /// The end: everything is in the file.
    pub fn finish(mut self) -> io::Result<CpuStats> {
        self.file.flush()?;
        Ok(self.stats)
    }
}
