//! Which cell of a comparison got worse, and what is behind it.

use std::path::Path;
use worstcase_analysis::breakdown::Breakdown;
use worstcase_analysis::explain::{self, ExplainError, ReplayMeans, SampleChoice};
use worstcase_results::compare::SideComparison;
use worstcase_results::compare::change::{ComparedMeasure, MeasureChange};
use worstcase_results::compare::words::{ChangeWord, Compared, JudgedChange};
use worstcase_results::record::{Quantity, Record, Run, RunError, SubjectId};

worstcase_base::errors! {
    /// Why there is no breakdown.
    #[derive(Debug, thiserror::Error)]
    pub enum WorseningError {
        /// Nothing got worse, or the cells are not of the lab.
        #[error(
            "--explain tells of a cell of the lab that is later than before, and there is none; see `worstcase explain --help`"
        )]
        None => Usage,
        /// A run cannot be read.
        #[error(transparent)]
        Run(#[from] RunError) => within,
        /// A cell cannot be replayed.
        #[error(transparent)]
        Explain(#[from] ExplainError) => within,
    }
}

/// The cell whose maximum grew most: of those that the test shows, if it shows any.
pub(super) fn worsening(comparison: &SideComparison) -> Option<&Compared> {
    let grew = |cell: &Compared, shown: bool| -> f64 {
        let of =
            |s: &&JudgedChange| s.change.measure == ComparedMeasure::Max && (!shown || s.word == ChangeWord::Worse);
        let by = |c: &MeasureChange| if c.difference.best > 0.0 { c.size() } else { 0.0 };
        cell.said.iter().filter(of).map(|s| by(&s.change)).fold(0.0, f64::max)
    };
    let most = |shown: bool| {
        let cells = comparison.cells.iter().filter(|c| grew(c, shown) > 0.0);
        cells.max_by(|x, y| grew(x, shown).total_cmp(&grew(y, shown)))
    };
    most(true).or_else(|| most(false))
}

/// The worst samples of the cell on either side: of the seed whose maximum grew most, or the worst of all seeds where no
/// seed is on both sides.
pub(super) fn breakdown(
    means: &ReplayMeans,
    path_a: &Path,
    path_b: &Path,
    worst: &Compared,
) -> Result<[Breakdown; 2], WorseningError> {
    let (run_a, run_b) = (Run::open(path_a)?, Run::open(path_b)?);
    let (records_a, records_b) = (run_a.records()?, run_b.records()?);
    let seeds = worst.pair.exact.iter().flat_map(|e| &e.maxima);
    let seed = seeds.max_by_key(|m| m.difference_ns).map(|m| m.seed);
    let latest = |records: &[Record], subject: &SubjectId| -> Option<Record> {
        let cell = |r: &&Record| {
            let same = r.cell.load == worst.pair.how.load && r.cell.probe == worst.pair.how.probe;
            same && r.subject.id() == *subject && seed.is_none_or(|seed| r.cell.seed == seed)
        };
        let max = |r: &&Record| r.summary(Quantity::Latency).map(|s| s.max_ns);
        let all = records.iter().filter(cell).filter(|r| max(r).is_some());
        all.max_by_key(max).cloned()
    };
    let (Some(left), Some(right)) = (latest(&records_a, &worst.pair.a), latest(&records_b, &worst.pair.b)) else {
        return Err(WorseningError::None);
    };
    let left = explain::one(means, &run_a, &records_a, &left, SampleChoice::Worst)?;
    let right = explain::one(means, &run_b, &records_b, &right, SampleChoice::Worst)?;
    Ok([left, right].map(|one| one.breakdown().clone()))
}
