//! Claims of an article or a prediction, and the cells of ours that test them.
//!
//! Microseconds of a machine of twenty years ago and lab time do not compare. The order of figures that belong together,
//! and the factors between them, do; so a figure never stands alone.

use crate::{PlannedSubject, Venue, typed};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;
use worstcase_base::duration;
use worstcase_contract::Nanos;

/// "About" reaches this far to either side; unless a claim says otherwise, figures within it are no different.
pub const NEAR: f64 = 1.25;

/// A sentence, and the figures that test it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// The sentence.
    pub says: String,
    /// Who says so.
    pub origin: ClaimOrigin,
    /// How the figures are compared.
    pub compare: Compare,
    /// How far apart two may be and still be alike.
    pub within: f64,
    /// Notes on the comparison and its statistic, or the reason why there is none.
    pub why: String,
    /// Why it does not hold now, as far as it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// Why the article's own explanation is doubtful.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
    /// The words of the article that stand in it, and what they mean.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub terms: Vec<Term>,
    /// The figures: at least two.
    pub figures: Vec<ClaimFigure>,
}

/// Who makes a claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClaimOrigin {
    /// An article, and the place in it as far as it is known.
    Source(String),
    /// Ourselves: the day on which it was written, before anything was measured.
    Predicted(String),
}

/// A word of the article.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Term {
    /// The word.
    pub word: String,
    /// What it means, and what stands for it here.
    pub means: String,
}

/// How figures are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Compare {
    /// Their order.
    Rank,
    /// The factor by which figures differ from the first.
    Factor,
    /// None is below the first.
    NotBelow,
    /// None is above the first.
    NotAbove,
    /// None is below the one before it, and the last is above the first.
    Rises,
    /// None is above the one before it, and the last is below the first.
    Falls,
}

/// What a claim says of two figures, the second beside the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PairClaim {
    /// The second is larger.
    Above,
    /// The second is smaller.
    Below,
    /// They are alike.
    Alike,
    /// The second is not smaller.
    NotBelow,
    /// The second is not larger.
    NotAbove,
    /// Their factor, and its side of 1 if the article's figures are apart.
    Factor {
        /// Lowest.
        low: f64,
        /// Highest.
        high: f64,
        /// Above 1, below it, or not told.
        side: Option<Ordering>,
    },
}

/// A figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClaimFigure {
    /// The subject of the figure, in the article's words.
    pub of: String,
    /// The article's value.
    pub said: PublishedValue,
    /// The lab's cells that say the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<OurCell>,
    /// A host's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<OurCell>,
}

/// An article's value of a figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PublishedValue {
    /// A number.
    Value {
        /// Above zero.
        value: f64,
        /// Its unit.
        unit: String,
        /// How exact the number is.
        relation: Relation,
    },
    /// Only the order.
    Rank {
        /// 1 is the least; equal ones differed little.
        rank: u32,
        /// The article says only that its place is this one or a later one.
        #[serde(default)]
        or_later: bool,
        /// Further words of the article.
        words: String,
    },
    /// Neither; the claim's sentence says it.
    Words {
        /// Further words of the article.
        words: String,
    },
}

/// The meaning of a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Relation {
    /// The number itself.
    #[default]
    Exactly,
    /// Within [`NEAR`].
    About,
    /// The number or less.
    AtMost,
    /// The number or more.
    AtLeast,
    /// Less.
    Below,
    /// More.
    Over,
}

/// Cells of one subject and one probe, and the statistic of their samples; a value for each seed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OurCell {
    /// The lab's subject.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<PlannedSubject>,
    /// A host's policy of the probe, where the study has several: `fifo`, `rr`, `deadline`, `other`, `other:5`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// The load; of several the one with the largest value.
    pub loads: Vec<String>,
    /// The probe with its parameters.
    pub probe: String,
    /// The quantity, as records name it; of `switch` also its net costs.
    pub quantity: String,
    /// The statistic of its samples.
    pub statistic: Statistic,
}

