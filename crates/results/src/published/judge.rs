//! Whether our figures stand to each other as published ones do: from the factors between them alone.

use crate::stats::ranks::{AIM, Shift};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;
use worstcase_base::distinct;
use worstcase_plan::Published;
use worstcase_plan::study::published::{Compare, NEAR, factor};

/// A published factor and ours are as large if they are within this of each other.
const AS_LARGE: f64 = 2.0;

/// Whether our figures agree with the published ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Agreement {
    /// The same order, or factors as large.
    Agrees,
    /// Another order, or other factors.
    Differs,
    /// There are no cells, or their figures are unknown.
    CannotBeCompared,
}

impl Agreement {
    /// The agreement in words.
    pub const fn name(self) -> &'static str {
        match self {
            Agreement::Agrees => "agrees",
            Agreement::Differs => "differs",
            Agreement::CannotBeCompared => "cannot be compared",
        }
    }
}

impl fmt::Display for Agreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The relation of two of our figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Now {
    Less,
    /// The two are no further apart than is near.
    Alike,
    More,
    /// The interval allows more than one of these.
    Unclear,
}

/// The factor of `b` to `a`; nothing where a value is not above zero.
pub(super) fn ratio(a: &[f64], b: &[f64]) -> Option<Shift> {
    let positive = a.iter().chain(b).all(|value| *value > 0.0);
    positive.then(|| Shift::of(a, b, |x, y| y / x)).flatten()
}

/// The verdict on the values of all figures, and its reasons.
pub(super) fn judge(group: &Published, values: &[&[f64]]) -> (Agreement, Vec<String>) {
    let orders = group.orders();
    let pairs: Vec<(usize, usize, PublishedClaim)> = match group.compare {
        Compare::Rank => orders
            .into_iter()
            .map(|(a, b, order)| (a, b, PublishedClaim::Order(order)))
            .collect(),
        Compare::Factor => {
            let order = |nth: usize| {
                let of = |(a, b, _): &&(usize, usize, Ordering)| [(0, nth), (nth, 0)].contains(&(*a, *b));
                orders
                    .iter()
                    .find(of)
                    .map(|(a, ..)| if *a == 0 { Now::More } else { Now::Less })
            };
            let asked = |nth| Some((0, nth, PublishedClaim::Factor(nth, group.factor(nth)?, order(nth))));
            (1..values.len()).filter_map(asked).collect()
        }
    };
    let judged: Vec<(Agreement, String)> = pairs
        .iter()
        .map(|(a, b, asked)| {
            let names = (group.figures[*a].of.as_str(), group.figures[*b].of.as_str());
            one(group, names, values[*a], values[*b], asked)
        })
        .collect();
    let of = |verdict: Agreement| {
        judged
            .iter()
            .filter(move |(v, _)| *v == verdict)
            .map(|(_, why)| why.clone())
    };
    let found = [Agreement::Differs, Agreement::CannotBeCompared]
        .into_iter()
        .find(|verdict| of(*verdict).next().is_some());
    let verdict = found.unwrap_or(Agreement::Agrees);
    (verdict, distinct(of(verdict)))
}

/// The article's statement about a pair of figures.
enum PublishedClaim {
    Order(Ordering),
    /// The ratio of this figure to the first, and the side on which it lies if the two are apart.
    Factor(usize, (f64, f64), Option<Now>),
}

