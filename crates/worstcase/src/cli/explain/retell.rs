//! From a record back to the machine that gave it, and its replay.

use super::ExplainArgs;
use crate::cli::kernels::Terminal;
use crate::kernels::ResolveOptions;
use crate::lab::LabError;
use crate::lab::again::Again;
use crate::lab::qemu::Qemu;
use crate::record::{Record, SampleRow};
use crate::story::execution::{Execution, Symbols};

/// Runs the record's cell again and gives what ran around these samples (place in the record, row).
pub fn executions(
    args: &ExplainArgs,
    record: &Record,
    rows: &[(usize, SampleRow)],
) -> Result<(Vec<Execution>, Symbols), LabError> {
    let qemu = Qemu::find(args.qemu.as_deref())?;
    let terminal = Terminal::default();
    let options = ResolveOptions::from_cache(&terminal)?;
    let again = Again::of(record, &args.added, &qemu, &options, None)?;
    let places: Vec<usize> = rows.iter().map(|(place, _)| *place).collect();
    let executions = again.replay(&options.cache, &places)?;
    Ok((executions, again.into_symbols()))
}