/// A statistic of a cell's samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    /// The smallest.
    Min,
    /// The mean; of `switch` without the smallest and the largest tenth.
    Mean,
    /// The median.
    P50,
    /// 90 %.
    P90,
    /// 99 %.
    P99,
    /// 99.9 %.
    P999,
    /// The largest.
    Max,
    /// The largest less the smallest.
    Spread,
    /// The time from the first operation until everything is on the device; for `io`.
    Elapsed,
    /// The share of samples above a limit, in percent.
    Above(Nanos),
}

/// Units of time, in ns.
const TIMES: [(&str, f64); 4] = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];

/// The nanoseconds of a unit, if it is a unit of time.
pub(super) fn nanoseconds(unit: &str) -> Option<f64> {
    TIMES.iter().find(|(name, _)| *name == unit).map(|(_, ns)| *ns)
}

impl Claim {
    /// What it says of pairs of figures: the places of two, and how the second stands to the first.
    pub fn pairs(&self) -> Vec<(usize, usize, PairClaim)> {
        let count = self.figures.len();
        let to_first = |of: PairClaim| (1..count).map(|nth| (0, nth, of)).collect();
        let steps = |step: PairClaim, whole: PairClaim| {
            let steps = (1..count).map(|nth| (nth - 1, nth, step));
            steps.chain((count > 2).then_some((0, count - 1, whole))).collect()
        };
        match self.compare {
            Compare::NotBelow => to_first(PairClaim::NotBelow),
            Compare::NotAbove => to_first(PairClaim::NotAbove),
            Compare::Rises if count == 2 => vec![(0, 1, PairClaim::Above)],
            Compare::Falls if count == 2 => vec![(0, 1, PairClaim::Below)],
            Compare::Rises => steps(PairClaim::NotBelow, PairClaim::Above),
            Compare::Falls => steps(PairClaim::NotAbove, PairClaim::Below),
            Compare::Rank => self.orders(),
            Compare::Factor => {
                let factor = |nth| {
                    let (low, high) = self.factor(nth)?;
                    let order = self.figures[nth].said.order(&self.figures[0].said, self.within);
                    let side = order.filter(|order| order.is_ne());
                    Some((0, nth, PairClaim::Factor { low, high, side }))
                };
                (1..count).filter_map(factor).collect()
            }
        }
    }

    /// Pairs of which an order is said.
    fn orders(&self) -> Vec<(usize, usize, PairClaim)> {
        let pairs = (0..self.figures.len()).flat_map(|a| (a + 1..self.figures.len()).map(move |b| (a, b)));
        let order = |(a, b): (usize, usize)| match self.figures[a].said.order(&self.figures[b].said, self.within)? {
            Ordering::Greater => Some((b, a, PairClaim::Above)),
            Ordering::Equal => Some((a, b, PairClaim::Alike)),
            Ordering::Less => Some((a, b, PairClaim::Above)),
        };
        pairs.filter_map(order).collect()
    }

    /// Whether a cell of a venue stands for it.
    pub fn is_asked(&self, venue: Venue) -> bool {
        self.figures.iter().any(|figure| figure.cell(venue).is_some())
    }

    /// Lowest and highest factor of a figure to the first, as far as the article says; nothing of ranks.
    pub fn factor(&self, nth: usize) -> Option<(f64, f64)> {
        let (base, figure) = (
            self.figures.first()?.said.bounds()?,
            self.figures.get(nth)?.said.bounds()?,
        );
        Some(match nth {
            0 => (1.0, 1.0),
            _ => (figure.0 / base.1, figure.1 / base.0),
        })
    }