fn one(
    group: &Published,
    (a, b): (&str, &str),
    of_a: &[f64],
    of_b: &[f64],
    asked: &PublishedClaim,
) -> (Agreement, String) {
    let Some(shift) = ratio(of_a, of_b) else {
        let of = if of_a.iter().all(|value| *value > 0.0) { b } else { a };
        let what = format!("{of}: a value of ours is zero or below, and has no factor");
        return (Agreement::CannotBeCompared, what);
    };
    if shift.coverage < AIM {
        let what = format!(
            "{a}, {b}: of {} and {} seeds there is no interval; measure 4 or more of each",
            of_a.len(),
            of_b.len()
        );
        return (Agreement::CannotBeCompared, what);
    }
    let ours = format!("{} ({}..{})", factor(shift.best), factor(shift.low), factor(shift.high));
    match asked {
        PublishedClaim::Order(order) => {
            let now = now(&shift);
            let then = match order {
                Ordering::Equal => format!("{b} about as {a}"),
                _ => format!("{b} above {a}"),
            };
            let is = match now {
                Now::Less => "below it",
                Now::Alike => "about the same",
                Now::More => "above it",
                Now::Unclear => "not told by our seeds",
            };
            let verdict = match (order, now) {
                (_, Now::Unclear) => Agreement::CannotBeCompared,
                (Ordering::Equal, Now::Alike) => Agreement::Agrees,
                (Ordering::Less, Now::More) => Agreement::Agrees,
                _ => Agreement::Differs,
            };
            (verdict, format!("published: {then}; ours: {is}, factor {ours}"))
        }
        PublishedClaim::Factor(nth, (low, high), side) => {
            let (low, high) = (low / AS_LARGE, high * AS_LARGE);
            let now = now(&shift);
            let is_elsewhere = |side: &Now| now != *side && now != Now::Unclear;
            let verdict = if shift.high < low || shift.low > high || side.as_ref().is_some_and(is_elsewhere) {
                Agreement::Differs
            } else if shift.low >= low && shift.high <= high && side.is_none_or(|side| now == side) {
                Agreement::Agrees
            } else {
                Agreement::CannotBeCompared
            };
            let then = group.factor_in_words(*nth).unwrap_or_default();
            let tells = match verdict {
                Agreement::CannotBeCompared => "; the interval does not tell whether it is as large",
                _ => "",
            };
            (verdict, format!("{b} to {a}, published: {then}; ours: {ours}{tells}"))
        }
    }
}

