//! bonnie++: its lines of comma-separated values, a repetition a line. Its own heading has 48 names for the 50 columns of
//! version 1.98: it lacks the number of seeks and the number of processes that seek.

use super::FormatError;
use super::files;
use super::format::{Mark, ToolForm};
use super::lines::NumberedLines;
use super::measured::{Extremes, Overrun, SeriesValues, ThreadSeries, ToolMeasurement};
use worstcase_contract::Nanos;

const TOOL: &str = "bonnie++";
/// Columns from 1.98 on, and before it.
const COLUMNS: usize = 50;
const FORMER_COLUMNS: usize = 48;
/// Stands for a rate that is too high to be printed.
const TOO_FAST: char = '+';
const CHUNK: u64 = 8_192;
const KIB: u64 = 1_024;

/// The tests of bonnie++, in the order of its columns.
const WITH_A_FILE: [&str; 5] = ["putc", "write", "rewrite", "getc", "read"];
const WITH_FILES: [&str; 6] = ["create", "stat", "delete", "rcreate", "rstat", "rdelete"];

pub(crate) const FORM: ToolForm = ToolForm {
    name: TOOL,
    mark: |line| is_line(line).then_some(Mark::Row),
    text,
    ..ToolForm::NOTHING
};

fn is_line(line: &str) -> bool {
    let mut columns = line.split(',');
    let is_format = columns.next().is_some_and(|word| word.starts_with("1.9"));
    is_format && columns.next().is_some_and(|word| word.starts_with(['1', '2'])) && columns.count() > 20
}

/// Reads its lines.
fn text(lines: &NumberedLines<'_>, _: Option<Nanos>) -> Result<ToolMeasurement, FormatError> {
    let mut measured = ToolMeasurement::new(TOOL, Nanos(1_000));
    measured.lacks = vec!["how many requests waited at the device, and its I/O scheduler"];
    let lines = lines.iter().filter(|(_, line)| is_line(line));
    for (repetition, (at, line)) in (0..).zip(lines) {
        let columns = Columns::of(line).ok_or_else(|| {
            let found = line.split(',').count();
            FormatError::at(
                at,
                format!("{found} columns, where bonnie++ has {COLUMNS} ({FORMER_COLUMNS} before 1.98); it was cut"),
            )
        })?;
        measured.version = Some(columns.text(1).to_string());
        measured.machine.host = Some(columns.text(2).to_string()).filter(|name| !name.is_empty());
        let series = columns.series().map_err(|what| FormatError::at(at, what))?;
        for (unit, one) in series {
            measured.resolution = measured.resolution.max(unit);
            measured.series.push(ThreadSeries { repetition, ..one });
        }
    }
    Ok(measured)
}

/// A line's values: the columns up to the results, rates, and the longest of each.
struct Columns<'a> {
    before: Vec<&'a str>,
    with_a_file: Vec<&'a str>,
    files: &'a str,
    with_files: Vec<&'a str>,
    longest: Vec<&'a str>,
}

impl<'a> Columns<'a> {
    fn of(line: &'a str) -> Option<Columns<'a>> {
        let all: Vec<&str> = line.trim_end().split(',').collect();
        let results = match all.len() {
            COLUMNS => 9,
            FORMER_COLUMNS => 7,
            _ => return None,
        };
        // A rate and its share of a CPU; five columns of the files; the same of those.
        Some(Columns {
            before: all[..results].to_vec(),
            with_a_file: all[results..results + 12].iter().copied().step_by(2).collect(),
            files: all[results + 12],
            with_files: all[results + 17..results + 29].iter().copied().step_by(2).collect(),
            longest: all[results + 29..].to_vec(),
        })
    }

    fn text(&self, column: usize) -> &'a str {
        self.before.get(column).copied().unwrap_or("")
    }

    fn number(&self, text: &str, usual: u64, what: &str) -> Result<u64, String> {
        match text {
            "" => Ok(usual),
            text => files::bytes(text).ok_or_else(|| format!("its {what} '{}' is no number", text.escape_debug())),
        }
    }

