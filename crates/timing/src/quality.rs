//! How wrong a fit is for operations that it has not seen.

use crate::fit::{EventTimes, TimedCounts};
use crate::{quantile, rounded, sorted};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Errors as factors: 1.2 is 20 % too long, or too short by as much.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ErrorShares {
    /// Operations that were predicted.
    pub operations: usize,
    /// Half of them are nearer.
    pub median: f64,
    /// Nine of ten are nearer.
    pub p90: f64,
    /// The share within a factor of 1.5.
    pub within_1_5: f64,
}

/// The errors of a calibration.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quality {
    /// Each operation, predicted from all others.
    pub leave_one_out: ErrorShares,
    /// Each class, predicted from all others.
    pub leave_class_out: ErrorShares,
    /// The operations that no calibration is made from.
    pub held_out: Option<ErrorShares>,
}

/// The logarithm of measured by predicted, and what it was predicted from.
pub(crate) struct Residual {
    pub(crate) log: f64,
    /// What the certainty of the times makes the logarithm's variance.
    pub(crate) variance: f64,
}

impl ErrorShares {
    /// Of these logarithms; none without any.
    pub(crate) fn of(logs: impl IntoIterator<Item = f64>) -> Option<ErrorShares> {
        let far = sorted(logs.into_iter().map(f64::abs));
        let within = far.iter().filter(|far| **far <= 1.5f64.ln()).count();
        (!far.is_empty()).then(|| ErrorShares {
            operations: far.len(),
            median: rounded(quantile(&far, 0.5).exp()),
            p90: rounded(quantile(&far, 0.9).exp()),
            within_1_5: rounded(within as f64 / far.len() as f64),
        })
    }
}

/// What a fit of `known` says of each of the others.
pub(crate) fn residuals(known: &[TimedCounts], others: &[TimedCounts]) -> Vec<Residual> {
    let times = EventTimes::fitted(known);
    let certainty = times.certainty(known);
    let residual = |other: &TimedCounts| Residual {
        log: (other.ns / times.time_of(&other.counts)).ln(),
        variance: certainty.inverse_form(&times.shares(&other.counts)),
    };
    others.iter().map(residual).collect()
}

/// Each operation, predicted from all others.
pub(crate) fn leave_one_out(operations: &[TimedCounts]) -> Vec<Residual> {
    let one = |nth: usize| {
        let mut known = operations.to_vec();
        let other = known.remove(nth);
        residuals(&known, &[other])
    };
    (0..operations.len()).flat_map(one).collect()
}

/// The operations of each class, predicted from all others.
pub(crate) fn leave_class_out(operations: &[TimedCounts], classes: &[&str]) -> Vec<Residual> {
    let all: BTreeSet<&str> = classes.iter().copied().collect();
    let one = |class: &str| {
        let of = |is: bool| -> Vec<TimedCounts> {
            let these = operations.iter().zip(classes).filter(|(_, c)| (**c == class) == is);
            these.map(|(operation, _)| operation.clone()).collect()
        };
        residuals(&of(false), &of(true))
    };
    all.into_iter().flat_map(one).collect()
}
