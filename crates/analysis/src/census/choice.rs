//! The cells and runs of which a census is taken.

use super::CensusTakeError;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use worstcase_lab::additions::Additions;
use worstcase_results::record::folder::RUN_FILE;
use worstcase_results::record::{CellEntry, Record, Run, RunError};

/// The question for a census.
#[derive(Clone, Copy, Debug)]
pub enum CensusQuestion<'a> {
    /// Every cell of the run that waits for a timer.
    Run,
    /// One cell, by its ID.
    Cell(&'a str),
    /// One cell against another: an ID of this run, another run's folder, or a folder of one of its cells.
    Difference(&'a str, &'a str),
}

/// One of several equal parts of the cells, for work that is divided: `2/5`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkShare {
    /// The number of the part, from 1.
    number: usize,
    /// The number of parts.
    of: usize,
}

impl FromStr for WorkShare {
    type Err = String;

    fn from_str(text: &str) -> Result<WorkShare, String> {
        let numbers = text.split_once('/').map(|(number, of)| (number.parse(), of.parse()));
        match numbers {
            Some((Ok(number), Ok(of))) if (1..=of).contains(&number) => Ok(WorkShare { number, of }),
            _ => Err("write I/N, the I-th of N shares: 1/4".into()),
        }
    }
}

impl WorkShare {
    /// The items that belong to this part.
    pub fn select<T>(self, all: Vec<T>) -> Vec<T> {
        all.into_iter().skip(self.number - 1).step_by(self.of).collect()
    }
}

/// A cell.
pub struct ChosenCell {
    /// The cell's record.
    pub record: Record,
    /// The additions with which the cell was measured.
    pub additions: Arc<Additions>,
}

/// The cells; `given` replaces the additions that their runs name.
pub(crate) fn chosen(run: &Run, asked: CensusQuestion, given: &Additions) -> Result<Vec<ChosenCell>, CensusTakeError> {
    let cell = |id: &str| run.record_of(id);
    Ok(match asked {
        CensusQuestion::Run => of_run(run, all(run)?, given)?,
        CensusQuestion::Cell(id) => of_run(run, vec![cell(id)?], given)?,
        CensusQuestion::Difference(id, against) => {
            let record = cell(id)?;
            let (others, other) = other(run, &record, against)?;
            let mut both = of_run(run, vec![record], given)?;
            both.extend(of_run(others.as_ref().unwrap_or(run), vec![other], given)?);
            both
        }
    })
}

/// These cells of a run with its additions, or with those that are given.
pub(crate) fn of_run(run: &Run, records: Vec<Record>, given: &Additions) -> Result<Vec<ChosenCell>, CensusTakeError> {
    let additions = Arc::new(given.or_of(&run.plan().experiment)?);
    let chosen = records.into_iter().map(|record| ChosenCell {
        record,
        additions: additions.clone(),
    });
    Ok(chosen.collect())
}

/// The cells that wait for a timer, or all cells if none does; an error if there is none.
fn all(run: &Run) -> Result<Vec<Record>, RunError> {
    let mut records = measured(run)?;
    if records.iter().any(Record::awaits_timer) {
        records.retain(Record::awaits_timer);
    }
    Ok(records)
}

/// The records of all cells; there must be one.
fn measured(run: &Run) -> Result<Vec<Record>, RunError> {
    let records = run.records()?;
    match (records.is_empty(), run.plan().cells.first()) {
        (true, Some(first)) => Err(RunError::NotMeasured {
            id: first.id.clone(),
            command: worstcase_base::format::shell(&run.command()),
        }),
        _ => Ok(records),
    }
}

/// The cell to compare with, and its run if it is another one.
fn other(run: &Run, record: &Record, asked: &str) -> Result<(Option<Run>, Record), CensusTakeError> {
    if run.plan().cells.iter().any(|c| c.id.as_str() == asked) {
        return Ok((None, run.record_of(asked)?));
    }
    let path = Path::new(asked);
    let of_cell = path
        .parent()
        .and_then(Path::parent)
        .zip(path.file_name().and_then(|n| n.to_str()));
    if let Some((dir, id)) = of_cell.filter(|(dir, _)| dir.join(RUN_FILE).exists()) {
        let run = Run::open(dir)?;
        let record = run.record_of(id)?;
        return Ok((Some(run), record));
    }
    let no_other = |reason: String| CensusTakeError::NoOther {
        asked: asked.escape_debug().to_string(),
        reason,
    };
    if !path.join(RUN_FILE).exists() {
        // Words of a cell's name, as elsewhere.
        if let Ok(entry) = run.entry(asked) {
            return Ok((None, run.record_of(entry.id.as_str())?));
        }
        return Err(no_other(format!(
            "neither a cell of {} nor the folder of a run",
            run.dir().display()
        )));
    }
    let run = Run::open(path)?;
    let same =
        |c: &&CellEntry| c.load == record.cell.load && c.probe == record.cell.probe && c.seed == record.cell.seed;
    let found: Vec<_> = run.plan().cells.iter().filter(same).collect();
    match found[..] {
        [one] => {
            let record = run.record(&one.id)?;
            Ok((Some(run), record))
        }
        [] => Err(no_other(format!(
            "that run has no cell with load {}, probe {} and seed {}",
            record.cell.load, record.cell.probe, record.cell.seed
        ))),
        [first, ..] => Err(no_other(format!(
            "that run has {} cells with this load, probe and seed; name one: {asked}/cells/{}",
            found.len(),
            first.id
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_hold_everything_once() {
        let mut all: Vec<u32> = (1..=3)
            .flat_map(|number| {
                format!("{number}/3")
                    .parse::<WorkShare>()
                    .unwrap()
                    .select((0..10).collect())
            })
            .collect();
        all.sort_unstable();
        assert_eq!(all, (0..10).collect::<Vec<u32>>());
        assert!("4/4".parse::<WorkShare>().unwrap().select(vec![1, 2]).is_empty());
        for wrong in ["", "1", "0/2", "3/2", "1/0", "a/2", "1/2/3", "-1/2"] {
            assert!(wrong.parse::<WorkShare>().is_err(), "{wrong}");
        }
    }
}
