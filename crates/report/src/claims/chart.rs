//! Then and now in one drawing: the factor of each figure to the first, as published and as ours, on an axis of factors.

use serde::Serialize;
use worstcase_plan::study::claim::{PublishedValue, factor};
use worstcase_results::claims::JudgedClaim;

/// A claim's drawing: places go from 0, the left end of the axis, to 1.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct ClaimChart {
    ticks: Vec<ChartTick>,
    rows: Vec<ChartRow>,
    /// Whether there is something published to draw.
    has_then: bool,
    /// Where the figures stand on an axis of their own, if they are a series: numbers that rise, three or more.
    series: Option<Vec<f64>>,
}

#[derive(Debug, PartialEq, Serialize)]
struct ChartTick {
    at: f64,
    label: String,
}

/// A figure.
#[derive(Debug, PartialEq, Serialize)]
struct ChartRow {
    of: String,
    /// In words, where it is no number: `rank 2`.
    then: String,
    then_at: Option<ChartRange>,
    now: String,
    now_at: Option<ChartRange>,
}

/// A value with its bounds; an open end reaches to the end of the axis.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct ChartRange {
    low: f64,
    best: f64,
    high: f64,
}

/// Ticks of the axis: factors that a reader knows.
const TICKS: [f64; 3] = [1.0, 2.0, 5.0];

impl ClaimChart {
    /// The drawing; nothing if ours has no factor.
    pub(crate) fn of(judged: &JudgedClaim) -> Option<ClaimChart> {
        let figures = &judged.claim.figures;
        let now: Vec<Option<ChartRange>> = judged
            .factors_now
            .iter()
            .map(|shift| shift.as_ref().map(now_of))
            .collect();
        if now.iter().flatten().count() < 2 {
            return None;
        }
        let then: Vec<Option<ChartRange>> = (0..figures.len()).map(|nth| then_of(judged, nth)).collect();
        let all = || {
            now.iter()
                .chain(&then)
                .flatten()
                .flat_map(|range| [range.low, range.best, range.high])
        };
        let some = all().filter(|value| value.is_finite() && *value > 0.0);
        let (least, most) = some.fold((1.0_f64, 1.0_f64), |(least, most), value| {
            (least.min(value), most.max(value))
        });
        // Half of a factor more at each end.
        let axis = FactorAxis {
            low: (least / 1.3).ln(),
            high: (most * 1.3).ln(),
        };
        let rows = figures.iter().enumerate().map(|(nth, figure)| ChartRow {
            of: figure.of.clone(),
            then: figure.said.to_string(),
            then_at: then[nth].map(|range| axis.range(range)),
            now: now[nth].map_or(String::new(), |range| factor(range.best)),
            now_at: now[nth].map(|range| axis.range(range)),
        });
        Some(ClaimChart {
            rows: rows.collect(),
            ticks: axis.ticks(),
            has_then: then.iter().flatten().count() > 1,
            series: series(figures.iter().map(|figure| figure.of.as_str())),
        })
    }
}

/// `N = 4`, `N = 8`, `N = 64`: where each stands, in equal steps if it is a multiple of the one before it.
fn series<'a>(names: impl Iterator<Item = &'a str>) -> Option<Vec<f64>> {
    let number = |name: &str| {
        let digits = name
            .split(|c: char| !c.is_ascii_digit() && c != '.')
            .find(|part| !part.is_empty());
        digits.map_or_else(|| (name == "idle").then_some(0.0), |digits| digits.parse::<f64>().ok())
    };
    let numbers = names.map(number).collect::<Option<Vec<f64>>>()?;
    let (first, last) = (*numbers.first()?, *numbers.last()?);
    let rises = numbers.is_sorted_by(|a, b| a < b);
    let place: fn(f64) -> f64 = match first > 0.0 && last / first >= 8.0 {
        true => f64::ln,
        false => |number| number,
    };
    let at = |number: &f64| (place(*number) - place(first)) / (place(last) - place(first));
    (numbers.len() > 2 && rises).then(|| numbers.iter().map(at).collect())
}

fn now_of(shift: &worstcase_results::stats::ranks::Shift) -> ChartRange {
    ChartRange {
        low: shift.low,
        best: shift.best,
        high: shift.high,
    }
}

/// A published factor; of ranks there is none.
fn then_of(judged: &JudgedClaim, nth: usize) -> Option<ChartRange> {
    let claim = &judged.claim;
    matches!(claim.figures[nth].said, PublishedValue::Value { .. }).then_some(())?;
    let (low, high) = claim.factor(nth)?;
    let best = if low > 0.0 && high.is_finite() {
        (low * high).sqrt()
    } else {
        f64::NAN
    };
    Some(ChartRange { low, best, high })
}

/// An axis of factors: equal factors are equally long.
struct FactorAxis {
    low: f64,
    high: f64,
}

impl FactorAxis {
    fn at(&self, value: f64) -> f64 {
        let at = (value.max(f64::MIN_POSITIVE).ln() - self.low) / (self.high - self.low);
        at.clamp(0.0, 1.0)
    }

    fn range(&self, range: ChartRange) -> ChartRange {
        // A bound alone has no middle: it is where it is bounded.
        let best = match range.best {
            best if best.is_finite() => best,
            _ if range.low > 0.0 => range.low,
            _ => range.high,
        };
        ChartRange {
            low: self.at(range.low),
            best: self.at(best),
            high: self.at(range.high),
        }
    }

    fn ticks(&self) -> Vec<ChartTick> {
        let decades = (self.low / 10_f64.ln()).floor() as i32..=(self.high / 10_f64.ln()).ceil() as i32;
        let values = |ticks: &'static [f64]| {
            let of = move |decade: i32| ticks.iter().map(move |tick| tick * 10_f64.powi(decade));
            let inside = |value: &f64| (self.low..=self.high).contains(&value.ln());
            decades.clone().flat_map(of).filter(inside).collect::<Vec<f64>>()
        };
        // Of a long axis the decades alone.
        let all = values(&TICKS);
        let shown = if all.len() > 8 { values(&TICKS[..1]) } else { all };
        let tick = |value: f64| ChartTick {
            at: self.at(value),
            label: plain_number(value),
        };
        shown.into_iter().map(tick).collect()
    }
}

/// `0.5`, `20`.
fn plain_number(value: f64) -> String {
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_rise_are_a_series() {
        let of = |names: &[&str]| series(names.iter().copied());
        assert_eq!(of(&["idle", "10 windows", "20 windows"]), Some(vec![0.0, 0.5, 1.0]));
        assert_eq!(of(&["N = 1", "N = 4", "N = 16"]), Some(vec![0.0, 0.5, 1.0]));
        assert_eq!(of(&["PRE_OFF", "PRE_ON", "PRE_RT"]), None);
        assert_eq!(of(&["1", "2"]), None);
        assert_eq!(of(&["1000 MHz", "700 MHz", "600 MHz"]), None);
    }

    #[test]
    fn equal_factors_are_equally_long() {
        let axis = FactorAxis {
            low: 0.5_f64.ln(),
            high: 8_f64.ln(),
        };
        let places = [0.5, 1.0, 2.0, 4.0, 8.0].map(|value| axis.at(value));
        for (nth, at) in places.iter().enumerate() {
            assert!((at - nth as f64 / 4.0).abs() < 1e-9, "{places:?}");
        }
        assert_eq!((axis.at(0.0), axis.at(f64::INFINITY)), (0.0, 1.0));
        let labels: Vec<String> = axis.ticks().into_iter().map(|tick| tick.label).collect();
        assert_eq!(labels, ["0.5", "1", "2", "5"]);
    }
}
