//! rtla: `timerlat hist` and `top`, `osnoise hist` and `top`.

mod hist;
mod top;

use super::FormatError;
use super::format::{Mark, ToolForm};
use super::lines::NumberedLines;
use super::measured::{Overrun, SeriesValues, ThreadSeries, ToolMeasurement};
use worstcase_contract::Nanos;
use worstcase_results::record::Quantity;

/// Longest auto-analysis that is kept.
const NOTES: usize = 200;
const MISSED: &str = "events missed, results might not be accurate";

pub(crate) const TIMERLAT: ToolForm = ToolForm {
    name: "timerlat",
    mark: |line| mark(line, TIMERLAT_TITLES),
    text: timerlat,
    repeats: true,
    ..ToolForm::NOTHING
};

pub(crate) const OSNOISE: ToolForm = ToolForm {
    name: "osnoise",
    mark: |line| mark(line, OSNOISE_TITLES),
    text: osnoise,
    repeats: true,
    ..ToolForm::NOTHING
};

const TIMERLAT_TITLES: &[&str] = &["# RTLA timerlat histogram", "Timer Latency"];
const OSNOISE_TITLES: &[&str] = &[
    "# RTLA osnoise histogram",
    "Operating System Noise",
    "Hardware-related Noise",
];

/// A table begins with its title; on a terminal the cursor moves before it.
fn mark<'a>(line: &'a str, titles: &[&str]) -> Option<Mark<'a>> {
    let line = line.rsplit('\u{1b}').next()?.trim();
    let is_title = titles
        .iter()
        .any(|title| line.strip_suffix(title).is_some_and(|before| before.len() <= 4));
    is_title.then_some(Mark::Once("title"))
}

/// Reads what `rtla timerlat` prints.
fn timerlat(lines: &NumberedLines<'_>, _: Option<Nanos>) -> Result<ToolMeasurement, FormatError> {
    match lines.contain("RTLA timerlat histogram") {
        true => hist::timerlat(lines),
        false => top::timerlat(lines),
    }
}

/// Reads what `rtla osnoise` or `rtla hwnoise` prints.
fn osnoise(lines: &NumberedLines<'_>, _: Option<Nanos>) -> Result<ToolMeasurement, FormatError> {
    match lines.contain("RTLA osnoise histogram") {
        true => hist::osnoise(lines),
        false => top::osnoise(lines),
    }
}

/// What rtla says against its numbers.
fn missed(lines: &NumberedLines<'_>) -> Vec<String> {
    let said = lines.texts().filter(|line| line.contains(MISSED));
    said.map(|line| format!("rtla: {}", line.trim())).collect()
}

/// Adds what timerlat's column is: interrupt and thread are of one instrument, the way back to user space of another.
fn add_timerlat(all: &mut Vec<ThreadSeries>, cpu: u32, column: RtlaColumn, values: Option<SeriesValues>) {
    let (probe, quantity) = match column {
        RtlaColumn::Irq => ("timerlat", Quantity::IrqLatency),
        RtlaColumn::Thread => ("timerlat", Quantity::Latency),
        RtlaColumn::User => ("timerlat-user", Quantity::Latency),
    };
    let place = all.iter().position(|s| s.probe == probe && s.cpu == Some(cpu));
    let place = place.unwrap_or_else(|| {
        all.push(ThreadSeries::new(probe, cpu, Overrun::Skips));
        all.len() - 1
    });
    match values {
        Some(values) => drop(all[place].quantities.insert(quantity, values)),
        None => {
            let doubt = format!("{}: it took no sample of its {quantity}", all[place].name());
            all[place].doubts.push(doubt);
        }
    }
}

/// The meaning of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RtlaColumn {
    Irq,
    Thread,
    User,
}

/// The analysis that rtla prints after its numbers when it was told to stop at a latency.
///
/// It is kept as it is, but a time or a share in it must be a number.
fn analysis(lines: &NumberedLines<'_>) -> Result<Vec<String>, FormatError> {
    let lines = lines.texts().skip_while(|line| !line.contains("hit stop tracing"));
    let lines = lines.filter(|line| !line.contains(MISSED));
    let lines: Vec<String> = lines.map(|line| line.trim_end().to_string()).collect();
    let end = lines
        .iter()
        .rposition(|line| !line.is_empty())
        .map_or(0, |last| last + 1);
    let lines: Vec<String> = lines.into_iter().take(end.min(NOTES)).collect();
    match lines.iter().find_map(|line| not_finite(line)) {
        Some(word) => Err(FormatError::new(format!(
            "its analysis tells a time or share of '{}'; the file is damaged",
            word.escape_debug()
        ))),
        None => Ok(lines),
    }
}

/// A word before `us` or `%` in a line that is a float, but no number.
fn not_finite(line: &str) -> Option<&str> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_unit = |word: &str| word.starts_with("us") || word.starts_with('%');
    (0..words.len()).find_map(|at| {
        let number = words[at].trim_start_matches('(');
        let number = match words.get(at + 1) {
            Some(next) if is_unit(next) => number,
            _ => number.split_once('%')?.0,
        };
        number
            .parse::<f64>()
            .is_ok_and(|value| !value.is_finite())
            .then_some(number)
    })
}

/// A unit in the words of a heading, in ns.
fn unit(lines: &NumberedLines<'_>) -> u64 {
    let is_ns = lines.contain("(ns)") || lines.contain("time is in ns");
    if is_ns { 1 } else { 1_000 }
}
