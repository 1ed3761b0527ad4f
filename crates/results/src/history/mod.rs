//! The results of many runs of the same thing over time, or over kernels, and where they changed.
//!
//! ```text
//! folders -> records of all runs in them, and folders that are none    find
//! records -> lines: records that were measured alike, in order         line, point
//! a line -> its measures: typical, maximum, missed, lost               measure, series
//! all lines -> changes: on a machine by a test, in the lab as facts    judge
//! ```
//! `docs/over-time.md` has the rules, `docs/statistics.md` the tests and their error rates.

mod find;
mod judge;
mod line;
mod measure;
mod point;
mod series;

pub use find::{FoundRecords, Skipped, find};
pub use judge::{Changes, HistoryChange, HistoryDrift, LEVEL, MeasureSeries, TOLERANCE};
pub use line::{HistoryLine, LineKey};
pub use measure::{HistoryMeasure, Typical};
pub use point::HistoryPoint;

use crate::record::Record;
use serde::Serialize;
use std::cmp::Ordering;
use std::path::PathBuf;
use worstcase_base::ExitKind;

/// Everything that the folders hold.
#[derive(Clone, Debug, Serialize)]
pub struct History {
    /// The lines in the order in which they were found.
    pub lines: Vec<HistoryLine>,
    /// Series that were tested together.
    pub tests: usize,
    /// Folders and records that could not be read or put in order.
    pub skipped: Vec<Skipped>,
}

impl History {
    /// The history of the found records; `versions` puts kernel versions in order.
    pub fn of(found: FoundRecords, versions: fn(&str, &str) -> Ordering) -> History {
        let FoundRecords { records, mut skipped } = found;
        let (dated, undated): (Vec<_>, Vec<_>) = records.into_iter().partition(|(_, r)| HistoryPoint::has_place(r));
        skipped.extend(undated.into_iter().map(|(run, record)| Skipped {
            path: run,
            why: format!("{} does not say when it was measured", record.id),
            damaged: false,
        }));
        let mut lines = line::lines(&dated, versions);
        let tests = judge::judge(&mut lines);
        History { lines, tests, skipped }
    }

    /// Whether the last change of any measure is for the worse; what worstcase lost is no such measure.
    pub fn is_worse(&self) -> bool {
        self.lines.iter().any(HistoryLine::is_worse)
    }
}

/// A record and the folder of its run.
type Placed = (PathBuf, Record);

/// Why there is no history.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// A folder is not there.
    #[error("cannot read {}: {cause}; name run folders, or folders that hold some", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The system's words.
        cause: std::io::Error,
    },
    /// No run was found.
    #[error("there is no run in {}{}; name run folders, or folders that hold some", folders.join(", "), first.as_ref().map_or(String::new(), |f| format!(" that can be read ({f})")))]
    NoRun {
        /// The folders that were searched.
        folders: Vec<String>,
        /// Why the first folder found was not taken.
        first: Option<String>,
    },
}

impl HistoryError {
    /// The exit code that a script gets.
    pub fn exit(&self) -> ExitKind {
        ExitKind::Usage
    }
}
