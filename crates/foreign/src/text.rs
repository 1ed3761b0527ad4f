//! Numbers in the tools' texts and JSON.

use super::FormatError;
use super::measured::{Extremes, MachineTold, ToolMeasurement};
use chrono::DateTime;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use worstcase_base::utc::Utc;
use worstcase_contract::Nanos;
use worstcase_results::stats::Percentile;

/// `47.29` of a unit of so many ns.
pub(crate) fn decimal(text: &str, unit: u64) -> Option<Nanos> {
    let value: f64 = text.parse().ok()?;
    of_float(value, unit)
}

/// `0.130` of a unit of so many ns, where its digits tell whole ns.
pub(crate) fn exact(text: &str, unit: u64) -> Option<Nanos> {
    let value: f64 = text.parse().ok()?;
    let ns = (value * unit as f64).round();
    (0.0..9e18).contains(&ns).then_some(Nanos(ns as u64))
}

/// A value of a unit of so many ns, rounded down.
pub(crate) fn of_float(value: f64, unit: u64) -> Option<Nanos> {
    let ns = (value * unit as f64).floor();
    (0.0..9e18).contains(&ns).then_some(Nanos(ns as u64))
}

/// A whole number of a unit of so many ns.
pub(crate) fn whole(value: u64, unit: u64) -> Result<Nanos, FormatError> {
    let ns = value.checked_mul(unit).map(Nanos);
    ns.ok_or_else(|| FormatError::new(format!("{value} is too large for a time")))
}

/// All words of a line as numbers; a line with another word is refused.
pub(crate) fn numbers(line: usize, words: &str) -> Result<Vec<u64>, FormatError> {
    let number = |word: &str| {
        let parsed = word.parse();
        parsed.map_err(|_| FormatError::at(line, format!("'{}' is no number", word.escape_debug())))
    };
    words.split_whitespace().map(number).collect()
}

/// `Mon, 23 Nov 2026 02:38:38 +0000`.
pub(crate) fn moment(text: &str) -> Option<Utc> {
    let moment = DateTime::parse_from_rfc2822(text).ok()?;
    u64::try_from(moment.timestamp()).ok().map(Utc::at)
}

/// `0 00:10:00`: days, hours, minutes, seconds.
pub(crate) fn days_and_time(text: &str) -> Option<Nanos> {
    let (days, time) = text.trim().split_once(char::is_whitespace)?;
    let mut seconds: u64 = days.parse().ok()?;
    let parts: Vec<u64> = time
        .trim()
        .split(':')
        .map(|part| part.parse().ok())
        .collect::<Option<_>>()?;
    let [hours, minutes, rest] = parts[..] else { return None };
    seconds = seconds.checked_mul(24)?.checked_add(hours)?;
    seconds = seconds.checked_mul(60)?.checked_add(minutes)?;
    seconds = seconds.checked_mul(60)?.checked_add(rest)?;
    seconds.checked_mul(1_000_000_000).map(Nanos)
}

/// The machine's description in rt-tests' JSON and jitterdebugger's.
#[derive(Debug, Deserialize)]
pub(crate) struct SysInfo {
    nodename: Option<String>,
    release: Option<String>,
    version: Option<String>,
    #[serde(default)]
    realtime: u32,
    cpus_online: Option<u32>,
    /// jitterdebugger's unit.
    pub(crate) resolution_in_ns: Option<u64>,
}

impl From<&SysInfo> for MachineTold {
    fn from(told: &SysInfo) -> Self {
        let is_rt = told.version.as_ref().is_some_and(|v| v.contains("PREEMPT_RT"));
        MachineTold {
            host: told.nodename.clone(),
            cpus: told.cpus_online,
            release: told.release.clone(),
            version: told.version.clone(),
            realtime: told.realtime > 0 || is_rt,
        }
    }
}

/// A document of rt-tests, with so many threads of a kind.
#[derive(Deserialize)]
pub(crate) struct RtTestsFile<T> {
    #[serde(rename = "cmdline:", alias = "cmdline", default)]
    command: Option<String>,
    #[serde(rename = "rt_test_version:", alias = "rt_test_version")]
    version: Option<String>,
    start_time: Option<String>,
    end_time: Option<String>,
    sysinfo: Option<SysInfo>,
    /// cyclictest's: 1 with -N.
    #[serde(default)]
    pub(crate) resolution_in_ns: u32,
    #[serde(default = "BTreeMap::new")]
    pub(crate) thread: BTreeMap<u32, T>,
}

/// The measurement of such a document, without its series.
pub(crate) fn rt_tests<T>(tool: &'static str, file: &RtTestsFile<T>) -> ToolMeasurement {
    let mut measured = ToolMeasurement::new(tool, Nanos(1_000));
    measured.version = file.version.clone();
    measured.command = file.command.clone();
    measured.machine = file.sysinfo.as_ref().map(MachineTold::from).unwrap_or_default();
    measured.began = file.start_time.as_deref().and_then(moment);
    measured.ended = file.end_time.as_deref().and_then(moment);
    measured
}

