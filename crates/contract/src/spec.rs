//! One cell, and the text that stands for it: `key=value` words, at most [`MAX_LEN`] bytes.

pub use crate::spec_error::SpecError;

use crate::loads::LoadSpec;
use crate::probe::Probe;
use crate::venue::Venue;
use std::str::FromStr;
use worstcase_cell::order::CellOrder;
use worstcase_instruments::schedule;
use worstcase_logs::Nanos;

/// Longest text, in bytes.
pub const MAX_LEN: usize = 256;

/// One cell, as the measured machine needs to know it: the machine itself is the subject.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CellSpec {
    /// The instrument.
    pub probe: Probe,
    /// The load as its user typed it, several at once as `a+b` (see [`crate::loads::LoadSpec`]). Spaces are allowed (`cmd:`).
    pub load: String,
    /// Distance of two due times; 0 for a probe without due times.
    pub period: Nanos,
    /// Number of periods, or of repetitions; every one of them is either a sample or counted as missed.
    pub periods: u32,
    /// Shifts the phase of the first due time and seeds the load's access patterns.
    pub seed: u64,
    /// The load runs alone for this long before the first period.
    pub warmup: Nanos,
    /// SCHED_FIFO priority of the probe, 1 to 99; 0 for an ordinary thread.
    pub priority: u8,
}

impl CellSpec {
    /// Longest period that is accepted, one minute.
    pub const MAX_PERIOD: Nanos = Nanos(60_000_000_000);
    /// Shortest period that is accepted.
    pub const MIN_PERIOD: Nanos = Nanos(10_000);
    /// Longest warm-up that is accepted, one hour.
    pub const MAX_WARMUP: Nanos = Nanos(3_600_000_000_000);
    /// Most periods of one cell.
    pub const MAX_PERIODS: u32 = 10_000_000;

    /// The phase of the first due time within the longest tick in use (HZ=100, 10 ms), from the seed.
    pub fn phase(&self) -> Nanos {
        schedule::phase(self.seed)
    }

    /// The order to the machine that measures; an error for a cell that `venue` does not have.
    pub fn order(&self, venue: Venue) -> Result<CellOrder, SpecError> {
        let text = self.to_text()?;
        let loads: LoadSpec = self.load.parse()?;
        self.probe.check_venue(venue)?;
        loads.check_venue(venue)?;
        Ok(CellOrder {
            text,
            instrument: self.probe.instrument()?,
            loads: loads.orders(),
            period: self.period,
            periods: self.periods,
            seed: self.seed,
            warmup: self.warmup,
            priority: self.priority,
        })
    }

    /// This cell without a period and a priority, if its probe has none.
    #[must_use]
    pub fn for_probe(self) -> CellSpec {
        CellSpec {
            period: if self.probe.is_periodic() {
                self.period
            } else {
                Nanos(0)
            },
            priority: if self.probe.is_real_time() { self.priority } else { 0 },
            ..self
        }
    }

    /// The text. Fails if it is longer than [`MAX_LEN`] or a value is out of range.
    pub fn to_text(&self) -> Result<String, SpecError> {
        self.check()?;
        let text = format!(
            "probe={} period_ns={} periods={} seed={} warmup_ns={} priority={} load={}",
            self.probe, self.period.0, self.periods, self.seed, self.warmup.0, self.priority, self.load
        );
        if text.len() > MAX_LEN {
            return Err(SpecError(format!(
                "the load '{}' is {} bytes too long",
                self.load,
                text.len() - MAX_LEN
            )));
        }
        Ok(text)
    }

