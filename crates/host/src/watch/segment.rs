//! Makes records of the measuring process's segment.

use crate::HostError;
use crate::HostSpec;
use crate::message::{CpuDone, MeasurementEnd, Taken, ThreadCounts, WatchSegment};
use crate::run::keep::{Sampled, record};
use crate::run::rows::row;
use worstcase_results::record::build::samples_file;
use worstcase_results::record::parquet::{FileLabels, encode};
use worstcase_results::record::samples::digest;
use worstcase_results::record::{
    Accounting, CellId, CellResult, RecordOrigin, SampleRow, SampleSelection, SamplesFile, Subject, Summaries,
};

/// A cell, and files beside it.
pub struct KeptCell {
    /// Record and samples.
    pub cell: CellResult,
    /// The trace around its latest samples, if it was captured.
    pub captures: Option<Vec<u8>>,
}

/// The cells of a segment; none if no period was due yet.
pub fn cells(
    segment: &WatchSegment,
    spec: &HostSpec,
    selection: SampleSelection,
    measured: (&Subject, &RecordOrigin),
) -> Result<Vec<KeptCell>, HostError> {
    let cpus = segment.done.cpus.iter().zip(&segment.taken);
    let due = cpus.filter(|(cpu, _)| cpu.seen.expected() > 0);
    due.map(|(cpu, taken)| {
        let done = MeasurementEnd {
            stopped: !segment.ended || cpu.seen.expected() < spec.periods,
            ..segment.done.clone()
        };
        let captures = (cpu.captures > 0).then(|| serde_json::to_vec(&taken.captures));
        Ok(KeptCell {
            cell: cell(spec, selection, measured, &done, cpu, taken)?,
            captures: captures.map(|json| json.expect("plain values are serialised")),
        })
    })
    .collect()
}

fn cell(
    spec: &HostSpec,
    selection: SampleSelection,
    (subject, origin): (&Subject, &RecordOrigin),
    done: &MeasurementEnd,
    cpu: &CpuDone,
    taken: &Taken,
) -> Result<CellResult, HostError> {
    let ThreadCounts::Periods(periods) = cpu.seen else {
        return Err(HostError::Contradiction("a segment has periods, and no gaps".into()));
    };
    let (load, probe) = (spec.load.to_string(), spec.probe.to_string());
    let id = CellId::new(&subject.id(), &load, &probe, spec.seed, Some(cpu.cpu));
    let due = |index: u32| cpu.start.0 + u64::from(index) * spec.interval.0;
    let one = |(index, latency): &(u32, u64)| row(*index, due(*index), *latency);
    let rows: Vec<SampleRow> = taken.rows.iter().map(one).collect();
    let accounting = Accounting::Periods(periods);
    let samples = encode(&rows, &FileLabels::new(&id, subject), &accounting)
        .map_err(|e| HostError::Contradiction(format!("its samples cannot be written as Parquet: {e}")))?;
    let sampled = Sampled {
        accounting,
        summary: Summaries {
            latency: taken.summary.clone(),
            ..Summaries::default()
        },
        digest: digest(periods.expected as u32, &rows),
        samples: SamplesFile {
            selection: Some(selection),
            ..samples_file(&samples, rows.len() as u64)
        },
    };
    let record = record(id, (subject, origin), spec, done, cpu, sampled)?;
    Ok(CellResult {
        record,
        samples,
        found: None,
    })
}
