//! What a path would take on a machine, from the events that the lab counted in it.
//!
//! ```text
//! table        the events of each operation, counted in the lab; part of the executable
//! prior        cycles of each event, as public tables have them
//! fit          ns of each event from the operations' times          matrix   its linear algebra
//! quality      how wrong that is for operations that it did not see
//! calibration  a machine's file                                     predict  what a path would take there
//! ```

pub mod calibration;
mod fit;
mod matrix;
mod predict;
mod prior;
mod quality;
pub mod table;

pub use calibration::{CalibratedMachine, Calibration, CalibrationError, Delivery, MeasuredOperation};
pub use fit::EventTimes;
pub use predict::{PredictedTime, Predictor};
pub use quality::{ErrorShares, Quality};

/// The value below which a share of the sorted values lie, by linear interpolation between neighbours (type 7 of Hyndman
/// and Fan).
pub(crate) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() as f64 - 1.0);
    let below = (place.floor() as usize).min(sorted.len() - 1);
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (sorted[above] - sorted[below]) * (place - below as f64)
}

/// The values in order.
pub(crate) fn sorted(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values
}

/// With six digits, as files have it.
pub(crate) fn rounded(value: f64) -> f64 {
    format!("{value:.5e}").parse().expect("a number was written")
}
