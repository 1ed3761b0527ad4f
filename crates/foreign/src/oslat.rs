//! oslat: its text and its JSON. A value is the length of a turn of its loop, rounded up; the last bucket also holds
//! longer turns.

use super::FormatError;
use super::format::{Mark, ToolForm};
use super::lines::NumberedLines;
use super::measured::{CountedValues, Extremes, Overrun, SeriesValues, ThreadSeries, ToolMeasurement};
use super::text::{self, RtTestsFile, bins, decimal, exact, of_float, program, rt_tests, total, whole};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use worstcase_contract::Nanos;
use worstcase_results::record::{Beyond, Rounding};

const TOOL: &str = "oslat";
const US: u64 = 1_000;
const OVERFLOWS: &str = "(including overflows)";
/// The lines of its table beside the buckets.
const ROWS: [&str; 8] = [
    FIRST,
    "CPU Freq",
    "Counter Freq",
    "Minimum",
    "Average",
    "Maximum",
    "Max-Min",
    LAST,
];
/// The first and the last line of its table.
const FIRST: &str = "Core";
const LAST: &str = "Duration";

pub(crate) const FORM: ToolForm = ToolForm {
    name: TOOL,
    mark,
    text,
    is_json: |value| program(value) == Some(TOOL),
    json,
    ..ToolForm::NOTHING
};

fn mark(line: &str) -> Option<Mark<'_>> {
    if line.starts_with("oslat V ") {
        return Some(Mark::Begin);
    }
    let (name, rest) = line.split_once(':')?;
    let is_core = name.trim() == FIRST && !rest.trim().is_empty();
    let are_numbers = || rest.split_whitespace().all(|word| word.parse::<u32>().is_ok());
    (is_core && are_numbers()).then_some(Mark::Once(FIRST))
}

#[derive(Deserialize)]
struct OslatThread {
    cpu: u32,
    min: u64,
    /// Absent if no turn was counted.
    avg: Option<f64>,
    max: u64,
    duration: f64,
    histogram: BTreeMap<String, u64>,
}

/// Reads `--json=FILE`.
fn json(content: Value) -> Result<ToolMeasurement, FormatError> {
    let file: RtTestsFile<OslatThread> = text::json(TOOL, content)?;
    // With buckets narrower than 1 us (-W) minimum and maximum are in ns, but the mean and the buckets in us.
    let mut names = file.thread.values().flat_map(|thread| thread.histogram.keys());
    let is_narrow = names.any(|name| name.contains('.'));
    let ends = if is_narrow { 1 } else { US };
    let mut measured = of_unit(rt_tests(TOOL, &file), ends);
    for thread in file.thread.values() {
        let wrong = || FormatError::new(format!("the times of CPU {} are no times", thread.cpu));
        let bins = bins(&thread.histogram, US)?;
        let mean = match bins.is_empty() {
            true => Nanos(0),
            false => thread.avg.and_then(|avg| of_float(avg, US)).ok_or_else(wrong)?,
        };
        let core = Core {
            cpu: thread.cpu,
            bins,
            min: whole(thread.min, ends)?,
            mean,
            max: whole(thread.max, ends)?,
            duration: of_float(thread.duration, 1_000_000_000).ok_or_else(wrong)?,
        };
        measured.series.push(core.series()?);
    }
    Ok(measured)
}

/// Reads its output.
fn text(lines: &NumberedLines<'_>, _: Option<Nanos>) -> Result<ToolMeasurement, FormatError> {
    let table = OslatTable::of(lines)?;
    let unit = if table.is_narrow { 1 } else { US };
    let mut measured = of_unit(ToolMeasurement::new(TOOL, Nanos(unit)), unit);
    let version = |line: &str| Some(line.strip_prefix("oslat V ")?.trim().to_string());
    measured.version = lines.texts().find_map(version);
    let cores = table.rows.get(FIRST).map(Vec::len).unwrap_or_default();
    for nth in 0..cores {
        measured.series.push(table.core(nth)?.series()?);
    }
    Ok(measured)
}

