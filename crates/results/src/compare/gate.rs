//! The gate: is a run worse than a baseline? PASS, FAIL or INCONCLUSIVE for each cell, from the figures of both.
//!
//! The gate asks two questions about each measure. The typical seed: is it higher by more than the tolerance, *and* does
//! the one-sided rank test over the seeds say so, corrected by Holm's method for all tested measures? Then the probability
//! of any false FAIL stays below the level. The worst seed: is it above its limit? No test can ask that of one seed among
//! six. But the lab is exact, so the value of one seed is a fact, and a FAIL; on a host other work may have caused it, so
//! there it is INCONCLUSIVE. A measure that is worse and could not be tested is INCONCLUSIVE too, never a PASS.
//!
//! An exact gate asks the second question alone, over the same seeds on both sides.

use super::change::{ComparedMeasure, MeasureChange, Pair};
use super::judged::{GateLimits, JudgedMeasure, LEVEL, Tests};
use super::pair::{ComparedSide, MappedSubjects, NO_SUBJECT, Unmatched, alone, pair};
use super::{CellConditions, CompareError, Replicates, SeedGroup, Side};
use crate::record::SubjectId;
use crate::verdict::Outcome;
use serde::Serialize;
use worstcase_plan::NOT_ONE_UNIT;

/// A cell of the gate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GateCell {
    /// The baseline's subject.
    pub baseline: SubjectId,
    /// The run's.
    pub subject: SubjectId,
    /// The cell.
    #[serde(flatten)]
    pub how: CellConditions,
    /// Unit of its times.
    pub unit: String,
    /// What a side's results repeat.
    pub replicates: Replicates,
    /// The answer.
    pub outcome: Outcome,
    /// Why, the weightiest first.
    pub reasons: Vec<String>,
    /// The judged measures; none if the samples are the same, or nothing compares.
    pub measures: Vec<JudgedMeasure>,
}

impl GateCell {
    /// Its largest measure, for the order.
    fn size(&self) -> f64 {
        let sizes = self.measures.iter().map(|m| {
            let typical = m.change.ratio.map_or(m.change.difference.best, |r| r.best);
            typical.max(m.worst_seed.ratio.unwrap_or(m.worst_seed.run as f64))
        });
        sizes.fold(0.0, f64::max)
    }
}

/// The gate's answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gate {
    /// The worst of all cells, and of the run.
    pub outcome: Outcome,
    /// Reasons that concern the run as a whole.
    pub reasons: Vec<String>,
    /// The cells, the worst first.
    pub cells: Vec<GateCell>,
    /// Cells of the run that the baseline does not have: nothing judges them.
    pub new: Vec<Unmatched>,
    /// Tests that were corrected together.
    pub tests: usize,
    /// The limits for a measure's increase.
    pub limits: GateLimits,
}

/// Judges a run.
pub fn gate(baseline: &Side, run: &Side, mapped: &[MappedSubjects], limits: &GateLimits) -> Result<Gate, CompareError> {
    let pairing = pair(baseline, run, mapped, false)?;
    if limits.exact
        && let Some(subject) = run.subjects.iter().find(|s| !run.in_lab(&s.id()))
    {
        return Err(CompareError::NotExact(subject.id()));
    }
    let pairs: Vec<PairedCell> = pairing
        .pairs
        .iter()
        .map(|(a, b)| PairedCell::new(baseline, a, run, b))
        .collect();
    let tested = pairs.iter().filter(|_| !limits.exact).flat_map(PairedCell::judged);
    let tests = Tests::of(&tested.collect::<Vec<_>>());
    let mut corrected = tests.corrected.iter().copied();
    let mut cells: Vec<GateCell> = pairs
        .iter()
        .map(|found| found.judge(&mut corrected, &tests, limits))
        .collect();
    let (new, missing): (Vec<_>, Vec<_>) = pairing.unmatched.into_iter().partition(|u| u.side == ComparedSide::B);
    let across = pairing
        .across
        .iter()
        .map(|(cell, _)| alone(ComparedSide::A, cell, NOT_ONE_UNIT));
    cells.extend(missing.into_iter().chain(across).map(not_compared));
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
        tests: tests.count,
        limits: *limits,
    })
}

/// A cell of the baseline that the run does not have, or not alike.
fn not_compared(unmatched: Unmatched) -> GateCell {
    let why = match unmatched.why.as_str() {
        "not in B" | NO_SUBJECT => "not in the run".to_string(),
        why => format!("{why} (baseline against run)"),
    };
    GateCell {
        baseline: unmatched.subject.clone(),
        subject: unmatched.subject,
        how: unmatched.how,
        unit: String::new(),
        replicates: Replicates::default(),
        outcome: Outcome::Inconclusive,
        reasons: vec![why],
        measures: Vec::new(),
    }
}

/// A cell that both sides have.
struct PairedCell {
    pair: Pair,
    /// Seeds of the run.
    run_seeds: Vec<u64>,
    /// The same samples: nothing else needs to be asked.
    proven: Option<String>,
    /// Why its samples do not compare.
    doubts: Vec<String>,
}

