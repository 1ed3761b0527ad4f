//! `worstcase show --samples` and `--histogram`: all samples for other programs.

use super::{ShowArgs, ShowError};
use crate::cli::output::{OutputError, print};
use std::io::{self, BufWriter, Write};
use worstcase_base::format::grouped;
use worstcase_base::say;
use worstcase_report::plain_histogram::{HistogramColumn, text};
use worstcase_results::record::{Quantity, Record, Run, SampleRow};

const HEADER: &str = "id,index,due_ns,latency_ns,irq_latency_ns,after_irq_ns,jitter_ns";
/// More columns, if the samples are cycles of a followed program.
const OF_CYCLES: &str = ",start_ns,execution_ns,interference_ns,blocked_ns,unexplained_ns";

/// Prints them.
pub fn run(run: &Run, args: &ShowArgs) -> Result<(), ShowError> {
    let records = match &args.cell {
        Some(id) => vec![run.record_of(id)?],
        None => run.records()?,
    };
    match args.samples {
        true => samples(run, &records),
        false => histogram(run, &records),
    }
}

fn histogram(run: &Run, records: &[Record]) -> Result<(), ShowError> {
    let mut columns = Vec::new();
    for record in records.iter().filter(|r| r.summary(Quantity::Latency).is_some()) {
        let mut column = HistogramColumn::new(record);
        if record.has_samples() {
            run.for_each_sample(record, |row| column.add(row.latency))?;
        }
        columns.push(column);
    }
    if columns.is_empty() {
        return Err(ShowError::NothingToPrint("no latency"));
    }
    Ok(print(&text(&columns))?)
}

/// Prints the samples in bounded memory. A reader that went away ends the output, and is no error.
fn samples(run: &Run, records: &[Record]) -> Result<(), ShowError> {
    if records.iter().all(|r| r.samples.rows == 0) {
        return Err(ShowError::NothingToPrint("no single samples"));
    }
    for record in records
        .iter()
        .filter(|r| r.samples.selection.is_some() && !r.has_samples())
    {
        let (rows, taken) = (grouped(record.samples.rows), grouped(record.accounting.rows()));
        say!(
            "worstcase: {}: {rows} of {taken} samples are kept, the largest and those around them",
            record.id
        );
    }
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let has_cycles = records.iter().any(|r| r.followed.is_some());
    let more = if has_cycles { OF_CYCLES } else { "" };
    let mut written = writeln!(out, "{HEADER}{more}");
    for record in records {
        run.for_each_sample(record, |row| {
            if written.is_ok() {
                written = writeln!(out, "{},{}{}", record.id, line(&row), parts(&row, has_cycles));
            }
        })?;
        if written.is_err() {
            break;
        }
    }
    match written.and_then(|()| out.flush()) {
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other.map_err(OutputError::from)?),
    }
}

fn line(row: &SampleRow) -> String {
    let maybe = |value: Option<String>| value.unwrap_or_default();
    let ns = |value: Option<worstcase_contract::Nanos>| maybe(value.map(|n| n.0.to_string()));
    format!(
        "{},{},{},{},{},{}",
        row.index,
        row.due.0,
        row.latency.0,
        ns(row.irq_latency),
        ns(row.after_irq),
        maybe(row.jitter_ns.map(|ns| ns.to_string()))
    )
}

/// The columns of a cycle, empty for other samples.
fn parts(row: &SampleRow, has_cycles: bool) -> String {
    match (has_cycles, row.cycle) {
        (false, _) => String::new(),
        (true, None) => ",,,,,".into(),
        (true, Some(cycle)) => format!(
            ",{},{},{},{},{}",
            cycle.start.0, cycle.execution.0, cycle.interference.0, cycle.blocked.0, cycle.unexplained.0
        ),
    }
}
