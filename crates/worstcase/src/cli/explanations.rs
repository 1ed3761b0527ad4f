//! What a study explains by itself when it has ended, and keeps with the run: why claims do not hold, and what still enters a CPU
//! under the last of the boot parameters.

use super::progress::ProgressDisplay;
use std::num::NonZeroUsize;
use worstcase_analysis::breakdown::Breakdown;
use worstcase_analysis::explain::{ExplainError, ReplayMeans, SampleChoice, can_be_explained, hides_tasks, of_cell};
use worstcase_analysis::noise::entered;
use worstcase_base::ExitKind;
use worstcase_base::format::counted;
use worstcase_base::progress::{CountedWork, Progress};
use worstcase_results::claims::causes::{CellToExplain, ClaimCause, to_explain};
use worstcase_results::claims::judged;
use worstcase_results::record::explanations::{EnteredCell, EntryCause, RunExplanations};
use worstcase_results::record::{Record, Run, parallel};

enum Asked<'a> {
    Claim(CellToExplain, &'a Record),
    Entries(&'a Record),
}

impl<'a> Asked<'a> {
    fn record(&self) -> &'a Record {
        match self {
            Asked::Claim(_, record) | Asked::Entries(record) => record,
        }
    }
}

enum Told {
    Claim(ClaimCause),
    Entries(EnteredCell),
}

/// Explains what a study's run asks for.
pub fn find(means: &ReplayMeans, run: &Run, records: &[Record], jobs: NonZeroUsize) -> Result<(), ExplainError> {
    if run.plan().study.is_none() {
        return Ok(());
    }
    let claims = to_explain(&judged(run.plan(), records))
        .into_iter()
        .filter_map(|asked| {
            // Of a rate or a sum there is no latest sample.
            let record = records
                .iter()
                .find(|record| record.id == asked.cell && can_be_explained(record))?;
            Some(Asked::Claim(asked, record))
        });
    let entries = with_everything_on(records).into_iter().map(Asked::Entries);
    let (hidden, asked): (Vec<Asked>, Vec<Asked>) =
        claims.chain(entries).partition(|asked| hides_tasks(asked.record()));
    let bar = ProgressDisplay::new();
    if !hidden.is_empty() {
        bar.note(&format!(
            "not explained: {} of kernels that do not show where they keep their tasks (Debian's for arm64 before 6.12)",
            counted(hidden.len() as u64, "cell")
        ));
    }
    if asked.is_empty() {
        return Ok(());
    }
    bar.begin(&CountedWork::cells(asked.len()));
    let told = parallel(jobs, &asked, |asked| {
        let cell = &asked.record().id;
        let told = match asked {
            Asked::Claim(claim, record) => {
                explained(means, run, records, claim, record).map(|cause| cause.map(Told::Claim))
            }
            Asked::Entries(record) => found_entries(means, run, record).map(|entered| Some(Told::Entries(entered))),
        };
        let told = match told {
            // A kernel that cannot be explained, one without BTF, has been measured all the same.
            Err(e) if e.exit() == ExitKind::Measured => {
                bar.note(&format!("{cell} is not explained: {e}"));
                None
            }
            told => told?,
        };
        bar.done(&format!("explained {cell}"));
        Ok::<_, ExplainError>(told)
    });
    bar.end();
    let mut all = RunExplanations::default();
    for told in told?.into_iter().flatten() {
        match told {
            Told::Claim(cause) => all.claims.push(cause),
            Told::Entries(entered) => all.entered.push(entered),
        }
    }
    Ok(run.keep_explanations(all)?)
}

/// Of each kernel the cells of its last boot parameters that count gaps, one for each load.
fn with_everything_on(records: &[Record]) -> Vec<&Record> {
    let counts = |record: &&Record| record.accounting.gaps().is_some() && record.subject.virtual_machine().is_some();
    let kernel = |record: &Record| {
        (
            record.subject.kernel.name.clone(),
            record.subject.preempt.in_force.clone(),
        )
    };
    let mut last: Vec<&Record> = Vec::new();
    for record in records.iter().filter(counts) {
        last.retain(|known| kernel(known) != kernel(record) || known.subject.id() == record.subject.id());
        if !last
            .iter()
            .any(|known| known.subject.id() == record.subject.id() && known.cell.load == record.cell.load)
        {
            last.push(record);
        }
    }
    last
}

fn found_entries(means: &ReplayMeans, run: &Run, record: &Record) -> Result<EnteredCell, ExplainError> {
    let found = entered(means, run, record)?;
    let a_second = |times: u64| times as f64 * 1e9 / found.gaps.observed_ns.max(1) as f64;
    let cause = |row: &worstcase_analysis::noise::NoiseRow| EntryCause {
        cause: row.name.clone(),
        sent_by: row.sent_by.clone(),
        a_second: a_second(row.times),
    };
    Ok(EnteredCell {
        cell: record.id.clone(),
        append: found.append,
        load: found.load,
        gaps_a_second: a_second(found.gaps.gaps),
        causes: found.rows.iter().map(cause).collect(),
    })
}

fn explained(
    means: &ReplayMeans,
    run: &Run,
    records: &[Record],
    asked: &CellToExplain,
    record: &Record,
) -> Result<Option<ClaimCause>, ExplainError> {
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
