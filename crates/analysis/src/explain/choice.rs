//! The choice of a cell's sample.

use std::str::FromStr;
use worstcase_results::record::SampleRow;

/// The choice of a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SampleChoice {
    /// The latest.
    Worst,
    /// The sample of this period.
    Number(u32),
    /// The sample at this percentile of all samples.
    Percentile(TypedPercentage),
}

/// A percentage as it was typed: as a binary fraction 99.9 of 1 000 samples would be a hair above the 999th.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypedPercentage {
    /// The percentage without its point.
    digits: u64,
    /// Digits behind the point.
    decimals: u32,
}

impl TypedPercentage {
    fn is_all(self) -> bool {
        u128::from(self.digits) == 100 * 10_u128.pow(self.decimals)
    }

    /// Nearest rank, from 1 on, as in the tables: the smallest with at least that share of `count` at or below it.
    fn rank(self, count: usize) -> usize {
        let whole = 100 * 10_u128.pow(self.decimals);
        let rank = (u128::from(self.digits) * count as u128).div_ceil(whole);
        (rank as usize).max(1)
    }
}

impl FromStr for TypedPercentage {
    type Err = ();
    fn from_str(text: &str) -> Result<TypedPercentage, ()> {
        let (whole, part) = text.split_once('.').unwrap_or((text, ""));
        let number = format!("{whole}{part}");
        // More digits than nine behind the point tell no two samples apart.
        let plain = !whole.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) && part.len() <= 9;
        let digits: u64 = number.parse().map_err(|_| ())?;
        let decimals = part.len() as u32;
        match plain && u128::from(digits) <= 100 * 10_u128.pow(decimals) {
            true => Ok(TypedPercentage { digits, decimals }),
            false => Err(()),
        }
    }
}

impl std::fmt::Display for TypedPercentage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let unit = 10_u64.pow(self.decimals);
        write!(f, "{}", self.digits / unit)?;
        match self.decimals {
            0 => Ok(()),
            n => write!(f, ".{:0n$}", self.digits % unit, n = n as usize),
        }
    }
}

impl FromStr for SampleChoice {
    type Err = String;
    fn from_str(text: &str) -> Result<SampleChoice, String> {
        let parsed = match text.strip_prefix('p') {
            _ if text == "worst" => Some(SampleChoice::Worst),
            Some(p) => p.parse().ok().map(SampleChoice::Percentile),
            None => text.parse().ok().map(SampleChoice::Number),
        };
        parsed.ok_or_else(|| format!("'{text}' is not 'worst', a sample's number, or a percentile such as p99.9"))
    }
}

impl std::fmt::Display for SampleChoice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SampleChoice::Worst => write!(f, "at all"),
            SampleChoice::Number(index) => write!(f, "{index}"),
            SampleChoice::Percentile(p) => write!(f, "at p{p}"),
        }
    }
}

impl SampleChoice {
    /// The median.
    pub(super) const MEDIAN: SampleChoice = SampleChoice::Percentile(TypedPercentage {
        digits: 50,
        decimals: 0,
    });

    /// The choice in another cell that compares with this one: a number names a sample of one cell alone.
    pub fn of_another(self) -> SampleChoice {
        match self {
            SampleChoice::Worst | SampleChoice::Number(_) => SampleChoice::Worst,
            SampleChoice::Percentile(_) => self,
        }
    }

    /// Whether a percentile of so many samples is another one than the latest, as every percentage but all of them says.
    pub(crate) fn is_below_the_latest_of(self, count: usize) -> bool {
        match self {
            SampleChoice::Percentile(p) => p.is_all() || p.rank(count) < count,
            SampleChoice::Worst | SampleChoice::Number(_) => true,
        }
    }
}

/// Finds it; of equally late ones the first.
pub(crate) fn choose(rows: &[(usize, SampleRow)], choice: SampleChoice) -> Option<(usize, SampleRow)> {
    match choice {
        SampleChoice::Worst => rows.iter().rev().max_by_key(|(_, row)| row.latency).copied(),
        SampleChoice::Number(index) => rows.iter().find(|(_, row)| row.index == index).copied(),
        SampleChoice::Percentile(p) => {
            let mut sorted: Vec<_> = rows.to_vec();
            sorted.sort_by_key(|(_, row)| row.latency);
            sorted.get(p.rank(sorted.len()) - 1).copied()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use worstcase_contract::Nanos;
    use worstcase_results::stats::{Distribution, Percentile};

    #[test]
    fn another_cell_has_the_same_percentile_but_no_such_number() {
        let of_another = |text: &str| text.parse::<SampleChoice>().unwrap().of_another();
        assert_eq!(of_another("p50"), "p50".parse().unwrap());
        assert_eq!(of_another("worst"), SampleChoice::Worst);
        assert_eq!(of_another("17"), SampleChoice::Worst);
    }

    #[test]
    fn a_percentile_is_what_the_tables_call_it() {
        for count in [1_000_u32, 1_001, 10_000, 12_345, 100_000] {
            let row = |index| SampleRow {
                index,
                due: Nanos(0),
                latency: Nanos(u64::from(index) * 7),
                irq_latency: None,
                after_irq: None,
                instructions: None,
                parts: None,
                cycle: None,
                jitter_ns: None,
            };
            let rows: Vec<(usize, SampleRow)> = (0..count).map(|i| (i as usize, row(i))).collect();
            let all = Distribution::new(rows.iter().map(|(_, row)| row.latency)).unwrap();
            for p in Percentile::ALL {
                let Some(in_table) = all.percentile(p) else { continue };
                let (_, chosen) = choose(&rows, p.name().parse().unwrap()).unwrap();
                assert_eq!(chosen.latency, in_table, "{} of {count}", p.name());
            }
        }
        // 99.9 / 100 * 1000 is 999.0000000000001 in binary: that is no 1000th sample.
        assert_eq!("99.9".parse::<TypedPercentage>().unwrap().rank(1_000), 999);
        let ranks = ["0", "50", "99.99", "100", "100.0"].map(|p| p.parse::<TypedPercentage>().unwrap().rank(10));
        assert_eq!(ranks, [1, 5, 10, 10, 10]);
        for bad in ["", ".", ".5", "-1", "100.1", "1e2", "nan", "1.2.3", "0.0000000001"] {
            assert!(bad.parse::<TypedPercentage>().is_err(), "{bad}");
        }
        assert_eq!("99.05".parse::<TypedPercentage>().unwrap().to_string(), "99.05");
    }

    #[test]
    fn a_percentile_that_is_the_latest_sample_is_none() {
        let is_below = |text: &str, count| text.parse::<SampleChoice>().unwrap().is_below_the_latest_of(count);
        assert!(!is_below("p99.99", 2_000) && is_below("p99.9", 2_000) && is_below("p99.99", 20_000));
        assert!(is_below("p100", 1) && is_below("worst", 1) && is_below("7", 1));
    }
}
