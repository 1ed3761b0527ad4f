//! Why a file cannot be imported.

use std::path::PathBuf;
use worstcase_results::record::RecordBuildError;

worstcase_base::errors! {
    /// Why nothing can be imported.
    #[derive(Debug, thiserror::Error)]
    pub enum ImportError {
        /// The file cannot be read.
        #[error("cannot read {}: {source}; name a file that another tool wrote", path.display())]
        Read {
            /// The file.
            path: PathBuf,
            /// The system's words.
            source: std::io::Error,
        } => Usage,
        /// The file is not in the right form.
        #[error("cannot import {}: {source}", path.display())]
        Format {
            /// The file.
            path: PathBuf,
            /// The fault.
            source: FormatError,
        } => Usage,
        /// Its numbers cannot be kept.
        #[error("cannot import {file}: {source}")]
        Build {
            /// The file.
            file: String,
            /// Why.
            source: RecordBuildError,
        } => Usage,
    }
}

/// The fault of a file's content.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FormatError(String);

impl FormatError {
    /// The fault in words.
    pub fn new(what: impl Into<String>) -> FormatError {
        FormatError(what.into())
    }

    /// A fault in a line, counted from 1.
    pub(crate) fn at(line: usize, what: impl std::fmt::Display) -> FormatError {
        FormatError(format!("line {line}: {what}"))
    }
}
