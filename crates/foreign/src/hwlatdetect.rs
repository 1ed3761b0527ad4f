//! rt-tests' hwlatdetect: gaps that the hardware makes, seen by the kernel's hwlat tracer.

use super::FormatError;
use super::format::{Mark, ToolForm};
use super::lines::NumberedLines;
use super::measured::{Extremes, Overrun, SeriesValues, ThreadSeries, ToolMeasurement};
use super::text::whole;
use std::collections::BTreeMap;
use worstcase_contract::Nanos;

const TOOL: &str = "hwlatdetect";
const US: u64 = 1_000;
const BEGIN: &str = "hwlatdetect:  test duration";
const MISSING: &str = "DetectorNotAvailable:";

pub(crate) const FORM: ToolForm = ToolForm {
    name: TOOL,
    mark: |line| match line {
        line if line.starts_with(BEGIN) => Some(Mark::Begin),
        line if line.starts_with(MISSING) => Some(Mark::Last(MISSING)),
        line if line.starts_with("Max Latency:") => Some(Mark::Once("Max Latency:")),
        line if sample(line).is_some() => Some(Mark::Row),
        _ => None,
    },
    text,
    ..ToolForm::NOTHING
};

fn text(lines: &NumberedLines<'_>, _: Option<Nanos>) -> Result<ToolMeasurement, FormatError> {
    let mut facts: BTreeMap<&str, (usize, &str)> = BTreeMap::new();
    let mut samples: Vec<u64> = Vec::new();
    for (at, line) in lines.iter() {
        if let Some(why) = line.strip_prefix(MISSING) {
            return Err(FormatError::at(
                at,
                format!("hwlatdetect measured nothing: {}", why.trim()),
            ));
        }
        if let Some((inner, outer)) = sample(line) {
            samples.push(inner.max(outer));
        } else if let Some((name, value)) = line.trim().split_once(':') {
            facts.insert(name, (at, value.trim()));
        }
    }
    let told = |name: &str| -> Result<(usize, &str), FormatError> {
        let missing = || FormatError::new(format!("it ends without '{name}:'; the file was cut"));
        facts.get(name).copied().ok_or_else(missing)
    };
    let number = |name: &str, unit: &str| -> Result<u64, FormatError> {
        let (at, word) = told(name)?;
        let wrong = |_| FormatError::at(at, format!("'{}' is no number", word.escape_debug()));
        word.trim_end_matches(unit).parse().map_err(wrong)
    };
    let count = number("Samples recorded", "")?;
    let mut measured = ToolMeasurement::new(TOOL, Nanos(US));
    let mut series = ThreadSeries::of_all(TOOL, Overrun::NoDueTimes);
    series.observed = watched(&facts);
    series.taken = Some(count);
    measured.lacks = vec![
        "the CPU of a gap: its thread goes from CPU to CPU",
        "gaps below its threshold",
        "the kernel's own delays: it looks with interrupts disabled",
    ];
    for name in [
        "Latency threshold",
        "Sample window",
        "Sample width",
        "SMI count",
        "SMIs during run",
    ] {
        measured
            .notes
            .extend(facts.get(name).map(|(_, value)| format!("{name}: {value}")));
    }
    if !told("Max Latency")?.1.starts_with("Below threshold") {
        let max = number("Max Latency", "us")?;
        if samples.len() as u64 != count && !samples.is_empty() || samples.iter().max().is_some_and(|most| *most != max)
        {
            return Err(FormatError::new(format!(
                "it tells of {count} samples up to {max} us, and lists {} up to {} us; lines are missing",
                samples.len(),
                samples.iter().max().unwrap_or(&0)
            )));
        }
        let ends = Extremes {
            count,
            min: None,
            mean: None,
            max: whole(max, US)?,
        };
        series.measured(SeriesValues::Extremes(ends));
    }
    measured.series.push(series);
    Ok(measured)
}

/// The share of its time in which it looked.
fn watched(facts: &BTreeMap<&str, (usize, &str)>) -> Option<Nanos> {
    let us = |name: &str| facts.get(name)?.1.strip_suffix("us")?.parse::<u64>().ok();
    let (_, duration) = facts.get(TOOL)?;
    let seconds: u64 = duration
        .strip_prefix("test duration")?
        .trim()
        .strip_suffix(" seconds")?
        .parse()
        .ok()?;
    let (window, width) = (us("Sample window")?, us("Sample width")?);
    let ns = u128::from(seconds) * 1_000_000_000 * u128::from(width) / u128::from(window).max(1);
    u64::try_from(ns).ok().map(Nanos)
}

/// `ts: 1789000001.100200300, inner:0, outer:118`, in us.
fn sample(line: &str) -> Option<(u64, u64)> {
    let rest = line.trim().strip_prefix("ts: ")?;
    let (_, rest) = rest.split_once(", inner:")?;
    let (inner, outer) = rest.split_once(", outer:")?;
    Some((inner.parse().ok()?, outer.parse().ok()?))
}
