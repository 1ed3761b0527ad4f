//! From samples to statements.
//!
//! [`distribution`] describes the samples of one cell, [`ensemble`] the seeds of one cell's question,
//! [`quantile`] is the one definition of median and percentiles ([`median`] for short), [`bucket_counts`] the one histogram, [`interval`] says how sure a median over seeds is, [`blocks`] how sure a percentile of one host cell, [`points`] collects what the probes with parameters say, of
//! [`values`]; [`ranks`] whether two ensembles differ and by how much, [`many`] what several such answers are worth together,
//! [`change_points`] whether and where the level of a series changed, [`change_shape`] whether by steps, [`poisson`] whether a count is as expected, [`tail`] what the largest samples say of larger ones. `docs/statistics.md` has the
//! rules with their reasons.

pub mod blocks;
pub mod bucket_counts;
pub mod change_points;
pub mod change_shape;
pub mod distribution;
pub mod ensemble;
pub mod interval;
pub mod many;
pub mod median;
pub mod points;
pub mod poisson;
pub mod quantile;
pub mod ranks;
pub mod signed_ranks;
pub mod tail;
pub mod values;

pub use distribution::{Distribution, Percentile};
pub use ensemble::{Ensemble, SeedStats, ensembles};
pub use interval::MedianInterval;
pub use values::{SeedValues, ValueFigures};
