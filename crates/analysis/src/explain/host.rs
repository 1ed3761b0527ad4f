//! Stories of this machine's samples, from the recordings that were kept beside them.

use super::choice::{Choice, choose};
use super::{ExplainError, peers, sample};
use crate::story::Story;
use crate::story::host::{Around, running_kernel, tell};
use std::path::Path;
use worstcase_host::run::keep::{BOOT_ID, FLIGHTS_FILE};
use worstcase_host::state::boot_id;
use worstcase_host::trace::{Parts, Snapshot};
use worstcase_lab::execution::Symbols;
use worstcase_probe::Nanos;
use worstcase_results::record::{Quantity, Record, Run, SampleRow};

/// The story of one sample.
pub fn one(run: &Run, records: &[Record], record: &Record, choice: Choice) -> Result<Story, ExplainError> {
    let flights = flights(run, record)?;
    let rows: Vec<(usize, SampleRow)> = match choice {
        // A sample that has no recording may be the one that was asked for: that is to be said.
        Choice::Number(_) | Choice::Percentile(_) => super::rows(run, record)?,
        Choice::Worst => Vec::new(),
    };
    let wanted = match choice {
        Choice::Worst => flights.first().map(|f| f.index),
        _ => choose(&rows, choice).map(|(_, row)| u64::from(row.index)),
    };
    let wanted = wanted.ok_or_else(|| ExplainError::NoSample {
        cell: record.id.clone(),
        asked: choice,
    })?;
    let flight = flights.iter().find(|f| f.index == wanted);
    let flight = flight.ok_or_else(|| ExplainError::NotRecorded {
        cell: record.id.clone(),
        index: wanted,
        recorded: flights
            .iter()
            .map(|f| f.index.to_string())
            .collect::<Vec<_>>()
            .join(", "),
    })?;
    story(records, record, flight, &symbols(record))
}

/// The stories of the latest samples.
pub fn worst(run: &Run, records: &[Record], record: &Record, each: usize) -> Result<Vec<Story>, ExplainError> {
    let (flights, symbols) = (flights(run, record)?, symbols(record));
    let stories = flights.iter().take(each);
    stories.map(|flight| story(records, record, flight, &symbols)).collect()
}

/// The recordings of a cell, the latest sample first.
fn flights(run: &Run, record: &Record) -> Result<Vec<Snapshot>, ExplainError> {
    let path = run.cell_dir(&record.id).join(FLIGHTS_FILE);
    if !path.exists() {
        return Err(ExplainError::NoRecordings {
            cell: record.id.clone(),
        });
    }
    read(&path).map_err(|source| ExplainError::Recordings { path, source })
}

fn read(path: &Path) -> std::io::Result<Vec<Snapshot>> {
    Ok(serde_json::from_slice(&std::fs::read(path)?)?)
}

/// Names of the kernel's code, if the kernel that was measured still runs and shows them; without, call chains have addresses.
fn symbols(record: &Record) -> Symbols {
    match record.environment.get(BOOT_ID).map(String::as_str) == Some(boot_id().as_str()) {
        true => running_kernel().unwrap_or_default(),
        false => Symbols::default(),
    }
}

fn story(records: &[Record], record: &Record, flight: &Snapshot, symbols: &Symbols) -> Result<Story, ExplainError> {
    let median = |quantity| record.summary(quantity).map_or(Nanos(0), |s| Nanos(s.median_ns));
    let around = Around {
        floor: record.summary(Quantity::Latency).map_or(Nanos(0), |s| Nanos(s.min_ns)),
        ordinary: Parts {
            irq_off: median(Quantity::IrqOff),
            handler: median(Quantity::Handler),
            scheduling: median(Quantity::Scheduling),
            return_to_user: median(Quantity::Return),
            unexplained: median(Quantity::Unexplained),
        },
        peers: peers(record, records),
    };
    let sample = sample(record, flight.index as u32, flight.latency());
    tell(flight, symbols, sample, &around).map_err(|source| ExplainError::Story {
        cell: record.id.clone(),
        index: flight.index as u32,
        source,
    })
}
