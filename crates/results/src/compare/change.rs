//! One cell on both sides: the compared measures, their differences, and what the test says.

use super::design::SeedDesign;
use super::side::{DistributionFigures, SeedGroup, SeedResult, Side};
use super::{CellConditions, Replicates};
use crate::record::{GapAccount, Quantity, SubjectId};
use crate::stats::median;
use crate::stats::ranks::{RankTest, Shift};
use serde::Serialize;
use std::fmt;
use worstcase_contract::Nanos;

/// The smallest change that is called better or worse, as a share.
pub const SMALLEST: f64 = 0.02;

/// A compared measure of a cell's seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ComparedMeasure {
    /// Each seed's median.
    Median,
    /// Each seed's 99th percentile.
    P99,
    /// Each seed's maximum.
    Max,
    /// Each seed's missed periods.
    Missed,
    /// `noise`: each seed's noise of a second of observation.
    Noise,
    /// `noise`: each seed's longest gap.
    #[serde(rename = "max_single")]
    MaxSingle,
}

impl ComparedMeasure {
    const OF_SAMPLES: [ComparedMeasure; 3] = [ComparedMeasure::Median, ComparedMeasure::P99, ComparedMeasure::Max];

    fn value(self, figures: &DistributionFigures) -> Option<Nanos> {
        match self {
            ComparedMeasure::Median => figures.median,
            ComparedMeasure::P99 => figures.p99,
            ComparedMeasure::Max => Some(figures.max),
            ComparedMeasure::Missed | ComparedMeasure::Noise | ComparedMeasure::MaxSingle => None,
        }
    }
}

impl fmt::Display for ComparedMeasure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            ComparedMeasure::Median => "median",
            ComparedMeasure::P99 => "p99",
            ComparedMeasure::Max => "max",
            ComparedMeasure::Missed => "missed",
            ComparedMeasure::Noise => "noise a second",
            ComparedMeasure::MaxSingle => "max single noise",
        })
    }
}

/// A measure over the seeds of a side.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SideValues {
    /// The median over the seeds: the value of one of them.
    pub median: u64,
    /// The lowest.
    pub lowest: u64,
    /// The highest.
    pub highest: u64,
    /// The values in order of the seeds; ns, or periods.
    pub of_seeds: Vec<u64>,
}

impl SideValues {
    fn new(of_seeds: Vec<u64>) -> Option<SideValues> {
        Some(SideValues {
            median: median::of(of_seeds.iter().copied())?,
            lowest: *of_seeds.iter().min()?,
            highest: *of_seeds.iter().max()?,
            of_seeds,
        })
    }
}

/// A measure on both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MeasureChange {
    /// The quantity; none for missed periods.
    pub quantity: Option<Quantity>,
    /// The measure.
    pub measure: ComparedMeasure,
    /// The first side.
    pub a: SideValues,
    /// The second.
    pub b: SideValues,
    /// The value of the second side minus that of the first.
    pub difference: Shift,
    /// The ratio of the second side to the first; nothing if the first side has a zero.
    pub ratio: Option<Shift>,
    /// The test of this change alone.
    #[serde(skip)]
    pub test: RankTest,
}

impl MeasureChange {
    /// `a` and `b` have a value of each seed.
    fn new(
        design: &SeedDesign,
        of: (Option<Quantity>, ComparedMeasure),
        a: (&SeedGroup, Vec<u64>),
        b: (&SeedGroup, Vec<u64>),
    ) -> Option<MeasureChange> {
        let figures = design.figures((a.0, &a.1), (b.0, &b.1))?;
        Some(MeasureChange {
            quantity: of.0,
            measure: of.1,
            difference: figures.difference,
            ratio: figures.ratio,
            test: figures.test,
            a: SideValues::new(a.1)?,
            b: SideValues::new(b.1)?,
        })
    }

    /// Its name: the quantity where a cell has several.
    pub fn name(&self, several: bool) -> String {
        match self.quantity.filter(|_| several) {
            Some(quantity) => format!("{quantity} {}", self.measure),
            None => self.measure.to_string(),
        }
    }

