//! The results of cells, and statements about them.
//!
//! ```text
//! record   the result of a cell, and the run folder   <- lab, host
//! stats    distributions, ensembles of seeds           <- records
//! verdict  PASS, FAIL or INCONCLUSIVE                  <- records
//! compare  two runs, and the gate of a baseline        <- records, stats
//! history  many runs over time, or over kernels        <- records, stats
//! demands   which classes of demand are met          <- records, verdict
//! claims     what a study claims, and whether it holds   <- records, stats
//! ```
//! Every step takes values and returns values; a run folder is enough for all of them.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests write where they like"))]

pub mod claims;
pub mod compare;
pub mod demands;
pub mod history;

pub mod record;
pub mod stats;
pub mod verdict;
