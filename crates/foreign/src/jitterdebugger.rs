//! jitterdebugger: `results.json`, its lines of a thread each, and `samples.raw`.

use super::FormatError;
use super::format::{Mark, ToolForm};
use super::lines::NumberedLines;
use super::measured::{
    CountedValues, Extremes, ForeignSample, MachineTold, Overrun, SeriesValues, ThreadSeries, ToolMeasurement,
};
use super::text::{self, SysInfo, bins, check_later, decimal, field, of_float, rt_thread, total, unit_or_us, whole};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use worstcase_contract::Nanos;
use worstcase_results::record::Beyond;

const TOOL: &str = "jitterdebugger";
/// The size of a sample in `samples.raw`: CPU, seconds, nanoseconds, value; little-endian, packed.
const SAMPLE: usize = 28;
const NS_A_SECOND: u64 = 1_000_000_000;
/// CPUs that one can believe.
const MOST_CPUS: u32 = 65_536;

pub(crate) const FORM: ToolForm = ToolForm {
    name: TOOL,
    mark: |line| thread_line(line).map(|(number, pid, _)| Mark::Of(number, pid)),
    text,
    is_json: |value| value.get("cpu").is_some() && value.get("sysinfo").is_some(),
    json,
    is_raw,
    raw,
    ..ToolForm::NOTHING
};

#[derive(Deserialize)]
struct JitterdebuggerFile {
    sysinfo: SysInfo,
    cpu: BTreeMap<u32, JitterdebuggerCpu>,
}

#[derive(Deserialize)]
struct JitterdebuggerCpu {
    histogram: BTreeMap<String, u64>,
    count: u64,
    min: u64,
    max: u64,
    avg: f64,
}

/// Reads `results.json`.
fn json(content: Value) -> Result<ToolMeasurement, FormatError> {
    let file: JitterdebuggerFile = text::json(TOOL, content)?;
    let unit = file.sysinfo.resolution_in_ns.filter(|ns| *ns > 0).unwrap_or(1_000);
    let mut measured = ToolMeasurement::new(TOOL, Nanos(unit));
    measured.machine = MachineTold::from(&file.sysinfo);
    for (cpu, told) in &file.cpu {
        measured.series.push(series(*cpu, of_cpu(*cpu, told, unit)?));
    }
    Ok(measured)
}

fn of_cpu(cpu: u32, told: &JitterdebuggerCpu, unit: u64) -> Result<Option<SeriesValues>, FormatError> {
    if told.count == 0 {
        return Ok(None);
    }
    let bins = bins(&told.histogram, unit)?;
    let outside = told.count.checked_sub(total(bins.values())?);
    let outside =
        outside.ok_or_else(|| FormatError::new(format!("the histogram of CPU {cpu} has too many samples")))?;
    let ends = Extremes {
        count: told.count,
        min: Some(whole(told.min, unit)?),
        mean: Some(of_float(told.avg, unit).ok_or_else(|| FormatError::new("a mean is no time"))?),
        max: whole(told.max, unit)?,
    };
    let from_ns = bins.keys().next_back().map_or(0, |last| last.saturating_add(unit));
    let beyond = (outside > 0).then_some(Beyond {
        from_ns,
        count: outside,
    });
    Ok(Some(SeriesValues::Counted(CountedValues { bins, beyond, ends })))
}

