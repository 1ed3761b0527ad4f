//! From the contents of a file to records.

use super::ImportError;
use super::measured::{ForeignSample, Overrun, SeriesValues, ThreadSeries, ToolMeasurement};
use super::summary::{summary, withhold};
use std::collections::BTreeMap;
use worstcase_contract::Nanos;
use worstcase_contract::bench::Details;
use worstcase_results::record::samples::digest;
use worstcase_results::record::{
    Accounting, CellId, CellRecord, CellResult, Foreign, ForeignMachine, Periods, Preempt, Quantity, Record,
    RecordBuildError, SCHEMA, SampleRow, Subject, SubjectKernel, SubjectMachine, Summaries, build, check_totals,
    parquet,
};

/// Stands for a load without a name.
const UNKNOWN_LOAD: &str = "unknown";

/// A file that was read.
#[derive(Debug)]
pub struct ForeignSource {
    /// Its name.
    pub file: String,
    /// `sha256:` and hexadecimal digits.
    pub digest: String,
    /// Its runs, in their order.
    pub(super) measured: Vec<ToolMeasurement>,
}

impl ForeignSource {
    /// The tools that wrote it, one for each run in it.
    pub fn tools(&self) -> impl Iterator<Item = &'static str> {
        self.measured.iter().map(|run| run.tool)
    }
}

/// Facts that the user gives and the files do not contain.
#[derive(Clone, Debug, Default)]
pub struct ImportFacts {
    /// The load that ran beside.
    pub load: Option<String>,
    /// The interval.
    pub interval: Option<Nanos>,
}

/// The records of all files. Files of one subject are its seeds, in their order.
pub(crate) fn records(sources: Vec<ForeignSource>, given: &ImportFacts) -> Result<Vec<CellResult>, ImportError> {
    let mut all: Vec<CellResult> = Vec::new();
    let files = sources
        .iter()
        .map(|source| source.file.as_str())
        .take(20)
        .collect::<Vec<_>>()
        .join(", ");
    for source in &sources {
        for measured in &source.measured {
            let subject = subject(source, measured);
            let before = |r: &&CellResult| r.record.subject.id() == subject.id();
            let seed = all.iter().filter(before).map(|r| r.record.cell.seed).max().unwrap_or(0) + 1;
            for series in &measured.series {
                let built = one((source, measured), &subject, series, seed + series.repetition, given);
                all.push(built.map_err(|error| ImportError::Build {
                    file: source.file.clone(),
                    source: error,
                })?);
            }
        }
    }
    check_totals(all.iter().map(|cell| &cell.record)).map_err(|what| ImportError::Build {
        file: files,
        source: RecordBuildError::Contradiction(what),
    })?;
    Ok(all)
}

/// The kernel, if it is told; else the file stands for it.
fn subject(source: &ForeignSource, measured: &ToolMeasurement) -> Subject {
    let told = &measured.machine;
    let stem = source
        .file
        .rsplit_once('.')
        .map_or(source.file.as_str(), |(stem, _)| stem);
    let unknown = || SubjectKernel::UNKNOWN.to_string();
    let release = told.release.clone().unwrap_or_else(unknown);
    Subject {
        kernel: SubjectKernel {
            name: release.clone(),
            label: told.release.clone().unwrap_or_else(|| stem.to_string()),
            release,
            version: told.version.clone().unwrap_or_else(unknown),
            digest: unknown(),
        },
        preempt: Preempt {
            asked: None,
            in_force: if told.realtime { "rt".into() } else { unknown() },
        },
        machine: SubjectMachine::Foreign(ForeignMachine {
            tool: measured.tool.to_string(),
            host: told.host.clone(),
            cpus: told.cpus,
        }),
    }
}

