//! The collecting side of one CPU of a run: words from its ring to its file, and its statistics.

use super::decode::{Collected, SampleReader};
use super::ring::RingReader;
use crate::message::CpuStats;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use worstcase_contract::Probe;

pub(super) struct Collector {
    reader: SampleReader,
    file: BufWriter<File>,
    stats: CpuStats,
    /// Gaps are numbered; a sample has the number of its period.
    numbers: bool,
}

impl Collector {
    /// A collector that writes a new file.
    pub fn new(cpu: u32, probe: Probe, ring: RingReader, path: &Path) -> io::Result<Collector> {
        Ok(Collector {
            reader: SampleReader::new(ring, probe),
            file: BufWriter::with_capacity(1 << 16, File::create_new(path)?),
            stats: CpuStats {
                cpu,
                ..CpuStats::default()
            },
            numbers: probe == Probe::Noise,
        })
    }

    /// Takes all samples that are in the ring.
    pub fn collect(&mut self, mut each: impl FnMut(Collected)) -> io::Result<()> {
        let mut result = Ok(());
        self.reader.drain(|word, sample| {
            if result.is_ok() {
                result = self.file.write_all(&word.to_le_bytes());
            }
            if let Some(sample) = sample {
                let index = if self.numbers { self.stats.taken } else { sample.at };
                self.stats.add(index, sample.length);
                each(sample);
            }
        });
        self.stats.lost = self.reader.lost();
        self.stats.missed = self.reader.missed();
        result
    }

    /// The statistics so far.
    pub fn stats(&self) -> &CpuStats {
        &self.stats
    }

    /// Ends collecting: everything is in the file.
    pub fn finish(mut self) -> io::Result<()> {
        self.file.flush()
    }
}
