//! The gate: is a run worse than a baseline? PASS, FAIL or INCONCLUSIVE for each cell, from what both keep.
//!
//! A measure is a regression if it is higher by more than the tolerance *and* the one-sided rank test over the seeds says
//! so, corrected by Holm's method for all that was tested: so the probability of any false FAIL of a run stays below the
//! level. What too few seeds could not have shown is INCONCLUSIVE, never a PASS.

use super::change::{Change, Measure, Pair};
use super::pair::{Mapped, Unmatched, Which, pair};
use super::{CompareError, Group, How, Side};
use crate::record::SubjectId;
use crate::stats::many::holm;
use crate::stats::ranks::{least, needed};
use crate::verdict::Outcome;
use serde::Serialize;

/// Probability of a FAIL of a run that is no worse.
pub const LEVEL: f64 = 0.05;
/// What a measure may be higher by, unless asked otherwise.
pub const TOLERANCE: f64 = 0.1;

/// A measure that the gate judges.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judged {
    /// The change.
    #[serde(flatten)]
    pub change: Change,
    /// Its name.
    pub name: String,
    /// Probability that it is as much higher by chance, beside all others that were tested; nothing where no test could
    /// show any.
    pub p_corrected: Option<f64>,
    /// Whether it is higher by more than the tolerance.
    pub beyond: bool,
    /// Whether it is a regression.
    pub regression: bool,
}

/// A cell of the gate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cell {
    /// The baseline's subject.
    pub baseline: SubjectId,
    /// The run's.
    pub subject: SubjectId,
    /// The cell.
    #[serde(flatten)]
    pub how: How,
    /// Unit of its times.
    pub unit: String,
    /// The answer.
    pub outcome: Outcome,
    /// Why, the weightiest first.
    pub reasons: Vec<String>,
    /// What was judged; nothing where the samples are the same, or nothing compares.
    pub measures: Vec<Judged>,
}

impl Cell {
    /// Its largest measure, for the order.
    fn size(&self) -> f64 {
        let sizes = self
            .measures
            .iter()
            .map(|m| m.change.ratio.map_or(m.change.difference.best, |r| r.best));
        sizes.fold(0.0, f64::max)
    }
}

/// The gate's answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gate {
    /// The worst of all cells, and of the run.
    pub outcome: Outcome,
    /// What concerns the run as a whole.
    pub reasons: Vec<String>,
    /// The cells, the worst first.
    pub cells: Vec<Cell>,
    /// Cells of the run that the baseline does not have: nothing judges them.
    pub new: Vec<Unmatched>,
    /// Tests that were corrected together.
    pub tests: usize,
    /// What a measure may be higher by.
    pub tolerance: f64,
}

/// Judges a run.
pub fn gate(baseline: &Side, run: &Side, mapped: &[Mapped], tolerance: f64) -> Result<Gate, CompareError> {
    let pairing = pair(baseline, run, mapped, false)?;
    let pairs: Vec<Found> = pairing
        .pairs
        .iter()
        .map(|(a, b)| Found::new(baseline, a, run, b))
        .collect();
    let family: Vec<f64> = pairs.iter().flat_map(Found::tested).map(|c| c.test.greater).collect();
    let corrected = holm(&family);
    let mut corrected = corrected.into_iter();
    let mut cells: Vec<Cell> = pairs
        .iter()
        .map(|found| found.judge(&mut corrected, family.len(), &pairs, tolerance))
        .collect();
    let (new, missing): (Vec<_>, Vec<_>) = pairing.unmatched.into_iter().partition(|u| u.side == Which::B);
    cells.extend(missing.into_iter().map(not_compared));
    cells.sort_by(|x, y| {
        (y.outcome, y.size())
            .partial_cmp(&(x.outcome, x.size()))
            .expect("sizes are numbers")
    });
    let mut reasons = Vec::new();
    if let Some(first) = run.unfinished.first() {
        let missing = run.unfinished.len();
        reasons.push(format!(
            "{missing} planned cells of the run were not measured, the first is {first}"
        ));
    }
    let worst = cells.iter().map(|c| c.outcome).max().unwrap_or(Outcome::Inconclusive);
    let of_run = if reasons.is_empty() {
        Outcome::Pass
    } else {
        Outcome::Inconclusive
    };
    Ok(Gate {
        outcome: worst.max(of_run),
        reasons,
        cells,
        new,
        tests: family.len(),
        tolerance,
    })
}

/// A cell of the baseline that the run does not have, or not alike.
fn not_compared(unmatched: Unmatched) -> Cell {
    let why = match unmatched.why.as_str() {
        "not in B" | "its subject is not in B" => "not in the run".to_string(),
        why => format!("{why} (baseline against run)"),
    };
    Cell {
        baseline: unmatched.subject.clone(),
        subject: unmatched.subject,
        how: unmatched.how,
        unit: String::new(),
        outcome: Outcome::Inconclusive,
        reasons: vec![why],
        measures: Vec::new(),
    }
}

