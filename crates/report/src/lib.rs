//! Measured results, for people and for programs. Nothing here measures or decides.
//!
//! Every table is made once, as a [`table::Table`], and written by a writer for each form. [`run_tables`] has the tables of a
//! run, in order; [`probes`] those of the probes with parameters, [`ensembles`] and [`host`] those of timers, [`noise`] those of
//! gaps, [`ranking`] and [`demands`] those that help to decide, [`claims`] what a study claims and whether it holds.
//!
//! [`terminal`] prints a run, [`cell`] the details of one cell, [`json`] and [`csv`] give the same to programs; all of them take
//! a [`ReportView`]. [`compare`] and [`mod@gate`] tell of two runs, [`machines`] of one measurement on several; [`verdict`] says
//! how sure a verdict is, [`tail`] what the largest samples say of larger ones. `style` says how text looks on a terminal,
//! `labels` has the names of rows, `markup` keeps foreign text from being Markdown. [`html`] is the page that people open:
//! pictures, breakdowns, all of it in one file.

pub mod bisect;
pub mod breakdown;
pub mod calibration;
pub mod cell;
pub mod census;
pub mod claims;
pub mod compare;
pub mod csv;
pub mod demands;
mod ensembles;
pub mod entered;
mod environment;
pub mod follow;
mod foreign;
pub mod gate;
pub mod history;
pub mod host;
pub mod html;
pub mod isolate;
pub mod json;
mod labels;
pub mod machines;
pub mod markdown;
mod markup;
pub mod metrics;
pub mod next;
mod noise;
pub mod operation;
pub mod picture;
pub mod plain_histogram;
pub mod probes;
mod program;
mod ranking;
mod run_tables;
mod scheduled;
pub mod sensitivity;
mod still_enters;
mod style;
pub mod table;
pub mod tail;
pub mod terminal;
pub mod trial;
pub mod verdict;

use std::path::Path;
use worstcase_results::record::explanations::RunExplanations;
use worstcase_results::record::{Quantity, Record, RunPlan, judged};
use worstcase_results::verdict::{Criterion, Verdict};

/// The data of a report.
#[derive(Debug)]
pub struct ReportView<'a> {
    /// The run's plan.
    pub plan: &'a RunPlan,
    /// Its folder, as the user knows it.
    pub dir: &'a Path,
    /// Its records, in the plan's order.
    pub records: &'a [Record],
    /// What was explained when its study had ended.
    pub explanations: &'a RunExplanations,
    /// Quantities to show; if empty, the quantities that each probe is about.
    pub quantities: &'a [Quantity],
    /// The criterion with its verdicts, if one was given.
    pub verdicts: Option<(Criterion, Vec<Verdict>)>,
}

impl ReportView<'_> {
    /// The command that gives it again.
    pub fn command(&self) -> Vec<String> {
        self.plan.command(self.dir)
    }

    /// A command about it.
    pub(crate) fn about(&self, command: &str) -> Vec<String> {
        vec!["worstcase".into(), command.into(), self.dir.display().to_string()]
    }

    /// The command that measures the missing cells.
    pub fn to_go_on(&self) -> Vec<String> {
        self.plan.to_go_on(self.dir)
    }

    /// Records whose samples are the lateness of a timer.
    pub(crate) fn timed(&self) -> impl Iterator<Item = &Record> {
        self.records.iter().filter(|r| r.details.is_none())
    }

    /// The quantities to show of a probe.
    pub(crate) fn quantities_of(&self, probe: &str) -> &[Quantity] {
        match self.quantities {
            [] => judged(probe, self.records),
            chosen => chosen,
        }
    }
}
