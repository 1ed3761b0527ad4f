//! Classes of demand: which subject of a run meets the needs of a use of a machine, from stored records alone.

use crate::record::{Record, RunPlan, SubjectId};
use crate::verdict::{Criterion, Outcome, Verdict, verdicts};
use serde::Serialize;
use worstcase_contract::Nanos;
use worstcase_plan::Demand;

/// A demand, and the subjects that meet it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JudgedDemand {
    /// The demand.
    #[serde(flatten)]
    pub demand: Demand,
    /// The longest allowed latency of each wake-up.
    #[serde(rename = "each_ns")]
    pub each: Nanos,
    /// The verdict on each subject, in the plan's order: PASS meets it.
    pub subjects: Vec<Verdict>,
    /// The first of them that meets it.
    pub lowest: Option<SubjectId>,
}

/// Every demand of a run's study.
pub fn judged(plan: &RunPlan, records: &[Record]) -> Vec<JudgedDemand> {
    let one = |demand: &Demand| {
        let criterion = Criterion::of(demand.each(), records);
        let subjects = verdicts(&plan.cells, records, &criterion);
        let lowest = subjects.iter().find(|v| v.outcome == Outcome::Pass);
        JudgedDemand {
            demand: demand.clone(),
            each: demand.each(),
            lowest: lowest.map(|v| v.subject.clone()),
            subjects,
        }
    };
    plan.demands.iter().map(one).collect()
}

/// A verdict on a demand in words.
pub const fn in_words(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Pass => "met",
        Outcome::Inconclusive => "not shown",
        Outcome::Fail => "not met",
    }
}
