//! A moment of the calendar, in UTC.

use chrono::{DateTime, NaiveDateTime};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// Seconds since 1970, written as `2026-11-22T23:45:07Z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Utc(u64);

/// A text that is not such a moment.
#[derive(Debug, thiserror::Error)]
#[error("{0:?} is no moment; write it like 2026-11-22T23:45:07Z")]
pub struct NoMoment(String);

/// As it is written.
const FORM: &str = "%Y-%m-%dT%H:%M:%SZ";

impl Utc {
    /// This one.
    pub fn now() -> Utc {
        // A clock that is not set may be before 1970.
        Utc(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_secs()))
    }

    /// Seconds since 1970.
    pub const fn at(seconds: u64) -> Utc {
        Utc(seconds)
    }

    /// Seconds since 1970.
    pub const fn seconds(self) -> u64 {
        self.0
    }

    /// As part of a file's name: `20261122-2345`.
    pub fn to_the_minute(self) -> String {
        self.written("%Y%m%d-%H%M")
    }

    /// As part of a file's name that tells the second: `20261122-234507`.
    pub fn to_the_second(self) -> String {
        self.written("%Y%m%d-%H%M%S")
    }

    /// For people: `2026-11-22 23:45 UTC`.
    pub fn readable(self) -> String {
        self.written("%Y-%m-%d %H:%M UTC")
    }

    /// The same with the second: `2026-11-22 23:45:07 UTC`.
    pub fn told_to_the_second(self) -> String {
        self.written("%Y-%m-%d %H:%M:%S UTC")
    }

    fn written(self, form: &str) -> String {
        let moment = DateTime::from_timestamp(self.0.cast_signed(), 0).unwrap_or(DateTime::<chrono::Utc>::MAX_UTC);
        moment.format(form).to_string()
    }
}

impl fmt::Display for Utc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written(FORM))
    }
}

impl From<Utc> for String {
    fn from(moment: Utc) -> String {
        moment.to_string()
    }
}

impl TryFrom<String> for Utc {
    type Error = NoMoment;

    fn try_from(text: String) -> Result<Utc, NoMoment> {
        let parsed = NaiveDateTime::parse_from_str(&text, FORM).ok();
        let seconds = parsed.and_then(|moment| u64::try_from(moment.and_utc().timestamp()).ok());
        // The text must come out again unchanged: no signs, spaces or leap seconds.
        let moment = seconds.map(Utc).filter(|moment| moment.to_string() == text);
        moment.ok_or(NoMoment(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (1_795_388_707, "2026-11-22T23:05:07Z"),
        ] {
            assert_eq!(Utc::at(seconds).to_string(), text);
            assert_eq!(Utc::try_from(text.to_string()).unwrap(), Utc::at(seconds));
        }
        for wrong in [
            "",
            "2026-11-22",
            "2026-02-30T00:00:00Z",
            "2026-11-22T25:00:00Z",
            "\u{e9}",
        ] {
            assert!(Utc::try_from(wrong.to_string()).is_err(), "{wrong}");
        }
        assert_eq!(Utc::at(1_795_388_707).to_the_minute(), "20261122-2305");
        assert_eq!(Utc::at(1_795_388_707).readable(), "2026-11-22 23:05 UTC");
    }
}