/// Reads its output.
fn text(lines: &NumberedLines<'_>, unit: Option<Nanos>) -> Result<ToolMeasurement, FormatError> {
    let mut last: BTreeMap<u32, Extremes> = BTreeMap::new();
    let is_unit_told = unit.is_some();
    let unit = unit_or_us(unit);
    for (at, line) in lines.iter() {
        let Some((_, _, fields)) = thread_line(line) else {
            continue;
        };
        let field = |name: &str| field(fields, name);
        let ends = || {
            let cpu = field("A:")?.parse().ok()?;
            let ends = Extremes {
                count: field("C:")?.parse().ok()?,
                min: Some(decimal(field("Min:")?, unit)?),
                mean: Some(decimal(field("Avg:")?, unit)?),
                max: decimal(field("Max:")?, unit)?,
            };
            Some((cpu, ends))
        };
        let cut = || FormatError::at(at, "a thread's line does not go on to 'Max:'; the file was cut");
        let (cpu, ends) = ends().ok_or_else(cut)?;
        check_later(at, last.get(&cpu), &ends)?;
        last.insert(cpu, ends);
    }
    let mut measured = ToolMeasurement::new(TOOL, Nanos(unit));
    measured.is_unit_told = is_unit_told;
    let values = |ends: Extremes| (ends.count > 0).then_some(SeriesValues::Extremes(ends));
    let all = last.into_iter().map(|(cpu, ends)| series(cpu, values(ends)));
    measured.series = all.collect();
    Ok(measured)
}

/// `T: 0 (28943) A: 0 C: ...`, in its parts.
fn thread_line(line: &str) -> Option<(&str, &str, &str)> {
    rt_thread(line).filter(|(_, _, fields)| fields.contains("A:") && fields.contains("C:"))
}

/// Whether bytes are samples: whole ones, of CPUs and nanoseconds that there can be.
fn is_raw(bytes: &[u8]) -> bool {
    !bytes.is_empty()
        && bytes.len().is_multiple_of(SAMPLE)
        && bytes
            .chunks_exact(SAMPLE)
            .all(|b| JitterdebuggerSample::of(b).is_some())
}

struct JitterdebuggerSample {
    cpu: u32,
    at: u64,
    value: u64,
}

impl JitterdebuggerSample {
    fn of(bytes: &[u8]) -> Option<JitterdebuggerSample> {
        let word = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        let cpu = u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?);
        let (seconds, ns, value) = (word(4)?, word(12)?, word(20)?);
        let at = seconds.checked_mul(NS_A_SECOND)?.checked_add(ns)?;
        (cpu < MOST_CPUS && ns < NS_A_SECOND).then_some(JitterdebuggerSample { cpu, at, value })
    }
}

/// Reads `samples.raw`; values are of so many ns.
fn raw(bytes: &[u8], unit: Option<Nanos>) -> Result<ToolMeasurement, FormatError> {
    if !is_raw(bytes) {
        return Err(FormatError::new(format!(
            "it is no text, and no samples of {TOOL}'s: their size is a multiple of {SAMPLE}"
        )));
    }
    let unit = unit_or_us(unit);
    let mut cpus: BTreeMap<u32, Vec<ForeignSample>> = BTreeMap::new();
    let mut first = None;
    for sample in bytes.chunks_exact(SAMPLE).filter_map(JitterdebuggerSample::of) {
        let value = whole(sample.value, unit)?;
        let due = sample.at.saturating_sub(value.0);
        let begin = *first.get_or_insert(due);
        let samples = cpus.entry(sample.cpu).or_default();
        samples.push(ForeignSample {
            index: u32::try_from(samples.len()).map_err(|_| FormatError::new("it has too many samples"))?,
            due: Some(Nanos(due.saturating_sub(begin))),
            value,
        });
    }
    let mut measured = ToolMeasurement::new(TOOL, Nanos(unit));
    for (cpu, samples) in cpus {
        let observed = samples.last().and_then(|last| last.due);
        let of_cpu = series(cpu, Some(SeriesValues::Samples(samples)));
        measured.series.push(ThreadSeries { observed, ..of_cpu });
    }
    Ok(measured)
}

fn series(cpu: u32, values: Option<SeriesValues>) -> ThreadSeries {
    let mut series = ThreadSeries::new("wakeup", cpu, Overrun::SamplesEach);
    match values {
        Some(values) => series.measured(values),
        None => return series.without_samples(),
    }
    series
}
