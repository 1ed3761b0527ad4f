//! `stress-ng --cyclic`: the ends, the mean and some percentiles of each of its processes.

use super::FormatError;
use super::format::{Mark, ToolForm};
use super::lines::NumberedLines;
use super::measured::{Extremes, Overrun, SeriesValues, SummaryFigures, ThreadSeries, ToolMeasurement};
use super::text::{decimal, percentiles_of};
use std::collections::BTreeMap;
use worstcase_contract::Nanos;

const TOOL: &str = "stress-ng";
const PROBE: &str = "stress-ng-cyclic";

pub(crate) const FORM: ToolForm = ToolForm {
    name: TOOL,
    mark,
    text,
    ..ToolForm::NOTHING
};

/// The process and the words of a line of cyclic's.
fn said(line: &str) -> Option<(&str, &str)> {
    let (before, words) = line.split_once("cyclic: ")?;
    let pid = before.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    let is_ours = before.is_empty() || before.starts_with("stress-ng: ");
    is_ours.then_some((pid.map_or("0", |(pid, _)| pid), words.trim()))
}

fn mark(line: &str) -> Option<Mark<'_>> {
    if line.starts_with("stress-ng: ") && line.contains("dispatching hogs:") {
        return line.contains(" cyclic").then_some(Mark::Begin);
    }
    let (pid, words) = said(line)?;
    words.starts_with("sched ").then_some(Mark::Once(pid))
}

/// The lines of one process.
#[derive(Default)]
struct CyclicLines<'a> {
    schedule: &'a str,
    mean: Option<&'a str>,
    ends: Option<(&'a str, &'a str)>,
    percentiles: BTreeMap<&'a str, &'a str>,
    needed: Option<&'a str>,
}

impl<'a> CyclicLines<'a> {
    fn take(&mut self, words: &'a str) {
        let between = |begin: &str, end: &str| Some(words.split_once(begin)?.1.split_once(end)?.0.trim());
        if words.starts_with("sched ") {
            self.schedule = words;
        } else if words.starts_with("mean:") {
            self.mean = between("mean:", " ns");
        } else if words.starts_with("min:") {
            self.ends = between("min:", " ns").zip(between("max:", " ns"));
        } else if words.starts_with("Note: --cyclic-samples needed to be") {
            self.needed = between("needed to be ", " to capture");
        } else if let Some((percent, value)) = words.split_once("%:") {
            self.percentiles
                .insert(percent.trim(), value.trim_end_matches(" ns").trim());
        }
    }

    fn series(&self, nth: u32) -> Result<ThreadSeries, FormatError> {
        let cut = |what: &str| FormatError::new(format!("it tells no {what} of a process of cyclic; the file was cut"));
        let time = |word: &str| {
            let wrong = || FormatError::new(format!("'{}' is no time", word.escape_debug()));
            decimal(word, 1).ok_or_else(wrong)
        };
        let count = self
            .schedule
            .rsplit_once(", ")
            .and_then(|(_, count)| count.strip_suffix(" samples"));
        let count: u64 = count
            .and_then(|count| count.parse().ok())
            .ok_or_else(|| cut("number of samples"))?;
        let mut series = ThreadSeries::of_all(PROBE, Overrun::NoDueTimes);
        series.cpu = Some(nth);
        if let Some(needed) = self.needed {
            series.doubts.push(format!(
                "stress-ng kept {count} of {needed} samples: --cyclic-samples is too small"
            ));
        }
        if count == 0 {
            return Ok(series.without_samples());
        }
        let (min, max) = self.ends.ok_or_else(|| cut("minimum and maximum"))?;
        let ends = Extremes {
            count,
            min: Some(time(min)?),
            mean: Some(time(self.mean.ok_or_else(|| cut("mean"))?)?),
            max: time(max)?,
        };
        let mut told: BTreeMap<String, u64> = BTreeMap::new();
        for (percent, value) in &self.percentiles {
            told.insert(percent.to_string(), time(value)?.0);
        }
        let (median, percentiles) = percentiles_of(&told, &ends);
        let values = SummaryFigures {
            ends,
            median,
            percentiles,
        };
        series.measured(SeriesValues::Told(values));
        Ok(series)
    }
}

fn text(lines: &NumberedLines<'_>, _: Option<Nanos>) -> Result<ToolMeasurement, FormatError> {
    let mut processes: Vec<(&str, CyclicLines<'_>)> = Vec::new();
    for (at, line) in lines.iter().filter(|(_, line)| line.contains("cyclic: ")) {
        let what = "something stands before a line of stress-ng's; put it before every line, or before none";
        let (pid, words) = said(line).ok_or_else(|| FormatError::at(at, what))?;
        let place = processes.iter().position(|(known, _)| *known == pid);
        let place = place.unwrap_or_else(|| {
            processes.push((pid, CyclicLines::default()));
            processes.len() - 1
        });
        processes[place].1.take(words);
    }
    let mut measured = ToolMeasurement::new(TOOL, Nanos(1));
    measured
        .lacks
        .push("the CPUs of the processes; their numbers stand in place");
    for (nth, (_, process)) in (0..).zip(processes.iter().filter(|(_, process)| !process.schedule.is_empty())) {
        measured.notes.push(process.schedule.to_string());
        measured.series.push(process.series(nth)?);
    }
    Ok(measured)
}
