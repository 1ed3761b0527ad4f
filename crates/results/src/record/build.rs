//! From the bytes that left the measured machine to a record and its samples file.

use super::samples::digest;
use super::{
    Accounting, CellId, CellRecord, GapAccount, Periods, Quantity, Record, SCHEMA, SampleRow, SamplesFile,
    SelfCostRecord, Subject, Summaries, Summary, WorkRecord, parquet,
};
use std::collections::BTreeMap;
use worstcase_base::digest::sha256_hex;
use worstcase_contract::RawRecord;
use worstcase_contract::record::{Sample, SelfCost};
use worstcase_contract::spec::SpecError;
use worstcase_contract::{CellSpec, Instructions, Nanos, Probe};

/// Name of the samples file beside record.json.
pub const SAMPLES_FILE: &str = "samples.parquet";

/// The lab plugin's data of one sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Due time to the first instruction of the timer interrupt, if it was seen.
    pub irq_latency: Option<Nanos>,
    /// Instructions executed at the sample, counted from the begin of measuring.
    pub instructions: Instructions,
}

/// A cell's result, ready to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellResult {
    /// The record.
    pub record: Record,
    /// The samples file's bytes.
    pub samples: Vec<u8>,
    /// What was found of a program that was followed: the text of a file beside the record.
    pub found: Option<String>,
}

