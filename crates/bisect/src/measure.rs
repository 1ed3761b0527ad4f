//! The measures that kernels are compared by.

use crate::BisectError;
use std::fmt;
use std::str::FromStr;
use worstcase_base::format::grouped;
use worstcase_contract::{Nanos, Venue};
use worstcase_plan::Experiment;
use worstcase_results::record::Summary;
use worstcase_results::stats::Percentile;
use worstcase_results::stats::distribution::SAMPLES_ABOVE;

/// Which figure of a cell is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BisectedMeasure {
    /// The median of the seeds' means.
    Mean,
    /// The median of the seeds' medians.
    Median,
    /// The median of the seeds' percentiles.
    Percentile(Percentile),
    /// The largest of all seeds.
    Max,
}

/// Names that are no percentile's.
const NAMES: [(&str, BisectedMeasure); 4] = [
    ("max", BisectedMeasure::Max),
    ("mean", BisectedMeasure::Mean),
    ("median", BisectedMeasure::Median),
    ("p50", BisectedMeasure::Median),
];

impl BisectedMeasure {
    /// The measure of a seed; none if it has too few samples for it.
    pub(crate) fn of(self, seed: &Summary) -> Option<Nanos> {
        match self {
            BisectedMeasure::Mean => mean(seed),
            BisectedMeasure::Median => seed.median(),
            BisectedMeasure::Percentile(percentile) => seed.percentile(percentile),
            BisectedMeasure::Max => Some(Nanos(seed.max_ns)),
        }
    }

    /// The measure of a cell, given that of each seed.
    pub(crate) fn over_seeds(self, mut values: Vec<Nanos>) -> Option<Nanos> {
        values.sort_unstable();
        match self {
            BisectedMeasure::Max => values.last().copied(),
            _ => values.get(values.len().checked_sub(1)? / 2).copied(),
        }
    }

    /// Why so many samples of a seed do not bear the measure, and what does.
    pub fn refusal(self, samples: u64) -> Option<String> {
        let BisectedMeasure::Percentile(percentile) = self else {
            return None;
        };
        let borne = Percentile::ALL.into_iter().rev().find(|p| p.borne_by(samples));
        (!percentile.borne_by(samples)).then(|| {
            let needed = percentile.one_in() * SAMPLES_ABOVE;
            format!(
                "{self} needs {} samples of each seed, and there are {}; take --samples {needed}, or {}",
                grouped(needed),
                grouped(samples),
                borne.map_or("median", Percentile::name)
            )
        })
    }

    /// Refuses an experiment with too few samples for the measure.
    pub fn check(self, experiment: &Experiment) -> Result<(), BisectError> {
        let cells = experiment
            .parts
            .iter()
            .flat_map(|part| part.combinations(Venue::Lab))
            .flatten();
        let refusals = cells.filter_map(|cell| self.refusal(cell.periods.into()));
        refusals.take(1).map(BisectError::Request).try_for_each(Err)
    }
}

/// The mean of all periods, as the percentiles are.
fn mean(seed: &Summary) -> Option<Nanos> {
    match seed.periods {
        None => seed.mean_ns.map(Nanos),
        Some(_) => seed.histogram().map(|all| Nanos(all.mean() as u64)),
    }
}

impl fmt::Display for BisectedMeasure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            BisectedMeasure::Percentile(percentile) => percentile.name(),
            other => NAMES.iter().find(|(_, m)| m == other).map_or("", |(name, _)| name),
        })
    }
}

impl FromStr for BisectedMeasure {
    type Err = String;
    fn from_str(text: &str) -> Result<BisectedMeasure, String> {
        let named = NAMES
            .iter()
            .find(|(name, _)| *name == text)
            .map(|(_, measure)| *measure);
        let percentile = || Percentile::ALL.into_iter().find(|p| p.name() == text);
        named
            .or_else(|| percentile().map(BisectedMeasure::Percentile))
            .ok_or_else(|| {
                let percentiles = Percentile::ALL.map(Percentile::name).join(", ");
                format!("'{text}' is no measure; take max, mean, median, {percentiles}")
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seed(values: impl IntoIterator<Item = u64>) -> Summary {
        let values: Vec<_> = (0..).zip(values.into_iter().map(Nanos)).collect();
        Summary::new(&values).unwrap()
    }

    fn measure(name: &str) -> BisectedMeasure {
        name.parse().unwrap()
    }

    #[test]
    fn every_figure_that_a_record_keeps_is_a_measure() {
        let thousand = seed(1..=1000);
        let of = ["max", "mean", "median", "p50", "p90", "p99", "p99.9"].map(|name| measure(name).of(&thousand));
        let ns = |n| Some(Nanos(n));
        assert_eq!(of, [ns(1000), ns(500), ns(500), ns(500), ns(900), ns(990), None]);
        for name in ["max", "mean", "median", "p90", "p99.999"] {
            assert_eq!(measure(name).to_string(), name);
        }
        assert!(
            "p98"
                .parse::<BisectedMeasure>()
                .unwrap_err()
                .contains("p90, p99, p99.9")
        );
    }

    #[test]
    fn the_maximum_is_of_all_seeds_and_the_others_are_the_median_over_them() {
        let values = || [300, 100, 200].map(Nanos).to_vec();
        assert_eq!(measure("max").over_seeds(values()), Some(Nanos(300)));
        assert_eq!(measure("p99").over_seeds(values()), Some(Nanos(200)));
        assert_eq!(measure("mean").over_seeds(Vec::new()), None);
    }

    #[test]
    fn too_few_samples_are_refused_with_what_would_do() {
        let said = measure("p99.9").refusal(1_000).unwrap();
        let line = "p99.9 needs 10 000 samples of each seed, and there are 1 000; take --samples 10000, or p99";
        assert_eq!(said, line);
        assert!(measure("p90").refusal(99).unwrap().ends_with("or median"));
        assert_eq!(measure("p99").refusal(1_000), None);
        assert_eq!(measure("mean").refusal(1), None);
    }

    /// A missed period counts for the mean as for the percentiles.
    #[test]
    fn the_mean_is_of_all_periods() {
        // Three were missed: 2 500, 1 500 and 500 ns late.
        let late = [(0, Nanos(3_500)), (4, Nanos(100))];
        let summary = Summary::of_latencies(&late, Nanos(1_000), 5).unwrap();
        let mean = measure("mean").of(&summary).unwrap();
        assert!((1_610..1_630).contains(&mean.0), "{mean:?} of {summary:?}");
    }
}
