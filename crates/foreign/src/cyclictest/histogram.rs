//! cyclictest's histogram: a column a thread, and maybe one of all together.

use crate::FormatError;
use crate::measured::{CountedValues, Extremes, SeriesValues};
use crate::text::{numbers, total as sum, whole};
use std::collections::BTreeMap;
use worstcase_results::record::Beyond;

pub(super) fn is_heading(line: &str) -> bool {
    line.starts_with("# Histogram") && !line.contains("Overflow")
}

#[derive(Default)]
pub(super) struct CyclictestHistogram {
    rows: Vec<(u64, Vec<u64>)>,
    /// Absent from 2.10 on, which leaves out rows of zeros, too.
    totals: Option<Vec<u64>>,
    min: Option<Vec<u64>>,
    mean: Option<Vec<u64>>,
    max: Option<Vec<u64>>,
    overflows: Option<Vec<u64>>,
}

impl CyclictestHistogram {
    /// Takes a line behind its heading.
    pub(super) fn take(&mut self, at: usize, line: &str) -> Result<(), FormatError> {
        let named: [(&str, &mut Option<Vec<u64>>); 5] = [
            ("# Total:", &mut self.totals),
            ("# Min Latencies:", &mut self.min),
            ("# Avg Latencies:", &mut self.mean),
            ("# Max Latencies:", &mut self.max),
            ("# Histogram Overflows:", &mut self.overflows),
        ];
        for (name, place) in named {
            if let Some(rest) = line.strip_prefix(name) {
                return match place.replace(numbers(at, rest)?) {
                    None => Ok(()),
                    Some(_) => Err(FormatError::at(at, format!("'{name}' comes twice in one histogram"))),
                };
            }
        }
        if self.totals.is_some() || self.min.is_some() || line.trim().is_empty() || line.starts_with('#') {
            return Ok(());
        }
        let row = numbers(at, line)?;
        let [value, counts @ ..] = &row[..] else { return Ok(()) };
        if self.rows.first().is_some_and(|(_, first)| first.len() != counts.len()) {
            return Err(FormatError::at(
                at,
                "a row of the histogram has another number of columns",
            ));
        }
        if self.rows.last().is_some_and(|(last, _)| last >= value) {
            return Err(FormatError::at(at, "a row of the histogram comes twice, or too late"));
        }
        self.rows.push((*value, counts.to_vec()));
        Ok(())
    }

    /// The histogram of each thread, if it took samples.
    pub(super) fn finish(self, unit: u64) -> Result<Vec<Option<SeriesValues>>, FormatError> {
        let cut = |name: &str| FormatError::new(format!("its histogram ends without '{name}'; the file was cut"));
        let is_zero = |(_, counts): &(u64, Vec<u64>)| counts.iter().all(|count| *count == 0);
        if self.totals.is_none() && (self.rows.iter().any(is_zero) || self.min.is_none()) {
            return Err(cut("# Total:"));
        }
        let min = self.min.as_deref().ok_or_else(|| cut("# Min Latencies:"))?;
        let mean = self.mean.as_deref().ok_or_else(|| cut("# Avg Latencies:"))?;
        let max = self.max.as_deref().ok_or_else(|| cut("# Max Latencies:"))?;
        let overflows = self.overflows.as_deref().ok_or_else(|| cut("# Histogram Overflows:"))?;
        // With -H most lines have a column of all threads; the minima have none.
        let columns = (0..min.len()).map(|nth| self.column(nth, unit, [min, mean, max, overflows]));
        columns.collect()
    }

    /// The histogram of a thread.
    fn column(&self, nth: usize, unit: u64, rows: [&[u64]; 4]) -> Result<Option<SeriesValues>, FormatError> {
        let of = |row: &[u64]| {
            let value = row.get(nth).copied();
            value.ok_or_else(|| FormatError::new(format!("its histogram has no column of thread {nth}")))
        };
        let mut bins = BTreeMap::new();
        for (value, counts) in &self.rows {
            match of(counts)? {
                0 => {}
                count => drop(bins.insert(whole(*value, unit)?.0, count)),
            }
        }
        let held = sum(bins.values())?;
        let total = self.totals.as_deref().map_or(Ok(held), of)?;
        if held != total {
            return Err(FormatError::new(format!(
                "the histogram of thread {nth} does not add up to its total of {total}; lines are missing"
            )));
        }
        let [min, mean, max, outside] = rows.map(of);
        let (min, mean, max, outside) = (min?, mean?, max?, outside?);
        let Some(count) = total.checked_add(outside).filter(|n| *n > 0) else {
            return Ok(None);
        };
        let ends = Extremes {
            count,
            min: Some(whole(min, unit)?),
            mean: Some(whole(mean, unit)?),
            max: whole(max, unit)?,
        };
        let (first, last) = (bins.keys().next().copied(), bins.keys().next_back().copied());
        let is_whole =
            self.totals.is_some() || outside > 0 || (first, last) == (ends.min.map(|ns| ns.0), Some(ends.max.0));
        if !is_whole {
            return Err(FormatError::new(format!(
                "the histogram of thread {nth} does not go from its minimum to its maximum; lines are missing"
            )));
        }
        let end = self.rows.last().map_or(0, |(value, _)| value.saturating_add(1));
        let from_ns = whole(end, unit)?.0;
        let beyond = (outside > 0).then_some(Beyond {
            from_ns,
            count: outside,
        });
        Ok(Some(SeriesValues::Counted(CountedValues { bins, beyond, ends })))
    }
}
