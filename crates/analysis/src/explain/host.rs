//! Breakdowns of this machine's samples, from the recordings that were kept beside them.

use super::choice::{SampleChoice, choose};
use super::{ExplainError, peers, sample};
use crate::breakdown::Breakdown;
use crate::breakdown::host::{HostSurroundings, MeasuredKernel, RunStops, add_stops, tell};
use crate::breakdown::spans::Since;
use worstcase_contract::Nanos;
use worstcase_host::run::keep::{BOOT_ID, CAPTURES_FILE};
use worstcase_host::state::boot_id;
use worstcase_host::trace::noise::UNEXPLAINED as UNEXPLAINED_NOISE;
use worstcase_host::trace::{EventSnapshot, LatenessParts};
use worstcase_results::record::{CAPTURES_REFUSED, Quantity, Record, RecordOrigin, Run, SampleRow};

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
        there: super::there(&rows),
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
    let kernel = kernel(record);
    let around = around(records, record, &captures, &kernel);
    breakdown(record, capture, &kernel, &around)
}

/// The breakdowns of the latest samples.
pub(crate) fn worst(
    run: &Run,
    records: &[Record],
    record: &Record,
    each: usize,
) -> Result<Vec<Breakdown>, ExplainError> {
    let (captures, kernel) = (captures(run, record)?, kernel(record));
    let around = around(records, record, &captures, &kernel);
    let breakdowns = captures.iter().take(each);
    breakdowns
        .map(|capture| breakdown(record, capture, &kernel, &around))
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
            None if record.accounting.gaps().is_some() => {
                let cpu = record.cell.cpu.map_or("N".into(), |cpu| cpu.to_string());
                format!(
                    "noise keeps none of single gaps; worstcase host isolate --cpus {cpu} tells who enters this CPU"
                )
            }
            None => "a run with --criterion, --probe response or --captures 10 keeps some".into(),
        },
    })?;
    serde_json::from_slice(&captures).map_err(|e| run.other_version(&record.id, CAPTURES_FILE, e).into())
}

/// Names and code of the kernel, if the one that was measured still runs; without, call chains have addresses.
fn kernel(record: &Record) -> MeasuredKernel {
    match record.environment.get(BOOT_ID).map(String::as_str) == Some(boot_id().as_str()) {
        true => MeasuredKernel::running(),
        false => MeasuredKernel::default(),
    }
}

/// What surrounds a cell's samples.
fn around(
    records: &[Record],
    record: &Record,
    captures: &[EventSnapshot],
    kernel: &MeasuredKernel,
) -> HostSurroundings {
    let median = |quantity| Nanos(record.summary(quantity).and_then(|s| s.median_ns).unwrap_or(0));
    let ordinary = LatenessParts {
        irq_latency: median(Quantity::IrqLatency),
        handler: median(Quantity::Handler),
        scheduling: median(Quantity::Scheduling),
        return_to_user: median(Quantity::Return),
        unexplained: median(Quantity::Unexplained),
    };
    let mut stops = RunStops {
        steal: steal(record),
        hole: records
            .iter()
            .filter(|other| is_beside(record, other))
            .filter_map(hole)
            .max(),
        is_guest: record.origin.as_ref().and_then(RecordOrigin::is_guest),
        ..RunStops::default()
    };
    add_stops(&mut stops, captures, &ordinary, kernel);
    HostSurroundings {
        floor: record
            .summary(Quantity::Latency)
            .map_or(Nanos(0), |s| Nanos(s.min_ns.unwrap_or(0))),
        ordinary,
        peers: peers(record, records),
        stops,
    }
}

/// The environment's key of the time that the hypervisor took.
const STEAL: &str = "steal_ns";

/// That time, where it is counted.
pub(crate) fn steal(record: &Record) -> Option<Nanos> {
    record.environment.get(STEAL)?.parse().ok().map(Nanos)
}

/// The same load on the same subject.
fn is_beside(record: &Record, other: &Record) -> bool {
    other.subject.id() == record.subject.id() && other.cell.load == record.cell.load
}

/// The longest gap of `noise` with nothing of the kernel in it.
fn hole(record: &Record) -> Option<Nanos> {
    let unexplained = record.causes.iter().filter(|cause| cause.name == UNEXPLAINED_NOISE);
    unexplained.map(|cause| Nanos(cause.max_ns)).max()
}

fn breakdown(
    record: &Record,
    capture: &EventSnapshot,
    kernel: &MeasuredKernel,
    around: &HostSurroundings,
) -> Result<Breakdown, ExplainError> {
    let since = match super::sleeps_as_ordinary(record) {
        true => Since::DueWithSlack,
        false => Since::Due,
    };
    let sample = sample(record, capture.index as u32, capture.latency(), since);
    tell(capture, kernel, sample, around).map_err(|source| ExplainError::Breakdown {
        cell: record.id.clone(),
        index: capture.index as u32,
        source,
    })
}
