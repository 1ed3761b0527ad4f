//! rtla: `timerlat hist` and `top`, `osnoise hist` and `top`.

mod hist;
mod top;

use super::FormatError;
use super::measured::{Overrun, SeriesValues, ThreadSeries, ToolMeasurement};
use worstcase_results::record::Quantity;

/// Longest auto-analysis that is kept.
const NOTES: usize = 200;

/// Reads what `rtla timerlat` prints.
pub(crate) fn timerlat(text: &str) -> Result<ToolMeasurement, FormatError> {
    match text.contains("RTLA timerlat histogram") {
        true => hist::timerlat(text),
        false => top::timerlat(text),
    }
}

/// Reads what `rtla osnoise` or `rtla hwnoise` prints.
pub(crate) fn osnoise(text: &str) -> Result<ToolMeasurement, FormatError> {
    match text.contains("RTLA osnoise histogram") {
        true => hist::osnoise(text),
        false => top::osnoise(text),
    }
}

/// Adds what timerlat's column is: interrupt and thread are of one instrument, the way back to user space of another.
fn add_timerlat(all: &mut Vec<ThreadSeries>, cpu: u32, column: RtlaColumn, values: SeriesValues) {
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
    all[place].quantities.insert(quantity, values);
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
fn analysis(text: &str) -> Result<Vec<String>, FormatError> {
    let lines = text.lines().skip_while(|line| !line.contains("hit stop tracing"));
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
fn unit(text: &str) -> u64 {
    let is_ns = text.contains("(ns)") || text.contains("time is in ns");
    if is_ns { 1 } else { 1_000 }
}
