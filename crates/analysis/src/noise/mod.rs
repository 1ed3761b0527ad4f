//! What enters a CPU: all gaps of a cell of `noise` in the lab, by the thread or interrupt that took the CPU and by
//! its sender.
//!
//! ```text
//! record, gaps ──replay, a window each──> execution ──parts──> who, how long, from whom ──gather──> rows
//! ```

mod parts;
#[cfg(test)]
mod tests;

pub(crate) use parts::Who;
pub use parts::{GapPart, parts};

use crate::breakdown::spans::OtherCpu;
use crate::explain::{ExplainError, ReplayMeans, kept_of};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use worstcase_contract::Instructions;
use worstcase_results::record::{GapAccount, Record, Run, SubjectMachine};

/// The area of these rows in the cache.
const AREA: &str = "entered";

/// How far before its gap a window begins, so that it shows what the sender of an interrupt did.
const LEAD: Instructions = Instructions(10_000);

/// One line of a cell's table: the thread or interrupt that came, and its sender.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoiseRow {
    /// The thread or interrupt that took the CPU.
    #[serde(flatten)]
    pub(crate) who: Who,
    /// The name that readers see.
    pub name: String,
    /// The number of gaps that it is in.
    pub gaps: u64,
    /// The number of times that it came.
    pub times: u64,
    /// Instructions, all together.
    pub instructions: Instructions,
    /// The most in one gap.
    pub longest: Instructions,
    /// The sender as readers see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_by: Option<String>,
    /// The first known sender.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<OtherCpu>,
}

/// The rows of one cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entered {
    /// The cell's name.
    pub cell: String,
    /// The subject's name.
    pub subject: String,
    /// Its boot parameters, beside the lab's own.
    pub append: String,
    /// The load.
    pub load: String,
    /// The CPU.
    pub cpu: String,
    /// Its gaps.
    pub gaps: GapAccount,
    /// Most instructions first.
    pub rows: Vec<NoiseRow>,
}

/// Replays a cell and finds the thread or interrupt that took the CPU in each of its gaps.
pub fn entered(means: &ReplayMeans, run: &Run, record: &Record) -> Result<Entered, ExplainError> {
    let gaps = *record.accounting.gaps().expect("a cell of noise has gaps");
    let places: Vec<usize> = (0..gaps.gaps as usize).collect();
    let rows = match places.is_empty() {
        true => Vec::new(),
        false => rows(means, run, record, &places)?,
    };
    Ok(Entered {
        cell: record.id.to_string(),
        subject: record.subject.id().to_string(),
        append: match &record.subject.machine {
            SubjectMachine::Lab(lab) => lab.machine.append.to_string(),
            SubjectMachine::Host(_) | SubjectMachine::Foreign(_) => String::new(),
        },
        load: record.cell.load.clone(),
        cpu: record
            .environment
            .get("probe_cpu")
            .map_or("0", String::as_str)
            .to_string(),
        gaps,
        rows,
    })
}

/// The rows that a replay shows for these gaps; kept in the cache.
fn rows(means: &ReplayMeans, run: &Run, record: &Record, places: &[usize]) -> Result<Vec<NoiseRow>, ExplainError> {
    let cache = &means.options.cache;
    kept_of(means, run, record, AREA, &[], |ready| {
        let lines = ready.origin()?.kernel(ready.again())?;
        let mut all = Vec::new();
        ready.again().replay_each(cache, places, LEAD, |execution, symbols| {
            all.push(parts(execution, symbols, &*lines));
        })?;
        Ok(gather(all))
    })
}

/// The parts of all gaps as rows.
fn gather(gaps: Vec<Vec<GapPart>>) -> Vec<NoiseRow> {
    let mut rows: BTreeMap<(Who, Option<String>), NoiseRow> = BTreeMap::new();
    for part in gaps.into_iter().flatten() {
        let sent_by = part.sender.as_ref().map(OtherCpu::summary);
        let row = rows
            .entry((part.who.clone(), sent_by.clone()))
            .or_insert_with(|| NoiseRow {
                name: part.who.to_string(),
                who: part.who,
                gaps: 0,
                times: 0,
                instructions: Instructions(0),
                longest: Instructions(0),
                sent_by,
                sender: part.sender,
            });
        row.gaps += 1;
        row.times += part.times;
        row.instructions = Instructions(row.instructions.0 + part.instructions);
        row.longest = row.longest.max(Instructions(part.instructions));
    }
    let mut rows: Vec<NoiseRow> = rows.into_values().collect();
    rows.sort_by(|a, b| b.instructions.cmp(&a.instructions).then_with(|| a.name.cmp(&b.name)));
    rows
}
