//! Why claims of a study do not hold: the cells that contradict them are explained, and the causes kept with the run.

use super::progress::ProgressDisplay;
use std::num::NonZeroUsize;
use worstcase_analysis::breakdown::Breakdown;
use worstcase_analysis::explain::{ExplainError, ReplayMeans, SampleChoice, of_cell};
use worstcase_base::ExitKind;
use worstcase_base::progress::{CountedWork, Progress};
use worstcase_results::claims::causes::{CellToExplain, ClaimCause, to_explain};
use worstcase_results::claims::judged;
use worstcase_results::record::{Record, Run, parallel};

/// Explains them, and keeps the causes.
pub fn find(means: &ReplayMeans, run: &Run, records: &[Record], jobs: NonZeroUsize) -> Result<(), ExplainError> {
    let asked = to_explain(&judged(run.plan(), records));
    if asked.is_empty() {
        return Ok(());
    }
    let bar = ProgressDisplay::new();
    bar.begin(&CountedWork::cells(asked.len()));
    let causes = parallel(jobs, &asked, |asked| {
        let cause = match explained(means, run, records, asked) {
            // A kernel that cannot be explained, one without BTF, has been measured all the same.
            Err(e) if e.exit() == ExitKind::Measured => {
                bar.note(&format!("why {} was late is not told: {e}", asked.cell));
                None
            }
            cause => cause?,
        };
        bar.done(&format!("explained {}", asked.cell));
        Ok::<_, ExplainError>(cause)
    });
    bar.end();
    Ok(run.keep_claim_causes(causes?.into_iter().flatten().collect())?)
}

fn explained(
    means: &ReplayMeans,
    run: &Run,
    records: &[Record],
    asked: &CellToExplain,
) -> Result<Option<ClaimCause>, ExplainError> {
    let Some(record) = records.iter().find(|record| record.id == asked.cell) else {
        return Ok(None);
    };
    let choice = match asked.percentile {
        None => SampleChoice::Worst,
        Some(percentile) => percentile.parse().map_or(SampleChoice::Worst, SampleChoice::Percentile),
    };
    let breakdown = of_cell(means, run, records, record, choice)?;
    Ok(breakdown.map(|breakdown| cause(asked, &breakdown)))
}

fn cause(asked: &CellToExplain, breakdown: &Breakdown) -> ClaimCause {
    ClaimCause {
        claim: asked.claim.clone(),
        figure: asked.figure.clone(),
        cell: asked.cell.clone(),
        sample: breakdown.sample().index,
        cause: breakdown.cause().sentence.clone(),
    }
}