    /// Whether every seed of both sides has the same value.
    pub(crate) fn constant(&self) -> bool {
        self.a.lowest.min(self.b.lowest) == self.a.highest.max(self.b.highest)
    }

    /// Whether the estimate is below the smallest change that is called better or worse.
    pub fn slight(&self) -> bool {
        self.size() < SMALLEST.ln_1p()
    }

    /// The size of the change in either direction: the logarithm of the ratio.
    pub fn size(&self) -> f64 {
        match &self.ratio {
            Some(ratio) if ratio.best > 0.0 => ratio.best.ln().abs(),
            _ if self.difference.best == 0.0 => 0.0,
            _ => f64::INFINITY,
        }
    }
}

/// In the lab: seeds of both sides, sample by sample.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Exact {
    /// Seeds that both sides have.
    pub common: usize,
    /// The number of them with equal digests: the same samples.
    pub identical: usize,
    /// The maxima of each seed that differs.
    pub maxima: Vec<MaxDifference>,
}

/// The difference of a seed's maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct MaxDifference {
    /// The seed.
    pub seed: u64,
    /// The first quantity of the probe.
    pub quantity: Quantity,
    /// The value of the second side minus that of the first.
    pub difference_ns: i64,
}

impl Exact {
    fn of(a: &[SeedResult], b: &[SeedResult]) -> Exact {
        let common: Vec<(&SeedResult, &SeedResult)> = a
            .iter()
            .filter_map(|x| Some((x, b.iter().find(|y| y.seed == x.seed)?)))
            .collect();
        let different = common.iter().filter(|(x, y)| x.digest != y.digest);
        let maximum = |(x, y): &(&SeedResult, &SeedResult)| {
            let (quantity, figures) = x.quantities.first_key_value()?;
            let other = y.quantities.get(quantity)?;
            Some(MaxDifference {
                seed: x.seed,
                quantity: *quantity,
                difference_ns: other.max.0.wrapping_sub(figures.max.0) as i64,
            })
        };
        Exact {
            common: common.len(),
            identical: common.iter().filter(|(x, y)| x.digest == y.digest).count(),
            maxima: different.filter_map(maximum).collect(),
        }
    }

    /// Whether every seed that both sides have gave the same samples.
    pub(crate) fn all_identical(&self) -> bool {
        self.common > 0 && self.common == self.identical
    }
}

/// A cell on both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pair {
    /// The first side's subject.
    pub a: SubjectId,
    /// The second's.
    pub b: SubjectId,
    /// The cell.
    #[serde(flatten)]
    pub how: CellConditions,
    /// Units of the times, the first side's and the second's.
    pub units: [String; 2],
    /// Seeds of each side.
    pub seeds: [usize; 2],
    /// Which of them belong together.
    #[serde(flatten)]
    pub design: SeedDesign,
    /// What a side's results repeat.
    pub replicates: Replicates,
    /// In the lab: the exact comparison.
    pub exact: Option<Exact>,
    /// Measure by measure.
    #[serde(skip)]
    pub changes: Vec<MeasureChange>,
    /// Interference beside what is compared, a line a side; a gate is INCONCLUSIVE for it.
    pub doubts: Vec<String>,
    /// Measures that a seed of either side lacks.
    pub lacking: Vec<String>,
}

