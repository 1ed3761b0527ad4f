//! The claims of a run's study, and whether they hold now.
//!
//! ```text
//! Claim (of the study), records -> values of our cells, one a seed            ours
//! values -> factors with intervals -> each pair, and with all of them the claim    judge
//! ```
//! Only orders and factors are compared, so a machine that is ten times as fast gives the same verdicts.

pub mod causes;
mod judge;
mod ours;

pub use judge::{ClaimVerdict, JudgedPair, PairVerdict};
pub use ours::Ours;

use crate::record::{Record, RunPlan};
use crate::stats::ranks::Shift;
use serde::Serialize;
use worstcase_plan::{Claim, Venue};

/// A claim, and what this run says of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JudgedClaim {
    /// The claim.
    #[serde(flatten)]
    pub claim: Claim,
    /// The venue of our figures.
    pub venue: Venue,
    /// Whether it holds.
    pub verdict: ClaimVerdict,
    /// Why it is not asked.
    pub missing: Option<String>,
    /// The verdict on each pair; empty if it is not asked.
    pub pairs: Vec<JudgedPair>,
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

/// All claims of a run.
pub fn judged(plan: &RunPlan, records: &[Record]) -> Vec<JudgedClaim> {
    plan.claims.iter().map(|claim| one(claim, plan, records)).collect()
}

fn one(claim: &Claim, plan: &RunPlan, records: &[Record]) -> JudgedClaim {
    let found: Vec<Result<Ours, ours::MissingFigure>> = claim
        .figures
        .iter()
        .map(|figure| ours::of(figure, plan.experiment.venue, records))
        .collect();
    let ours: Vec<&Ours> = found.iter().flatten().collect();
    let missing = ours::not_there(claim, &found, plan);
    let (verdict, pairs) = match missing {
        Some(_) => (ClaimVerdict::NotAsked, Vec::new()),
        None => judge::judge(claim, &ours),
    };
    let then = |nth| {
        let (low, high) = claim.factor(nth)?;
        let high = Some(high).filter(|high| high.is_finite());
        Some(Bounds { low, high })
    };
    let now = |nth: usize| {
        let of = |nth: usize| found[nth].as_ref().ok().map(Ours::for_factors);
        judge::ratio(&of(0)?, &of(nth)?)
    };
    let places = 0..claim.figures.len();
    JudgedClaim {
        claim: claim.clone(),
        venue: plan.experiment.venue,
        verdict,
        missing,
        pairs,
        factors_then: places.clone().map(then).collect(),
        factors_now: places.map(now).collect(),
        ours: found.into_iter().map(Result::ok).collect(),
    }
}

impl JudgedClaim {
    /// Pairs with this verdict.
    pub fn pairs_that(&self, verdict: PairVerdict) -> impl Iterator<Item = &JudgedPair> {
        self.pairs.iter().filter(move |pair| pair.verdict == verdict)
    }

    /// Why it is not as claimed, not told, or not asked: a sentence each.
    pub fn reasons(&self) -> Vec<String> {
        let of = |verdict| self.pairs_that(verdict).map(JudgedPair::words).collect();
        match self.verdict {
            ClaimVerdict::Holds => Vec::new(),
            ClaimVerdict::DoesNotHold => of(PairVerdict::Differs),
            ClaimVerdict::HoldsInPart | ClaimVerdict::NotTold => of(PairVerdict::NotTold),
            ClaimVerdict::NotAsked => self.missing.iter().cloned().collect(),
        }
    }
}
