//! rt-tests' pi_stress: how many priority inversions were resolved. It measures no latency.

use super::FormatError;
use super::format::{Mark, ToolForm};
use super::lines::NumberedLines;
use super::measured::{Overrun, ThreadSeries, ToolMeasurement};
use super::text::{RtTestsFile, program, rt_tests};
use serde::Deserialize;
use serde_json::Value;
use worstcase_contract::Nanos;

const TOOL: &str = "pi_stress";
const TOTAL: &str = "Total inversion performed:";
const DURATION: &str = "Test Duration:";

pub(crate) const FORM: ToolForm = ToolForm {
    name: TOOL,
    mark: |line| match line.trim_start() {
        line if line.starts_with("Starting PI Stress Test") => Some(Mark::Begin),
        line if line.starts_with(TOTAL) => Some(Mark::Last(TOTAL)),
        _ => None,
    },
    text,
    is_json: |value| program(value) == Some(TOOL),
    json,
    ..ToolForm::NOTHING
};

#[derive(Deserialize)]
struct PiStressFile {
    inversion: u64,
    #[serde(flatten)]
    file: RtTestsFile<Value>,
}

fn json(content: Value) -> Result<ToolMeasurement, FormatError> {
    let told: PiStressFile = super::text::json(TOOL, content)?;
    let mut measured = rt_tests(TOOL, &told.file);
    finish(&mut measured, told.inversion, None);
    Ok(measured)
}

fn text(lines: &NumberedLines<'_>, _: Option<Nanos>) -> Result<ToolMeasurement, FormatError> {
    let mut measured = ToolMeasurement::new(TOOL, Nanos(1_000));
    let (mut inversions, mut duration) = (None, None);
    for (at, line) in lines.iter() {
        if let Some(told) = line.trim_start().strip_prefix(TOTAL) {
            let wrong = |_| FormatError::at(at, format!("'{}' is no number", told.trim().escape_debug()));
            inversions = Some(told.trim().parse::<u64>().map_err(wrong)?);
        }
        if let Some(told) = line.trim_start().strip_prefix(DURATION) {
            duration = time(told);
        }
        if line.contains("deadlock") {
            measured.doubts.push(format!("pi_stress: {}", line.trim()));
        }
    }
    if let Some(inversions) = inversions {
        finish(&mut measured, inversions, duration);
    }
    Ok(measured)
}

fn finish(measured: &mut ToolMeasurement, inversions: u64, duration: Option<Nanos>) {
    measured
        .lacks
        .push("latencies: it counts priority inversions that were resolved");
    measured
        .notes
        .push(format!("{inversions} priority inversions were resolved"));
    let mut series = ThreadSeries::of_all(TOOL, Overrun::NoDueTimes);
    series.taken = Some(inversions);
    series.observed = duration;
    measured.series.push(series);
}

/// `0 days, 0 hours, 0 minutes, 2 seconds`.
fn time(text: &str) -> Option<Nanos> {
    let units = [("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1_u64)];
    let mut seconds = 0_u64;
    for part in text.split(',') {
        let (number, unit) = part.trim().split_once(' ')?;
        let (_, worth) = units.iter().find(|(name, _)| unit.starts_with(name))?;
        seconds = seconds.checked_add(number.parse::<u64>().ok()?.checked_mul(*worth)?)?;
    }
    seconds.checked_mul(1_000_000_000).map(Nanos)
}
