//! What a criterion asks: a limit of every latency, or of a percentile of each cell.

use super::{Criterion, place};
use crate::record::{Quantity, Record};
use crate::stats::Percentile;
use std::fmt;
use std::str::FromStr;
use worstcase_base::duration;
use worstcase_base::format::micros_exact;
use worstcase_base::near::unknown;
use worstcase_contract::Nanos;

/// `100us`, of every latency, or `p99.9=50us`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AskedLimit {
    /// The percentile; every latency without one.
    pub percentile: Option<Percentile>,
    /// The limit.
    pub limit: Nanos,
}

/// A text that is no limit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct LimitError(String);

impl FromStr for AskedLimit {
    type Err = LimitError;
    fn from_str(text: &str) -> Result<AskedLimit, LimitError> {
        let time = |text: &str| duration::parse(text).map_err(|e| LimitError(e.to_string()));
        let Some((name, limit)) = text.split_once('=') else {
            return time(text).map(AskedLimit::of_all);
        };
        let found = Percentile::ALL.into_iter().find(|percentile| percentile.name() == name);
        let known = || Percentile::ALL.into_iter().map(Percentile::name);
        let wrong = || LimitError(unknown("percentile", name, known(), "e.g. p99.9=50us"));
        Ok(AskedLimit {
            percentile: Some(found.ok_or_else(wrong)?),
            limit: time(limit)?,
        })
    }
}

/// As it is typed.
impl fmt::Display for AskedLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.percentile {
            Some(percentile) => write!(f, "{}={}ns", percentile.name(), self.limit.0),
            None => write!(f, "{}ns", self.limit.0),
        }
    }
}

impl Criterion {
    /// What is to be within the limit: `every latency`, `p99.9 of every cell`.
    pub fn asked_of(&self) -> String {
        match self.percentile {
            Some(percentile) => format!("{} of every cell", percentile.name()),
            None => "every latency".into(),
        }
    }

    /// `no latency above 100 us`, `no p99.9 above 50 us`.
    pub fn words(&self) -> String {
        format!("no {}", self.above())
    }

    /// The same as a title.
    pub fn title(&self) -> String {
        format!("No {}", self.above())
    }

    fn above(&self) -> String {
        let what = self.percentile.map_or("latency", Percentile::name);
        format!("{what} above {}", duration::show(self.limit))
    }
}

/// What is known of a percentile: it is no lower, and no higher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PercentileBounds {
    pub(super) lowest: u64,
    pub(super) highest: u64,
}

impl PercentileBounds {
    /// Of a cell; nothing without samples. With too few for this percentile it is at least what a lower one is.
    pub(super) fn of(record: &Record, percentile: Percentile) -> Option<PercentileBounds> {
        let summary = record.summary(Quantity::Latency)?;
        if !bears(record, percentile) {
            let borne = |lower: &Percentile| *lower < percentile && bears(record, *lower);
            let lower = Percentile::ALL.into_iter().rev().find(borne)?;
            return Some(PercentileBounds {
                highest: u64::MAX,
                ..PercentileBounds::of(record, lower)?
            });
        }
        if let Some(known) = summary.percentile(percentile) {
            return Some(PercentileBounds {
                lowest: known.0,
                highest: known.0,
            });
        }
        let beyond = record.foreign.as_ref().and_then(|f| f.beyond.get(&Quantity::Latency));
        // So many lie above the percentile: with more of them out of the histogram it is out of it, too.
        let is_out = |count: u64| count > summary.count / percentile.one_in();
        let from = beyond
            .filter(|beyond| is_out(beyond.count))
            .map(|beyond| beyond.from_ns);
        Some(PercentileBounds {
            lowest: from.or(summary.min_ns).unwrap_or(0),
            highest: summary.max_ns,
        })
    }
}

/// Whether a cell has enough samples for a percentile.
pub fn bears(record: &Record, percentile: Percentile) -> bool {
    let summary = record.summary(Quantity::Latency);
    summary.is_some_and(|summary| percentile.borne_by(summary.period_count()))
}

impl AskedLimit {
    /// A limit of every latency.
    pub const fn of_all(limit: Nanos) -> AskedLimit {
        AskedLimit {
            percentile: None,
            limit,
        }
    }
}

/// The proof that a percentile of a cell is above the limit.
pub(super) fn failure(records: &[&Record], percentile: Percentile, limit: Nanos) -> Option<String> {
    let lowest = |r: &&&Record| PercentileBounds::of(r, percentile).map_or(0, |bounds| bounds.lowest);
    let above: Vec<&&Record> = records.iter().filter(|r| lowest(r) > limit.0).collect();
    let worst = above.iter().max_by_key(|r| lowest(r))?;
    let bounds = PercentileBounds::of(worst, percentile)?;
    let at_least = if bounds.lowest < bounds.highest {
        "at least "
    } else {
        ""
    };
    Some(format!(
        "{} is {at_least}{} {} ({}); {} of {} cells are above",
        percentile.name(),
        micros_exact(Nanos(bounds.lowest)),
        worst.subject.micros_name(),
        place(worst),
        above.len(),
        records.len()
    ))
}

/// The cells whose percentile may be above the limit, for all that is known.
pub(super) fn doubt(records: &[&Record], percentile: Percentile, limit: Nanos) -> Option<String> {
    let is_within = |r: &&&Record| PercentileBounds::of(r, percentile).is_some_and(|bounds| bounds.highest <= limit.0);
    let open = records.len() - records.iter().filter(is_within).count();
    (open > 0).then(|| {
        format!(
            "whether {} is above the limit is not known in {open} of {} cells: too few samples bear it, or a file does not \
             tell it",
            percentile.name(),
            records.len()
        )
    })
}

/// The largest of a percentile, for the reason of a PASS.
pub(super) fn largest(records: &[&Record], percentile: Percentile) -> Nanos {
    let highest = records.iter().filter_map(|r| PercentileBounds::of(r, percentile));
    Nanos(highest.map(|bounds| bounds.highest).max().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_of_all_or_of_a_percentile() {
        let of = |text: &str| text.parse::<AskedLimit>().map_err(|e| e.to_string());
        let asked = of("p99.9=50us").unwrap();
        assert_eq!(
            (asked.percentile, asked.limit),
            (Some(Percentile::P99_9), Nanos(50_000))
        );
        assert_eq!(
            (asked.to_string(), of(&asked.to_string())),
            ("p99.9=50000ns".to_string(), Ok(asked))
        );
        assert_eq!(of("100us").unwrap().percentile, None);
        assert!(of("p98=1us").unwrap_err().contains("unknown percentile 'p98'"));
        assert!(of("p99=x").unwrap_err().contains("not a duration"));
    }
}
