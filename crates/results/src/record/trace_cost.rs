//! What a trace beside a measurement costs it: ordinary wake-ups before it is opened, and beside it.

use super::TRACE_COST;
use std::collections::BTreeMap;
use std::fmt;
use worstcase_base::format::micros;
use worstcase_contract::Nanos;

/// How late wake-ups are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WakeupTimes {
    /// The earliest.
    pub min: Nanos,
    /// Half of them are later.
    pub median: Nanos,
}

/// Both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceCost {
    /// Before the trace was opened.
    pub without: WakeupTimes,
    /// Beside it.
    pub with: WakeupTimes,
    /// The number of each.
    pub wakeups: u64,
}

/// Keys of a record's environment.
const KEYS: [&str; 5] = [
    "untraced_min_ns",
    "untraced_median_ns",
    "traced_min_ns",
    "traced_median_ns",
    "trace_cost_wakeups",
];

impl TraceCost {
    /// Of as many wake-ups without and with it.
    pub fn of(without: Vec<Nanos>, with: Vec<Nanos>) -> Option<TraceCost> {
        Some(TraceCost {
            wakeups: without.len() as u64,
            without: WakeupTimes::of(without)?,
            with: WakeupTimes::of(with)?,
        })
    }

    /// So much later is the median.
    pub fn median(&self) -> Nanos {
        self.with.median.saturating_sub(self.without.median)
    }

    /// Puts it into a record's environment.
    pub fn keep(&self, environment: &mut BTreeMap<String, String>) {
        let (without, with) = (self.without, self.with);
        let values = [without.min, without.median, with.min, with.median, Nanos(self.wakeups)];
        environment.extend(
            KEYS.iter()
                .zip(values)
                .map(|(key, value)| (key.to_string(), value.0.to_string())),
        );
        environment.insert(TRACE_COST.to_string(), self.median().0.to_string());
    }

    /// The one of a record's environment.
    pub fn kept(environment: &BTreeMap<String, String>) -> Option<TraceCost> {
        let number = |nth: usize| environment.get(KEYS[nth])?.parse::<u64>().ok();
        let times = |nth: usize| {
            Some(WakeupTimes {
                min: Nanos(number(nth)?),
                median: Nanos(number(nth + 1)?),
            })
        };
        Some(TraceCost {
            without: times(0)?,
            with: times(2)?,
            wakeups: number(4)?,
        })
    }
}

impl fmt::Display for TraceCost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (without, with) = (self.without, self.with);
        let later = |name: &str, without: Nanos, with: Nanos| {
            let both = format!("({} without, {} with)", micros(without), micros(with));
            match with.0.checked_sub(without.0) {
                Some(more) => format!("{} us later at the {name} {both}", micros(Nanos(more))),
                None => format!("not measurably later at the {name} {both}"),
            }
        };
        write!(
            f,
            "makes a wake-up {}, {}; {} wake-ups each",
            later("minimum", without.min, with.min),
            later("median", without.median, with.median),
            self.wakeups
        )
    }
}

impl WakeupTimes {
    fn of(mut values: Vec<Nanos>) -> Option<WakeupTimes> {
        values.sort_unstable();
        Some(WakeupTimes {
            min: *values.first()?,
            median: values[values.len() / 2],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minimum_and_median_with_and_without_are_kept_and_told() {
        let values = |ns: &[u64]| ns.iter().copied().map(Nanos).collect::<Vec<_>>();
        let cost = TraceCost::of(values(&[9_000, 4_500, 6_000]), values(&[5_750, 20_000, 8_500])).unwrap();
        let mut environment = BTreeMap::new();
        assert_eq!(TraceCost::kept(&environment), None);
        cost.keep(&mut environment);
        assert_eq!(TraceCost::kept(&environment), Some(cost));
        assert_eq!(environment[TRACE_COST], "2500");
        assert_eq!(
            cost.to_string(),
            "makes a wake-up 1.25 us later at the minimum (4.50 without, 5.75 with), 2.50 us later at the median \
             (6.00 without, 8.50 with); 3 wake-ups each"
        );
        assert_eq!(TraceCost::of(Vec::new(), Vec::new()), None);
        let busy_before = TraceCost::of(values(&[4_500, 1_037_000]), values(&[5_750, 37_500])).unwrap();
        let told = "not measurably later at the median (1037 without, 37.5 with); 2 wake-ups each";
        assert!(busy_before.to_string().ends_with(told), "{busy_before}");
    }
}
