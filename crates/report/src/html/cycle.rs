//! A followed program, ready to be shown: what was found, and its worst cycle.

use serde::Serialize;
use worstcase_base::format::plain;
use worstcase_results::record::Record;

/// A followed program's part of the page.
#[derive(Debug, Serialize)]
pub struct CyclePart {
    subject: String,
    load: String,
    cell: String,
    /// The program and its thread.
    program: String,
    #[serde(skip)]
    cause: Option<String>,
    /// The answer, and what limits it.
    sentences: Vec<String>,
    /// The lines of the worst cycle's breakdown, as on a terminal.
    lines: Vec<String>,
}

impl CyclePart {
    /// Why most of its late cycles were late, in a sentence.
    pub(super) fn cause(&self) -> Option<&str> {
        self.cause.as_deref()
    }

    /// Of a record of a program that was followed; `cause`: that of most late cycles.
    pub fn new(record: &Record, cause: Option<&str>, sentences: &[String], lines: &[String]) -> CyclePart {
        let named = record.followed.as_ref().map(|followed| followed.named());
        CyclePart {
            subject: record.subject.id().to_string(),
            load: record.cell.load.clone(),
            cell: record.id.to_string(),
            program: plain(&named.unwrap_or_default()),
            cause: cause.map(plain),
            sentences: sentences.iter().map(|line| plain(line)).collect(),
            lines: lines.iter().map(|line| plain(line)).collect(),
        }
    }
}
