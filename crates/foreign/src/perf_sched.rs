//! `perf sched latency`: a line for each task, or for all of one name.

use super::FormatError;
use super::files::own_name;
use super::format::{Mark, ToolForm};
use super::lines::NumberedLines;
use super::measured::{Extremes, Overrun, SeriesValues, ThreadSeries, ToolMeasurement};
use super::text::exact;
use worstcase_contract::Nanos;
use worstcase_results::record::Rounding;

const TOOL: &str = "perf sched latency";
const MS: u64 = 1_000_000;

pub(crate) const FORM: ToolForm = ToolForm {
    name: "perf-sched",
    mark: |line| is_heading(line).then_some(Mark::Once("heading")),
    text,
    ..ToolForm::NOTHING
};

fn is_heading(line: &str) -> bool {
    let mut columns = line.split('|').map(str::trim);
    columns.next() == Some("Task") && columns.next() == Some("Runtime ms")
}

fn text(lines: &NumberedLines<'_>, _: Option<Nanos>) -> Result<ToolMeasurement, FormatError> {
    let mut measured = ToolMeasurement::new(TOOL, Nanos(1_000));
    measured.rounding = Rounding::Middle;
    measured.lacks = vec![
        "the CPUs of a task",
        "the priority of a task: an ordinary one may wait for long",
        "the smallest delay",
    ];
    let mut total = None;
    for (at, line) in lines.iter().skip_while(|(_, line)| !is_heading(line)).skip(1) {
        let line = line.trim();
        let columns: Vec<&str> = line.split('|').map(str::trim).collect();
        if let Some((_, said)) = line.split_once("INFO: ") {
            measured.doubts.push(format!("perf: {said}"));
        } else if columns[0] == "TOTAL:" {
            let count = columns.get(2).and_then(|word| word.parse::<u64>().ok());
            total = Some(count.ok_or_else(|| FormatError::at(at, "its total is no number"))?);
        } else if !line.is_empty() && !line.starts_with("---") && total.is_none() {
            let what = || FormatError::at(at, format!("'{}' is no line of a task", line.escape_debug()));
            measured.series.push(task(&columns).ok_or_else(what)?);
        }
    }
    let held: u64 = measured
        .series
        .iter()
        .filter_map(|series| series.taken)
        .fold(0, u64::saturating_add);
    match total {
        Some(total) if total == held => Ok(measured),
        Some(total) => Err(FormatError::new(format!(
            "its tasks were switched {held} times, of {total}; lines are missing"
        ))),
        None => Err(FormatError::new("it ends without its line 'TOTAL:'; the file was cut")),
    }
}

/// `rustc:(2) | 653.183 ms | 162 | avg: 8.328 ms | max: 16.091 ms | ...`.
fn task(columns: &[&str]) -> Option<ThreadSeries> {
    let [name, runtime, count, mean, max, ..] = columns else {
        return None;
    };
    runtime.strip_suffix(" ms")?;
    let time = |column: &str, name: &str| {
        let word = column.trim_start().strip_prefix(name)?.trim().strip_suffix(" ms")?;
        exact(word.trim(), MS)
    };
    let ends = Extremes {
        count: count.parse().ok()?,
        min: None,
        mean: Some(time(mean, "avg:")?),
        max: time(max, "max:")?,
    };
    let mut series = ThreadSeries::of_all(&own_name(&["perf-sched", name]), Overrun::NoDueTimes);
    series.taken = Some(ends.count);
    series.measured(SeriesValues::Extremes(ends));
    Some(series)
}
