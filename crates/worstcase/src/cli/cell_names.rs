//! Cells that complete a command line.

use clap_complete::{ArgValueCandidates, CompletionCandidate};
use std::env;
use std::path::Path;
use worstcase_results::record::Run;

/// Names of the cells of the runs on the command line.
pub fn cells() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let runs = env::args_os().filter_map(|word| Run::open(Path::new(&word)).ok());
        let ids = runs.flat_map(|run| run.plan().cells.clone());
        ids.map(|cell| CompletionCandidate::new(cell.id.to_string())).collect()
    })
}
