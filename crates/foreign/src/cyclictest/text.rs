//! The output of cyclictest: a line for each thread, histograms (`-h`, `-H`, `--histfile`), and with `-v` every
//! sample.

use super::{TOOL, series};
use crate::FormatError;
use crate::measured::{CountedValues, Extremes, ForeignSample, SeriesValues, ToolMeasurement};
use crate::text::{numbers, total as sum, whole};
use std::collections::BTreeMap;
use worstcase_contract::Nanos;
use worstcase_results::record::Beyond;

/// A fact that cyclictest's text does not contain.
pub(crate) const NO_CPUS: &str = "the CPUs of the threads; their numbers stand in place";
const MOST_THREADS: usize = 65_536;

/// Whether text has lines of cyclictest's.
pub(crate) fn is_text(text: &str) -> bool {
    text.lines()
        .any(|line| thread_line(line).is_some() || sample(line).is_some())
}

/// Reads it; times are of so many ns.
pub(crate) fn text(content: &str, unit: u64) -> Result<ToolMeasurement, FormatError> {
    let mut said = CyclictestText::default();
    for (at, line) in (1..).zip(content.lines()) {
        said.take(at, line, unit)?;
    }
    let mut measured = ToolMeasurement::new(TOOL, Nanos(unit));
    measured.lacks.push(NO_CPUS);
    let histograms = said.histogram.map(|histogram| histogram.finish(unit)).transpose()?;
    let mut threads: BTreeMap<u32, SeriesValues> = BTreeMap::new();
    if let Some(histograms) = histograms {
        threads.extend(
            (0..)
                .zip(histograms)
                .filter_map(|(thread, values)| Some((thread, values?))),
        );
    } else if !said.samples.is_empty() {
        threads.extend(
            said.samples
                .into_iter()
                .map(|(thread, samples)| (thread, SeriesValues::Samples(samples))),
        );
    } else {
        let some = said.lines.iter().filter(|(_, line)| line.ends.count > 0);
        threads.extend(some.map(|(thread, line)| (*thread, SeriesValues::Extremes(line.ends))));
    }
    for (thread, values) in threads {
        let line = said.lines.get(&thread);
        let period = line.map(|line| Nanos(line.interval_us.saturating_mul(1_000)));
        measured
            .series
            .push(series(thread, period, line.and_then(|l| l.priority), Some(values)));
    }
    Ok(measured)
}

#[derive(Default)]
struct CyclictestText {
    /// The last line of each thread: cyclictest prints them again and again.
    lines: BTreeMap<u32, ThreadLine>,
    samples: BTreeMap<u32, Vec<ForeignSample>>,
    histogram: Option<CyclictestHistogram>,
}

impl CyclictestText {
    fn take(&mut self, at: usize, line: &str, unit: u64) -> Result<(), FormatError> {
        if line.starts_with("# Histogram") && !line.contains("Overflow") {
            self.histogram = Some(CyclictestHistogram::default());
        } else if let Some(histogram) = &mut self.histogram {
            histogram.take(at, line)?;
        }
        if let Some(fields) = thread_line(line) {
            let (thread, told) = ThreadLine::of(fields, unit).ok_or_else(|| {
                FormatError::at(
                    at,
                    "a thread's line does not go on to 'Max:'; the file was cut, or is of another tool",
                )
            })?;
            self.lines.insert(thread, told);
        } else if let Some([thread, cycle, value]) = sample(line).filter(|_| self.histogram.is_none()) {
            let samples = self.samples.entry(thread as u32).or_default();
            let index = u32::try_from(cycle).map_err(|_| FormatError::at(at, "its cycle is too large"))?;
            if samples.last().is_some_and(|last| last.index >= index) {
                return Err(FormatError::at(at, "a cycle of its thread comes twice, or too late"));
            }
            samples.push(ForeignSample {
                index,
                due: None,
                value: whole(value, unit)?,
            });
        }
        Ok(())
    }
}

struct ThreadLine {
    interval_us: u64,
    priority: Option<u8>,
    ends: Extremes,
}

impl ThreadLine {
    fn of(fields: &str, unit: u64) -> Option<(u32, ThreadLine)> {
        let field = |name: &str| {
            fields
                .split_once(name)?
                .1
                .split_whitespace()
                .next()?
                .parse::<u64>()
                .ok()
        };
        let time = |name: &str| whole(field(name)?, unit).ok();
        let thread = fields.split_whitespace().next()?.parse().ok()?;
        let told = ThreadLine {
            interval_us: field("I:")?,
            priority: field("P:").and_then(|n| u8::try_from(n).ok()).filter(|n| *n > 0),
            ends: Extremes {
                count: field("C:")?,
                min: Some(time("Min:")?),
                mean: Some(time("Avg:")?),
                max: time("Max:")?,
            },
        };
        Some((thread, told))
    }
}

