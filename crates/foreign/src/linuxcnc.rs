//! LinuxCNC's latency test: of each of its threads the longest interval, and how far an interval was off.

use super::FormatError;
use super::format::{Mark, ToolForm};
use super::lines::NumberedLines;
use super::measured::{Extremes, Overrun, SeriesValues, ThreadSeries, ToolMeasurement};
use super::text::exact;
use std::collections::BTreeMap;
use worstcase_contract::Nanos;

const TOOL: &str = "linuxcnc";
const THREADS: [(&str, &str); 2] = [("Servo thread (", "linuxcnc-servo"), ("Base thread (", "linuxcnc-base")];

pub(crate) const FORM: ToolForm = ToolForm {
    name: TOOL,
    mark: |line| match line.trim() {
        "Note: Using POSIX realtime" => Some(Mark::Begin),
        line => thread(line).map(|(probe, _)| Mark::Once(probe)),
    },
    text,
    ..ToolForm::NOTHING
};

fn thread(line: &str) -> Option<(&'static str, &str)> {
    let of = |(begin, probe): (&str, &'static str)| Some((probe, line.trim().strip_prefix(begin)?));
    THREADS
        .into_iter()
        .find_map(of)
        .filter(|(_, rest)| rest.contains("max interval"))
}

fn text(lines: &NumberedLines<'_>, _: Option<Nanos>) -> Result<ToolMeasurement, FormatError> {
    let mut measured = ToolMeasurement::new(TOOL, Nanos(1));
    measured.lacks = vec!["the number of samples, 0 stands in its place, and the observation time"];
    let mut threads: BTreeMap<&str, ThreadSeries> = BTreeMap::new();
    for (at, line) in lines.iter() {
        let Some((probe, told)) = thread(line) else { continue };
        let cut = || {
            FormatError::at(
                at,
                "a thread's line does not go on to 'max jitter ... ns'; the file was cut",
            )
        };
        let (period, max) = ends(told).ok_or_else(cut)?;
        let mut series = ThreadSeries::of_all(probe, Overrun::NoDueTimes);
        series.period = Some(period);
        series.doubts.push("how many samples it took is not known".into());
        let ends = Extremes {
            count: 0,
            min: None,
            mean: None,
            max,
        };
        series.measured(SeriesValues::Extremes(ends));
        threads.insert(probe, series);
    }
    measured.series = threads.into_values().collect();
    Ok(measured)
}

/// `1.0ms): max interval 1010921 ns, max jitter 10921 ns, last 999812 ns`: the interval, and the jitter.
fn ends(told: &str) -> Option<(Nanos, Nanos)> {
    let (period, rest) = told.split_once("):")?;
    let units = [("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)];
    let period = units
        .iter()
        .find_map(|(unit, ns)| exact(period.strip_suffix(unit)?, *ns))?;
    let jitter = rest.split_once("max jitter ")?.1.split_once(" ns")?.0;
    Some((period, Nanos(jitter.parse().ok()?)))
}
