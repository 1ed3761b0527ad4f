//! rt-tests' signaltest and cyclicdeadline: a line for each thread, nearly as cyclictest's, or JSON.

use super::FormatError;
use super::format::{Mark, ToolForm};
use super::lines::NumberedLines;
use super::measured::{Extremes, Overrun, SeriesValues, ThreadSeries, ToolMeasurement};
use super::text::{RtTestsFile, check_later, field, of_float, program, rt_tests, rt_thread, whole};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use worstcase_contract::Nanos;

const US: u64 = 1_000;
const NO_CPUS: &str = "the CPUs of the threads; their numbers stand in place";

/// One of the two.
struct RtThreadTool {
    name: &'static str,
    overrun: Overrun,
    /// Which fields its lines have of the priority and the interval.
    has: (bool, bool),
}

const SIGNAL: RtThreadTool = RtThreadTool {
    name: "signaltest",
    overrun: Overrun::NoDueTimes,
    has: (true, false),
};
const DEADLINE: RtThreadTool = RtThreadTool {
    name: "cyclicdeadline",
    overrun: Overrun::Skips,
    has: (false, true),
};

pub(crate) const SIGNALTEST: ToolForm = ToolForm {
    name: SIGNAL.name,
    mark: |line| SIGNAL.thread(line).map(|(number, pid, _)| Mark::Of(number, pid)),
    text: |lines, _| SIGNAL.text(lines),
    is_json: |value| program(value) == Some(SIGNAL.name),
    json: |value| SIGNAL.json(value),
    ..ToolForm::NOTHING
};
pub(crate) const CYCLICDEADLINE: ToolForm = ToolForm {
    name: DEADLINE.name,
    mark: |line| DEADLINE.thread(line).map(|(number, pid, _)| Mark::Of(number, pid)),
    text: |lines, _| DEADLINE.text(lines),
    is_json: |value| program(value) == Some(DEADLINE.name),
    json: |value| DEADLINE.json(value),
    ..ToolForm::NOTHING
};

#[derive(Deserialize)]
struct RtThreadJson {
    cycles: u64,
    min: u64,
    max: u64,
    /// Absent if there was no sample.
    avg: Option<f64>,
    #[serde(default)]
    cpu: Option<i64>,
}

impl RtThreadTool {
    /// A line of one of its threads, in its parts.
    fn thread<'a>(&self, line: &'a str) -> Option<(&'a str, &'a str, &'a str)> {
        let has = |fields: &str| (fields.contains("P:"), fields.contains("I:"));
        rt_thread(line).filter(|(_, _, fields)| has(fields) == self.has && !fields.contains("A:"))
    }

    fn text(&self, lines: &NumberedLines<'_>) -> Result<ToolMeasurement, FormatError> {
        let mut last: BTreeMap<u32, (Extremes, ThreadSeries)> = BTreeMap::new();
        for (at, line) in lines.iter() {
            let Some((number, _, fields)) = self.thread(line) else {
                continue;
            };
            let cut = || FormatError::at(at, "a thread's line does not go on to 'Max:'; the file was cut");
            let number: u32 = number.parse().map_err(|_| cut())?;
            let of = |name: &str| field(fields, name).and_then(|word| word.parse::<u64>().ok());
            let time = |name: &str| of(name).and_then(|us| whole(us, US).ok()).ok_or_else(cut);
            let ends = Extremes {
                count: of("C:").ok_or_else(cut)?,
                min: Some(time("Min:")?),
                mean: Some(time("Avg:")?),
                max: time("Max:")?,
            };
            check_later(at, last.get(&number).map(|(before, _)| before), &ends)?;
            let mut series = self.series(number, ends);
            series.period = of("I:").and_then(|us| whole(us, US).ok());
            series.priority = of("P:").and_then(|n| u8::try_from(n).ok()).filter(|n| *n > 0);
            last.insert(number, (ends, series));
        }
        let mut measured = ToolMeasurement::new(self.name, Nanos(US));
        measured.lacks.push(NO_CPUS);
        measured.series = last.into_values().map(|(_, series)| series).collect();
        Ok(measured)
    }

    fn json(&self, content: Value) -> Result<ToolMeasurement, FormatError> {
        let file: RtTestsFile<RtThreadJson> = super::text::json(self.name, content)?;
        let mut measured = rt_tests(self.name, &file);
        for (number, told) in &file.thread {
            let no_mean = || FormatError::new(format!("the mean of thread {number} is no time"));
            let mean = match told.cycles {
                0 => Nanos(0),
                _ => told.avg.and_then(|avg| of_float(avg, US)).ok_or_else(no_mean)?,
            };
            let ends = Extremes {
                count: told.cycles,
                min: Some(whole(told.min, US)?),
                mean: Some(mean),
                max: whole(told.max, US)?,
            };
            let cpu = told.cpu.and_then(|cpu| u32::try_from(cpu).ok());
            measured
                .series
                .push(self.series(cpu.filter(|_| self.has_cpus(&file)).unwrap_or(*number), ends));
        }
        if !self.has_cpus(&file) {
            measured.lacks.push(NO_CPUS);
        }
        Ok(measured)
    }

    /// signaltest names one CPU for all of its threads, which then cannot tell them apart.
    fn has_cpus(&self, file: &RtTestsFile<RtThreadJson>) -> bool {
        let mut cpus: Vec<i64> = file.thread.values().filter_map(|told| told.cpu).collect();
        cpus.sort_unstable();
        cpus.dedup();
        cpus.len() == file.thread.len()
    }

    fn series(&self, cpu: u32, ends: Extremes) -> ThreadSeries {
        let mut series = ThreadSeries::new(self.name, cpu, self.overrun);
        if ends.count == 0 {
            return series.without_samples();
        }
        series.measured(SeriesValues::Extremes(ends));
        series
    }
}
