//! Where the samples of a probe are stored, with the marks that the lab's plugin recognises.

use crate::record::Sample;
use crate::sys::memory;
use worstcase_logs::Nanos;
use worstcase_logs::mark::{MarkKind, mark};

/// Room for all samples, present in memory.
#[derive(Debug)]
pub struct Marks {
    slots: Box<[u64]>,
    /// Which one each sample is.
    indices: Box<[u32]>,
    taken: usize,
}

impl Marks {
    /// For so many samples, at least one.
    pub fn new(samples: u32) -> Marks {
        let samples = samples.max(1) as usize;
        let mut slots = vec![0; samples].into_boxed_slice();
        let mut indices = vec![0; samples].into_boxed_slice();
        memory::prefault(&mut slots);
        memory::prefault(&mut indices);
        Marks {
            slots,
            indices,
            taken: 0,
        }
    }

    /// How many there is room for.
    pub fn room(&self) -> usize {
        self.slots.len()
    }

    /// Measuring begins.
    pub fn begin(&mut self) {
        mark::<{ MarkKind::Begin as u8 }>(&mut self.slots[0], 0);
    }

    /// The next sample. The caller has just read the clock: the read nearest before is taken for the sample's instant.
    #[inline(always)]
    pub fn sample(&mut self, value: Nanos) -> Sample {
        self.sample_at(self.taken as u32, value)
    }

    /// As [`Marks::sample`], where samples may be missed: this is number `index`.
    #[inline(always)]
    pub fn sample_at(&mut self, index: u32, value: Nanos) -> Sample {
        mark::<{ MarkKind::Sample as u8 }>(&mut self.slots[self.taken], value.0);
        self.indices[self.taken] = index;
        self.taken += 1;
        Sample { index, latency: value }
    }

    /// Measuring is over.
    pub fn end(&mut self) {
        let first = self.slots[0];
        mark::<{ MarkKind::End as u8 }>(&mut self.slots[0], first);
    }

    /// The samples, in order.
    pub fn samples(&self) -> Vec<Sample> {
        std::iter::zip(&self.indices, &self.slots)
            .take(self.taken)
            .map(|(&index, &value)| Sample {
                index,
                latency: Nanos(value),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_stay_where_they_were_marked() {
        let mut marks = Marks::new(4);
        marks.begin();
        for value in [7, 5] {
            marks.sample(Nanos(value));
        }
        marks.sample_at(5, Nanos(9));
        marks.end();
        let values: Vec<(u32, u64)> = marks.samples().iter().map(|s| (s.index, s.latency.0)).collect();
        assert_eq!(values, [(0, 7), (1, 5), (5, 9)]);
    }
}
