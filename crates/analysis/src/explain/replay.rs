//! From a record back to the machine that gave it, and its replay.

use super::{ExplainError, Means};
use crate::breakdown::lines::Lines;
use crate::debuginfo::{DebugInfo, Modules};
use std::path::Path;
use std::rc::Rc;
use worstcase_base::cache::Cache;
use worstcase_kernels::debuginfo::kept;
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

/// Runs the record's cell again, for these samples (place in the record, row).
pub fn replay(
    means: &Means,
    run: &Run,
    record: &Record,
    rows: &[(usize, SampleRow)],
) -> Result<Replayed, ExplainError> {
    let cache = &means.options.cache;
    let qemu = Qemu::find(means.qemu, cache, means.options.observer)?;
    let additions = means.additions.or_of(&run.plan().experiment)?;
    let mut again = Again::of(record, &additions, &qemu, means.options, None)?;
    let lines = lines(means.debug_info, record, &again, cache)?;
    let places: Vec<usize> = rows.iter().map(|(place, _)| *place).collect();
    let executions = again.replay(cache, &places)?;
    let kept = again.build_id()?.and_then(|id| kept::of_build(cache, &id));
    let file = |name: &str| match additions.module(name) {
        Some(own) => Some(Rc::from(&*own.bytes)),
        None => std::fs::read(kept.as_ref()?.module(name)?).ok().map(Rc::from),
    };
    let lines = Modules::of(lines, again.symbols(), file);
    Ok(Replayed {
        executions,
        symbols: again.into_symbols(),
        lines: Box::new(lines),
    })
}

/// From the file that was named, which must be of this kernel, or from what the cache has of its build.
fn lines(
    debug_info: Option<&Path>,
    record: &Record,
    again: &Again,
    cache: &Cache,
) -> Result<Box<dyn Lines>, ExplainError> {
    let running = again.build_id()?;
    if let Some(path) = debug_info {
        let kernel = &record.subject.kernel.release;
        let info = DebugInfo::open(path, again.symbols())?;
        return Ok(Box::new(info.must_be_of(path, kernel, running.as_ref())?));
    }
    let kept = running.and_then(|id| kept::of_build(cache, &id));
    Ok(match kept {
        Some(kept) => Box::new(DebugInfo::open(&kept.path, again.symbols())?),
        None => Box::new(()),
    })
}
