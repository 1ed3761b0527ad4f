//! Words of a ring as samples, each with its place.

use super::ring::RingReader;
use crate::packed::Unpacker;
use worstcase_contract::Probe;

/// A sample, or a gap of `noise`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collected {
    /// Which period, counted over all segments; of a gap, when it began, in ns since the start.
    pub at: u64,
    /// Its latency or length in ns.
    pub length: u64,
}

/// Reads the samples of one CPU's ring.
pub(super) struct SampleReader {
    ring: RingReader,
    unpacker: Unpacker,
    /// The ring holds gaps: begin since the start, and length. Otherwise periods since the last sample, and latency.
    gaps: bool,
    taken: u64,
    /// The period after the last sample.
    next: u64,
    missed: u64,
}

impl SampleReader {
    pub(super) fn new(ring: RingReader, probe: Probe) -> SampleReader {
        SampleReader {
            ring,
            unpacker: Unpacker::default(),
            gaps: probe == Probe::Noise,
            taken: 0,
            next: 0,
            missed: 0,
        }
    }

    /// Takes all words that are in the ring. `each` gets every word, and the sample that it completes.
    pub(super) fn drain(&mut self, mut each: impl FnMut(u64, Option<Collected>)) {
        let SampleReader {
            ring,
            unpacker,
            gaps,
            taken,
            next,
            ..
        } = self;
        ring.drain(|word| {
            let sample = unpacker.push(word).map(|(first, length)| {
                *taken += 1;
                let at = match *gaps {
                    true => first,
                    false => {
                        *next += first;
                        *next - 1
                    }
                };
                Collected { at, length }
            });
            each(word, sample);
        });
        // Samples that were lost since the last one in the ring do not show as a step yet.
        let missed = self.next.saturating_sub(self.taken).saturating_sub(self.lost());
        self.missed = self.missed.max(missed);
    }

    /// Samples, or gaps, that found no room in the ring.
    pub(super) fn lost(&self) -> u64 {
        self.ring.refused()
    }

    /// Periods that passed while the probe was late, before the last sample.
    pub(super) fn missed(&self) -> u64 {
        self.missed
    }
}
