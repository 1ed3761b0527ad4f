//! Whether our figures stand to each other as published ones do: from the factors between them alone.

use crate::stats::ranks::{AIM, Shift};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;
use worstcase_plan::Published;
use worstcase_plan::study::published::{Compare, NEAR, factor};

/// A published factor and ours are as large if they are within this of each other.
const AS_LARGE: f64 = 2.0;

/// Whether ours agree with what is published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Agreement {
    /// The same order, or factors as large.
    Agrees,
    /// Another order, or other factors.
    Differs,
    /// There are no cells, or they do not tell.
    CannotBeCompared,
}

impl Agreement {
    /// In words.
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

/// How two of ours stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Now {
    Less,
    /// No further apart than what is near.
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

/// The verdict on values of all figures, and what it rests on.
pub(super) fn judge(group: &Published, values: &[&[f64]]) -> (Agreement, Vec<String>) {
    let pairs: Vec<(usize, usize, Asked)> = match group.compare {
        Compare::Rank => group
            .orders()
            .into_iter()
            .map(|(a, b, order)| (a, b, Asked::Order(order)))
            .collect(),
        Compare::Factor => (1..values.len())
            .filter_map(|nth| Some((0, nth, Asked::Factor(nth, group.factor(nth)?))))
            .collect(),
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
    for verdict in [Agreement::Differs, Agreement::CannotBeCompared] {
        if of(verdict).next().is_some() {
            return (verdict, of(verdict).collect());
        }
    }
    (Agreement::Agrees, of(Agreement::Agrees).collect())
}

/// What the article says of a pair.
enum Asked {
    Order(Ordering),
    Factor(usize, (f64, f64)),
}

fn one(group: &Published, (a, b): (&str, &str), of_a: &[f64], of_b: &[f64], asked: &Asked) -> (Agreement, String) {
    let Some(shift) = ratio(of_a, of_b) else {
        let what = format!("{a}, {b}: a value of ours is zero or below, and has no factor");
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
        Asked::Order(order) => {
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
        Asked::Factor(nth, (low, high)) => {
            let (low, high) = (low / AS_LARGE, high * AS_LARGE);
            let verdict = if shift.low >= low && shift.high <= high {
                Agreement::Agrees
            } else if shift.high < low || shift.low > high {
                Agreement::Differs
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