fn now(shift: &Shift) -> Now {
    if shift.low >= 1.0 / NEAR && shift.high <= NEAR {
        Now::Alike
    } else if shift.low > 1.0 {
        Now::More
    } else if shift.high < 1.0 {
        Now::Less
    } else {
        Now::Unclear
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use worstcase_plan::study::published::{PublishedFigure, PublishedValue, Relation};

    fn group(compare: Compare, said: Vec<PublishedValue>) -> Published {
        let figure = |(nth, said)| PublishedFigure {
            of: format!("f{nth}"),
            said,
            cell: None,
            host: None,
        };
        Published {
            what: "what".into(),
            compare,
            source: "source".into(),
            why: "why".into(),
            figures: said.into_iter().enumerate().map(figure).collect(),
        }
    }

    fn us(value: f64) -> PublishedValue {
        PublishedValue::Value {
            value,
            unit: "us".into(),
            relation: Relation::Exactly,
        }
    }

    fn rank(rank: u32) -> PublishedValue {
        PublishedValue::Rank {
            or_later: false,
            rank,
            words: String::new(),
        }
    }

    /// Five seeds around a value.
    fn seeds(value: f64) -> Vec<f64> {
        [0.98, 0.99, 1.0, 1.01, 1.02].map(|share| share * value).to_vec()
    }

    fn verdict(group: &Published, values: &[Vec<f64>]) -> (Agreement, String) {
        let values: Vec<&[f64]> = values.iter().map(Vec::as_slice).collect();
        let (verdict, reasons) = judge(group, &values);
        (verdict, reasons.join("\n"))
    }

    #[test]
    fn orders() {
        let apart = group(Compare::Rank, vec![us(10.0), us(100.0)]);
        let says = |a, b| verdict(&apart, &[seeds(a), seeds(b)]);
        assert_eq!(says(5.0, 7.0).0, Agreement::Agrees);
        assert_eq!(says(7.0, 5.0).0, Agreement::Differs);
        let (alike, why) = says(5.0, 5.1);
        assert_eq!(alike, Agreement::Differs);
        assert_eq!(
            why,
            "published: f1 above f0; ours: about the same, factor 1.02 (0.990..1.05)"
        );
        // One pair that differs is enough, even if another one is unknown.
        let three = group(Compare::Rank, vec![us(10.0), us(100.0), us(1_000.0)]);
        let of = |values: [f64; 3]| verdict(&three, &values.map(seeds)).0;
        assert_eq!(of([1.0, 2.0, 3.0]), Agreement::Agrees);
        assert_eq!(of([1.0, 3.0, 2.0]), Agreement::Differs);
        // Figures that are near each other ask for no order.
        let near = group(Compare::Rank, vec![us(1.65), us(1.51), us(7.34)]);
        assert_eq!(verdict(&near, &[1.0, 2.0, 3.0].map(seeds)).0, Agreement::Agrees);
    }

    #[test]
    fn ties() {
        let tie = group(Compare::Rank, vec![rank(1), rank(1)]);
        assert_eq!(verdict(&tie, &[seeds(3.0), seeds(3.3)]).0, Agreement::Agrees);
        assert_eq!(verdict(&tie, &[vec![3.0; 5], vec![3.0; 5]]).0, Agreement::Agrees);
        assert_eq!(verdict(&tie, &[seeds(3.0), seeds(4.5)]).0, Agreement::Differs);
        let ranked = group(Compare::Rank, vec![rank(2), rank(1)]);
        assert_eq!(verdict(&ranked, &[seeds(4.5), seeds(3.0)]).0, Agreement::Agrees);
        assert_eq!(verdict(&ranked, &[vec![3.0; 5], vec![3.0; 5]]).0, Agreement::Differs);
    }

    #[test]
    fn factors() {
        let ten = group(Compare::Factor, vec![us(10.0), us(100.0)]);
        let says = |b| verdict(&ten, &[seeds(1.0), seeds(b)]).0;
        assert_eq!(says(10.0), Agreement::Agrees);
        assert_eq!(says(18.0), Agreement::Agrees);
        assert_eq!(
            says(5.0),
            Agreement::CannotBeCompared,
            "the interval reaches over the end"
        );
        assert_eq!(
            says(4.0),
            Agreement::Differs,
            "the order is the same, the factor is not"
        );
        assert_eq!(says(30.0), Agreement::Differs);
        // Within a factor of two, but figures that were apart are not any more, or the other way round.
        let near = group(Compare::Factor, vec![us(10.0), us(16.0)]);
        let says = |b| verdict(&near, &[seeds(1.0), seeds(b)]).0;
        assert_eq!(says(1.6), Agreement::Agrees);
        assert_eq!(says(1.0), Agreement::Differs);
        assert_eq!(says(0.7), Agreement::Differs);
        let alike = group(Compare::Factor, vec![us(10.0), us(11.0)]);
        assert_eq!(verdict(&alike, &[seeds(1.0), seeds(0.9)]).0, Agreement::Agrees);
        let at_most = PublishedValue::Value {
            value: 20.0,
            unit: "us".into(),
            relation: Relation::AtMost,
        };
        let bounded = group(Compare::Factor, vec![us(10.0), at_most]);
        assert_eq!(verdict(&bounded, &[seeds(1.0), seeds(0.001)]).0, Agreement::Agrees);
        assert_eq!(verdict(&bounded, &[seeds(1.0), seeds(9.0)]).0, Agreement::Differs);
    }

    #[test]
    fn what_does_not_tell() {
        let apart = group(Compare::Rank, vec![us(10.0), us(100.0)]);
        let wide = vec![1.0, 5.0, 10.0, 50.0, 100.0];
        let (unclear, why) = verdict(&apart, &[wide, seeds(10.0)]);
        assert_eq!(unclear, Agreement::CannotBeCompared);
        assert!(why.contains("ours: not told by our seeds"), "{why}");
        let (few, why) = verdict(&apart, &[vec![1.0; 3], vec![10.0; 3]]);
        assert_eq!(few, Agreement::CannotBeCompared);
        assert_eq!(
            why,
            "f0, f1: of 3 and 3 seeds there is no interval; measure 4 or more of each"
        );
        let (negative, why) = verdict(&apart, &[vec![-1.0, 1.0, 1.0, 1.0, 1.0], seeds(10.0)]);
        assert_eq!(negative, Agreement::CannotBeCompared);
        assert_eq!(why, "f0: a value of ours is zero or below, and has no factor");
    }

    proptest! {
        /// A machine that is so many times as fast, or lab time in place of real time.
        #[test]
        fn one_factor_on_all_values_changes_no_verdict(
            values in prop::collection::vec(prop::collection::vec(1_u32..10_000, 1..8), 3),
            exponent in -20_i32..20,
            ranks in prop::collection::vec(1_u32..4, 3),
            figures in prop::collection::vec(1.0_f64..1e4, 3),
        ) {
            // A power of two is exact, so nothing is rounded across a limit.
            let scale = 2.0_f64.powi(exponent);
            let of = |scale: f64| -> Vec<Vec<f64>> {
                let scaled = |seeds: &Vec<u32>| seeds.iter().map(|v| f64::from(*v) * scale).collect();
                values.iter().map(scaled).collect()
            };
            for group in [
                group(Compare::Rank, ranks.iter().copied().map(rank).collect()),
                group(Compare::Rank, figures.iter().copied().map(us).collect()),
                group(Compare::Factor, figures.iter().copied().map(us).collect()),
            ] {
                prop_assert_eq!(verdict(&group, &of(1.0)), verdict(&group, &of(scale)));
            }
        }
    }
}
