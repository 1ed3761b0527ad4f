//! Then and now: published figures beside this run's, and whether they agree.
//!
//! ```text
//! Published (of the study), records -> values of our cells, one a seed       ours
//! values -> factors with intervals -> agrees, differs, cannot be compared    judge
//! ```
//! Only orders and factors are compared, so a machine that is ten times as fast gives the same verdicts.

mod judge;
mod ours;

pub use judge::Agreement;

use crate::record::{Record, RunPlan, SubjectId};
use crate::stats::ranks::Shift;
use serde::{Serialize, Serializer};
use worstcase_plan::{Published, Venue};

/// A group of published figures, with ours.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PublishedComparison {
    /// The published figures.
    #[serde(flatten)]
    pub published: Published,
    /// The venue of our figures.
    pub venue: Venue,
    /// Whether ours agree.
    pub verdict: Agreement,
    /// The reasons for the verdict, a sentence each.
    pub reasons: Vec<String>,
    /// Ours of each figure, in their order.
    pub ours: Vec<Option<Ours>>,
    /// The factor of each published figure to the first: lowest and highest; nothing of ranks.
    pub factors_then: Vec<Option<Bounds>>,
    /// The same of ours.
    pub factors_now: Vec<Option<Shift>>,
}

/// The bounds of a published factor.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bounds {
    /// Lowest.
    pub low: f64,
    /// Highest; absent where the article bounds it from below alone.
    pub high: Option<f64>,
}

/// Our values of a figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ours {
    /// The subject.
    pub subject: SubjectId,
    /// The median over the seeds.
    pub value_ns: f64,
    /// The value of each seed, ascending.
    pub of_seeds: Vec<f64>,
    /// Its clock, in microseconds; in nanoseconds where it is written.
    #[serde(serialize_with = "in_ns")]
    pub time_unit: String,
}

fn in_ns<S: Serializer>(unit: &str, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_str(&unit.replacen("us", "ns", 1))
}

/// All groups of a run.
pub fn compared(plan: &RunPlan, records: &[Record]) -> Vec<PublishedComparison> {
    plan.published
        .iter()
        .map(|group| compare(group, plan, records))
        .collect()
}

fn compare(group: &Published, plan: &RunPlan, records: &[Record]) -> PublishedComparison {
    let found: Vec<Result<Ours, ours::MissingFigure>> = group
        .figures
        .iter()
        .map(|figure| ours::of(figure, plan.experiment.venue, records))
        .collect();
    let values: Vec<Option<&[f64]>> = found
        .iter()
        .map(|ours| ours.as_ref().ok().map(|ours| ours.of_seeds.as_slice()))
        .collect();
    let (verdict, reasons) = match ours::not_there(group, &found, plan) {
        Some(reason) => (Agreement::CannotBeCompared, vec![reason]),
        None => judge::judge(group, &values.iter().copied().flatten().collect::<Vec<_>>()),
    };
    let then = |nth| {
        let (low, high) = group.factor(nth)?;
        let high = Some(high).filter(|high| high.is_finite());
        Some(Bounds { low, high })
    };
    let now = |nth: usize| judge::ratio(values.first()?.as_ref()?, values[nth]?);
    let places = 0..group.figures.len();
    PublishedComparison {
        published: group.clone(),
        venue: plan.experiment.venue,
        verdict,
        reasons,
        factors_then: places.clone().map(then).collect(),
        factors_now: places.map(now).collect(),
        ours: found.into_iter().map(Result::ok).collect(),
    }
}
