//! When a kernel is bad: a limit, or so much worse than the good end.

use crate::figures::{BisectedMeasure, KernelFigure};
use std::fmt;
use std::str::FromStr;
use worstcase_base::duration;
use worstcase_contract::Nanos;

/// When a kernel is bad: if one of its cells is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BadCriterion {
    /// The measure is above a limit.
    Above(BisectedMeasure, Nanos),
    /// The measure is so many percent above that of the good end.
    Worse(BisectedMeasure, f64),
}

impl BadCriterion {
    /// The measure that is compared.
    pub fn measure(&self) -> BisectedMeasure {
        match self {
            BadCriterion::Above(measure, _) | BadCriterion::Worse(measure, _) => *measure,
        }
    }

    /// Whether a cell is bad, given the same cell of the good end.
    fn is_bad(&self, cell: &KernelFigure, good: Option<&KernelFigure>) -> bool {
        let Some(value) = cell.value else { return false };
        match self {
            BadCriterion::Above(_, limit) => value > *limit,
            BadCriterion::Worse(_, percent) => {
                let before = good.and_then(|good| good.value);
                before.is_some_and(|before| value.0 as f64 > before.0 as f64 * (1.0 + percent / 100.0))
            }
        }
    }

    /// The cells that are bad.
    pub fn bad<'a>(&self, cells: &'a [KernelFigure], good: &[KernelFigure]) -> Vec<&'a KernelFigure> {
        let same = |cell: &KernelFigure| good.iter().find(|other| other.cell == cell.cell);
        cells.iter().filter(|cell| self.is_bad(cell, same(cell))).collect()
    }
}

impl fmt::Display for BadCriterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadCriterion::Above(measure, limit) => write!(f, "{measure} > {}", duration::show(*limit)),
            BadCriterion::Worse(measure, percent) => write!(f, "{measure} by more than {percent} % above the good end"),
        }
    }
}

impl FromStr for BadCriterion {
    type Err = String;

    /// `max > 100us`, `p99 > 20us`, `100us`; relative to the good end: `20%`, `p99 20%`.
    fn from_str(text: &str) -> Result<BadCriterion, String> {
        if let Some((measure, limit)) = text.split_once('>') {
            let limit = duration::parse(limit.trim()).map_err(|e| e.to_string())?;
            return Ok(BadCriterion::Above(measure.trim().parse()?, limit));
        }
        let (measure, value) = match text.trim().rsplit_once(' ') {
            Some((measure, value)) => (measure.trim().parse()?, value),
            None => (BisectedMeasure::Max, text.trim()),
        };
        match value.strip_suffix('%') {
            Some(percent) => {
                let percent: f64 = percent
                    .parse()
                    .map_err(|_| format!("'{value}' is no percentage, e.g. 20%"))?;
                match percent.is_finite() && percent > 0.0 {
                    true => Ok(BadCriterion::Worse(measure, percent)),
                    false => Err(format!("'{value}': worse is more than 0 %")),
                }
            }
            None => Ok(BadCriterion::Above(
                measure,
                duration::parse(value).map_err(|e| e.to_string())?,
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use worstcase_results::compare::side::DistributionFigures;

    fn figure(cell: &str, us: u64) -> KernelFigure {
        KernelFigure {
            cell: cell.into(),
            value: Some(Nanos(us * 1000)),
            digests: Vec::new(),
        }
    }

    #[test]
    fn a_criterion_is_read_as_it_is_written() {
        for (text, shown) in [
            ("max > 100us", "max > 100 us"),
            ("p99>2.5ms", "p99 > 2.5 ms"),
            ("100us", "max > 100 us"),
            ("20%", "max by more than 20 % above the good end"),
            ("median 5%", "median by more than 5 % above the good end"),
        ] {
            assert_eq!(text.parse::<BadCriterion>().unwrap().to_string(), shown);
        }
        for (text, says) in [
            ("mean > 1us", "max, p99 or median"),
            ("max > 1", "duration"),
            ("-3%", "more than 0 %"),
        ] {
            assert!(text.parse::<BadCriterion>().unwrap_err().contains(says), "{text}");
        }
    }

    #[test]
    fn one_bad_cell_makes_a_kernel_bad() {
        let good = [figure("a", 10), figure("b", 100)];
        let worse: BadCriterion = "20%".parse().unwrap();
        let bad = |cells: &[KernelFigure]| worse.bad(cells, &good).len();
        assert_eq!(bad(&[figure("a", 12), figure("b", 120)]), 0);
        assert_eq!(bad(&[figure("a", 13), figure("b", 90)]), 1);
        assert_eq!(bad(&[figure("c", 1000)]), 0, "nothing to compare it with");
        let above: BadCriterion = "max > 99us".parse().unwrap();
        assert_eq!(above.bad(&good, &[]).len(), 1);
    }

    #[test]
    fn a_measure_over_the_seeds() {
        let seed = |us: u64, p99: bool| DistributionFigures {
            median: Some(Nanos(us)),
            p99: p99.then_some(Nanos(10 * us)),
            max: Nanos(100 * us),
        };
        let seeds = [seed(3, true), seed(1, true), seed(2, true)];
        assert_eq!(BisectedMeasure::Max.value(&seeds), Some(Nanos(300)));
        assert_eq!(BisectedMeasure::P99.value(&seeds), Some(Nanos(20)));
        assert_eq!(BisectedMeasure::P99.value(&[seed(1, true), seed(1, false)]), None);
    }
}