fn one(
    (source, measured): (&ForeignSource, &ToolMeasurement),
    subject: &Subject,
    series: &ThreadSeries,
    seed: u64,
    given: &ImportFacts,
) -> Result<CellResult, RecordBuildError> {
    let load = given.load.clone().unwrap_or_else(|| UNKNOWN_LOAD.to_string());
    let has_period = series.overrun != Overrun::NoDueTimes;
    let period = series.period.or(given.interval).filter(|_| has_period);
    let id = CellId::new(&subject.id(), &load, &series.probe, seed, series.cpu);
    let rows = rows(series, period);
    let mut summary = Summaries::of(|quantity| summary(series.quantities.get(&quantity)?));
    let withheld = match (&mut summary.latency, period) {
        (Some(latency), Some(period)) if series.overrun == Overrun::Skips => {
            withhold(latency, &series.quantities[&Quantity::Latency], period)
        }
        _ => false,
    };
    let taken = summary
        .latency
        .as_ref()
        .or(summary.irq_latency.as_ref())
        .map(|s| s.count)
        .or(series.taken)
        .unwrap_or(0);
    // The tool prints each sample with its number: numbers that are missing are not in the file.
    let lost = rows
        .last()
        .map_or(0, |last| u64::from(last.index) + 1 - rows.len() as u64);
    let accounting = match series.gaps {
        Some(gaps) => Accounting::Gaps(gaps),
        None => Accounting::Periods(Periods {
            expected: taken + lost,
            taken,
            lost,
            ..Periods::default()
        }),
    };
    let samples = parquet::encode(&rows, &parquet::FileLabels::new(&id, subject), &accounting)?;
    let max = summary.latency.as_ref().map(|s| Nanos(s.max_ns));
    let missed_known = match series.overrun {
        Overrun::SamplesEach => true,
        Overrun::NoDueTimes => false,
        // A thread that is never a period late misses none.
        Overrun::Skips => period
            .zip(max)
            .is_some_and(|(period, max)| max + measured.resolution < period),
    };
    let periods = u32::try_from(accounting.rows()).unwrap_or(u32::MAX);
    let record = Record {
        schema: SCHEMA.to_string(),
        id,
        subject: subject.clone(),
        cell: CellRecord {
            probe: series.probe.clone(),
            load,
            period_ns: period.unwrap_or_default().0,
            periods,
            seed,
            warmup_ns: 0,
            priority: series.priority.unwrap_or(0),
            cpu: series.cpu,
            method: None,
        },
        accounting,
        instructions: None,
        self_cost: None,
        work: Vec::new(),
        warnings: warnings(measured, series),
        console: Vec::new(),
        origin: None,
        foreign: Some(Foreign {
            tool: measured.tool.to_string(),
            version: measured.version.clone(),
            file: source.file.clone(),
            digest: source.digest.clone(),
            command: measured.command.clone(),
            began: measured.began,
            ended: measured.ended,
            observed_ns: series.observed.map(|observed| observed.0),
            resolution_ns: measured.resolution.0,
            rounding: measured.rounding,
            beyond: beyond(series),
            missed_known,
            lacks: lacks(measured, series, period, (missed_known, withheld), given),
            notes: measured.notes.clone(),
        }),
        followed: None,
        scheduler: None,
        environment: series.counts.clone(),
        digest: match rows.is_empty() {
            true => source.digest.clone(),
            false => digest(periods, &rows),
        },
        causes: Vec::new(),
        details: series.io.clone().map(Details::Io),
        samples: build::samples_file(&samples, rows.len() as u64),
        summary,
    };
    record.check().map_err(RecordBuildError::Contradiction)?;
    Ok(CellResult {
        record,
        samples,
        found: None,
    })
}

fn beyond(series: &ThreadSeries) -> BTreeMap<Quantity, worstcase_results::record::Beyond> {
    let of = |(quantity, values): (&Quantity, &SeriesValues)| match values {
        SeriesValues::Counted(counted) => Some((*quantity, counted.beyond?)),
        SeriesValues::Samples(_) | SeriesValues::Extremes(_) | SeriesValues::Told(_) => None,
    };
    series.quantities.iter().filter_map(of).collect()
}

/// What the tool says against its own result: each is a doubt of every verdict.
fn warnings(measured: &ToolMeasurement, series: &ThreadSeries) -> Vec<String> {
    let overflows = beyond(series).into_values().any(|beyond| beyond.count > 1);
    let overflows =
        overflows.then(|| "samples fell out of the tool's histogram; of them the largest alone is known".into());
    let said = measured.doubts.iter().chain(&series.doubts).cloned();
    said.chain(overflows).collect()
}

/// Facts that a reader may look for and that the file does not contain, in words.
fn lacks(
    measured: &ToolMeasurement,
    series: &ThreadSeries,
    period: Option<Nanos>,
    (missed_known, withheld): (bool, bool),
    given: &ImportFacts,
) -> Vec<String> {
    let mut lacks: Vec<&str> = Vec::new();
    match series.quantities.values().next() {
        Some(SeriesValues::Counted(_)) => lacks.push("single samples and their order: it is a histogram"),
        Some(SeriesValues::Extremes(ends)) if ends.min.is_none() => {
            lacks.push("the distribution: of its values it has the longest");
        }
        Some(SeriesValues::Told(_)) => lacks.push("the distribution: it has the ends, the mean and some percentiles"),
        Some(SeriesValues::Extremes(_)) => {
            lacks.push("the distribution: it has the number of samples, their minimum, mean and maximum");
        }
        Some(SeriesValues::Samples(_)) | None => {}
    }
    lacks.extend(&measured.lacks);
    if series.overrun != Overrun::NoDueTimes && period.is_none() {
        lacks.push("the interval, and with it the observation time; --interval tells it");
    }
    if series.overrun == Overrun::Skips && !missed_known {
        lacks.push("missed periods: the tool goes on with the next due time and does not count those before it");
    }
    if withheld {
        lacks.push("percentiles that missed periods could move: late samples stand for more periods than one");
    }
    if measured.machine.release.is_none() {
        lacks.push("the kernel: the file's name stands in its place");
    }
    if given.load.is_none() {
        lacks.push("what ran beside; --load tells it");
    }
    lacks.into_iter().map(str::to_string).collect()
}

fn rows(series: &ThreadSeries, period: Option<Nanos>) -> Vec<SampleRow> {
    let Some(SeriesValues::Samples(samples)) = series.quantities.get(&Quantity::Latency) else {
        return Vec::new();
    };
    let row = |sample: &ForeignSample| SampleRow {
        index: sample.index,
        due: sample
            .due
            .unwrap_or(Nanos(period.unwrap_or_default().0.saturating_mul(sample.index.into()))),
        latency: sample.value,
        irq_latency: None,
        after_irq: None,
        instructions: None,
        parts: None,
        cycle: None,
        jitter_ns: None,
    };
    samples.iter().map(row).collect()
}