    /// The factor in words.
    pub fn factor_in_words(&self, nth: usize) -> Option<String> {
        let (low, high) = self.factor(nth)?;
        let bare = |said: &PublishedValue| match said {
            PublishedValue::Value { value, unit, .. } => Some(value * nanoseconds(unit).unwrap_or(1.0)),
            PublishedValue::Rank { .. } | PublishedValue::Words { .. } => None,
        };
        let middle = bare(&self.figures.get(nth)?.said)? / bare(&self.figures.first()?.said)?;
        Some(match (low, high) {
            _ if low == high => factor(middle),
            _ if low == 0.0 && high.is_infinite() => "not bounded".into(),
            (0.0, high) => format!("at most {}", factor(high)),
            (low, high) if high.is_infinite() => format!("at least {}", factor(low)),
            _ => format!("about {}", factor(middle)),
        })
    }
}

/// A factor with three digits that matter.
pub fn factor(of: f64) -> String {
    let digits = match of.abs() {
        x if x >= 99.95 => 0,
        x if x >= 9.995 => 1,
        x if x >= 0.9995 => 2,
        _ => 3,
    };
    format!("{of:.digits$}")
}

impl ClaimFigure {
    /// Our cell in a venue.
    pub fn cell(&self, venue: Venue) -> Option<&OurCell> {
        match venue {
            Venue::Lab => self.cell.as_ref(),
            Venue::Host => self.host.as_ref(),
        }
    }
}

impl PublishedValue {
    /// Lowest and highest value, in ns or in a unit that is none of time; nothing of a rank.
    fn bounds(&self) -> Option<(f64, f64)> {
        let PublishedValue::Value { value, unit, relation } = self else {
            return None;
        };
        let value = value * nanoseconds(unit).unwrap_or(1.0);
        Some(match relation {
            Relation::Exactly => (value, value),
            Relation::About => (value / NEAR, value * NEAR),
            Relation::AtMost | Relation::Below => (0.0, value),
            Relation::AtLeast | Relation::Over => (value, f64::INFINITY),
        })
    }

    /// The order of two figures; nothing if they are too near.
    fn order(&self, other: &PublishedValue, within: f64) -> Option<Ordering> {
        let place = |said: &PublishedValue| match said {
            PublishedValue::Rank { rank, or_later, .. } => Some((*rank, *or_later)),
            PublishedValue::Value { .. } | PublishedValue::Words { .. } => None,
        };
        if let (Some((a, a_or_later)), Some((b, b_or_later))) = (place(self), place(other)) {
            return match (a_or_later, b_or_later) {
                (false, false) => Some(a.cmp(&b)),
                (false, true) if a < b => Some(Ordering::Less),
                (true, false) if b < a => Some(Ordering::Greater),
                _ => None,
            };
        }
        // Two exact figures must be further apart than is near.
        let wide = |(low, high): (f64, f64)| match low == high {
            true => (low / within.sqrt(), high * within.sqrt()),
            false => (low, high),
        };
        let (a, b) = (wide(self.bounds()?), wide(other.bounds()?));
        match (a.1 <= b.0, b.1 <= a.0) {
            (true, _) => Some(Ordering::Less),
            (_, true) => Some(Ordering::Greater),
            _ => None,
        }
    }
}

impl fmt::Display for PublishedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PublishedValue::Value { value, unit, relation } if *relation == Relation::Exactly => {
                write!(f, "{value} {unit}")
            }
            PublishedValue::Value { value, unit, relation } => write!(f, "{} {value} {unit}", relation.name()),
            PublishedValue::Rank { rank, or_later, words } => {
                write!(f, "rank {rank}")?;
                if *or_later {
                    f.write_str(" or later")?;
                }
                match words.is_empty() {
                    true => Ok(()),
                    false => write!(f, " ({words})"),
                }
            }
            PublishedValue::Words { words } => f.write_str(words),
        }
    }
}

impl Compare {
    /// All.
    pub(crate) const ALL: [Compare; 6] = [
        Compare::Rank,
        Compare::Factor,
        Compare::NotBelow,
        Compare::NotAbove,
        Compare::Rises,
        Compare::Falls,
    ];

