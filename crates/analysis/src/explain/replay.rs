//! From a record back to the machine that gave it, and its replay.

use super::{ExplainError, Means};
use crate::breakdown::lines::Lines;
use crate::debuginfo::Origin;
use worstcase_lab::additions::Additions;
use worstcase_lab::again::Again;
use worstcase_lab::execution::{Execution, Symbols};
use worstcase_lab::qemu::Qemu;
use worstcase_results::record::{Record, Run, SampleRow};

/// What a cell's breakdowns are made of.
pub struct Replayed {
    /// What ran around each sample.
    pub executions: Vec<Execution>,
    /// Names of code.
    pub symbols: Symbols,
    /// Lines of source code.
    pub lines: Box<dyn Lines>,
}

/// The record's cell, ready to be run again, and what was added to its machine.
pub fn again(means: &Means, run: &Run, record: &Record) -> Result<(Again, Additions), ExplainError> {
    let qemu = Qemu::find(means.qemu, &means.options.cache, means.options.observer)?;
    let additions = means.additions.or_of(&run.plan().experiment)?;
    let again = Again::of(record, &additions, &qemu, means.options, None)?;
    Ok((again, additions))
}

/// Runs the record's cell again, for these samples (place in the record, row).
pub fn replay(
    means: &Means,
    run: &Run,
    record: &Record,
    rows: &[(usize, SampleRow)],
) -> Result<Replayed, ExplainError> {
    let cache = &means.options.cache;
    let (mut again, additions) = again(means, run, record)?;
    let origin = Origin::of(record, &again, &additions, means.debug_info, cache)?;
    // A file that does not fit is told before the replay, which takes long.
    let kernel = origin.kernel(&again)?;
    let places: Vec<usize> = rows.iter().map(|(place, _)| *place).collect();
    let executions = again.replay(cache, &places)?;
    Ok(Replayed {
        executions,
        lines: Box::new(origin.with_modules(kernel, &again)),
        symbols: again.into_symbols(),
    })
}
