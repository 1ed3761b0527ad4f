//! The ends of axes.

use super::PictureAxis;
use super::data::{PictureData, PictureQuestion};
use worstcase_results::record::Quantity;

/// Beyond this ratio of the largest value to a usual one an axis is logarithmic.
const WIDE: f64 = 20.0;
/// Room beyond the outermost values, as a share of the axis.
const ROOM: f64 = 0.04;
/// The finest time that can be measured: 1 ns, in us. A 0 on a logarithmic axis is drawn there.
pub(crate) const FINEST: f64 = 0.001;

impl PictureAxis {
    /// Linear, from 0, or from the smallest value if it is below 0, to the largest and a little more.
    pub(crate) fn linear(label: &str, unit: &str, values: impl Iterator<Item = f64>) -> PictureAxis {
        let (low, high) = ends(values).unwrap_or((0.0, 0.0));
        let (low, high) = (low.min(0.0), high.max(0.0));
        let span = if high > low { high - low } else { 1.0 };
        PictureAxis {
            label: label.to_string(),
            unit: unit.to_string(),
            log: false,
            from: if low < 0.0 { low - span * ROOM } else { 0.0 },
            to: low.max(high).max(low + span) + if high > 0.0 { span * ROOM } else { 0.0 },
            names: Vec::new(),
        }
    }

    /// Logarithmic, around all values above 0.
    pub(crate) fn logarithmic(label: &str, unit: &str, values: impl Iterator<Item = f64>) -> PictureAxis {
        let (low, high) = ends(values.map(|v| v.max(FINEST))).unwrap_or((1.0, 10.0));
        // Never less than a factor of 4: a tick with a round number is in there.
        let lacking = (4.0 * low / high).max(1.0).sqrt();
        let room = (high / low * lacking * lacking).powf(ROOM);
        PictureAxis {
            label: label.to_string(),
            unit: unit.to_string(),
            log: true,
            from: low / lacking / room,
            to: high * lacking * room,
            names: Vec::new(),
        }
    }

    /// Names instead of numbers.
    pub(crate) fn named(label: &str, names: Vec<String>) -> PictureAxis {
        PictureAxis {
            label: label.to_string(),
            from: -0.5,
            to: names.len().max(1) as f64 - 0.5,
            names,
            ..PictureAxis::default()
        }
    }

    /// The place of a value: 0 at the lower end, 1 at the upper one.
    pub(crate) fn place(&self, value: f64) -> f64 {
        let share = match self.log {
            true => (value.max(self.from) / self.from).ln() / (self.to / self.from).ln(),
            false => (value - self.from) / (self.to - self.from),
        };
        share.clamp(0.0, 1.0)
    }

    /// The value within.
    pub fn clamp(&self, value: f64) -> f64 {
        value.clamp(self.from, self.to)
    }
}

fn ends(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |ends, v| match ends {
        None => Some((v, v)),
        Some((low, high)) => Some((f64::min(low, v), f64::max(high, v))),
    })
}

/// The axis that all pictures of a question share: from the smallest to the largest sample, and the limit.
pub(crate) fn of_question(data: &PictureData<'_>, question: &PictureQuestion<'_>) -> PictureAxis {
    let summaries = || question.records.iter().filter_map(|r| r.summary(question.quantity));
    let us = |ns: u64| ns as f64 / 1_000.0;
    let limit = question.limit(data).map(|limit| us(limit.0));
    let ends = summaries().flat_map(|s| s.min_ns.into_iter().chain([s.max_ns]).map(us));
    let values: Vec<f64> = ends.chain(limit).collect();
    let usual = summaries().map(|s| us(s.median_ns.or(s.mean_ns).unwrap_or(s.max_ns)));
    let usual = usual.fold(f64::INFINITY, f64::min);
    let largest = values.iter().copied().fold(0.0, f64::max);
    match largest > usual.max(FINEST) * WIDE {
        true => PictureAxis::logarithmic(question.name(), &data.micros, values.into_iter()),
        false => PictureAxis::linear(question.name(), &data.micros, values.into_iter()),
    }
}

/// The axis of signed jitter: the same to both sides, linear, as in the article.
pub(crate) fn signed(data: &PictureData<'_>, question: &PictureQuestion<'_>) -> PictureAxis {
    let summaries = question.records.iter().filter_map(|r| r.summary(Quantity::Jitter));
    let largest = summaries.map(|s| s.max_ns as f64 / 1_000.0).fold(FINEST, f64::max);
    PictureAxis::linear(
        "jitter: length of a period less what it should be",
        &data.micros,
        [-largest, largest].into_iter(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(axis: &PictureAxis, values: &[f64]) {
        assert!(axis.from.is_finite() && axis.to.is_finite(), "{axis:?}");
        assert!(axis.to > axis.from && (!axis.log || axis.from > 0.0), "{axis:?}");
        for v in values {
            assert!((axis.from..=axis.to).contains(v), "{v} {axis:?}");
            assert!((0.0..=1.0).contains(&axis.place(*v)));
        }
    }

    #[test]
    fn every_value_is_within() {
        for values in [
            vec![],
            vec![0.0],
            vec![7.0, 7.0],
            vec![-3.0],
            vec![-3.0, 3.0],
            vec![2.4, 15_402.0],
            vec![1e15],
        ] {
            holds(&PictureAxis::linear("", "", values.iter().copied()), &values);
            let positive: Vec<f64> = values.iter().copied().filter(|v| *v > 0.0).collect();
            holds(&PictureAxis::logarithmic("", "", positive.iter().copied()), &positive);
        }
        holds(&PictureAxis::logarithmic("", "", [0.0, 0.0].into_iter()), &[FINEST]);
        holds(&PictureAxis::named("", vec![]), &[0.0]);
    }
}
