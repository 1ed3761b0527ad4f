//! hdparm: its lines of `-T` and `-t`, which tell a rate.

use super::FormatError;
use super::files;
use super::format::{Mark, ToolForm};
use super::lines::NumberedLines;
use super::measured::{Overrun, ThreadSeries, ToolMeasurement};
use worstcase_contract::Nanos;

const TOOL: &str = "hdparm";
const MB: u64 = 1 << 20;
/// hdparm's words for a kind of reads, and worstcase's name of the same.
const KINDS: [(&str, &str); 4] = [
    ("Timing cached reads:", "io+cached"),
    ("Timing buffered disk reads:", "io+buffered"),
    ("Timing O_DIRECT cached reads:", "hdparm-direct-cached"),
    ("Timing O_DIRECT disk reads:", "hdparm-direct"),
];

pub(crate) const FORM: ToolForm = ToolForm {
    name: TOOL,
    mark: |line| kind(line).map(|_| Mark::Row),
    text,
    ..ToolForm::NOTHING
};

fn kind(line: &str) -> Option<(&'static str, &str)> {
    let of = |(said, probe): (&str, &'static str)| Some((probe, line.trim_start().strip_prefix(said)?));
    KINDS.into_iter().find_map(of)
}

/// Reads its lines; several lines of one kind are repetitions.
fn text(lines: &NumberedLines<'_>, _: Option<Nanos>) -> Result<ToolMeasurement, FormatError> {
    let mut measured = ToolMeasurement::new(TOOL, Nanos(10_000_000));
    measured.lacks = vec![
        "latencies and the number of reads: it tells a rate",
        "the size of a file: it reads the device, so that worstcase's usual size stands in its place",
        "how many requests waited at the device, and its I/O scheduler",
    ];
    for (at, line) in lines.iter() {
        if let Some(device) = line.strip_suffix(':').filter(|device| device.starts_with("/dev/")) {
            measured.notes.push(format!("the device is {device}"));
        }
        let Some((probe, told)) = kind(line) else { continue };
        let cut = || FormatError::at(at, "it does not go on with 'MB in ... seconds'; the file was cut");
        let (bytes, elapsed) = rate(told).ok_or_else(cut)?;
        let name = files::io(probe).map_or_else(|| probe.to_string(), |io| io.to_string());
        let mut series = ThreadSeries::of_all(&name, Overrun::NoDueTimes);
        series.repetition = measured.series.iter().filter(|s| s.probe == name).count() as u64;
        series.observed = Some(elapsed);
        series.io = files::details(&name, bytes, elapsed);
        if series.io.is_none() {
            measured
                .notes
                .push(format!("{name}: {} MB in {} s", bytes / MB, elapsed.0 as f64 / 1e9));
        }
        measured.series.push(series);
    }
    Ok(measured)
}

/// `500 MB in  3.01 seconds = 166.22 MB/sec`: bytes, and their time.
fn rate(told: &str) -> Option<(u64, Nanos)> {
    let words: Vec<&str> = told.split_whitespace().collect();
    let [number, "MB", "in", seconds, "seconds", ..] = words[..] else {
        return None;
    };
    let seconds: f64 = seconds.parse().ok()?;
    let is_time = (0.001..1e6).contains(&seconds);
    let elapsed = is_time.then_some(Nanos((seconds * 1e9) as u64))?;
    Some((number.parse::<u64>().ok()?.checked_mul(MB)?, elapsed))
}