impl Pair {
    /// Compares.
    pub fn new(a: &Side, of_a: &SeedGroup, b: &Side, of_b: &SeedGroup) -> Pair {
        let unit = |side: &Side, cell: &SeedGroup| side.subject(&cell.subject).map_or(String::new(), |s| s.time_unit());
        let in_lab = a.in_lab(&of_a.subject) && b.in_lab(&of_b.subject);
        let mut pair = Pair {
            a: of_a.subject.clone(),
            b: of_b.subject.clone(),
            how: of_a.how.clone(),
            units: [unit(a, of_a), unit(b, of_b)],
            seeds: [of_a.seeds.len(), of_b.seeds.len()],
            design: SeedDesign::of(of_a, of_b, in_lab),
            replicates: a.replicates(&of_a.subject).max(b.replicates(&of_b.subject)),
            exact: in_lab.then(|| Exact::of(&of_a.seeds, &of_b.seeds)),
            changes: Vec::new(),
            doubts: [of_a.disturbed("A"), of_b.disturbed("B")].concat(),
            lacking: Vec::new(),
        };
        for quantity in quantities(of_a, of_b) {
            for measure in ComparedMeasure::OF_SAMPLES {
                let values = |cell: &SeedGroup| -> Vec<Option<u64>> {
                    let of = |s: &SeedResult| Some(measure.value(s.quantities.get(&quantity)?)?.0);
                    cell.seeds.iter().map(of).collect()
                };
                let (x, y) = (values(of_a), values(of_b));
                let all = |values: &[Option<u64>]| values.iter().copied().collect::<Option<Vec<u64>>>();
                match (all(&x), all(&y)) {
                    (Some(x), Some(y)) => {
                        let of = (Some(quantity), measure);
                        pair.changes
                            .extend(MeasureChange::new(&pair.design, of, (of_a, x), (of_b, y)));
                    }
                    // No seed of either side has a value: there is nothing to compare.
                    _ if x.iter().chain(&y).all(Option::is_none) => (),
                    _ => pair.lacking.push(format!("{quantity} {measure}")),
                }
            }
        }
        let missed = |cell: &SeedGroup| cell.seeds.iter().map(|s| s.missed).collect();
        let of = (None, ComparedMeasure::Missed);
        let missed = MeasureChange::new(&pair.design, of, (of_a, missed(of_a)), (of_b, missed(of_b)));
        pair.changes
            .extend(missed.filter(|m| !(m.constant() && m.a.highest == 0)));
        let noise = noise(&pair.design, of_a, of_b);
        pair.changes.extend(noise);
        pair
    }

    /// Whether the samples of one subject were of more than one quantity.
    pub fn several(&self) -> bool {
        let mut quantities = self.changes.iter().filter_map(|c| c.quantity);
        let first = quantities.next();
        quantities.any(|q| Some(q) != first)
    }

    /// Whether nothing is different: the same samples on both sides.
    pub fn identical(&self) -> bool {
        let same = |e: &Exact| e.all_identical() && self.seeds == [e.common; 2];
        self.exact.as_ref().is_some_and(same)
    }

    /// Its name.
    pub fn name(&self) -> String {
        format!("{}: {}", self.subjects(), self.how.name())
    }

    /// Its subjects.
    pub fn subjects(&self) -> String {
        match self.a == self.b {
            true => self.a.to_string(),
            false => format!("{} -> {}", self.a, self.b),
        }
    }

    /// The units of its times.
    pub fn unit(&self) -> String {
        let [a, b] = &self.units;
        if a == b { a.clone() } else { format!("{a} against {b}") }
    }
}

/// The compared measures of `noise`: the sum of the gaps in the observation time, and the longest.
fn noise(design: &SeedDesign, a: &SeedGroup, b: &SeedGroup) -> Vec<MeasureChange> {
    let change = |measure: ComparedMeasure, of: fn(&GapAccount) -> u64| {
        let values = |group: &SeedGroup| group.seeds.iter().map(|s| s.noise.as_ref().map(of)).collect();
        let (x, y): (Option<Vec<u64>>, Option<Vec<u64>>) = (values(a), values(b));
        MeasureChange::new(design, (None, measure), (a, x?), (b, y?))
    };
    let sum = change(ComparedMeasure::Noise, GapAccount::noise_ns_a_second);
    let longest = change(ComparedMeasure::MaxSingle, |gaps| gaps.max_single_ns);
    sum.into_iter().chain(longest).collect()
}

fn quantities(a: &SeedGroup, b: &SeedGroup) -> Vec<Quantity> {
    let all = a
        .seeds
        .iter()
        .chain(&b.seeds)
        .flat_map(|s| s.quantities.keys().copied());
    let set: std::collections::BTreeSet<Quantity> = all.collect();
    set.into_iter().collect()
}
