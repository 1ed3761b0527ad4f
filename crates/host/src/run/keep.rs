//! From the output of a measuring process (a file of packed samples for each CPU, and its last message) to records in the
//! run folder.

use super::rows::for_each_row;
use crate::message::{CpuDone, MeasurementEnd, ThreadCounts};
use crate::state::boot_id;
use crate::{CpuList, HostError, HostSpec};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;
use worstcase_contract::{Nanos, Probe};
use worstcase_results::record::parquet::{FileLabels, SamplesWriter};
use worstcase_results::record::passes::FirstPasses;
use worstcase_results::record::samples::RunningDigest;
use worstcase_results::record::{
    Accounting, CAPTURES, CAPTURES_REFUSED, CauseRecord, CellGroup, CellId, CellRecord, ENDED_EARLY, GapAccount,
    ISOLATED, LOAD_CPUS, LOST_EVENTS, LOST_LINES, MethodRecord, Record, RecordOrigin, SCHEMA, SamplesFile,
    SelfCostRecord, Subject, Summaries, WorkRecord, folder,
};

/// Name of the file with the trace around the latest samples, beside record.json.
pub const CAPTURES_FILE: &str = "captures.json";

/// Writes one CPU's samples as a cell of `group`. The measuring process left them in a folder of the run ([`Run::scratch`]);
/// files that are not part of the cell are removed from there, which makes room for the next.
///
/// [`Run::scratch`]: worstcase_results::record::Run::scratch
pub fn keep(
    group: &mut CellGroup<'_>,
    (subject, origin): (&Subject, &RecordOrigin),
    spec: &HostSpec,
    done: &MeasurementEnd,
    cpu: &CpuDone,
) -> Result<(), HostError> {
    let id = CellId::new(
        &subject.id(),
        &spec.load.to_string(),
        &spec.probe.to_string(),
        spec.seed,
        Some(cpu.cpu),
    );
    let samples = spec.samples_dir.join(format!("cpu{}.parquet", cpu.cpu));
    let failed = |source: io::Error| HostError::Samples {
        path: group.run().shown(&samples),
        source,
    };
    let written = write(&samples, spec, cpu, &FileLabels::new(&id, subject)).map_err(failed)?;
    let summary = summaries(spec, cpu, written.first).map_err(failed)?;
    let file = SamplesFile {
        file: worstcase_results::record::build::SAMPLES_FILE.to_string(),
        rows: written.rows,
        bytes: std::fs::metadata(&samples).map_err(failed)?.len(),
        sha256: folder::sha256_of_file(&samples).map_err(failed)?,
        selection: None,
    };
    let sampled = Sampled {
        accounting: written.accounting,
        summary,
        digest: written.digest,
        samples: file,
    };
    let record = record(id, (subject, origin), spec, done, cpu, sampled)?;
    let file = record.samples.file.clone();
    let captures = spec.captures_file(cpu.cpu);
    let mut files = vec![(file.as_str(), samples.as_path())];
    if cpu.captures > 0 {
        files.push((CAPTURES_FILE, captures.as_path()));
    }
    group.move_in(&record, &files)?;
    for taken in [spec.samples_file(cpu.cpu), spec.parts_file(cpu.cpu)] {
        // Best effort: the folder is removed with all its files.
        let _ = std::fs::remove_file(taken);
    }
    Ok(())
}

/// The parts of a record that are about its samples.
pub(crate) struct Sampled {
    pub accounting: Accounting,
    pub summary: Summaries,
    pub digest: String,
    pub samples: SamplesFile,
}

pub(crate) fn record(
    id: CellId,
    (subject, origin): (&Subject, &RecordOrigin),
    spec: &HostSpec,
    done: &MeasurementEnd,
    cpu: &CpuDone,
    sampled: Sampled,
) -> Result<Record, HostError> {
    let record = Record {
        schema: SCHEMA.to_string(),
        id,
        subject: subject.clone(),
        cell: cell(spec, cpu),
        accounting: sampled.accounting,
        summary: sampled.summary,
        instructions: None,
        self_cost: Some(SelfCostRecord {
            clock_read_ns: cpu.clock_read.0,
            empty_sample_ns: cpu.empty_sample.0,
            cpu_time_ns: cpu.cpu_time.0,
            minor_faults: cpu.minor_faults,
            major_faults: cpu.major_faults,
        }),
        work: done.work.iter().map(WorkRecord::from).collect(),
        warnings: done.warnings.clone(),
        console: Vec::new(),
        origin: Some(origin.clone()),
        foreign: None,
        followed: None,
        scheduler: None,
        environment: environment(spec, done, cpu),
        digest: sampled.digest,
        details: None,
        causes: cpu.causes.iter().map(cause).collect(),
        samples: sampled.samples,
    };
    record.check().map_err(HostError::Contradiction)?;
    Ok(record)
}

/// The account of a record with `rows` samples or gaps; for gaps also their sum and the longest.
fn accounting(cpu: &CpuDone, rows: u64, sum: Nanos, longest: Nanos) -> Accounting {
    match cpu.seen {
        ThreadCounts::Periods(periods) => Accounting::Periods(periods),
        ThreadCounts::Gaps { observed, lost, .. } => Accounting::Gaps(GapAccount {
            observed_ns: observed.0,
            gaps: rows,
            lost,
            noise_ns: sum.0,
            max_single_ns: longest.0,
        }),
    }
}

