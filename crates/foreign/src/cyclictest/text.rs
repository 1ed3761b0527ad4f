//! The output of cyclictest: a line for each thread, histograms (`-h`, `-H`, `--histfile`), and with `-v` every
//! sample.

use super::histogram::{CyclictestHistogram, is_heading};
use super::thread::{ThreadLine, numbers, unit as unit_of};
use super::{TOOL, series};
use crate::FormatError;
use crate::lines::NumberedLines;
use crate::measured::{ForeignSample, SeriesValues, ToolMeasurement};
use crate::text::{check_later, unit_or_us, whole};
use std::collections::BTreeMap;
use worstcase_contract::Nanos;

/// A fact that cyclictest's text does not contain.
pub(crate) const NO_CPUS: &str = "the CPUs of the threads; their numbers stand in place";
const MOST_THREADS: usize = 65_536;

/// Reads it; times are in the given unit, or in that which its blanks tell.
pub(crate) fn text(lines: &NumberedLines<'_>, unit: Option<Nanos>) -> Result<ToolMeasurement, FormatError> {
    let told = lines.texts().filter(|line| numbers(line).is_some()).find_map(unit_of);
    let is_unit_told = unit.is_some() || told.is_some();
    let unit = unit.map_or(told, |unit| Some(unit.0)).unwrap_or(unit_or_us(None));
    let mut said = CyclictestText::default();
    for (at, line) in lines.iter() {
        said.take(at, line, unit)?;
    }
    let mut measured = ToolMeasurement::new(TOOL, Nanos(unit));
    measured.is_unit_told = is_unit_told;
    measured.lacks.push(NO_CPUS);
    for (thread, values) in said.values(unit)? {
        let line = said.lines.get(&thread).map(|(_, line)| line);
        let period = line.map(|line| Nanos(line.interval_us.saturating_mul(1_000)));
        measured
            .series
            .push(series(thread, period, line.and_then(|l| l.priority), values));
    }
    Ok(measured)
}

#[derive(Default)]
struct CyclictestText {
    /// The last line of each thread, and where it stands: cyclictest prints them again and again.
    lines: BTreeMap<u32, (usize, ThreadLine)>,
    samples: BTreeMap<u32, Vec<ForeignSample>>,
    histogram: Option<CyclictestHistogram>,
}

impl CyclictestText {
    fn take(&mut self, at: usize, line: &str, unit: u64) -> Result<(), FormatError> {
        if numbers(line).is_some() {
            let cut = "a thread's line does not go on to 'Max:'; the file was cut, or is of another tool";
            let told = ThreadLine::of(line, unit).ok_or_else(|| FormatError::at(at, cut))?;
            check_later(at, self.lines.get(&told.thread).map(|(_, line)| &line.ends), &told.ends)?;
            self.lines.insert(told.thread, (at, told));
        } else if is_heading(line) {
            self.histogram = Some(CyclictestHistogram::default());
        } else if let Some(histogram) = &mut self.histogram {
            histogram.take(at, line)?;
        } else if let Some([thread, cycle, value]) = sample(line) {
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
        } else if !self.samples.is_empty() && is_part_of_sample(line) {
            return Err(FormatError::at(at, "a sample has no value; the file was cut"));
        }
        Ok(())
    }

    /// The values of each thread; nothing of one without a sample.
    fn values(&mut self, unit: u64) -> Result<BTreeMap<u32, Option<SeriesValues>>, FormatError> {
        if let Some(histogram) = self.histogram.take() {
            let threads: BTreeMap<u32, Option<SeriesValues>> = (0..).zip(histogram.finish(unit)?).collect();
            self.check_lines(&threads)?;
            self.check_samples(&threads)?;
            return Ok(threads);
        }
        let mut threads: BTreeMap<u32, Option<SeriesValues>> = BTreeMap::new();
        for (thread, (_, line)) in &self.lines {
            let some = (line.ends.count > 0).then_some(SeriesValues::Extremes(line.ends));
            threads.insert(*thread, some);
        }
        let samples = std::mem::take(&mut self.samples).into_iter();
        threads.extend(samples.map(|(thread, samples)| (thread, Some(SeriesValues::Samples(samples)))));
        Ok(threads)
    }

    /// Samples before a histogram are those that it counts.
    fn check_samples(&self, threads: &BTreeMap<u32, Option<SeriesValues>>) -> Result<(), FormatError> {
        for (thread, samples) in &self.samples {
            let counted = threads
                .get(thread)
                .and_then(Option::as_ref)
                .and_then(SeriesValues::ends);
            let max = samples.iter().map(|sample| sample.value).max();
            if counted.map(|ends| (ends.count, Some(ends.max))) != Some((samples.len() as u64, max)) {
                return Err(FormatError::new(format!(
                    "the samples of thread {thread} are not those of the histogram behind them; are they of two runs? \
                     split the file between them"
                )));
            }
        }
        Ok(())
    }

    /// Lines before a histogram are what it was while it was measured: a larger value is of another run.
    fn check_lines(&self, threads: &BTreeMap<u32, Option<SeriesValues>>) -> Result<(), FormatError> {
        for (thread, (at, line)) in &self.lines {
            let ends = match threads.get(thread) {
                Some(Some(SeriesValues::Counted(counted))) => Some(counted.ends),
                _ => None,
            };
            let fits = match ends {
                Some(ends) => ends.count >= line.ends.count && ends.max >= line.ends.max && ends.min <= line.ends.min,
                None => line.ends.count == 0,
            };
            if !fits {
                return Err(FormatError::at(
                    *at,
                    "a thread's line does not fit the histogram; are they of two runs? split the file between them",
                ));
            }
        }
        Ok(())
    }
}

/// Nothing but numbers, as a cut sample has.
fn is_part_of_sample(line: &str) -> bool {
    let is_its = |c: char| c.is_ascii_digit() || [':', ' '].contains(&c);
    !line.trim().is_empty() && line.chars().all(is_its)
}

/// `thread:cycle:value`.
pub(super) fn sample(line: &str) -> Option<[u64; 3]> {
    let mut parts = line.split(':').map(|part| part.trim().parse::<u64>().ok());
    let found = [parts.next()??, parts.next()??, parts.next()??];
    (parts.next().is_none() && found[0] < MOST_THREADS as u64).then_some(found)
}
