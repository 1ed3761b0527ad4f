//! Errors of a request that makes no sense.

/// A cell that cannot be asked for, and why.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0}")]
pub struct SpecError(pub String);
