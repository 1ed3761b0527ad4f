//! Numbers in the tools' texts and JSON.

use super::FormatError;
use chrono::DateTime;
use serde::Deserialize;
use std::collections::BTreeMap;
use worstcase_base::utc::Utc;
use worstcase_contract::Nanos;

/// `47.29` of a unit of so many ns.
pub(crate) fn decimal(text: &str, unit: u64) -> Option<Nanos> {
    let value: f64 = text.parse().ok()?;
    of_float(value, unit)
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

impl From<&SysInfo> for super::measured::MachineTold {
    fn from(told: &SysInfo) -> Self {
        let is_rt = told.version.as_ref().is_some_and(|v| v.contains("PREEMPT_RT"));
        super::measured::MachineTold {
            host: told.nodename.clone(),
            cpus: told.cpus_online,
            release: told.release.clone(),
            version: told.version.clone(),
            realtime: told.realtime > 0 || is_rt,
        }
    }
}

/// A JSON histogram: values as text, and how often.
pub(crate) fn bins(histogram: &BTreeMap<String, u64>, unit: u64) -> Result<BTreeMap<u64, u64>, FormatError> {
    let bin = |(value, count): (&String, &u64)| {
        let value = value.parse();
        let value = value.map_err(|_| FormatError::new("a value of its histogram is no number"))?;
        Ok((whole(value, unit)?.0, *count))
    };
    histogram.iter().map(bin).collect()
}

/// The sum of a histogram's counts; a sum that no number holds is an error.
pub(crate) fn total<'a>(counts: impl IntoIterator<Item = &'a u64>) -> Result<u64, FormatError> {
    let sum = counts.into_iter().try_fold(0_u64, |sum, count| sum.checked_add(*count));
    sum.ok_or_else(|| FormatError::new("the counts of its histogram are too large to add up; it is damaged"))
}

/// JSON of a tool; a cut one is an error that says so.
pub(crate) fn json<T: serde::de::DeserializeOwned>(tool: &str, text: &str) -> Result<T, FormatError> {
    serde_json::from_str(text).map_err(|e| match e.is_eof() {
        true => FormatError::new(format!("it ends in the middle, at line {}; it was cut", e.line())),
        false => FormatError::new(format!("it is no JSON of {tool}: {e}")),
    })
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
