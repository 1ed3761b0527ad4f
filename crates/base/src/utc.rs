//! A moment of the calendar, in UTC.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// Seconds since 1970, written as `2026-11-22T23:45:07Z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Utc(u64);

/// A text that is no such moment.
#[derive(Debug, thiserror::Error)]
#[error("{0:?} is no moment; write it like 2026-11-22T23:45:07Z")]
pub struct NoMoment(String);

const DAY: u64 = 86_400;

impl Utc {
    /// This one.
    pub fn now() -> Utc {
        // A clock before 1970 is not set.
        Utc(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_secs()))
    }

    /// Seconds since 1970.
    pub const fn at(seconds: u64) -> Utc {
        Utc(seconds)
    }

    /// As part of a file's name: `20261122-2345`.
    pub fn to_the_minute(self) -> String {
        let (year, month, day) = self.date();
        let (hour, minute, _) = self.time();
        format!("{year:04}{month:02}{day:02}-{hour:02}{minute:02}")
    }

    /// For people: `2026-11-22 23:45 UTC`.
    pub fn told(self) -> String {
        let (year, month, day) = self.date();
        let (hour, minute, _) = self.time();
        format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02} UTC")
    }

    fn time(self) -> (u64, u64, u64) {
        let second = self.0 % DAY;
        (second / 3_600, second / 60 % 60, second % 60)
    }

    /// Year, month and day: years of the Gregorian calendar that begin in March have their leap day at their end.
    fn date(self) -> (u64, u64, u64) {
        const ERA: u64 = 146_097;
        let days = self.0 / DAY + 719_468;
        let (era, day_of_era) = (days / ERA, days % ERA);
        let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let from_march = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * from_march + 2) / 5 + 1;
        let month = if from_march < 10 {
            from_march + 3
        } else {
            from_march - 9
        };
        (era * 400 + year_of_era + u64::from(month <= 2), month, day)
    }

    fn of(year: u64, month: u64, day: u64) -> u64 {
        let year = year - u64::from(month <= 2);
        let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
        let days = year / 400 * 146_097 + (year % 400) * 365 + (year % 400) / 4 - (year % 400) / 100 + day_of_year;
        (days - 719_468) * DAY
    }
}

impl fmt::Display for Utc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = self.date();
        let (hour, minute, second) = self.time();
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
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
        let number = |from: usize, len: usize| text.get(from..from + len)?.parse::<u64>().ok();
        let parse = || {
            let (year, month, day) = (number(0, 4)?, number(5, 2)?, number(8, 2)?);
            let (hour, minute, second) = (number(11, 2)?, number(14, 2)?, number(17, 2)?);
            let is_one = year >= 1970 && (1..=12).contains(&month) && (1..=31).contains(&day);
            is_one.then(|| Utc(Utc::of(year, month, day) + hour * 3_600 + minute * 60 + second))
        };
        // What is written again as it was has no 30th of February.
        let moment: Option<Utc> = parse();
        moment.filter(|m| m.to_string() == text).ok_or(NoMoment(text))
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
        assert_eq!(Utc::at(1_795_388_707).told(), "2026-11-22 23:05 UTC");
    }
}
