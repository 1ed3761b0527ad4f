//! schbench: percentiles and ends of its wake-ups and requests, which it prints again and again.

use super::FormatError;
use super::format::{Mark, ToolForm};
use super::lines::NumberedLines;
use super::measured::{Extremes, Overrun, SeriesValues, SummaryFigures, ThreadSeries, ToolMeasurement};
use super::text::{percentiles_of, whole};
use serde_json::Value;
use std::collections::BTreeMap;
use worstcase_contract::Nanos;

const TOOL: &str = "schbench";
const US: u64 = 1_000;
const WAKEUP: &str = "Wakeup Latencies percentiles (usec)";
/// The sections of latencies, and their names here; the one of requests a second has none.
const SECTIONS: [(&str, &str); 2] = [
    (WAKEUP, "schbench-wakeup"),
    ("Request Latencies percentiles (usec)", "schbench-request"),
];

pub(crate) const FORM: ToolForm = ToolForm {
    name: TOOL,
    mark: |line| match line.trim_start() {
        line if line.starts_with(WAKEUP) => Some(Mark::Once(WAKEUP)),
        line if line.starts_with("Latency percentiles (usec)") => Some(Mark::Once("Latency")),
        _ => None,
    },
    text,
    repeats: true,
    is_json: |value| {
        value
            .get("int")
            .is_some_and(|int| int.get("wakeup_latency_max").is_some())
    },
    json: no_count,
    ..ToolForm::NOTHING
};

fn no_count(_: Value) -> Result<ToolMeasurement, FormatError> {
    Err(FormatError::new(
        "schbench's JSON tells no number of samples; import what it prints",
    ))
}

fn text(lines: &NumberedLines<'_>, _: Option<Nanos>) -> Result<ToolMeasurement, FormatError> {
    let mut measured = ToolMeasurement::new(TOOL, Nanos(US));
    let mut now: Option<SchbenchSection> = None;
    for (at, line) in lines.iter() {
        let told = line.trim();
        if told.starts_with("Latency percentiles (usec)") {
            return Err(FormatError::at(
                at,
                "this schbench tells no number of samples; a version from 2017 on does",
            ));
        }
        if let Some((_, rest)) = told.split_once(" percentiles (") {
            if now.is_some() {
                return Err(FormatError::at(
                    at,
                    "a section before it has no 'min=, max='; the file was cut",
                ));
            }
            if told.contains("Latencies") && !SECTIONS.iter().any(|(begin, _)| told.starts_with(begin)) {
                return Err(at_line(at, "something stands before this heading"));
            }
            let section = SECTIONS.iter().find(|(begin, _)| told.starts_with(begin));
            now = section
                .map(|(_, probe)| SchbenchSection::of(probe, rest))
                .transpose()
                .map_err(|e| at_line(at, &e))?;
        } else if let Some(mut section) = now.take() {
            match section.take(told).map_err(|e| at_line(at, &e))? {
                Some(series) => measured.series.push(series),
                None => now = Some(section),
            }
        }
    }
    match now {
        Some(_) => Err(FormatError::new("it ends without 'min=, max='; the file was cut")),
        None => Ok(measured),
    }
}

fn at_line(at: usize, what: &str) -> FormatError {
    FormatError::at(at, what)
}

struct SchbenchSection {
    probe: &'static str,
    count: u64,
    observed: Nanos,
    percentiles: BTreeMap<String, u64>,
}

impl SchbenchSection {
    /// Of `usec) runtime 30 (s) (91059 total samples)`.
    fn of(probe: &'static str, heading: &str) -> Result<SchbenchSection, String> {
        let between = |begin: &str, end: &str| {
            heading
                .split_once(begin)?
                .1
                .split_once(end)?
                .0
                .trim()
                .parse::<u64>()
                .ok()
        };
        let missing = || "its heading has no runtime and no number of samples".to_string();
        let seconds = between("runtime ", " (s)").ok_or_else(missing)?;
        Ok(SchbenchSection {
            probe,
            count: between("(s) (", " total samples").ok_or_else(missing)?,
            observed: whole(seconds, 1_000_000_000).map_err(|e| e.to_string())?,
            percentiles: BTreeMap::new(),
        })
    }

    /// Takes a line; the series when it is the last.
    fn take(&mut self, line: &str) -> Result<Option<ThreadSeries>, String> {
        let wrong = || format!("'{}' is no line of its section", line.escape_debug());
        let time = |word: &str| {
            let us = word.trim().parse::<u64>().map_err(|_| wrong())?;
            whole(us, US).map_err(|e| e.to_string())
        };
        if let Some((percent, rest)) = line.trim_start_matches('*').split_once("th:") {
            let value = rest.split_whitespace().next().ok_or_else(wrong)?;
            percent.trim().parse::<f64>().map_err(|_| wrong())?;
            self.percentiles.insert(percent.trim().to_string(), time(value)?.0);
            return Ok(None);
        }
        let (min, max) = line
            .strip_prefix("min=")
            .and_then(|rest| rest.split_once(", max="))
            .ok_or_else(wrong)?;
        let ends = Extremes {
            count: self.count,
            min: Some(time(min)?),
            mean: None,
            max: time(max)?,
        };
        let mut series = ThreadSeries::of_all(self.probe, Overrun::NoDueTimes);
        series.observed = Some(self.observed);
        if self.count == 0 {
            return Ok(Some(series.without_samples()));
        }
        let (median, percentiles) = percentiles_of(&self.percentiles, &ends);
        let values = SummaryFigures {
            ends,
            median,
            percentiles,
        };
        series.measured(SeriesValues::Told(values));
        Ok(Some(series))
    }
}
