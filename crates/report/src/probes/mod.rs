//! The results of the probes with parameters: for each probe one list of columns, from which every form is written.
//!
//! A new probe is a file beside these and a line in [`PROBES`].

mod fields;
pub(crate) mod hackbench;
mod inversion;
pub(crate) mod io;
mod irq;
mod pick;
mod remote;
mod shootdown;
mod spawn;
pub(crate) mod switch;

use crate::ReportView;
use crate::table::Table;

/// The tables of a probe, the first with all columns; none where a run has no such probe.
type ProbeTables = fn(&ReportView) -> Vec<Table>;

/// The probes in the order in which they are shown, by their names for programs.
pub const PROBES: [(&str, ProbeTables); 9] = [
    ("switch", switch::tables),
    ("hackbench", hackbench::tables),
    ("inversion", inversion::tables),
    ("remote", remote::tables),
    ("irq", irq::tables),
    ("pick", pick::tables),
    ("spawn", spawn::tables),
    ("io", io::tables),
    ("shootdown", shootdown::tables),
];

/// The tables of all probes.
pub fn tables(view: &ReportView) -> Vec<Table> {
    PROBES.iter().flat_map(|(_, tables)| tables(view)).collect()
}

#[cfg(test)]
mod tests;