    fn check(&self) -> Result<(), SpecError> {
        if !self.probe.is_periodic() {
            if self.period.0 > 0 || self.priority > 0 {
                return Err(SpecError(format!(
                    "{} has no period and no priority",
                    self.probe.name()
                )));
            }
        } else if self.period < Self::MIN_PERIOD || self.period > Self::MAX_PERIOD {
            return Err(SpecError(format!(
                "a period is {} to {}, not {}",
                Self::MIN_PERIOD,
                Self::MAX_PERIOD,
                self.period
            )));
        }
        if self.periods == 0 || self.periods > Self::MAX_PERIODS {
            return Err(SpecError(format!(
                "the number of samples is 1 to {}, not {}",
                Self::MAX_PERIODS,
                self.periods
            )));
        }
        if self.warmup > Self::MAX_WARMUP {
            return Err(SpecError(format!(
                "a warm-up is at most {}, not {}",
                Self::MAX_WARMUP,
                self.warmup
            )));
        }
        let lowest = match self.probe.takes_policy() {
            true => 0,
            false => 1,
        };
        if self.probe.is_real_time() && !(lowest..=99).contains(&self.priority) {
            return Err(SpecError(format!(
                "a real-time priority is 1 to 99, not {}",
                self.priority
            )));
        }
        if self.load.trim() != self.load || self.load.contains(|c: char| c.is_control()) {
            return Err(SpecError(
                "a load holds no control characters and no spaces at its ends".into(),
            ));
        }
        Ok(())
    }
}

impl FromStr for CellSpec {
    type Err = SpecError;

    /// Parses the text; the load is the last word and may itself hold spaces.
    fn from_str(text: &str) -> Result<Self, SpecError> {
        let (head, load) = text
            .split_once(" load=")
            .ok_or_else(|| SpecError("no load in the cell's text".into()))?;
        let words: Vec<(&str, &str)> = head.split(' ').filter_map(|w| w.split_once('=')).collect();
        let get = |key: &str| {
            words
                .iter()
                .find(|(k, _)| *k == key)
                .map(|(_, v)| *v)
                .ok_or_else(|| SpecError(format!("no {key} in the cell's text")))
        };
        fn number<T: FromStr>(key: &str, value: &str) -> Result<T, SpecError> {
            value
                .parse()
                .map_err(|_| SpecError(format!("{key} is not a number in range: '{value}'")))
        }
        let spec = CellSpec {
            probe: get("probe")?.parse()?,
            load: load.to_string(),
            period: Nanos(number("period_ns", get("period_ns")?)?),
            periods: number("periods", get("periods")?)?,
            seed: number("seed", get("seed")?)?,
            warmup: Nanos(number("warmup_ns", get("warmup_ns")?)?),
            priority: number("priority", get("priority")?)?,
        };
        spec.check()?;
        Ok(spec)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> CellSpec {
        CellSpec {
            probe: Probe::Wakeup,
            load: "cmd:stress-ng --cpu 1".into(),
            period: Nanos(251_000),
            periods: 2000,
            seed: 3,
            warmup: Nanos::from_millis(100),
            priority: 98,
        }
    }

    #[test]
    fn text_and_back() {
        assert_eq!(spec().to_text().unwrap().parse::<CellSpec>(), Ok(spec()));
    }

    #[test]
    fn a_probe_without_due_times_has_no_period() {
        let switch = CellSpec {
            probe: "switch:16x16k+futex".parse().unwrap(),
            ..spec()
        };
        assert!(switch.to_text().unwrap_err().0.contains("no period"));
        let switch = switch.for_probe();
        assert_eq!(switch.to_text().unwrap().parse::<CellSpec>().unwrap(), switch);
    }

    #[test]
    fn values_out_of_range_are_refused() {
        assert!(CellSpec { periods: 0, ..spec() }.to_text().is_err());
        assert!(
            CellSpec {
                priority: 100,
                ..spec()
            }
            .to_text()
            .is_err()
        );
        assert!(
            CellSpec {
                load: "x".repeat(300),
                ..spec()
            }
            .to_text()
            .unwrap_err()
            .0
            .contains("too long")
        );
        assert!("probe=wakeup".parse::<CellSpec>().is_err());
    }

    #[test]
    fn seeds_shift_the_phase() {
        let phases: std::collections::BTreeSet<_> = (1..=20).map(|seed| CellSpec { seed, ..spec() }.phase()).collect();
        assert_eq!(phases.len(), 20);
    }
}
