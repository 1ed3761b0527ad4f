//! Why claims do not hold: what is to be explained, and the causes that were found.

use super::{ClaimVerdict, JudgedClaim, PairVerdict};
use crate::record::{CellId, Quantity};
use serde::{Deserialize, Serialize};
use worstcase_base::distinct;
use worstcase_plan::study::claim::Statistic;

/// So many cells of one claim are explained at most.
const MOST: usize = 2;

/// Why a figure of a claim is as large as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimCause {
    /// The claim, as it says.
    pub claim: String,
    /// The figure.
    pub figure: String,
    /// The explained cell.
    pub cell: CellId,
    /// Its sample.
    pub sample: u32,
    /// The cause, in words.
    pub cause: String,
}

/// A cell that tells why a claim does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellToExplain {
    /// The claim, as it says.
    pub claim: String,
    /// The figure.
    pub figure: String,
    /// The cell.
    pub cell: CellId,
    /// The percentile of its samples that stands for the figure; the worst if absent.
    pub percentile: Option<&'static str>,
}

/// What is to be explained of claims that do not hold: of each pair that is not as claimed the larger figure, in its largest cell.
pub fn to_explain(claims: &[JudgedClaim]) -> Vec<CellToExplain> {
    claims
        .iter()
        .filter(|claim| claim.verdict == ClaimVerdict::DoesNotHold)
        .flat_map(|claim| {
            let larger = claim.pairs_that(PairVerdict::Differs).filter_map(|pair| {
                let value = |nth: usize| claim.ours[nth].as_ref().map(|ours| ours.value);
                Some(if value(pair.to)? >= value(pair.of)? {
                    pair.to
                } else {
                    pair.of
                })
            });
            distinct(larger)
                .into_iter()
                .take(MOST)
                .filter_map(|nth| cell(claim, nth))
        })
        .collect()
}

fn cell(claim: &JudgedClaim, nth: usize) -> Option<CellToExplain> {
    let figure = &claim.claim.figures[nth];
    let ours = figure.cell(claim.venue)?;
    // A breakdown tells the whole latency; of the time until the interrupt alone it says nothing.
    if ours.quantity == Quantity::IrqLatency.name() {
        return None;
    }
    let percentile = match ours.statistic {
        Statistic::Mean | Statistic::P50 | Statistic::Min => Some("50"),
        Statistic::P90 => Some("90"),
        Statistic::P99 => Some("99"),
        Statistic::P999 => Some("99.9"),
        Statistic::Max | Statistic::Spread | Statistic::Elapsed | Statistic::Above(_) => None,
    };
    Some(CellToExplain {
        claim: claim.claim.says.clone(),
        figure: figure.of.clone(),
        cell: claim.ours[nth].as_ref()?.largest_in.clone(),
        percentile,
    })
}
