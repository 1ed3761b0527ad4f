//! When a kernel is bad or better: by a limit, or by so much against the older end.

use crate::figures::KernelFigure;
use crate::measure::BisectedMeasure;
use crate::search::CandidateWord;
use std::fmt;
use worstcase_base::duration;
use worstcase_contract::Nanos;

/// When a kernel is bad, or better: if one of its cells is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KernelCriterion {
    /// Bad: the measure is above a limit.
    Above(BisectedMeasure, Nanos),
    /// Bad: the measure is so many percent above that of the older end.
    Worse(BisectedMeasure, f64),
    /// Better: the measure is so many percent below that of the older end.
    Better(BisectedMeasure, f64),
}

/// What a measure is compared with, as it is typed.
enum Amount {
    Limit(Nanos),
    Percent(f64),
}

/// Reads `p99 > 20us` and `p99 20%`; without a measure it is the maximum.
fn amount(text: &str) -> Result<(BisectedMeasure, Amount), String> {
    let (measure, value) = match text.split_once('>').or_else(|| text.trim().rsplit_once(' ')) {
        Some((measure, value)) => (measure.trim().parse()?, value.trim()),
        None => (BisectedMeasure::Max, text.trim()),
    };
    let Some(percent) = value.strip_suffix('%') else {
        let limit = duration::parse(value).map_err(|e| e.to_string())?;
        return Ok((measure, Amount::Limit(limit)));
    };
    match percent.parse::<f64>() {
        Ok(percent) if percent.is_finite() && percent > 0.0 => Ok((measure, Amount::Percent(percent))),
        Ok(_) => Err(format!("'{value}': take more than 0 %")),
        Err(_) => Err(format!("'{value}' is no percentage, e.g. 20%")),
    }
}

impl KernelCriterion {
    /// Reads a limit: `max > 100us`, `p99 > 20us`, `100us`.
    pub fn limit(text: &str) -> Result<KernelCriterion, String> {
        match amount(text)? {
            (measure, Amount::Limit(limit)) => Ok(KernelCriterion::Above(measure, limit)),
            _ => Err("a limit is a duration, e.g. 'p99 > 20us'; for a percentage take --worse or --better".into()),
        }
    }

    /// Reads by how much it is worse: `20%`, `p99 20%`.
    pub fn worse(text: &str) -> Result<KernelCriterion, String> {
        let (measure, percent) = percentage(text)?;
        Ok(KernelCriterion::Worse(measure, percent))
    }

    /// Reads by how much it is better.
    pub fn better(text: &str) -> Result<KernelCriterion, String> {
        match percentage(text)? {
            (_, percent) if percent >= 100.0 => Err(format!("'{text}': better is less than 100 %")),
            (measure, percent) => Ok(KernelCriterion::Better(measure, percent)),
        }
    }

    /// The measure that is compared.
    pub fn measure(&self) -> BisectedMeasure {
        match self {
            KernelCriterion::Above(measure, _)
            | KernelCriterion::Worse(measure, _)
            | KernelCriterion::Better(measure, _) => *measure,
        }
    }

    fn is_met(&self, cell: &KernelFigure, older: Option<&KernelFigure>) -> bool {
        let value = cell.value.map(|ns| ns.0 as f64);
        let before = older.and_then(|older| older.value).map(|ns| ns.0 as f64);
        match (self, value, before) {
            (KernelCriterion::Above(_, limit), Some(value), _) => value > limit.0 as f64,
            (KernelCriterion::Worse(_, percent), Some(value), Some(before)) => value > before * (1.0 + percent / 100.0),
            (KernelCriterion::Better(_, percent), Some(value), Some(before)) => {
                value < before * (1.0 - percent / 100.0)
            }
            _ => false,
        }
    }

