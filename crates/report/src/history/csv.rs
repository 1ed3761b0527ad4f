//! `worstcase history --csv`: a line for each point, for spreadsheets and data frames.

use worstcase_base::format::plain;
use worstcase_results::history::{History, Line, Measure, Point, Typical};

const HEADER: [&str; 16] = [
    "line",
    "machine",
    "began",
    "kernel",
    "run",
    "samples",
    "observation_ns",
    "measure",
    "measure_ns",
    "max_ns",
    "expected",
    "missed",
    "lost",
    "changed_measure",
    "changed_max",
    "changed_missed",
];

/// The whole table; an absent value is an empty field.
pub fn run(history: &History) -> Result<String, ::csv::Error> {
    let mut out = ::csv::Writer::from_writer(Vec::new());
    out.write_record(HEADER)?;
    for line in &history.lines {
        for (at, point) in line.points.iter().enumerate() {
            out.write_record(row(line, at, point))?;
        }
    }
    let bytes = out.into_inner().map_err(|e| e.into_error())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn row(line: &Line, at: usize, point: &Point) -> [String; HEADER.len()] {
    let maybe = |value: Option<u64>| value.map_or(String::new(), |v| v.to_string());
    let typical = line.typical().map_or(Measure::Typical(Typical::Median), |s| s.measure);
    let changed = |is: fn(Measure) -> bool| {
        let change = line.series_of(is).and_then(|s| s.found().iter().find(|c| c.at == at));
        change.map_or(String::new(), |c| if c.is_rise() { "rose" } else { "fell" }.to_string())
    };
    [
        plain(&line.key.name(false)),
        plain(&line.key.machine),
        point.began.map_or(String::new(), |began| began.to_string()),
        plain(&point.kernel),
        plain(&point.run.display().to_string()),
        point.samples.to_string(),
        point.observation.0.to_string(),
        typical.name().to_string(),
        maybe(typical.of(point)),
        maybe(point.max_ns),
        point.expected.to_string(),
        maybe(point.missed),
        point.lost.to_string(),
        changed(|m| matches!(m, Measure::Typical(_))),
        changed(|m| m == Measure::Max),
        changed(|m| m == Measure::Missed),
    ]
}
