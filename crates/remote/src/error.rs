//! What can go wrong on other machines, each with what to do.

use std::path::PathBuf;
use worstcase_base::ExitKind;
use worstcase_base::cache::CacheError;
use worstcase_lab::LabError;
use worstcase_results::record::RunError;

worstcase_base::errors! {
    /// See the module.
    #[derive(Debug, thiserror::Error)]
    pub enum RemoteError {
        /// `--executor` with something else.
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
            /// Its own words.
            said: String,
        } => Missing,
        /// The job is gone, and results are missing.
        #[error("Slurm's job {job} has ended, and {missing}; ask again for what is missing. {said}")]
        Ended {
            /// Its number.
            job: String,
            /// What was not done.
            missing: String,
            /// The end of its log.
            said: String,
        } => Measured,
        /// A node said that a cell is measured, but it cannot be seen here.
        #[error(
            "a node has measured {cell}, but {} does not show it; is the cache (WORSTCASE_CACHE) a folder that all machines share?",
            folder.display()
        )]
        Unseen {
            /// What.
            cell: String,
            /// The cache's folder.
            folder: PathBuf,
        } => Storage,
        /// A cell failed there.
        #[error("on {machine}: {message}")]
        Failed {
            /// Where.
            machine: String,
            /// The error there.
            message: String,
            /// Its exit code there.
            exit: ExitKind,
        } => exit,
        /// A machine cannot be used.
        #[error("{host}: {reason}")]
        Host {
            /// Which.
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
        /// A file that both sides share.
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
    /// Whether a cell failed where another may do better, and not the machine that was to measure it.
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
