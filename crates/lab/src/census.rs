//! Runs a cell again with the plugin's census: every section in which a wake-up would have to wait.

use super::LabError;
use super::cell::{self, CellRun, RawResult};
use super::checkpoints::CellCheckpoints;
use super::fork::{Course, PluginRequest};
use super::place::ERRORS;
use super::process::last_lines;
use super::replay::{MODULES, modules_asked, modules_in, same_again};
use super::speed::{self, TimedWork};
use super::symbols::KernelSymbols;
use crate::execution::Symbols;
use std::path::Path;
use worstcase_base::cache::Cache;
use worstcase_base::digest::Digest;
use worstcase_contract::census::log::{self, Census};

const AREA: &str = "census";

/// The file to which the plugin writes the census.
const CENSUS: &str = "census";
/// The file with the facts about the kernel that the plugin needs.
const FACTS: &str = "facts";

/// The message about a damaged census.
const AGAIN: &str = "the census is taken again";

/// A census, and what it can say.
#[derive(Clone, Debug)]
pub struct CensusReplay {
    /// The sections.
    pub census: Census,
    /// Whether it is known how this kernel checks for a request to reschedule. If not, sections that such a check would
    /// have ended are not cut there: lengths are upper bounds.
    pub polls_known: bool,
    /// The functions of the modules that are loaded at the cell's end.
    pub modules: Symbols,
}

/// Takes the census from the cache, or runs the cell again. `raw` is the cell's result; a run with any other result is an
/// error. With `audit` the state that the plugin follows is compared with the true one at every block; the first
/// difference is an error.
pub fn take(
    cache: &Cache,
    run: &CellRun,
    raw: &RawResult,
    kernel: &KernelSymbols,
    audit: bool,
) -> Result<CensusReplay, LabError> {
    let facts = kernel.facts(run.prepared, run.snapshot)?;
    let text = facts.to_string();
    let key = Digest::new("worstcase-census/3")
        .text(&cell::key(run.prepared, run.spec)?)
        .text(&text)
        .text(if audit { "audit" } else { "" })
        .text(&kernel.follow_arguments(run.prepared))
        .hex();
    let folder = cache.keep(AREA, &key, AGAIN, |building| {
        let scratch = tempfile::tempdir_in(building).map_err(LabError::io(building))?;
        speed::timed(cache, TimedWork::Census, speed::length(run.spec), || {
            observe(
                cache,
                run,
                raw,
                &asked(run, kernel, &text, audit),
                scratch.path(),
                building,
            )
        })
    })?;
    let path = folder.join(CENSUS);
    let bytes = worstcase_base::files::read(&path).map_err(LabError::io(&path))?;
    let census = log::decode(&bytes).map_err(|e| LabError::Damaged {
        folder: folder.clone(),
        reason: e.to_string(),
        again: AGAIN,
    })?;
    Ok(CensusReplay {
        census,
        polls_known: facts.resched_mask != 0,
        modules: modules_in(&folder)?,
    })
}

/// What the plugin is asked for.
fn asked(run: &CellRun, kernel: &KernelSymbols, facts: &str, audit: bool) -> PluginRequest {
    let asked = PluginRequest {
        arguments: format!(
            ",census={CENSUS},facts={FACTS}{}{}",
            if audit { ",audit=on" } else { "" },
            kernel.follow_arguments(run.prepared)
        ),
        reads: vec![(FACTS, facts.to_string())],
        writes: vec![CENSUS],
        memory: true,
    };
    asked.and(modules_asked(kernel))
}

/// Writes the census and the modules' functions to `out`; QEMU may write to `folder` only.
fn observe(
    cache: &Cache,
    run: &CellRun,
    raw: &RawResult,
    asked: &PluginRequest,
    folder: &Path,
    out: &Path,
) -> Result<(), LabError> {
    match CellCheckpoints::of(cache, run)? {
        Some(checkpoints) => checkpoints.whole(run, raw, folder, asked, checkpoints.middle(raw).as_slice())?,
        None => same_again(run, raw, folder, asked, &Course::Whole)?,
    }
    let census = folder.join(CENSUS);
    let bytes = worstcase_base::files::read(&census).map_err(LabError::io(&census))?;
    log::decode(&bytes).map_err(|e| LabError::NoResult {
        what: cell::describe(run),
        reason: e.to_string(),
        console: last_lines(&folder.join(ERRORS), 5),
    })?;
    for file in [CENSUS, MODULES] {
        match std::fs::rename(folder.join(file), out.join(file)) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(LabError::io(out.join(file))(e)),
            _ => {}
        }
    }
    Ok(())
}