    /// The cells that meet it, given those of the older end.
    pub fn met<'a>(&self, cells: &'a [KernelFigure], older: &[KernelFigure]) -> Vec<&'a KernelFigure> {
        let same = |cell: &KernelFigure| older.iter().find(|other| other.cell == cell.cell);
        cells.iter().filter(|cell| self.is_met(cell, same(cell))).collect()
    }

    /// Whether a kernel with these cells is good or bad.
    pub fn word(&self, cells: &[KernelFigure], older: &[KernelFigure]) -> CandidateWord {
        match (self, self.met(cells, older).is_empty()) {
            (KernelCriterion::Better(..), false) => CandidateWord::Good,
            (KernelCriterion::Better(..), true) => CandidateWord::Bad,
            (_, false) => CandidateWord::Bad,
            (_, true) => CandidateWord::Good,
        }
    }

    /// What a kernel with this word is called.
    pub fn said(&self, word: CandidateWord) -> &'static str {
        match (self, word) {
            (_, CandidateWord::Skipped) => "skipped",
            (KernelCriterion::Better(..), CandidateWord::Good) => "better",
            (KernelCriterion::Better(..), CandidateWord::Bad) => "not better",
            (_, CandidateWord::Good) => "good",
            (_, CandidateWord::Bad) => "bad",
        }
    }

    /// The option that asks for the other direction, if `cells` meet that.
    pub(crate) fn opposite(&self, cells: &[KernelFigure], older: &[KernelFigure]) -> Option<String> {
        let (other, option, percent) = match *self {
            KernelCriterion::Above(..) => return None,
            KernelCriterion::Worse(measure, percent) => {
                (KernelCriterion::Better(measure, percent), "--better", percent)
            }
            KernelCriterion::Better(measure, percent) => (KernelCriterion::Worse(measure, percent), "--worse", percent),
        };
        let measure = self.measure();
        (!other.met(cells, older).is_empty()).then(|| format!("{option} '{measure} {percent}%'"))
    }
}

fn percentage(text: &str) -> Result<(BisectedMeasure, f64), String> {
    match text.trim_end().ends_with('%').then(|| amount(text)).transpose()? {
        Some((measure, Amount::Percent(percent))) => Ok((measure, percent)),
        _ => Err("take a percentage, e.g. 20% or 'p99 20%'; for a limit --criterion".into()),
    }
}

/// `max > 100 us is bad`.
impl fmt::Display for KernelCriterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KernelCriterion::Above(measure, limit) => write!(f, "{measure} > {} is bad", duration::show(*limit)),
            KernelCriterion::Worse(measure, percent) => {
                write!(f, "{measure} by more than {percent} % above the older end is bad")
            }
            KernelCriterion::Better(measure, percent) => {
                write!(f, "{measure} by more than {percent} % below the older end is better")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(cell: &str, us: u64) -> KernelFigure {
        KernelFigure {
            cell: cell.into(),
            value: Some(Nanos(us * 1000)),
            digests: Vec::new(),
        }
    }

    #[test]
    fn a_criterion_is_read_as_it_is_written() {
        type Reader = fn(&str) -> Result<KernelCriterion, String>;
        let (limit, worse, better): (Reader, Reader, Reader) =
            (KernelCriterion::limit, KernelCriterion::worse, KernelCriterion::better);
        for (read, text, shown) in [
            (limit, "max > 100us", "max > 100 us is bad"),
            (limit, "p99>2.5ms", "p99 > 2.5 ms is bad"),
            (limit, "p99.9 2.5ms", "p99.9 > 2.5 ms is bad"),
            (limit, "100us", "max > 100 us is bad"),
            (worse, "20%", "max by more than 20 % above the older end is bad"),
            (worse, "mean 5%", "mean by more than 5 % above the older end is bad"),
            (
                better,
                "p50 5%",
                "median by more than 5 % below the older end is better",
            ),
        ] {
            assert_eq!(read(text).unwrap().to_string(), shown);
        }
        for (read, text, says) in [
            (limit, "mode > 1us", "max, mean, median, p90"),
            (limit, "max > 1", "duration"),
            (limit, "20%", "--worse or --better"),
            (worse, "-3%", "more than 0 %"),
            (worse, "x%", "no percentage"),
            (worse, "100us", "--criterion"),
            (better, "100%", "less than 100 %"),
        ] {
            let said = read(text).unwrap_err();
            assert!(said.contains(says) && said.lines().count() == 1, "{text}: {said}");
        }
    }

    #[test]
    fn one_cell_makes_a_kernel_bad_or_better() {
        let older = [figure("a", 10), figure("b", 100)];
        let worse = KernelCriterion::worse("20%").unwrap();
        let bad = |cells: &[KernelFigure]| worse.met(cells, &older).len();
        assert_eq!(bad(&[figure("a", 12), figure("b", 120)]), 0);
        assert_eq!(bad(&[figure("a", 13), figure("b", 90)]), 1);
        assert_eq!(bad(&[figure("c", 1000)]), 0, "nothing to compare it with");
        let better = KernelCriterion::better("20%").unwrap();
        let word = |cells: &[KernelFigure]| better.word(cells, &older);
        assert_eq!(word(&[figure("a", 8), figure("b", 80)]), CandidateWord::Bad);
        assert_eq!(word(&[figure("a", 10), figure("b", 79)]), CandidateWord::Good);
        let above = KernelCriterion::limit("max > 99us").unwrap();
        assert_eq!(above.met(&older, &[]).len(), 1);
        assert_eq!(above.word(&older[..1], &[]), CandidateWord::Good);
    }
}