/// `T: 0 (25462) P:90 I:1000 C: ...` without its beginning; on a terminal the cursor moves before it.
fn thread_line(line: &str) -> Option<&str> {
    let (before, fields) = line.split_once("T: ")?;
    let moves = before.is_empty() || before.starts_with('\u{1b}');
    (moves && fields.contains(" P:")).then_some(fields)
}

/// `thread:cycle:value`.
fn sample(line: &str) -> Option<[u64; 3]> {
    let mut parts = line.split(':').map(|part| part.trim().parse::<u64>().ok());
    let found = [parts.next()??, parts.next()??, parts.next()??];
    (parts.next().is_none() && found[0] < MOST_THREADS as u64).then_some(found)
}

/// A column a thread, and maybe one of all together.
#[derive(Default)]
struct CyclictestHistogram {
    rows: Vec<(u64, Vec<u64>)>,
    totals: Option<Vec<u64>>,
    min: Option<Vec<u64>>,
    mean: Option<Vec<u64>>,
    max: Option<Vec<u64>>,
    overflows: Option<Vec<u64>>,
}

impl CyclictestHistogram {
    fn take(&mut self, at: usize, line: &str) -> Result<(), FormatError> {
        let named: [(&str, &mut Option<Vec<u64>>); 5] = [
            ("# Total:", &mut self.totals),
            ("# Min Latencies:", &mut self.min),
            ("# Avg Latencies:", &mut self.mean),
            ("# Max Latencies:", &mut self.max),
            ("# Histogram Overflows:", &mut self.overflows),
        ];
        for (name, place) in named {
            if let Some(rest) = line.strip_prefix(name) {
                *place = Some(numbers(at, rest)?);
                return Ok(());
            }
        }
        if self.totals.is_none() && line.starts_with(|c: char| c.is_ascii_digit()) {
            let row = numbers(at, line)?;
            let [value, counts @ ..] = &row[..] else { return Ok(()) };
            if self.rows.first().is_some_and(|(_, first)| first.len() != counts.len()) {
                return Err(FormatError::at(
                    at,
                    "a row of the histogram has another number of columns",
                ));
            }
            self.rows.push((*value, counts.to_vec()));
        }
        Ok(())
    }

    /// The histogram of each thread, if it took samples.
    fn finish(self, unit: u64) -> Result<Vec<Option<SeriesValues>>, FormatError> {
        let cut = |name: &str| FormatError::new(format!("its histogram ends without '{name}'; the file was cut"));
        let totals = self.totals.ok_or_else(|| cut("# Total:"))?;
        let min = self.min.ok_or_else(|| cut("# Min Latencies:"))?;
        let mean = self.mean.ok_or_else(|| cut("# Avg Latencies:"))?;
        let max = self.max.ok_or_else(|| cut("# Max Latencies:"))?;
        let overflows = self.overflows.ok_or_else(|| cut("# Histogram Overflows:"))?;
        let end = self.rows.last().map_or(0, |(value, _)| value.saturating_add(1));
        let thread = |nth: usize| -> Result<Option<SeriesValues>, FormatError> {
            let column = |of: &[u64]| {
                let value = of.get(nth).copied();
                value.ok_or_else(|| FormatError::new(format!("its histogram has no column of thread {nth}")))
            };
            let mut bins = BTreeMap::new();
            for (value, counts) in self.rows.iter() {
                match column(counts)? {
                    0 => {}
                    count => drop(bins.insert(whole(*value, unit)?.0, count)),
                }
            }
            let (total, outside) = (column(&totals)?, column(&overflows)?);
            if sum(bins.values())? != total {
                return Err(FormatError::new(format!(
                    "the histogram of thread {nth} does not add up to its total of {total}; lines are missing"
                )));
            }
            let Some(count) = total.checked_add(outside).filter(|n| *n > 0) else {
                return Ok(None);
            };
            let ends = Extremes {
                count,
                min: Some(whole(column(&min)?, unit)?),
                mean: Some(whole(column(&mean)?, unit)?),
                max: whole(column(&max)?, unit)?,
            };
            let from_ns = whole(end, unit)?.0;
            let beyond = (outside > 0).then_some(Beyond {
                from_ns,
                count: outside,
            });
            Ok(Some(SeriesValues::Counted(CountedValues { bins, beyond, ends })))
        };
        // With -H most lines have a column of all threads; the minima have none.
        (0..min.len()).map(thread).collect()
    }
}
