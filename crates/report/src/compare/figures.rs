//! Figures of a comparison, ready to be shown.

use worstcase_base::format::{grouped, micros, micros_exact, range};
use worstcase_contract::Nanos;
use worstcase_results::compare::change::{ComparedMeasure, SideValues};
use worstcase_results::stats::ranks::Shift;

/// A value: microseconds, or a count of periods.
pub fn value(measure: ComparedMeasure, value: u64) -> String {
    match measure {
        ComparedMeasure::Missed => grouped(value),
        _ => micros(Nanos(value)),
    }
}

/// The lowest and the highest of the seeds.
pub(crate) fn spread(measure: ComparedMeasure, values: &SideValues) -> String {
    range(values.lowest, values.highest, |v| value(measure, v))
}

/// A difference with its sign.
pub(crate) fn signed(measure: ComparedMeasure, difference: f64) -> String {
    let shown = value(measure, difference.abs().round() as u64);
    match difference {
        _ if difference.abs() < 0.5 => "0".to_string(),
        0.0.. => format!("+{shown}"),
        _ => format!("-{shown}"),
    }
}

/// A difference in microseconds, to the nanosecond.
pub(crate) fn signed_exact(ns: i64) -> String {
    let sign = if ns < 0 { '-' } else { '+' };
    format!("{sign}{}", micros_exact(Nanos(ns.unsigned_abs())))
}

/// A ratio as a factor, three digits.
pub fn times(ratio: f64) -> String {
    match ratio {
        100.0.. => format!("{ratio:.0}"),
        10.0.. => format!("{ratio:.1}"),
        ..0.1 => format!("{ratio:.3}"),
        _ => format!("{ratio:.2}"),
    }
}

/// `x1.04`, or `-` where there is none.
pub fn ratio(ratio: Option<&Shift>) -> String {
    ratio.map_or("-".to_string(), |r| format!("x{}", times(r.best)))
}

/// `1.01..1.07`.
pub(crate) fn ratio_interval(ratio: Option<&Shift>) -> String {
    ratio.map_or("-".to_string(), |r| format!("{}..{}", times(r.low), times(r.high)))
}

/// A probability.
pub(crate) fn probability(p: Option<f64>) -> String {
    match p {
        None => "-".to_string(),
        Some(p) if p < 0.0001 => "<0.0001".to_string(),
        Some(p) => format!("{p:.4}"),
    }
}
