//! oslat: its text and its JSON. A value is the length of a turn of its loop, rounded up; the last bucket also holds
//! longer turns.

use super::FormatError;
use super::measured::{CountedValues, Extremes, MachineTold, Overrun, SeriesValues, ThreadSeries, ToolMeasurement};
use super::text::{self, SysInfo, bins, decimal, moment, of_float, total, whole};
use serde::Deserialize;
use std::collections::BTreeMap;
use worstcase_contract::Nanos;
use worstcase_results::record::{Beyond, Quantity, Rounding};

const TOOL: &str = "oslat";
const US: u64 = 1_000;
const OVERFLOWS: &str = "(including overflows)";

#[derive(Deserialize)]
struct OslatFile {
    #[serde(rename = "cmdline:", alias = "cmdline")]
    command: Option<String>,
    #[serde(rename = "rt_test_version:", alias = "rt_test_version")]
    version: Option<String>,
    start_time: Option<String>,
    end_time: Option<String>,
    sysinfo: Option<SysInfo>,
    thread: BTreeMap<u32, OslatThread>,
}

#[derive(Deserialize)]
struct OslatThread {
    cpu: u32,
    min: u64,
    avg: f64,
    max: u64,
    duration: f64,
    histogram: BTreeMap<String, u64>,
}

/// Reads `--json=FILE`.
pub(crate) fn json(content: &str) -> Result<ToolMeasurement, FormatError> {
    let file: OslatFile = text::json(TOOL, content)?;
    let mut measured = empty();
    measured.version = file.version;
    measured.command = file.command;
    measured.machine = file.sysinfo.as_ref().map(MachineTold::from).unwrap_or_default();
    measured.began = file.start_time.as_deref().and_then(moment);
    measured.ended = file.end_time.as_deref().and_then(moment);
    for thread in file.thread.values() {
        let wrong = || FormatError::new(format!("the times of CPU {} are no times", thread.cpu));
        let core = Core {
            cpu: thread.cpu,
            bins: bins(&thread.histogram, US)?,
            min: whole(thread.min, US)?,
            mean: of_float(thread.avg, US).ok_or_else(wrong)?,
            max: whole(thread.max, US)?,
            duration: of_float(thread.duration, 1_000_000_000).ok_or_else(wrong)?,
        };
        measured.series.extend(core.series()?);
    }
    Ok(measured)
}

/// Reads its output.
pub(crate) fn text(content: &str) -> Result<ToolMeasurement, FormatError> {
    let mut measured = empty();
    let mut rows: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut buckets: Vec<(u64, Vec<u64>)> = Vec::new();
    for (at, line) in (1..).zip(content.lines()) {
        if let Some(version) = line.strip_prefix("oslat V ") {
            measured.version = Some(version.trim().to_string());
        }
        let Some((name, rest)) = line.split_once(':') else {
            continue;
        };
        let (name, rest) = (name.trim(), rest.trim());
        match name.strip_suffix("(us)").map(str::trim) {
            Some(value) => {
                let [value] = text::numbers(at, value)?[..] else {
                    continue;
                };
                buckets.push((value, text::numbers(at, rest.trim_end_matches(OVERFLOWS))?));
            }
            None => {
                let words = rest.split_whitespace().filter(|word| !word.starts_with('('));
                rows.insert(name.to_string(), words.map(str::to_string).collect());
            }
        }
    }
    let cores = rows.get("Core").map(Vec::len).unwrap_or_default();
    for nth in 0..cores {
        let cell = |name: &str| {
            let found = rows.get(name).and_then(|row| row.get(nth));
            found.ok_or_else(|| FormatError::new(format!("it has no '{name}' of every core; it was cut")))
        };
        let time = |name: &str, unit: u64| -> Result<Nanos, FormatError> {
            let word = cell(name)?;
            let wrong = || FormatError::new(format!("'{}' in '{name}' is no time", word.escape_debug()));
            decimal(word, unit).ok_or_else(wrong)
        };
        let wrong = || FormatError::new("the number of a core is none");
        let mut bins = BTreeMap::new();
        for (value, counts) in &buckets {
            let missing = || FormatError::new(format!("its bucket {value} has no column of every core; it was cut"));
            match counts.get(nth).ok_or_else(missing)? {
                0 => {}
                count => drop(bins.insert(whole(*value, US)?.0, *count)),
            }
        }
        let core = Core {
            cpu: cell("Core")?.parse().map_err(|_| wrong())?,
            bins,
            min: time("Minimum", US)?,
            mean: time("Average", US)?,
            max: time("Maximum", US)?,
            duration: time("Duration", 1_000_000_000)?,
        };
        measured.series.extend(core.series()?);
    }
    Ok(measured)
}

fn empty() -> ToolMeasurement {
    let mut measured = ToolMeasurement::new(TOOL, Nanos(US));
    measured.rounding = Rounding::Up;
    measured
        .notes
        .push("a value is the time of one turn of a loop that never sleeps; most turns are shorter than 1 us".into());
    measured
}

struct Core {
    cpu: u32,
    bins: BTreeMap<u64, u64>,
    min: Nanos,
    mean: Nanos,
    max: Nanos,
    duration: Nanos,
}

impl Core {
    /// Its series; nothing if no turn was counted.
    fn series(mut self) -> Result<Option<ThreadSeries>, FormatError> {
        let count = total(self.bins.values())?;
        let Some(last) = self.bins.last_key_value().map(|(value, count)| (*value, *count)) else {
            return Ok(None);
        };
        if count == 0 {
            return Ok(None);
        }
        // The last bucket also counts longer turns.
        let beyond = (self.max.0 > last.0 && last.1 > 0).then_some(Beyond {
            from_ns: last.0,
            count: last.1,
        });
        if beyond.is_some() {
            self.bins.remove(&last.0);
        }
        let ends = Extremes {
            count,
            min: Some(self.min),
            mean: Some(self.mean),
            max: self.max,
        };
        let mut series = ThreadSeries::new(TOOL, self.cpu, Overrun::NoDueTimes);
        series.observed = Some(self.duration);
        let bins = self.bins;
        let values = SeriesValues::Counted(CountedValues { bins, beyond, ends });
        series.quantities.insert(Quantity::Latency, values);
        Ok(Some(series))
    }
}
