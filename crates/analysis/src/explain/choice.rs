//! Which sample of a cell.

use std::str::FromStr;
use worstcase_results::record::SampleRow;

/// Which sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Choice {
    Worst,
    Number(u32),
    Percentile(f64),
}

impl FromStr for Choice {
    type Err = String;
    fn from_str(text: &str) -> Result<Choice, String> {
        let percent = |p: &str| p.parse().ok().filter(|p| (0.0..=100.0).contains(p));
        let parsed = match text.strip_prefix('p') {
            _ if text == "worst" => Some(Choice::Worst),
            Some(p) => percent(p).map(Choice::Percentile),
            None => text.parse().ok().map(Choice::Number),
        };
        parsed.ok_or_else(|| format!("'{text}' is not 'worst', a sample's number, or a percentile such as p99.9"))
    }
}

impl std::fmt::Display for Choice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Choice::Worst => write!(f, "at all"),
            Choice::Number(index) => write!(f, "{index}"),
            Choice::Percentile(p) => write!(f, "at p{p}"),
        }
    }
}

/// Finds it; of equally late ones the first.
pub fn choose(rows: &[(usize, SampleRow)], choice: Choice) -> Option<(usize, SampleRow)> {
    match choice {
        Choice::Worst => rows.iter().rev().max_by_key(|(_, row)| row.latency).copied(),
        Choice::Number(index) => rows.iter().find(|(_, row)| row.index == index).copied(),
        Choice::Percentile(p) => {
            let mut sorted: Vec<_> = rows.to_vec();
            sorted.sort_by_key(|(_, row)| row.latency);
            // Nearest rank, as everywhere in the reports.
            let rank = (p / 100.0 * sorted.len() as f64).ceil() as usize;
            sorted.get(rank.max(1) - 1).copied()
        }
    }
}
