//! Finds changes: which of many kernels, or which commit, is the first that is worse, or better.
//!
//! ```text
//! measure    which figure of a cell is compared                     <- results
//! figures    the figures of a run: one for each cell                <- results
//! criterion  when a kernel is bad or better, from its figures
//! search     what to measure next, and when it is found: in a list, or in a git tree
//! bisection  the loop over both, with its state on the disk
//! candidates the list: versions of a series, series, or a folder    <- kernels
//! git        the tree: its commits and a checkout of our own      (kernels builds an image of each commit)
//! ```
//! How a kernel is measured is not known here: that is a function which the caller gives.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests write where they like"))]

pub mod bisection;
pub mod candidates;
pub mod criterion;
pub mod figures;
pub mod git;
pub mod measure;
pub mod search;

use std::path::PathBuf;
use worstcase_kernels::KernelError;
use worstcase_kernels::build::KernelBuildError;
use worstcase_results::record::RunError;

worstcase_base::errors! {
    /// Why a bisection gives no answer.
    #[derive(Debug, thiserror::Error)]
    pub enum BisectError {
        /// A request that makes no sense.
        #[error("{0}")]
        Request(String) => Usage,
        /// Both ends are good, or both bad.
        #[error("both ends are {what}: {figures}; {criterion}; take {remedy} (and another folder: --output)")]
        Alike {
            /// What both are.
            what: &'static str,
            /// The ends with their figures.
            figures: String,
            /// The criterion.
            criterion: String,
            /// What may tell them apart.
            remedy: String,
        } => Usage,
        /// An end cannot be measured.
        #[error("{name}, which is an end, cannot be measured: {why}")]
        End {
            /// The end.
            name: String,
            /// Why not.
            why: String,
        } => Measured,
        /// The folder has a bisection with another question.
        #[error("{} holds another bisection, which differs in its {what}; choose another folder with --output", folder.display())]
        AnotherBisection {
            /// The folder.
            folder: PathBuf,
            /// What differs.
            what: &'static str,
        } => Usage,
        /// The state is of another version of worstcase.
        #[error(
            "{} is of another form than {form}; put {} aside and give the command again: what was measured is in the cache",
            path.display(), folder.display()
        )]
        AnotherForm {
            /// The file.
            path: PathBuf,
            /// The bisection's folder.
            folder: PathBuf,
            /// The form that is read.
            form: &'static str,
        } => Usage,
        /// The state file is damaged.
        #[error(
            "{} is damaged: {what}; put {} aside and give the command again: what was measured is in the cache",
            path.display(), folder.display()
        )]
        Damaged {
            /// The file.
            path: PathBuf,
            /// The bisection's folder.
            folder: PathBuf,
            /// What is wrong with it.
            what: String,
        } => Usage,
        /// Another process works in this folder.
        #[error("another worstcase is bisecting in {}; wait for it, or choose another folder", .0.display())]
        Busy(PathBuf) => Storage,
        /// The user pressed Ctrl-C.
        #[error("ended early; the same command goes on")]
        Stopped => Interrupted,
        /// git failed.
        #[error("git failed in {}: {why}", tree.display())]
        Git {
            /// The tree.
            tree: PathBuf,
            /// The error that git printed.
            why: String,
        } => Missing,
        /// A commit's kernel could not be built.
        #[error(transparent)]
        Build(KernelBuildError) => within,
        /// A file of the bisection cannot be read or written.
        #[error("{}: {source}", path.display())]
        Io {
            /// Which file.
            path: PathBuf,
            /// Why.
            source: std::io::Error,
        } => Storage,
        /// A kernel.
        #[error(transparent)]
        Kernel(#[from] KernelError) => within,
        /// A run.
        #[error(transparent)]
        Run(#[from] RunError) => within,
    }
}

impl From<KernelBuildError> for BisectError {
    fn from(error: KernelBuildError) -> BisectError {
        match error {
            KernelBuildError::Stopped => BisectError::Stopped,
            other => BisectError::Build(other),
        }
    }
}

impl BisectError {
    /// Names the file that a system error speaks of.
    pub fn io(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> BisectError {
        let path = path.into();
        move |source| BisectError::Io { path, source }
    }
}
