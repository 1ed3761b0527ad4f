//! Breakdowns of this machine's samples, from the recordings that were kept beside them.

use super::choice::{SampleChoice, choose};
use super::{ExplainError, peers, sample};
use crate::breakdown::Breakdown;
use crate::breakdown::host::{HostSurroundings, running_kernel, tell};
use crate::breakdown::spans::Since;
use worstcase_contract::Nanos;
use worstcase_host::run::keep::{BOOT_ID, CAPTURES_FILE};
use worstcase_host::state::boot_id;
use worstcase_host::trace::{EventSnapshot, LatenessParts};
use worstcase_lab::execution::Symbols;
use worstcase_results::record::{CAPTURES_REFUSED, Quantity, Record, Run, SampleRow};

/// The breakdown of one sample.
pub(crate) fn one(
    run: &Run,
    records: &[Record],
    record: &Record,
    choice: SampleChoice,
) -> Result<Breakdown, ExplainError> {
    let captures = captures(run, record)?;
    let rows: Vec<(usize, SampleRow)> = match choice {
        // The choice may name a sample without a recording: then say so.
        SampleChoice::Number(_) | SampleChoice::Percentile(_) => super::rows(run, record)?,
        SampleChoice::Worst => Vec::new(),
    };
    let wanted = match choice {
        SampleChoice::Worst => captures.first().map(|f| f.index),
        _ => choose(&rows, choice).map(|(_, row)| u64::from(row.index)),
    };
    let wanted = wanted.ok_or_else(|| ExplainError::NoSample {
        cell: record.id.clone(),
        asked: choice,
    })?;
    let capture = captures.iter().find(|f| f.index == wanted);
    let capture = capture.ok_or_else(|| ExplainError::NotRecorded {
        cell: record.id.clone(),
        index: wanted,
        recorded: captures
            .iter()
            .map(|f| f.index.to_string())
            .collect::<Vec<_>>()
            .join(", "),
    })?;
    breakdown(records, record, capture, &symbols(record))
}

/// The breakdowns of the latest samples.
pub(crate) fn worst(
    run: &Run,
    records: &[Record],
    record: &Record,
    each: usize,
) -> Result<Vec<Breakdown>, ExplainError> {
    let (captures, symbols) = (captures(run, record)?, symbols(record));
    let breakdowns = captures.iter().take(each);
    breakdowns
        .map(|capture| breakdown(records, record, capture, &symbols))
        .collect()
}

/// The recordings of a cell, the latest sample first.
fn captures(run: &Run, record: &Record) -> Result<Vec<EventSnapshot>, ExplainError> {
    if let Some(foreign) = &record.foreign {
        return Err(ExplainError::Foreign {
            cell: record.id.clone(),
            tool: foreign.tool.clone(),
        });
    }
    let captures = run.beside(&record.id, CAPTURES_FILE)?;
    let captures = captures.ok_or_else(|| ExplainError::NoRecordings {
        cell: record.id.clone(),
        why: match record.environment.get(CAPTURES_REFUSED) {
            Some(why) => why.clone(),
            None => "a run with --criterion, --probe response or --captures 10 keeps some".into(),
        },
    })?;
    serde_json::from_slice(&captures).map_err(|e| run.other_version(&record.id, CAPTURES_FILE, e).into())
}

/// Names of the kernel's code, if the kernel that was measured still runs and shows them; without, call chains have addresses.
fn symbols(record: &Record) -> Symbols {
    match record.environment.get(BOOT_ID).map(String::as_str) == Some(boot_id().as_str()) {
        true => running_kernel().unwrap_or_default(),
        false => Symbols::default(),
    }
}

fn breakdown(
    records: &[Record],
    record: &Record,
    capture: &EventSnapshot,
    symbols: &Symbols,
) -> Result<Breakdown, ExplainError> {
    let median = |quantity| Nanos(record.summary(quantity).and_then(|s| s.median_ns).unwrap_or(0));
    let around = HostSurroundings {
        floor: record
            .summary(Quantity::Latency)
            .map_or(Nanos(0), |s| Nanos(s.min_ns.unwrap_or(0))),
        ordinary: LatenessParts {
            irq_latency: median(Quantity::IrqLatency),
            handler: median(Quantity::Handler),
            scheduling: median(Quantity::Scheduling),
            return_to_user: median(Quantity::Return),
            unexplained: median(Quantity::Unexplained),
        },
        peers: peers(record, records),
    };
    let since = match super::sleeps_as_ordinary(record) {
        true => Since::DueWithSlack,
        false => Since::Due,
    };
    let sample = sample(record, capture.index as u32, capture.latency(), since);
    tell(capture, symbols, sample, &around).map_err(|source| ExplainError::Breakdown {
        cell: record.id.clone(),
        index: capture.index as u32,
        source,
    })
}