fn cause(c: &crate::message::GapCause) -> CauseRecord {
    CauseRecord {
        name: c.name.clone(),
        count: c.count,
        total_ns: c.total.0,
        max_ns: c.max.0,
    }
}

fn cell(spec: &HostSpec, cpu: &CpuDone) -> CellRecord {
    CellRecord {
        probe: spec.probe.to_string(),
        load: spec.load.to_string(),
        period_ns: spec.interval.0,
        periods: cpu.seen.expected(),
        seed: spec.seed,
        warmup_ns: spec.warmup.0,
        priority: spec.scheduling.priority(),
        cpu: Some(cpu.cpu),
        method: Some(MethodRecord {
            timer: spec.waker.name().to_string(),
            policy: spec.scheduling.to_string(),
            cpus: spec.cpus.clone(),
            distance_ns: spec.distance.0,
            threshold_ns: (spec.probe == Probe::Noise).then_some(spec.threshold.0),
        }),
    }
}

/// The environment key with the boot that was measured: addresses of kernel code are valid for one boot.
pub const BOOT_ID: &str = "boot_id";

fn environment(spec: &HostSpec, done: &MeasurementEnd, cpu: &CpuDone) -> BTreeMap<String, String> {
    let mut environment = done.environment.clone();
    let measured = match cpu.seen {
        ThreadCounts::Periods(periods) => Nanos(spec.interval.0 * periods.expected),
        ThreadCounts::Gaps { observed, .. } => observed,
    };
    environment.insert(BOOT_ID.to_string(), boot_id());
    add_cpus(&mut environment, spec);
    if cpu.captures > 0 {
        environment.insert(CAPTURES.to_string(), cpu.captures.to_string());
    }
    if let Some(why) = &spec.captures_refused {
        environment.insert(CAPTURES_REFUSED.to_string(), why.clone());
    }
    if cpu.lost_lines > 0 {
        environment.insert(LOST_LINES.to_string(), cpu.lost_lines.to_string());
    }
    add_environment(&mut environment, done, measured, cpu.steal);
    environment
}

/// Adds the load's CPUs, if it does not run everywhere, and which of the measured CPUs are isolated.
pub(super) fn add_cpus(environment: &mut BTreeMap<String, String>, spec: &HostSpec) {
    let load: CpuList = spec.load_cpus.iter().copied().collect();
    for (key, cpus) in [(LOAD_CPUS, &load), (ISOLATED, &spec.isolated)] {
        if !cpus.is_empty() {
            environment.insert(key.to_string(), cpus.to_string());
        }
    }
}

/// Adds facts that every measurement has.
pub(super) fn add_environment(
    environment: &mut BTreeMap<String, String>,
    done: &MeasurementEnd,
    measured: Nanos,
    steal: Option<Nanos>,
) {
    let mut add = |key: &str, value: Option<String>| {
        if let Some(value) = value {
            environment.insert(key.to_string(), value);
        }
    };
    add("measured_ns", Some(measured.0.to_string()));
    add("steal_ns", steal.map(|n| n.0.to_string()));
    add("load_notes", (!done.notes.is_empty()).then(|| done.notes.join("; ")));
    add("rt_throttled", done.throttled.map(|yes| u8::from(yes).to_string()));
    add("peak_memory_kb", Some(done.peak_memory_kb.to_string()));
    add(
        LOST_EVENTS,
        (done.lost_events > 0).then(|| done.lost_events.to_string()),
    );
    add(ENDED_EARLY, done.stopped.then(|| ended_early(done).to_string()));
}

fn ended_early(done: &MeasurementEnd) -> &'static str {
    match (done.broke, done.full) {
        (true, _) => "break",
        (_, true) => "disk",
        _ => "1",
    }
}

/// The results of the first pass over the rows.
struct WrittenRows {
    rows: u64,
    accounting: Accounting,
    digest: String,
    first: FirstPasses,
}

fn write(path: &Path, spec: &HostSpec, cpu: &CpuDone, labels: &FileLabels) -> io::Result<WrittenRows> {
    let mut writer = SamplesWriter::new(BufWriter::new(File::create_new(path)?), labels)?;
    let mut rows = 0;
    let mut digest = RunningDigest::new(cpu.seen.expected());
    let (mut sum, mut longest) = (Nanos(0), Nanos(0));
    let mut first = FirstPasses::new(spec.interval);
    for_each_row(spec, cpu, |row| {
        rows += 1;
        sum = sum + row.latency;
        longest = longest.max(row.latency);
        digest.add(&row);
        first.add(&row);
        Ok(writer.push(row)?)
    })?;
    let accounting = accounting(cpu, rows, sum, longest);
    writer
        .finish(&accounting)?
        .into_inner()
        .map_err(io::IntoInnerError::into_error)?;
    Ok(WrittenRows {
        rows,
        accounting,
        digest: digest.finish(),
        first,
    })
}

/// Summaries, by a second pass over the file.
fn summaries(spec: &HostSpec, cpu: &CpuDone, first: FirstPasses) -> io::Result<Summaries> {
    let mut second = first.second(cpu.seen.expected());
    for_each_row(spec, cpu, |row| {
        second.add(&row);
        Ok(())
    })?;
    Ok(second.finish())
}
