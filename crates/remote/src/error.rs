//! Errors of measurements on other machines, each with its remedy.

use std::path::PathBuf;
use worstcase_base::ExitKind;
use worstcase_base::cache::CacheError;
use worstcase_lab::LabError;
use worstcase_results::record::RunError;

worstcase_base::errors! {
    /// See the module.
    #[derive(Debug, thiserror::Error)]
    pub enum RemoteError {
        /// The value of `--executor` is wrong.
        #[error("{0}: {1}")]
        Choice(String, String) => Usage,
        /// A program of Slurm or ssh is not here.
        #[error("{program} is not there: {remedy}")]
        NoProgram {
            /// Its name.
            program: String,
            /// What to install.
            remedy: &'static str,
        } => Missing,
        /// One of Slurm's commands failed.
        #[error("{command} failed: {said}")]
        Slurm {
            /// The command.
            command: String,
            /// What it printed.
            said: String,
        } => Missing,
        /// The job has ended, and results are missing.
        #[error("Slurm's job {job} has ended, and {missing}; ask again for what is missing. {said}")]
        Ended {
            /// Its number.
            job: String,
            /// The cells that were not measured.
            missing: String,
            /// The last lines of its log.
            said: String,
        } => Measured,
        /// A node reported that a cell is measured, but the result cannot be seen here.
        #[error(
            "a node has measured {cell}, but {} does not show it; is the cache (WORSTCASE_CACHE) a folder that all machines share?",
            folder.display()
        )]
        Unseen {
            /// The cell.
            cell: String,
            /// The cache's folder.
            folder: PathBuf,
        } => Storage,
        /// A cell failed on another machine.
        #[error("on {machine}: {message}")]
        Failed {
            /// The machine.
            machine: String,
            /// The error that it reported.
            message: String,
            /// The exit code of that error.
            exit: ExitKind,
        } => exit,
        /// A machine cannot be used.
        #[error("{host}: {reason}")]
        Host {
            /// The machine.
            host: String,
            /// Why, and what to do.
            reason: String,
        } => Missing,
        /// The hosts file.
        #[error("{}: {reason}", path.display())]
        Hosts {
            /// The file.
            path: PathBuf,
            /// What is wrong, and where.
            reason: String,
        } => Usage,
        /// A file that controller and machines share cannot be used.
        #[error("{}: {reason}", path.display())]
        File {
            /// The file.
            path: PathBuf,
            /// What is wrong.
            reason: String,
        } => Storage,
        /// The lab.
        #[error(transparent)]
        Lab(#[from] LabError) => within,
        /// The run.
        #[error(transparent)]
        Run(#[from] RunError) => within,
        /// The cache.
        #[error(transparent)]
        Cache(#[from] CacheError) => within,
    }
}

impl RemoteError {
    /// Whether the cell itself failed, and not the machine that was to measure it.
    pub fn is_of_the_cell(&self) -> bool {
        matches!(
            self,
            RemoteError::Failed {
                exit: ExitKind::Measured,
                ..
            }
        )
    }

    /// Names the file that a system error speaks of.
    pub fn io(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> RemoteError {
        let path = path.into();
        move |source| RemoteError::File {
            path,
            reason: source.to_string(),
        }
    }
}