    /// Its name in study files.
    pub const fn name(self) -> &'static str {
        match self {
            Compare::Rank => "rank",
            Compare::Factor => "factor",
            Compare::NotBelow => "not below",
            Compare::NotAbove => "not above",
            Compare::Rises => "rises",
            Compare::Falls => "falls",
        }
    }

    /// Whether figures need values or ranks.
    pub(crate) const fn needs_values(self) -> bool {
        matches!(self, Compare::Rank | Compare::Factor)
    }
}

impl ClaimOrigin {
    /// What somebody did who said so. A source of our own begins with `ours`: what we know already is no prediction.
    pub fn verb(&self) -> &'static str {
        match self {
            ClaimOrigin::Source(source) if source.starts_with("ours") => "claimed",
            ClaimOrigin::Source(_) => "published",
            ClaimOrigin::Predicted(_) => "predicted",
        }
    }

    /// In words.
    pub fn words(&self) -> String {
        match self {
            ClaimOrigin::Source(source) => source.clone(),
            ClaimOrigin::Predicted(day) => format!("our prediction of {day}, before anything was measured"),
        }
    }
}

impl Relation {
    /// The relations that are written out.
    pub(crate) const ALL: [Relation; 5] = [
        Relation::About,
        Relation::AtMost,
        Relation::AtLeast,
        Relation::Below,
        Relation::Over,
    ];

    /// The relation in words.
    pub const fn name(self) -> &'static str {
        match self {
            Relation::Exactly => "exactly",
            Relation::About => "about",
            Relation::AtMost => "at most",
            Relation::AtLeast => "at least",
            Relation::Below => "below",
            Relation::Over => "over",
        }
    }
}

impl Statistic {
    /// All that are one word.
    const WORDS: [(Statistic, &str); 9] = [
        (Statistic::Min, "min"),
        (Statistic::Mean, "mean"),
        (Statistic::P50, "p50"),
        (Statistic::P90, "p90"),
        (Statistic::P99, "p99"),
        (Statistic::P999, "p99.9"),
        (Statistic::Max, "max"),
        (Statistic::Spread, "spread"),
        (Statistic::Elapsed, "elapsed"),
    ];

    /// Whether its values are shares, in percent, and no times.
    pub const fn is_share(self) -> bool {
        matches!(self, Statistic::Above(_))
    }
}

impl fmt::Display for Statistic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Statistic::Above(limit) => write!(f, "above {}", typed(*limit)),
            word => {
                let name = Statistic::WORDS.iter().find(|(statistic, _)| statistic == word);
                f.write_str(name.map_or("", |(_, name)| name))
            }
        }
    }
}

impl Serialize for Statistic {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Statistic {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Statistic, D::Error> {
        let word = String::deserialize(deserializer)?;
        word.parse().map_err(serde::de::Error::custom)
    }
}

impl FromStr for Statistic {
    type Err = String;