/// A cell that both sides have.
struct Found {
    pair: Pair,
    /// The same samples: nothing else needs to be asked.
    proven: Option<String>,
    /// Why its samples do not compare.
    doubts: Vec<String>,
}

impl Found {
    fn new(baseline: &Side, of_baseline: &Group, run: &Side, of_run: &Group) -> Found {
        let mut pair = Pair::new(baseline, of_baseline, run, of_run);
        // A median says little of the worst case, but is all there is where the samples bear no percentile.
        let p99 = |c: &Change| c.measure == Measure::P99;
        let borne: Vec<_> = pair.changes.iter().filter(|c| p99(c)).map(|c| c.quantity).collect();
        pair.changes
            .retain(|c| c.measure != Measure::Median || !borne.contains(&c.quantity));
        let mut found = Found {
            proven: None,
            doubts: doubts(of_baseline, of_run),
            pair,
        };
        let machine = baseline.key(&of_baseline.subject);
        let same_machine = machine.is_some() && machine == run.key(&of_run.subject);
        if let Some(exact) = &found.pair.exact {
            let whole = exact.common == of_baseline.seeds.len() || same_machine;
            if exact.all_identical() && whole {
                found.proven = Some(format!("identical to the bit ({} seeds)", exact.common));
            } else if same_machine && exact.identical < exact.common {
                found.doubts.push(
                    "the same machine gave other samples than for the baseline; see `worstcase lab verify`".to_string(),
                );
            }
        }
        found
    }

    /// What takes part in the test.
    fn tested(&self) -> impl Iterator<Item = &Change> {
        let judged = self.proven.is_none() && self.doubts.is_empty();
        self.pair.changes.iter().filter(move |c| judged && could_show(c))
    }

    fn judge(&self, corrected: &mut impl Iterator<Item = f64>, tests: usize, all: &[Found], tolerance: f64) -> Cell {
        let several = self.pair.several();
        let mut cell = Cell {
            baseline: self.pair.a.clone(),
            subject: self.pair.b.clone(),
            how: self.pair.how.clone(),
            unit: self.pair.unit(),
            outcome: Outcome::Pass,
            reasons: Vec::new(),
            measures: Vec::new(),
        };
        if let Some(proof) = &self.proven {
            cell.reasons.push(proof.clone());
            return cell;
        }
        if !self.doubts.is_empty() {
            cell.outcome = Outcome::Inconclusive;
            cell.reasons = self.doubts.clone();
            return cell;
        }
        for change in &self.pair.changes {
            let p_corrected = if could_show(change) { corrected.next() } else { None };
            let beyond = beyond(change, tolerance);
            cell.measures.push(Judged {
                name: change.name(several),
                p_corrected,
                beyond,
                regression: beyond && p_corrected.is_some_and(|p| p <= LEVEL),
                change: change.clone(),
            });
        }
        let [a, b] = self.pair.seeds;
        if cell.measures.iter().any(|m| m.regression) {
            cell.outcome = Outcome::Fail;
        } else if least(a, b) > LEVEL / tests.max(1) as f64 {
            cell.outcome = Outcome::Inconclusive;
            let could: usize = all
                .iter()
                .flat_map(|f| &f.pair.changes)
                .filter(|c| !c.constant())
                .count();
            cell.reasons.push(format!(
                "too few seeds to tell: {a} in the baseline, {b} in the run; needs {} in each",
                needed(LEVEL / could.max(1) as f64)
            ));
        }
        if !self.pair.lacking.is_empty() {
            cell.outcome = cell.outcome.max(Outcome::Inconclusive);
            cell.reasons
                .push(format!("some seeds have no {}", self.pair.lacking.join(", no ")));
        }
        cell
    }
}

/// Whether any outcome of the test could have shown a regression.
fn could_show(change: &Change) -> bool {
    change.test.least_greater <= LEVEL
}

/// Whether a measure is higher by more than the tolerance.
fn beyond(change: &Change, tolerance: f64) -> bool {
    match change.ratio {
        Some(ratio) => ratio.best > 1.0 + tolerance,
        None => change.difference.best > tolerance * change.a.median as f64,
    }
}

/// What keeps the samples of both sides from being compared.
fn doubts(baseline: &Group, run: &Group) -> Vec<String> {
    let of = |side: &'static str, reasons: &[String]| -> Vec<String> {
        reasons.iter().map(|r| format!("{side}: {r}")).collect()
    };
    let mut doubts = of("the baseline", &baseline.interference);
    doubts.extend(of("the run", &run.interference));
    let new = run.warnings.iter().filter(|w| !baseline.warnings.contains(w));
    doubts.extend(new.map(|w| format!("a warning that the baseline does not have: {w}")));
    let gone = baseline.warnings.iter().filter(|w| !run.warnings.contains(w));
    doubts.extend(gone.map(|w| format!("the baseline has a warning that the run does not: {w}")));
    doubts
}
