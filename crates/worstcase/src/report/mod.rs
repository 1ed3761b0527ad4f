//! What was measured, for people and for programs. Nothing here measures or decides.
//!
//! [`terminal`] prints the tables (built on [`grid`]), [`cell`] the details of one cell, [`json`] and [`csv`]
//! give the same to programs. All of them take a [`View`] and return text. [`verdict`] says how sure a verdict is, [`tail`]
//! what the largest samples say of larger ones. [`html`] is the page that people open: pictures, stories, all of it in one file.

pub mod cell;
pub mod csv;
pub mod format;
pub mod grid;
pub mod host;
pub mod html;
pub mod json;
pub mod tail;
pub mod terminal;
pub mod verdict;

use crate::record::{Quantity, Record, RunPlan};
use crate::verdict::{Criterion, Verdict};

/// What a report is about.
#[derive(Debug)]
pub struct View<'a> {
    /// The run's plan.
    pub plan: &'a RunPlan,
    /// Its records, in the plan's order.
    pub records: &'a [Record],
    /// Quantities to show; empty for those that each probe is about.
    pub quantities: &'a [Quantity],
    /// The criterion with its verdicts, if one was given.
    pub verdicts: Option<(Criterion, Vec<Verdict>)>,
}

impl View<'_> {
    /// The quantities to show of a probe: the response study asks for both parts of the latency.
    pub fn quantities_of(&self, probe: &str) -> &[Quantity] {
        let split = || {
            let mut of_probe = self.records.iter().filter(|r| r.cell.probe == probe);
            of_probe.any(|r| r.summary(Quantity::IrqOff).is_some())
        };
        match probe {
            _ if !self.quantities.is_empty() => self.quantities,
            "response" if split() && !host::is_host(self) => &[Quantity::IrqOff, Quantity::AfterIrq],
            "timerlat" => &[Quantity::IrqOff, Quantity::Latency],
            "jitter" => &[Quantity::Jitter],
            _ => &[Quantity::Latency],
        }
    }
}