    fn from_str(text: &str) -> Result<Statistic, String> {
        if let Some(limit) = text.strip_prefix("above ") {
            return duration::parse(limit).map(Statistic::Above).map_err(|e| e.to_string());
        }
        let word = Statistic::WORDS.iter().find(|(_, name)| *name == text);
        let names = || Statistic::WORDS.map(|(_, name)| name).join(", ");
        word.map(|(statistic, _)| *statistic).ok_or_else(|| {
            format!(
                "'statistic' is {}, or \"above 2us\", not '{}'",
                names(),
                text.escape_debug()
            )
        })
    }
}

impl fmt::Display for OurCell {
    /// `max irq_latency, response, blockread, debian:6.1 none`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (statistic, loads) = (self.statistic, self.loads.join(" or "));
        write!(f, "{statistic} {}, {}, {loads}", self.quantity, self.probe)?;
        if let Some(policy) = &self.policy {
            write!(f, ", {policy}")?;
        }
        let Some(subject) = &self.subject else {
            return Ok(());
        };
        write!(f, ", {} {}", subject.kernel, subject.preempt)?;
        subject
            .machine
            .unusual()
            .iter()
            .try_for_each(|word| write!(f, " {word}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(value: f64, unit: &str, relation: Relation) -> PublishedValue {
        let unit = unit.into();
        PublishedValue::Value { value, unit, relation }
    }

    fn group(said: Vec<PublishedValue>) -> Claim {
        let figure = |said| ClaimFigure {
            of: String::new(),
            said,
            cell: None,
            host: None,
        };
        Claim {
            says: String::new(),
            origin: ClaimOrigin::Source(String::new()),
            compare: Compare::Factor,
            within: NEAR,
            why: String::new(),
            because: None,
            doubt: None,
            terms: Vec::new(),
            figures: said.into_iter().map(figure).collect(),
        }
    }

    #[test]
    fn figures_have_an_order_only_where_they_are_apart() {
        let about = |v| value(v, "us", Relation::About);
        let exactly = |v| value(v, "us", Relation::Exactly);
        for (a, b, order) in [
            (about(100.0), about(60.0), Some(Ordering::Greater)),
            (about(100.0), about(70.0), None),
            (exactly(1.0), exactly(1.2), None),
            (exactly(1.0), exactly(1.3), Some(Ordering::Less)),
            (
                value(1.0, "ms", Relation::Over),
                exactly(400.0),
                Some(Ordering::Greater),
            ),
            (value(70.0, "us", Relation::AtMost), exactly(73.0), None),
            (
                value(70.0, "us", Relation::AtMost),
                value(1.0, "ms", Relation::Below),
                None,
            ),
        ] {
            assert_eq!(a.order(&b, NEAR), order, "{a} {b}");
            assert_eq!(b.order(&a, NEAR), order.map(Ordering::reverse), "{b} {a}");
        }
    }

    #[test]
    fn of_two_places_that_may_be_later_none_is_before_the_other() {
        let rank = |rank, or_later| PublishedValue::Rank {
            rank,
            or_later,
            words: String::new(),
        };
        for (a, b, order) in [
            (rank(1, false), rank(2, true), Some(Ordering::Less)),
            (rank(2, false), rank(2, true), None),
            (rank(1, true), rank(2, true), None),
            (rank(2, false), rank(2, false), Some(Ordering::Equal)),
        ] {
            assert_eq!(a.order(&b, NEAR), order, "{a}, {b}");
            assert_eq!(b.order(&a, NEAR), order.map(Ordering::reverse), "{b}, {a}");
        }
        assert_eq!(rank(2, true).to_string(), "rank 2 or later");
    }

    #[test]
    fn a_statistic_is_read_again_as_it_is_written() {
        let above = ["above 2us", "above 2.5ms", "above 100ns"];
        for word in Statistic::WORDS.map(|(_, name)| name).into_iter().chain(above) {
            let statistic: Statistic = word.parse().unwrap();
            let json = serde_json::to_string(&statistic).unwrap();
            assert_eq!(json, format!("\"{word}\""));
            assert_eq!(serde_json::from_str::<Statistic>(&json).unwrap(), statistic);
        }
    }

    #[test]
    fn factors_say_how_exact_they_are() {
        let of = |a, b| group(vec![a, b]).factor_in_words(1).unwrap();
        let exactly = |v| value(v, "us", Relation::Exactly);
        assert_eq!(of(exactly(125.0), value(15.402, "ms", Relation::Exactly)), "123");
        assert_eq!(
            of(value(10.0, "us", Relation::About), value(100.0, "us", Relation::About)),
            "about 10.0"
        );
        assert_eq!(of(exactly(125.0), value(70.0, "us", Relation::AtMost)), "at most 0.560");
        assert_eq!(of(exactly(125.0), value(70.0, "us", Relation::Over)), "at least 0.560");
        assert_eq!(
            group(vec![exactly(2.0), exactly(3.0)]).factor_in_words(0).unwrap(),
            "1.00"
        );
    }
}
