//! Summaries: a line for each CPU. They are printed again and again, each a run that the next continues.

use super::{RtlaColumn, add_timerlat, analysis, missed, unit};
use crate::FormatError;
use crate::lines::NumberedLines;
use crate::measured::{Extremes, Overrun, SeriesValues, ThreadSeries, ToolMeasurement};
use crate::text::{days_and_time, decimal, whole};
use std::collections::BTreeMap;
use worstcase_contract::Nanos;
use worstcase_results::record::GapAccount;

const TIMERLAT: [RtlaColumn; 3] = [RtlaColumn::Irq, RtlaColumn::Thread, RtlaColumn::User];
/// Names of osnoise's columns after the largest single noise, of `rtla osnoise` and of `rtla hwnoise`.
const CAUSES: [&str; 5] = ["HW", "NMI", "IRQ", "Softirq", "Thread"];

/// `rtla timerlat top`.
pub(super) fn timerlat(text: &NumberedLines<'_>) -> Result<ToolMeasurement, FormatError> {
    let unit = unit(text);
    let mut cpus: BTreeMap<u32, Vec<(RtlaColumn, Option<Extremes>)>> = BTreeMap::new();
    for (at, line) in text.iter() {
        let Some((cpu, count, rest)) = row(at, line)? else {
            continue;
        };
        let mut columns = Vec::new();
        for (column, block) in TIMERLAT.into_iter().zip(rest.split('|').skip(1)) {
            let words: Vec<&str> = block.split_whitespace().collect();
            let [_, min, mean, max] = words[..] else {
                return Err(FormatError::at(
                    at,
                    "a CPU's line has not 'cur min avg max' in each block; it was cut",
                ));
            };
            if max == "-" {
                columns.push((column, None));
                continue;
            }
            let time = |word| {
                let wrong = || FormatError::at(at, format!("'{}' is no time", str::escape_debug(word)));
                decimal(word, unit).ok_or_else(wrong)
            };
            let (min, mean, max) = (time(min)?, time(mean)?, time(max)?);
            let ends = Extremes {
                count,
                min: Some(min),
                mean: Some(mean),
                max,
            };
            columns.push((column, Some(ends)));
        }
        cpus.insert(cpu, columns);
    }
    let mut measured = ToolMeasurement::new("rtla timerlat", Nanos(unit));
    measured.notes = analysis(text)?;
    measured.doubts = missed(text);
    for (cpu, columns) in cpus {
        for (column, ends) in columns {
            add_timerlat(&mut measured.series, cpu, column, ends.map(SeriesValues::Extremes));
        }
    }
    let duration = text
        .texts()
        .rev()
        .find_map(|line| days_and_time(line.split_once('|')?.0));
    for series in &mut measured.series {
        series.observed = duration;
    }
    Ok(measured)
}

/// `rtla osnoise top`, `rtla hwnoise`.
pub(super) fn osnoise(text: &NumberedLines<'_>) -> Result<ToolMeasurement, FormatError> {
    let unit = unit(text);
    let mut cpus: BTreeMap<u32, ThreadSeries> = BTreeMap::new();
    for (at, line) in text.iter() {
        let Some((cpu, _, rest)) = row(at, line)? else { continue };
        let words: Vec<&str> = rest.split_whitespace().collect();
        let [runtime, noise, _, _, single, ref causes @ ..] = words[..] else {
            return Err(FormatError::at(at, "a CPU's line ends before 'Max Single'; it was cut"));
        };
        let time = |word: &str| -> Result<u64, FormatError> {
            let number = word.parse();
            let number = number.map_err(|_| FormatError::at(at, format!("'{}' is no time", word.escape_debug())))?;
            Ok(whole(number, unit)?.0)
        };
        let mut series = ThreadSeries::new("noise", cpu, Overrun::NoDueTimes);
        series.gaps = Some(GapAccount {
            observed_ns: time(runtime)?,
            gaps: 0,
            lost: 0,
            noise_ns: time(noise)?,
            max_single_ns: time(single)?,
        });
        for (name, count) in CAUSES.into_iter().zip(causes) {
            series.counts.insert(format!("osnoise {name}"), count.to_string());
        }
        cpus.insert(cpu, series);
    }
    let mut measured = ToolMeasurement::new("rtla osnoise", Nanos(unit));
    measured
        .lacks
        .push("single gaps: their number, their lengths, and when they were");
    measured.notes = analysis(text)?;
    measured.doubts = missed(text);
    measured.series = cpus.into_values().collect();
    Ok(measured)
}

/// `1 #12322 ...`: the CPU, a count, and the rest; nothing of another line.
fn row(at: usize, line: &str) -> Result<Option<(u32, u64, &str)>, FormatError> {
    let Some((cpu, rest)) = line.trim_start().split_once(" #") else {
        return Ok(None);
    };
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    match (cpu.trim().parse(), rest[..end].parse()) {
        (Ok(cpu), Ok(count)) => Ok(Some((cpu, count, &rest[end..]))),
        // The sum of all CPUs, and words of the analysis.
        _ if end == 0 || cpu.trim() == "ALL" => Ok(None),
        _ => Err(FormatError::at(
            at,
            format!("'{}' is no line of a CPU", line.trim().escape_debug()),
        )),
    }
}