impl PairedCell {
    fn new(baseline: &Side, of_baseline: &SeedGroup, run: &Side, of_run: &SeedGroup) -> PairedCell {
        let mut found = PairedCell {
            pair: Pair::new(baseline, of_baseline, run, of_run),
            run_seeds: of_run.seeds.iter().map(|s| s.seed).collect(),
            proven: None,
            doubts: doubts(of_baseline, of_run),
        };
        let of_samples = |c: &MeasureChange| c.measure != ComparedMeasure::Missed;
        if !found.pair.changes.iter().any(of_samples) && found.pair.lacking.is_empty() {
            found
                .doubts
                .push("neither the baseline nor the run has a sample".to_string());
            return found;
        }
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

    /// The measures that are judged by their figures.
    fn judged(&self) -> impl Iterator<Item = &MeasureChange> {
        let judged = self.proven.is_none() && self.doubts.is_empty();
        self.pair.changes.iter().filter(move |_| judged)
    }

    fn judge(&self, corrected: &mut impl Iterator<Item = Option<f64>>, tests: &Tests, limits: &GateLimits) -> GateCell {
        let mut cell = GateCell {
            baseline: self.pair.a.clone(),
            subject: self.pair.b.clone(),
            how: self.pair.how.clone(),
            unit: self.pair.unit(),
            replicates: self.pair.replicates,
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
        let several = self.pair.several();
        let seeds = (self.run_seeds.as_slice(), self.pair.design.is_paired());
        let judge = |(change, p): (&MeasureChange, Option<f64>)| {
            JudgedMeasure::new(change, change.name(several), p, seeds, limits)
        };
        cell.measures = match limits.exact {
            true => self.judged().map(|change| judge((change, None))).collect(),
            false => self.judged().zip(corrected).map(judge).collect(),
        };
        let exact = self.pair.exact.is_some();
        let proof = |m: &JudgedMeasure| {
            (m.regression && self.pair.replicates != Replicates::SeedsOfOneRun) || (exact && m.worst_seed.beyond)
        };
        cell.reasons = match limits.exact {
            true => self.other_seeds(),
            false => self.open(&cell.measures, tests),
        };
        cell.outcome = match cell.measures.iter().any(proof) {
            true if limits.exact && !cell.reasons.is_empty() => Outcome::Inconclusive,
            true => Outcome::Fail,
            false if !cell.reasons.is_empty() => Outcome::Inconclusive,
            false => Outcome::Pass,
        };
        cell
    }

    /// Why the figures of both sides are not of the same seeds: a highest one grows with their number.
    fn other_seeds(&self) -> Vec<String> {
        let common = self.pair.exact.as_ref().map_or(0, |exact| exact.common);
        let mut open = Vec::new();
        if self.pair.seeds != [common; 2] {
            let [a, b] = self.pair.seeds;
            open.push(format!(
                "an exact gate needs the same seeds: {a} in the baseline, {b} in the run, {common} in both"
            ));
        }
        let maxima = self.pair.lacking.iter().filter(|name| name.ends_with("max"));
        open.extend(maxima.map(|name| format!("some seeds have no {name}")));
        open
    }

    /// Why nothing here may be a PASS, in words.
    fn open(&self, measures: &[JudgedMeasure], tests: &Tests) -> Vec<String> {
        let mut open = Vec::new();
        let [a, b] = self.pair.seeds;
        let differs = measures.iter().any(|m| !m.change.constant());
        let few = self.pair.design.least() > tests.needed;
        if few && differs {
            open.push(format!(
                "too few {} to tell: {a} in the baseline, {b} in the run; needs {} in each",
                self.pair.replicates.noun(),
                self.pair.design.needed(LEVEL / tests.could_be.max(1) as f64)
            ));
        }
        let tied = measures.iter().filter(|m| !few && m.untested_and_worse());
        open.extend(tied.map(|m| {
            format!(
                "{} is higher, but too many {} have the same value for a test to show it",
                m.name,
                self.pair.replicates.noun()
            )
        }));
        if self.pair.replicates == Replicates::SeedsOfOneRun && measures.iter().any(|m| m.regression) {
            open.push(
                "a run of a real machine is one draw, and another of the same may be as high; measure five runs of each, in turns"
                    .to_string(),
            );
        }
        if self.pair.exact.is_none() && measures.iter().any(|m| m.worst_seed.beyond) {
            open.push(format!(
                "on a real machine one {} is no proof; measure again",
                self.pair.replicates.one()
            ));
        }
        if !self.pair.lacking.is_empty() {
            let noun = self.pair.replicates.noun();
            open.push(format!("some {noun} have no {}", self.pair.lacking.join(", no ")));
        }
        open
    }
}

/// The reasons why the samples of both sides cannot be compared.
fn doubts(baseline: &SeedGroup, run: &SeedGroup) -> Vec<String> {
    let mut doubts = baseline.disturbed("the baseline");
    doubts.extend(run.disturbed("the run"));
    let new = run.warnings.iter().filter(|w| !baseline.warnings.contains(w));
    doubts.extend(new.map(|w| format!("a warning that the baseline does not have: {w}")));
    let gone = baseline.warnings.iter().filter(|w| !run.warnings.contains(w));
    doubts.extend(gone.map(|w| format!("the baseline has a warning that the run does not: {w}")));
    doubts
}
