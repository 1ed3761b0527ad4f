//! Files of a breakdown: folded stacks, a flame graph, a trace.

use clap::Args;
use std::path::{Path, PathBuf};
use worstcase_analysis::breakdown::Explanation;
use worstcase_analysis::breakdown::folded::folded;
use worstcase_analysis::explain::Explained;
use worstcase_base::output;
use worstcase_report::breakdown::{flame, perfetto};
use worstcase_report::follow::{CycleLines, FunctionReport};
use worstcase_results::record::CellId;

/// Which files are written.
#[derive(Debug, Args)]
pub(super) struct BreakdownFiles {
    /// Write folded stacks
    #[arg(long, value_name = "FILE", conflicts_with = "all")]
    folded: Option<PathBuf>,
    /// Write a flame graph; with --compare, one that shows what grew in the other cell
    #[arg(long, value_name = "FILE.svg", conflicts_with = "all")]
    flame: Option<PathBuf>,
    /// Write a trace for ui.perfetto.dev
    #[arg(long, value_name = "FILE", conflicts_with = "all")]
    perfetto: Option<PathBuf>,
}

worstcase_base::errors! {
    /// Why nothing is shown of an explanation.
    #[derive(Debug, thiserror::Error)]
    pub enum ShowBreakdownError {
        /// The option needs every instruction.
        #[error("--folded, --flame and --perfetto need a cell of the lab: on the host not every function is recorded")]
        OnlyInTheLab => Usage,
        /// The options ask for one sample of a cell of noise.
        #[error(
            "{0} is a cell of noise, of which all gaps are told at once: leave out --sample, --compare, --all, --folded, --flame, --perfetto"
        )]
        AllGaps(CellId) => Usage,
        /// The options do not fit a cell of io, of which only the longest operation is told.
        #[error(
            "{0} is a cell of io, of which the longest operation is told: leave out --sample, --compare, --folded, --flame, --perfetto"
        )]
        LongestOnly(CellId) => Usage,
        /// The options do not fit a program that was followed, of which all was told then.
        #[error(
            "{0} is a program that was followed, of which is told what was found then: leave out --sample, --flame"
        )]
        AsFollowed(CellId) => Usage,
        /// The options ask for one cycle of two programs.
        #[error("{0} is a program that was followed, of which all cycles are compared: leave out --sample, --folded, --flame, --perfetto")]
        AllCycles(CellId) => Usage,
        /// A folder has no program that was followed.
        #[error("{} has no program that was followed", .0.display())]
        NoProgram(PathBuf) => Usage,
        /// No cycle of a followed program was kept with its parts.
        #[error("{0} has no cycle to write: no one was kept with its parts")]
        NoCycle(CellId) => Usage,
        /// Nothing was kept of what was found.
        #[error("{0} was kept without what was found while it was followed; follow it again")]
        NothingFound(CellId) => Usage,
        /// A file cannot be written.
        #[error("cannot write {}: {source}", path.display())]
        Write {
            /// The file.
            path: PathBuf,
            /// Why.
            source: std::io::Error,
        } => Storage,
    }
}

impl BreakdownFiles {
    pub(super) fn are_asked_for(&self) -> bool {
        self.folded.is_some() || self.flame.is_some() || self.perfetto.is_some()
    }

    /// Writes the files that were asked for of a followed program's cycle.
    pub(super) fn write_cycle(&self, id: &CellId, cycle: Option<&CycleLines>) -> Result<(), ShowBreakdownError> {
        if self.flame.is_some() {
            return Err(ShowBreakdownError::AsFollowed(id.clone()));
        }
        if !self.are_asked_for() {
            return Ok(());
        }
        let cycle = cycle.ok_or_else(|| ShowBreakdownError::NoCycle(id.clone()))?;
        if let Some(path) = &self.folded {
            write(path, cycle.folded().as_bytes())?;
        }
        if let Some(path) = &self.perfetto {
            write(path, cycle.trace().as_bytes())?;
        }
        Ok(())
    }

    /// Writes the files that were asked for of a cycle with its functions.
    pub(super) fn write_functions(&self, cycle: &FunctionReport<'_>) -> Result<(), ShowBreakdownError> {
        if let Some(path) = &self.folded {
            write(path, cycle.folded().as_bytes())?;
        }
        if let Some(path) = &self.perfetto {
            write(path, cycle.trace().as_bytes())?;
        }
        if let Some(path) = &self.flame {
            write(path, cycle.flame().as_bytes())?;
        }
        Ok(())
    }

    /// Writes the files that were asked for beside the text.
    pub(super) fn write(&self, explained: &Explained, other: Option<&Explained>) -> Result<(), ShowBreakdownError> {
        let (explanation, lines) = match explained {
            Explained::Lab(explanation, lines) => (explanation, lines),
            Explained::Host(_) if self.are_asked_for() => {
                return Err(ShowBreakdownError::OnlyInTheLab);
            }
            Explained::Host(_) => return Ok(()),
        };
        if let Some(path) = &self.folded {
            write(path, folded(explanation).as_bytes())?;
        }
        if let Some(path) = &self.perfetto {
            write(path, perfetto::trace(explanation, &**lines).as_bytes())?;
        }
        if let Some(path) = &self.flame {
            write(path, flame_graph(explanation, other).as_bytes())?;
        }
        Ok(())
    }
}

fn flame_graph(explanation: &Explanation, other: Option<&Explained>) -> String {
    match other {
        Some(Explained::Lab(other, _)) => flame::differential_svg(explanation, other),
        _ => flame::svg(explanation),
    }
}

fn write(path: &Path, data: &[u8]) -> Result<(), ShowBreakdownError> {
    output::write(path, data).map_err(|source| ShowBreakdownError::Write {
        path: path.to_path_buf(),
        source,
    })
}
