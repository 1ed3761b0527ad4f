//! All summaries of samples that are read twice: [`FirstPass`] of each quantity.

use super::stream::{FirstPass, SecondPass};
use super::{Quantity, SampleRow, Summaries};
use worstcase_contract::Nanos;

/// The first pass over the samples.
pub struct FirstPasses([FirstPass; Quantity::ALL.len()]);

/// The second.
pub struct SecondPasses([Option<SecondPass>; Quantity::ALL.len()]);

impl FirstPasses {
    /// For samples that are due at the begin of each period.
    pub fn new(period: Nanos) -> FirstPasses {
        FirstPasses(Quantity::ALL.map(|quantity| match quantity {
            Quantity::Latency => FirstPass::of_latencies(period),
            _ => FirstPass::default(),
        }))
    }

    /// Takes the next sample.
    pub fn add(&mut self, row: &SampleRow) {
        for (pass, quantity) in self.0.iter_mut().zip(Quantity::ALL) {
            if let Some(value) = row.value(quantity) {
                pass.add(row.index, value);
            }
        }
    }

    /// Begins the second pass over the samples of `expected` periods.
    pub fn second(self, expected: u32) -> SecondPasses {
        SecondPasses(self.0.map(|pass| pass.second(expected)))
    }
}

impl SecondPasses {
    /// Takes the next sample.
    pub fn add(&mut self, row: &SampleRow) {
        for (pass, quantity) in self.0.iter_mut().zip(Quantity::ALL) {
            if let (Some(pass), Some(value)) = (pass, row.value(quantity)) {
                pass.add(row.index, value);
            }
        }
    }

    /// The summaries.
    pub fn finish(self) -> Summaries {
        let mut finished = self.0.map(|pass| pass.map(SecondPass::finish));
        Summaries::of(|quantity| finished[quantity as usize].take())
    }
}
