//! Xenomai's latency: a line a second, and one of all.

use super::FormatError;
use super::format::{Mark, ToolForm};
use super::lines::NumberedLines;
use super::measured::{Extremes, Overrun, SeriesValues, ThreadSeries, ToolMeasurement};
use super::text::{decimal, exact, whole};
use worstcase_contract::Nanos;

const TOOL: &str = "xenomai";
const PROBE: &str = "xenomai-latency";
const US: u64 = 1_000;
const SECOND: u64 = 1_000_000_000;
const PERIOD: &str = "== Sampling period:";

pub(crate) const FORM: ToolForm = ToolForm {
    name: TOOL,
    mark: |line| match line {
        line if line.starts_with(PERIOD) => Some(Mark::Begin),
        line if line.starts_with("RTD|") => Some(Mark::Row),
        line if line.starts_with("RTS|") => Some(Mark::Last("RTS")),
        _ => None,
    },
    text,
    ..ToolForm::NOTHING
};

fn text(lines: &NumberedLines<'_>, _: Option<Nanos>) -> Result<ToolMeasurement, FormatError> {
    let mut measured = ToolMeasurement::new(TOOL, Nanos(1));
    measured.lacks = vec!["the CPU of its thread"];
    let period = lines.texts().find_map(|line| {
        let told = line.split_once(PERIOD)?.1.trim().strip_suffix(" us")?;
        whole(told.parse().ok()?, US).ok()
    });
    let mut worst = Nanos(0);
    let mut seconds = 0;
    for (at, line) in lines.iter() {
        if let Some(told) = line.strip_prefix("RTD|") {
            let cut = || FormatError::at(at, "a second's line does not go on to '--lat worst'; the file was cut");
            let columns = columns(told);
            let max = columns.get(6).and_then(|_| exact(columns[2], US)).ok_or_else(cut)?;
            (worst, seconds) = (worst.max(max), seconds + 1);
        }
        if let Some(told) = line.strip_prefix("RTS|") {
            let cut = || FormatError::at(at, "the line of all does not go on to its duration; the file was cut");
            let all = XenomaiSum::of(&columns(told)).ok_or_else(cut)?;
            if all.max < worst {
                return Err(FormatError::at(
                    at,
                    "a second before it has a larger maximum; lines of two runs are mixed",
                ));
            }
            measured.series.push(all.series(period, seconds));
        }
    }
    match measured.series.is_empty() {
        true => Err(FormatError::new("it ends without its line 'RTS|'; the file was cut")),
        false => Ok(measured),
    }
}

fn columns(told: &str) -> Vec<&str> {
    told.split('|').map(str::trim).collect()
}

/// The line of all.
struct XenomaiSum {
    min: Option<Nanos>,
    mean: Option<Nanos>,
    max: Nanos,
    overruns: u64,
    switches: u64,
    observed: Nanos,
}

impl XenomaiSum {
    fn of(columns: &[&str]) -> Option<XenomaiSum> {
        let [min, mean, max, overruns, switches, times, ..] = columns else {
            return None;
        };
        let (took, _) = times.split_once('/')?;
        let parts: Vec<u64> = took.split(':').map(|part| part.parse().ok()).collect::<Option<_>>()?;
        let [hours, minutes, seconds] = parts[..] else {
            return None;
        };
        let observed = hours
            .checked_mul(3_600)?
            .checked_add(minutes.checked_mul(60)?)?
            .checked_add(seconds)?;
        Some(XenomaiSum {
            // A timer that is too early is below zero.
            min: decimal(min, US).and(exact(min, US)),
            mean: decimal(mean, US).and(exact(mean, US)),
            max: exact(max, US)?,
            overruns: overruns.parse().ok()?,
            switches: switches.parse().ok()?,
            observed: whole(observed, SECOND).ok()?,
        })
    }

    fn series(&self, period: Option<Nanos>, seconds: u64) -> ThreadSeries {
        let mut series = ThreadSeries::of_all(PROBE, Overrun::Skips);
        series.period = period;
        series.observed = Some(self.observed);
        // It takes as many samples a second as there are periods in one, and prints a line then.
        let each = period.and_then(|period| SECOND.checked_div(period.0)).unwrap_or(0);
        let seconds = seconds.max(self.observed.0 / SECOND);
        let ends = Extremes {
            count: each.saturating_mul(seconds),
            min: self.min,
            mean: self.mean,
            max: self.max,
        };
        series.measured(SeriesValues::Extremes(ends));
        if self.overruns > 0 {
            series
                .doubts
                .push(format!("latency: {} overruns, periods without a sample", self.overruns));
        }
        if self.switches > 0 {
            series.doubts.push(format!(
                "latency: {} mode switches, some latency peaks may be due to them",
                self.switches
            ));
        }
        if ends.count == 0 {
            series.doubts.push("how many samples it took is not known".into());
        }
        series
    }
}
