//! Histograms: a row for each value, a column for each CPU and quantity, then `over:`, `count:`, `min:`, `avg:`,
//! `max:`.

use super::{RtlaColumn, add_timerlat, analysis, missed, unit};
use crate::FormatError;
use crate::lines::NumberedLines;
use crate::measured::{CountedValues, Extremes, Overrun, SeriesValues, ThreadSeries, ToolMeasurement};
use crate::text::{days_and_time, decimal, numbers, total, whole};
use std::collections::BTreeMap;
use worstcase_contract::Nanos;
use worstcase_results::record::Beyond;

/// A table as it is printed.
struct RtlaTable<'a> {
    unit: u64,
    duration: Option<Nanos>,
    columns: Vec<&'a str>,
    rows: Vec<(u64, Vec<u64>)>,
    sums: BTreeMap<&'a str, Vec<&'a str>>,
}

const SUMS: [&str; 5] = ["over:", "count:", "min:", "avg:", "max:"];

impl<'a> RtlaTable<'a> {
    fn of(text: &NumberedLines<'a>) -> Result<RtlaTable<'a>, FormatError> {
        let mut table = RtlaTable {
            unit: unit(text),
            duration: text.texts().find_map(|l| days_and_time(l.strip_prefix("# Duration:")?)),
            columns: Vec::new(),
            rows: Vec::new(),
            sums: BTreeMap::new(),
        };
        let lines = text.iter().skip_while(|(_, line)| !line.starts_with("Index"));
        // A second table is of all CPUs together.
        for (at, line) in lines.take_while(|(_, line)| !line.starts_with("ALL:")) {
            let mut words = line.split_whitespace();
            match words.next() {
                Some("Index") if table.columns.is_empty() => table.columns = words.collect(),
                Some("Index") => return Err(FormatError::at(at, "a second table begins in the first")),
                Some(name) if SUMS.contains(&name) => drop(table.sums.insert(name, words.collect())),
                Some(first) if first.starts_with(|c: char| c.is_ascii_digit()) && table.sums.is_empty() => {
                    let row = numbers(at, line)?;
                    if row.len() != table.columns.len() + 1 {
                        return Err(FormatError::at(
                            at,
                            format!(
                                "{} columns in place of {}; it was cut",
                                row.len(),
                                table.columns.len() + 1
                            ),
                        ));
                    }
                    table.rows.push((row[0], row[1..].to_vec()));
                }
                Some(_) if table.sums.is_empty() => {
                    let what = format!("'{}' is no row of its table", line.trim().escape_debug());
                    return Err(FormatError::at(at, what));
                }
                _ => {}
            }
        }
        match table.columns.is_empty() {
            true => Err(FormatError::new(
                "it has no line 'Index ...' (--no-header, --no-index), so its columns are not known",
            )),
            false => Ok(table),
        }
    }

    /// Width of the bins, as far as the rows tell: rows of zeros are left out.
    fn width(&self) -> u64 {
        fn divisor(a: u64, b: u64) -> u64 {
            if b == 0 { a } else { divisor(b, a % b) }
        }
        self.rows.iter().map(|(value, _)| *value).fold(0, divisor).max(1)
    }

    /// A column's values; nothing if there are none.
    fn values(&self, nth: usize) -> Result<Option<SeriesValues>, FormatError> {
        let name = self.columns[nth];
        let sum = |of: &str| -> Result<&str, FormatError> {
            let found = self.sums.get(of).and_then(|row| row.get(nth));
            let missing = || FormatError::new(format!("it has no '{of}' of {name} (--no-summary), or was cut"));
            found.copied().ok_or_else(missing)
        };
        let number = |of: &str| -> Result<u64, FormatError> {
            let word = sum(of)?;
            let wrong = || FormatError::new(format!("'{}' in '{of}' is no number", word.escape_debug()));
            word.parse().map_err(|_| wrong())
        };
        let count = number("count:")?;
        if count == 0 {
            return Ok(None);
        }
        let mut bins = BTreeMap::new();
        for (value, counts) in &self.rows {
            match counts[nth] {
                0 => {}
                count => drop(bins.insert(whole(*value, self.unit)?.0, count)),
            }
        }
        let outside = number("over:")?;
        let held = total(bins.values())?;
        if held.checked_add(outside) != Some(count) {
            return Err(FormatError::new(format!(
                "the histogram of {name} has {held} samples and {outside} above, of {count}; lines are missing"
            )));
        }
        let end = self
            .rows
            .last()
            .map_or(0, |(value, _)| value.saturating_add(self.width()));
        let mean = sum("avg:")?;
        let ends = Extremes {
            count,
            min: Some(whole(number("min:")?, self.unit)?),
            mean: Some(decimal(mean, self.unit).ok_or_else(|| FormatError::new("an average is no time"))?),
            max: whole(number("max:")?, self.unit)?,
        };
        // Rows of zeros are not printed: the file only tells that no sample of a bin is above the last row.
        let beyond = (outside > 0).then_some(Beyond {
            from_ns: whole(end, self.unit)?.0,
            count: outside,
        });
        Ok(Some(SeriesValues::Counted(CountedValues { bins, beyond, ends })))
    }

    fn measured(&self, tool: &'static str, text: &NumberedLines<'_>) -> Result<ToolMeasurement, FormatError> {
        let mut measured = ToolMeasurement::new(tool, whole(self.width(), self.unit)?);
        measured.notes = analysis(text)?;
        measured.doubts = missed(text);
        Ok(measured)
    }
}

/// `rtla timerlat hist`.
pub(super) fn timerlat(text: &NumberedLines<'_>) -> Result<ToolMeasurement, FormatError> {
    let table = RtlaTable::of(text)?;
    let mut measured = table.measured("rtla timerlat", text)?;
    measured
        .lacks
        .push("which latency of the interrupt belongs to which of the thread");
    for (nth, name) in table.columns.iter().enumerate() {
        let (kind, cpu) = name.split_once('-').unwrap_or((name, ""));
        let column = match kind {
            "IRQ" => RtlaColumn::Irq,
            "Thr" => RtlaColumn::Thread,
            "Usr" => RtlaColumn::User,
            _ => return Err(unknown(name)),
        };
        let cpu = cpu.parse().map_err(|_| unknown(name))?;
        add_timerlat(&mut measured.series, cpu, column, table.values(nth)?);
    }
    for series in &mut measured.series {
        series.observed = table.duration;
    }
    Ok(measured)
}

/// `rtla osnoise hist`.
pub(super) fn osnoise(text: &NumberedLines<'_>) -> Result<ToolMeasurement, FormatError> {
    let table = RtlaTable::of(text)?;
    let mut measured = table.measured("rtla osnoise", text)?;
    for (nth, name) in table.columns.iter().enumerate() {
        let cpu = name.strip_prefix("CPU-").and_then(|cpu| cpu.parse().ok());
        let mut series = ThreadSeries::new("osnoise", cpu.ok_or_else(|| unknown(name))?, Overrun::NoDueTimes);
        series.observed = table.duration;
        measured.series.push(match table.values(nth)? {
            Some(values) => {
                series.measured(values);
                series
            }
            None => series.without_samples(),
        });
    }
    Ok(measured)
}

fn unknown(column: &str) -> FormatError {
    FormatError::new(format!(
        "its column '{}' is of nothing that is known",
        column.escape_debug()
    ))
}