/// Its table as it is printed, a column a core.
#[derive(Default)]
struct OslatTable<'a> {
    rows: BTreeMap<&'a str, Vec<&'a str>>,
    buckets: Vec<(Nanos, Vec<u64>)>,
    /// Buckets narrower than 1 us.
    is_narrow: bool,
}

impl<'a> OslatTable<'a> {
    fn of(lines: &NumberedLines<'a>) -> Result<OslatTable<'a>, FormatError> {
        let mut table = OslatTable::default();
        for (at, line) in lines
            .iter()
            .skip_while(|(_, line)| mark(line) != Some(Mark::Once(FIRST)))
        {
            // With -z an ellipsis stands for rows of zeros.
            if line.trim().is_empty() || line.trim() == "..." {
                continue;
            }
            let no_row = || FormatError::at(at, format!("'{}' is no row of its table", line.trim().escape_debug()));
            let (name, rest) = line.split_once(':').ok_or_else(no_row)?;
            let (name, rest) = (name.trim(), rest.trim());
            match name.strip_suffix("(us)").map(str::trim) {
                Some(value) => {
                    table.is_narrow |= value.contains('.');
                    let value = exact(value, US).ok_or_else(no_row)?;
                    table
                        .buckets
                        .push((value, text::numbers(at, rest.trim_end_matches(OVERFLOWS))?));
                }
                None if !ROWS.contains(&name) => return Err(no_row()),
                None => {
                    let words = rest.split_whitespace().filter(|word| !word.starts_with('('));
                    if table.rows.insert(name, words.collect()).is_some() {
                        return Err(FormatError::at(at, format!("'{name}' comes twice in one table")));
                    }
                }
            }
            if name == LAST {
                return Ok(table);
            }
        }
        Ok(table)
    }

    fn core(&self, nth: usize) -> Result<Core, FormatError> {
        let cell = |name: &str| {
            let found = self.rows.get(name).and_then(|row| row.get(nth));
            found.ok_or_else(|| FormatError::new(format!("it has no '{name}' of every core; it was cut")))
        };
        let time = |name: &str, unit: u64| -> Result<Nanos, FormatError> {
            let word = cell(name)?;
            let wrong = || FormatError::new(format!("'{}' in '{name}' is no time", word.escape_debug()));
            exact(word, unit)
                .filter(|_| decimal(word, unit).is_some())
                .ok_or_else(wrong)
        };
        let mut bins = BTreeMap::new();
        for (value, counts) in &self.buckets {
            let value = value.0;
            let missing = || {
                let us = value as f64 / US as f64;
                FormatError::new(format!("its bucket {us} has no column of every core; it was cut"))
            };
            match counts.get(nth).ok_or_else(missing)? {
                0 => {}
                count => drop(bins.insert(value, *count)),
            }
        }
        let is_empty = bins.is_empty();
        Ok(Core {
            cpu: cell(FIRST)?
                .parse()
                .map_err(|_| FormatError::new("the number of a core is none"))?,
            bins,
            min: time("Minimum", US)?,
            mean: if is_empty { Nanos(0) } else { time("Average", US)? },
            max: time("Maximum", US)?,
            duration: time(LAST, 1_000_000_000)?,
        })
    }
}

fn of_unit(mut measured: ToolMeasurement, unit: u64) -> ToolMeasurement {
    measured.resolution = Nanos(unit);
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
    /// Its series.
    fn series(mut self) -> Result<ThreadSeries, FormatError> {
        let count = total(self.bins.values())?;
        let mut series = ThreadSeries::new(TOOL, self.cpu, Overrun::NoDueTimes);
        series.observed = Some(self.duration);
        let last = self.bins.last_key_value().map(|(value, count)| (*value, *count));
        let Some(last) = last.filter(|_| count > 0) else {
            return Ok(series.without_samples());
        };
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
        let bins = self.bins;
        let values = SeriesValues::Counted(CountedValues { bins, beyond, ends });
        series.measured(values);
        Ok(series)
    }
}
