//! STUB

use super::{BenchError, Observer, Request, Switch, Taken};

/// Refuses what this machine cannot do.
pub fn check(_what: &Switch, _request: &Request<'_>) -> Result<(), BenchError> {
    Err(BenchError::Limit("not there yet".into()))
}

/// Measures.
pub fn measure(_what: &Switch, _request: &Request<'_>, _observer: &mut dyn Observer) -> Result<Taken, BenchError> {
    Err(BenchError::Limit("not there yet".into()))
}