    /// Each with the unit that its longest operation is told in.
    fn series(&self) -> Result<Vec<(Nanos, ThreadSeries)>, String> {
        let size = self.number(self.text(5), 0, "file size")?;
        let chunk = self.number(self.text(6), CHUNK, "chunk size")?.max(1);
        let seeks = self.number(self.text(7), CHUNK, "number of seeks")?;
        let seekers = self.number(self.text(8), 3, "number of processes that seek")?;
        let times = |number: u64, factor: u64, what: &str| {
            let product = number.checked_mul(factor);
            product.ok_or_else(|| format!("its {what} {number} is too large; the line is damaged"))
        };
        let files = times(self.number(self.files, 0, "number of files")?, KIB, "number of files")?;
        let is_alone = self.text(3) == "1";
        let name = |word: &str, ours: String| {
            let ours = files::work(&ours).filter(|_| is_alone);
            ours.unwrap_or_else(|| files::own_name(&[TOOL.trim_end_matches('+'), word]))
        };
        let mut all = Vec::new();
        for (at, word) in WITH_A_FILE.into_iter().enumerate() {
            let ours = format!("{size}+{word}+bs{chunk}");
            // A rewrite reads as much as it writes.
            let bytes = times(size, if word == "rewrite" { 2 } else { 1 }, "file size")?;
            let took = |rate: u64| Nanos((size as f64 / (rate as f64 * KIB as f64) * 1e9) as u64);
            all.extend(one(
                &name(word, ours),
                size / chunk,
                bytes,
                (self.with_a_file[at], took),
                self.longest[at],
            )?);
        }
        let took = |rate: u64| Nanos((seeks as f64 / rate as f64 * 1e9) as u64);
        let ours = format!("{size}+seeks+bs{chunk}+seekers{}", seekers.saturating_sub(1));
        all.extend(one(
            &name("seeks", ours),
            seeks,
            times(seeks, chunk, "number of seeks")?,
            (self.with_a_file[5], took),
            self.longest[5],
        )?);
        for (at, word) in WITH_FILES.into_iter().enumerate() {
            let took = |rate: u64| Nanos((files as f64 / rate as f64 * 1e9) as u64);
            let ours = name(word, format!("+{word}"));
            all.extend(one(&ours, files, 0, (self.with_files[at], took), self.longest[6 + at])?);
        }
        Ok(all)
    }
}

/// A series, if it ran: its rate, from which its time follows, and its longest operation.
fn one(
    probe: &str,
    operations: u64,
    bytes: u64,
    (rate, took): (&str, impl Fn(u64) -> Nanos),
    longest: &str,
) -> Result<Option<(Nanos, ThreadSeries)>, String> {
    let mut series = ThreadSeries::of_all(probe, Overrun::NoDueTimes);
    series.taken = Some(operations);
    series.io = files::details(probe, bytes, Nanos(0));
    if !rate.is_empty() && !rate.starts_with(TOO_FAST) {
        let number: u64 = rate
            .split('.')
            .next()
            .and_then(|whole| whole.parse().ok())
            .ok_or_else(|| format!("'{}' is no rate", rate.escape_debug()))?;
        series.io = files::details(probe, bytes, took(number.max(1)));
        series.observed = Some(took(number.max(1)));
    }
    let longest = match longest {
        "" => None,
        text => Some(time(text).ok_or_else(|| format!("'{}' is no latency", text.escape_debug()))?),
    };
    if let Some((_, max)) = longest {
        let ends = Extremes {
            count: operations,
            min: None,
            mean: None,
            max,
        };
        series.measured(SeriesValues::Extremes(ends));
    }
    let unit = longest.map_or(Nanos(1_000), |(unit, _)| unit);
    Ok((!rate.is_empty() && operations > 0).then_some((unit, series)))
}

/// `6688us`, `152ms`, `3s`: its unit, and the time.
fn time(text: &str) -> Option<(Nanos, Nanos)> {
    let units = [("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)];
    let (number, unit) = units
        .iter()
        .find_map(|(word, ns)| Some((text.strip_suffix(word)?, *ns)))?;
    Some((Nanos(unit), Nanos(number.parse::<u64>().ok()?.checked_mul(unit)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_units() {
        let read = ["6688us", "152ms", "3s", "7", "us"].map(|text| time(text).map(|(unit, time)| (unit.0, time.0)));
        let [us, ms, s, rest @ ..] = read;
        assert_eq!(us, Some((1_000, 6_688_000)));
        assert_eq!(
            (ms, s),
            (Some((1_000_000, 152_000_000)), Some((1_000_000_000, 3_000_000_000)))
        );
        assert_eq!(rest, [None; 2]);
    }
}
