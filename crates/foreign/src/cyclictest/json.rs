//! `cyclictest --json=FILE`.

use super::options::CyclictestOptions;
use super::{TOOL, series};
use crate::FormatError;
use crate::measured::{CountedValues, Extremes, SeriesValues, ThreadSeries, ToolMeasurement};
use crate::text::{self, RtTestsFile, bins, of_float, rt_tests, total, whole};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use worstcase_contract::Nanos;
use worstcase_results::record::Beyond;

#[derive(Deserialize)]
struct CyclictestThread {
    #[serde(default)]
    histogram: BTreeMap<String, u64>,
    cycles: u64,
    min: u64,
    max: u64,
    /// Absent if there was no sample.
    avg: Option<f64>,
    cpu: i64,
}

/// Reads it.
pub(super) fn json(content: Value) -> Result<ToolMeasurement, FormatError> {
    let file: RtTestsFile<CyclictestThread> = text::json(TOOL, content)?;
    let unit = if file.resolution_in_ns == 1 { 1 } else { 1_000 };
    let mut measured = rt_tests(TOOL, &file);
    measured.resolution = Nanos(unit);
    let options = CyclictestOptions::of(measured.command.as_deref().unwrap_or(""));
    for (number, thread) in &file.thread {
        measured.series.push(of_thread(*number, thread, &options, unit)?);
    }
    if file.thread.values().any(|thread| thread.cpu < 0) {
        measured.lacks.push(super::text::NO_CPUS);
    }
    Ok(measured)
}

fn of_thread(
    number: u32,
    thread: &CyclictestThread,
    options: &CyclictestOptions,
    unit: u64,
) -> Result<ThreadSeries, FormatError> {
    let cpu = u32::try_from(thread.cpu).unwrap_or(number);
    let values = match thread.cycles {
        0 => None,
        _ => Some(values(number, thread, options, unit)?),
    };
    Ok(series(cpu, options.interval(number), options.priority(number), values))
}

fn values(
    number: u32,
    thread: &CyclictestThread,
    options: &CyclictestOptions,
    unit: u64,
) -> Result<SeriesValues, FormatError> {
    let no_mean = || FormatError::new(format!("the mean of thread {number} is no time"));
    let ends = Extremes {
        count: thread.cycles,
        min: Some(whole(thread.min, unit)?),
        mean: Some(thread.avg.and_then(|avg| of_float(avg, unit)).ok_or_else(no_mean)?),
        max: whole(thread.max, unit)?,
    };
    let bins = bins(&thread.histogram, unit)?;
    if bins.is_empty() && options.histogram.is_none() {
        return Ok(SeriesValues::Extremes(ends));
    }
    let counted = total(bins.values())?;
    let outside = thread.cycles.checked_sub(counted).ok_or_else(|| {
        FormatError::new(format!(
            "the histogram of thread {number} has more than its {} samples",
            thread.cycles
        ))
    })?;
    let end = match options.histogram {
        Some(end) => whole(end, unit)?.0,
        None => bins.keys().next_back().map_or(0, |last| last.saturating_add(unit)),
    };
    let beyond = (outside > 0).then_some(Beyond {
        from_ns: end,
        count: outside,
    });
    Ok(SeriesValues::Counted(CountedValues { bins, beyond, ends }))
}
