//! cyclictest: its JSON, its histograms, its lines of a thread each, and its verbose samples.

mod histogram;
mod json;
mod options;
mod text;
mod thread;

use super::format::{Mark, ToolForm};
use super::measured::{Overrun, SeriesValues, ThreadSeries};
use super::text::program;
use worstcase_contract::Nanos;

const TOOL: &str = "cyclictest";

pub(crate) const FORM: ToolForm = ToolForm {
    name: TOOL,
    mark,
    text: text::text,
    is_json: |value| program(value) == Some(TOOL),
    json: json::json,
    ..ToolForm::NOTHING
};

fn mark(line: &str) -> Option<Mark<'_>> {
    if let Some((number, pid)) = thread::numbers(line) {
        return Some(Mark::Of(number, pid));
    }
    if histogram::is_heading(line) {
        return Some(Mark::Last("# Histogram"));
    }
    let is_begin = line.starts_with("# /dev/cpu_dma_latency set to") || line.starts_with("Max CPUs = ");
    let begin = is_begin.then_some(Mark::Begin);
    let is_filled = line.contains(": ");
    begin.or_else(|| text::sample(line).map(|_| if is_filled { Mark::Row } else { Mark::Maybe }))
}

/// A thread's series, if it took samples.
fn series(cpu: u32, period: Option<Nanos>, priority: Option<u8>, values: Option<SeriesValues>) -> ThreadSeries {
    let mut series = ThreadSeries::new("wakeup", cpu, Overrun::Skips);
    series.period = period;
    series.priority = priority;
    match values {
        Some(values) => series.measured(values),
        None => return series.without_samples(),
    }
    series
}