/// A JSON histogram: values as text, and how often.
pub(crate) fn bins(histogram: &BTreeMap<String, u64>, unit: u64) -> Result<BTreeMap<u64, u64>, FormatError> {
    let bin = |(text, count): (&String, &u64)| {
        let wrong = || {
            FormatError::new(format!(
                "the value '{}' of its histogram is no number",
                text.escape_debug()
            ))
        };
        let value = match text.contains('.') {
            true => exact(text, unit).ok_or_else(wrong)?,
            false => whole(text.parse().map_err(|_| wrong())?, unit)?,
        };
        Ok((value.0, *count))
    };
    histogram.iter().map(bin).collect()
}

/// The median and the percentiles that the count bears, of those that a tool gives by their percents.
pub(crate) fn percentiles_of(
    told: &BTreeMap<String, u64>,
    ends: &Extremes,
) -> (Option<u64>, BTreeMap<Percentile, u64>) {
    let at = |percent: f64| {
        let same = |(name, _): &(&String, &u64)| name.parse::<f64>().is_ok_and(|told| (told - percent).abs() < 1e-9);
        told.iter().find(same).map(|(_, ns)| ends.bound(*ns))
    };
    let borne = Percentile::ALL.into_iter().filter(|p| p.borne_by(ends.count));
    let percentiles = borne.filter_map(|p| Some((p, at(100.0 - 100.0 / p.one_in() as f64)?)));
    (at(50.0), percentiles.collect())
}

/// The sum of a histogram's counts; a sum that no number holds is an error.
pub(crate) fn total<'a>(counts: impl IntoIterator<Item = &'a u64>) -> Result<u64, FormatError> {
    let sum = counts.into_iter().try_fold(0_u64, |sum, count| sum.checked_add(*count));
    sum.ok_or_else(|| FormatError::new("the counts of its histogram are too large to add up; it is damaged"))
}

/// A document of a tool.
pub(crate) fn json<T: serde::de::DeserializeOwned>(tool: &str, value: Value) -> Result<T, FormatError> {
    serde_json::from_value(value).map_err(|e| FormatError::new(format!("it is no JSON of {tool}: {e}")))
}

/// The program in the command line of a document of rt-tests.
pub(crate) fn program(value: &Value) -> Option<&str> {
    let command = value.get("cmdline:").or(value.get("cmdline"))?.as_str()?;
    command.split_whitespace().next()?.rsplit('/').next()
}

/// `T: 0 (25462) ...` of rt-tests and jitterdebugger: the thread's number, its process, and the rest. On a terminal the
/// cursor moves before it.
pub(crate) fn rt_thread(line: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = line.split_once("T:")?;
    let moves = before.is_empty() || before.starts_with('\u{1b}');
    let (number, rest) = rest.trim_start().split_once(" (").filter(|_| moves)?;
    let (pid, fields) = rest.split_once(')')?;
    let is_number = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
    let (number, pid) = (number.trim(), pid.trim());
    (is_number(number) && is_number(pid)).then_some((number, pid, fields))
}

/// Refuses a thread's line that cannot be what became of one before: it is of another run with the same number.
pub(crate) fn check_later(at: usize, before: Option<&Extremes>, now: &Extremes) -> Result<(), FormatError> {
    match before.is_none_or(|before| now.continues(before)) {
        true => Ok(()),
        false => Err(FormatError::at(
            at,
            "a thread's line does not go on from the one before; are they of two runs? split the file between them",
        )),
    }
}

/// The word behind a name, `Max:     12`.
pub(crate) fn field<'a>(fields: &'a str, name: &str) -> Option<&'a str> {
    fields.split_once(name)?.1.split_whitespace().next()
}

/// The unit of times without one, in ns: microseconds, unless the user tells it.
pub(crate) fn unit_or_us(unit: Option<Nanos>) -> u64 {
    unit.map_or(1_000, |unit| unit.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        assert_eq!(decimal("47.29", 1_000), Some(Nanos(47_290)));
        assert_eq!(decimal("-1", 1_000), None);
        assert_eq!(decimal("nan", 1), None);
        assert_eq!(
            days_and_time("  1 00:10:01"),
            Some(Nanos((86_400 + 601) * 1_000_000_000))
        );
        assert_eq!(days_and_time("00:10:01"), None);
        let at = moment("Mon, 23 Nov 2026 02:38:38 +0000").unwrap();
        assert_eq!(at.to_string(), "2026-11-23T02:38:38Z");
        assert!(whole(u64::MAX, 1_000).is_err());
    }
}