/// Why a raw record cannot be kept.
#[derive(Debug, thiserror::Error)]
pub enum RecordBuildError {
    /// The machine answered with a cell that cannot be read.
    #[error("the measured machine returned a cell that cannot be read: {0}")]
    Spec(#[from] SpecError),
    /// Numbers that contradict each other.
    #[error("the measured machine's numbers contradict each other: {0}")]
    Contradiction(String),
    /// The samples file could not be made.
    #[error("the samples cannot be written as Parquet: {0}")]
    Parquet(#[from] ::parquet::errors::ParquetError),
}

impl CellResult {
    /// Builds record and samples file. `stamps` is empty, or holds one stamp for each sample in the same order;
    /// `instructions` is the number that the lab executed while measuring.
    pub fn new(
        subject: Subject,
        raw: &RawRecord,
        stamps: &[Stamp],
        instructions: Option<Instructions>,
    ) -> Result<CellResult, RecordBuildError> {
        let spec: CellSpec = raw.spec.parse()?;
        check(raw, &spec, stamps)?;
        let time_of = |instructions: Instructions| subject.time_of(instructions);
        let info = spec.probe.info();
        let rows = match info.counts_gaps {
            true => gap_rows(raw, stamps, time_of),
            false => rows(raw, &spec, stamps)?,
        };
        let id = CellId::new(&subject.id(), &spec.load, &spec.probe.to_string(), spec.seed, None);
        let accounting = match info.counts_gaps {
            true => Accounting::Gaps(gaps(raw, &spec, instructions.map(time_of))),
            false => Accounting::Periods(periods(raw)),
        };
        let labels = parquet::FileLabels::new(&id, &subject);
        let labels = match info.measures(Quantity::Jitter) {
            true => labels.wide(),
            false => labels,
        };
        let samples = parquet::encode(&rows, &labels, &accounting)?;
        let of = |quantity: Quantity| -> Option<Summary> {
            let values: Vec<(u32, Nanos)> = rows
                .iter()
                .filter_map(|r| Some((r.index, r.value(quantity)?)))
                .collect();
            // A quantity that only some samples have would be a distribution of something else. For jitter that is
            // normal: the first period has no length to compare, nor a period after a missed one.
            let whole = values.len() == rows.len() || quantity == Quantity::Jitter;
            match quantity {
                _ if !whole => None,
                Quantity::Latency if !info.counts_gaps => Summary::of_latencies(&values, spec.period, spec.periods),
                _ => Summary::new(&values),
            }
        };
        let record = Record {
            schema: SCHEMA.to_string(),
            id,
            subject,
            cell: CellRecord::from(&spec),
            accounting,
            summary: Summaries::of(of),
            instructions,
            self_cost: Some(SelfCostRecord::from(&raw.self_cost)),
            work: raw.work.iter().map(WorkRecord::from).collect(),
            warnings: raw.warnings.clone(),
            console: Vec::new(),
            origin: None,
            foreign: None,
            followed: None,
            scheduler: None,
            environment: environment(raw, spec.probe, stamps),
            digest: digest(spec.periods, &rows),
            causes: Vec::new(),
            details: raw.details.clone(),
            samples: samples_file(&samples, rows.len() as u64),
        };
        record.check().map_err(RecordBuildError::Contradiction)?;
        Ok(CellResult {
            record,
            samples,
            found: None,
        })
    }
}

impl From<&SelfCost> for SelfCostRecord {
    fn from(cost: &SelfCost) -> SelfCostRecord {
        SelfCostRecord {
            clock_read_ns: cost.clock_read.0,
            empty_sample_ns: cost.empty_sample.0,
            cpu_time_ns: cost.cpu_time.0,
            minor_faults: cost.minor_faults,
            major_faults: cost.major_faults,
        }
    }
}

/// The description of a samples file's bytes.
pub fn samples_file(bytes: &[u8], rows: u64) -> SamplesFile {
    SamplesFile {
        file: SAMPLES_FILE.to_string(),
        rows,
        bytes: bytes.len() as u64,
        sha256: sha256_hex(bytes),
        selection: None,
    }
}

fn check(raw: &RawRecord, spec: &CellSpec, stamps: &[Stamp]) -> Result<(), RecordBuildError> {
    let contradiction = |text: String| Err(RecordBuildError::Contradiction(text));
    if raw.expected != spec.periods && !spec.probe.info().counts_gaps {
        return contradiction(format!("{} periods asked for, {} reported", spec.periods, raw.expected));
    }
    if !raw.samples.is_sorted_by(|a, b| a.index < b.index) {
        return contradiction("samples are not in order of their periods".into());
    }
    if let Some(last) = raw.samples.last().filter(|s| s.index >= raw.expected) {
        return contradiction(format!("a sample of period {} of {}", last.index, raw.expected));
    }
    if !stamps.is_empty() && stamps.len() != raw.samples.len() {
        return contradiction(format!("{} samples but {} stamps", raw.samples.len(), stamps.len()));
    }
    Ok(())
}

fn rows(raw: &RawRecord, spec: &CellSpec, stamps: &[Stamp]) -> Result<Vec<SampleRow>, RecordBuildError> {
    let row = |(i, sample): (usize, &Sample)| {
        let stamp = stamps.get(i);
        let irq_latency = stamp.and_then(|s| s.irq_latency);
        let after_irq = match irq_latency {
            Some(part) if part > sample.latency => {
                return Err(RecordBuildError::Contradiction(format!(
                    "sample {}: the timer interrupt came {part} after the due time, the sample after {}",
                    sample.index, sample.latency
                )));
            }
            part => part.map(|part| sample.latency - part),
        };
        Ok(SampleRow {
            index: sample.index,
            due: raw.start + Nanos(u64::from(sample.index) * spec.period.0),
            latency: sample.latency,
            irq_latency,
            after_irq,
            instructions: stamp.map(|s| s.instructions),
            parts: None,
            cycle: None,
            jitter_ns: None,
        })
    };
    let mut rows: Vec<SampleRow> = raw.samples.iter().enumerate().map(row).collect::<Result<_, _>>()?;
    if spec.probe.info().measures(Quantity::Jitter) {
        add_jitter(&mut rows);
    }
    Ok(rows)
}

/// The due times are evenly spaced: a period is longer than it should be by as much as its end is later than its begin.
fn add_jitter(rows: &mut [SampleRow]) {
    for i in 1..rows.len() {
        let (begin, end) = (rows[i - 1], &mut rows[i]);
        if end.index == begin.index + 1 {
            end.jitter_ns = Some(end.latency.0 as i64 - begin.latency.0 as i64);
        }
    }
}

/// A gap begins where its sample lies the gap's length before the instruction that saw its end.
fn gap_rows(raw: &RawRecord, stamps: &[Stamp], time_of: impl Fn(Instructions) -> Nanos) -> Vec<SampleRow> {
    let row = |(i, gap): (usize, &Sample)| {
        let instructions = stamps.get(i).map(|s| s.instructions);
        let end = instructions.map_or(gap.latency, |at| time_of(Instructions(at.0 + 1)));
        SampleRow {
            index: gap.index,
            due: raw.start + end.saturating_sub(gap.latency),
            latency: gap.latency,
            irq_latency: None,
            after_irq: None,
            instructions,
            parts: None,
            cycle: None,
            jitter_ns: None,
        }
    };
    raw.samples.iter().enumerate().map(row).collect()
}

/// The last gap may end later than was asked.
fn gaps(raw: &RawRecord, spec: &CellSpec, watched: Option<Nanos>) -> GapAccount {
    let asked = Nanos(spec.period.0 * u64::from(spec.periods));
    let all = || raw.samples.iter().map(|gap| gap.latency.0);
    GapAccount {
        observed_ns: watched.map_or(asked, |watched| watched.max(asked)).0,
        gaps: raw.samples.len() as u64,
        lost: u64::from(raw.expected) - raw.samples.len() as u64,
        noise_ns: all().sum(),
        max_single_ns: all().max().unwrap_or(0),
    }
}

fn periods(raw: &RawRecord) -> Periods {
    let expected = u64::from(raw.expected);
    let indexes = || raw.samples.iter().map(|s| u64::from(s.index));
    let first = indexes().next().unwrap_or(expected);
    let after_last = indexes().next_back().map_or(expected, |last| last + 1);
    let mut longest = first.max(expected - after_last);
    for (a, b) in indexes().zip(indexes().skip(1)) {
        longest = longest.max(b - a - 1);
    }
    Periods {
        expected,
        taken: raw.samples.len() as u64,
        missed: raw.missed(),
        // A probe in the lab reserves memory for all its samples beforehand: no sample can be lost.
        lost: 0,
        longest_missed_run: longest,
        missed_at_ends: first + (expected - after_last),
    }
}

/// The machine's description, and the number of due timers for which another CPU waited.
fn environment(raw: &RawRecord, probe: Probe, stamps: &[Stamp]) -> BTreeMap<String, String> {
    let mut environment = raw.environment.clone();
    let elsewhere = stamps.iter().filter(|s| s.irq_latency.is_none()).count();
    if elsewhere > 0 && probe.awaits_timer() {
        environment.insert("timers_elsewhere".into(), format!("{elsewhere} of {}", stamps.len()));
    }
    environment
}
