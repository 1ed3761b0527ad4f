//! What `worstcase gate` says: lines for people, JSON for programs, Markdown for pull requests, JUnit for CI servers.

pub mod json;
pub mod junit;
pub mod markdown;
pub mod terminal;

use super::compare::figures::{probability, ratio, ratio_interval, times, value};
use worstcase_results::compare::Side;
use worstcase_results::compare::gate::{Cell, Gate, Judged, LEVEL};
use worstcase_results::record::Record;
use worstcase_results::verdict::{Criterion, Outcome, Verdict};

/// A gate's answer, ready to be shown.
#[derive(Debug)]
pub struct Shown<'a> {
    /// The worst of the gate and the verdicts.
    pub outcome: Outcome,
    /// The gate.
    pub gate: &'a Gate,
    /// The baseline.
    pub baseline: &'a Side,
    /// The run.
    pub run: &'a Side,
    /// The command that asks again.
    pub command: String,
    /// With a criterion: what it said of each subject, and the records that it judged.
    pub criterion: Option<(Criterion, Vec<Verdict>, &'a [Record])>,
}

impl Shown<'_> {
    fn count(&self, outcome: Outcome) -> usize {
        self.gate.cells.iter().filter(|c| c.outcome == outcome).count()
    }

    /// All in a line.
    fn summary(&self) -> String {
        let of = self.gate.cells.len();
        format!(
            "{of} cells against the baseline: {} worse, {} inconclusive, {} pass",
            self.count(Outcome::Fail),
            self.count(Outcome::Inconclusive),
            self.count(Outcome::Pass)
        )
    }

    /// What decided.
    fn rule(&self) -> String {
        format!(
            "worse: more than {} % above the baseline (Hodges-Lehmann over the seeds) and p at most {LEVEL} (exact one-sided rank test, Holm's correction for {} tests)",
            times(self.gate.tolerance * 100.0)
                .trim_end_matches('0')
                .trim_end_matches('.'),
            self.gate.tests
        )
    }

    /// Cells of the run that nothing was compared with.
    fn new_cells(&self) -> Option<String> {
        let names: Vec<String> = self
            .gate
            .new
            .iter()
            .map(|u| format!("{}: {}", u.subject, u.how.name()))
            .collect();
        (!names.is_empty()).then(|| format!("not in the baseline, so not judged: {}", names.join("; ")))
    }
}

/// Why a cell has its outcome, a line each: regressions first.
fn why(cell: &Cell) -> Vec<String> {
    let mut lines: Vec<String> = cell
        .measures
        .iter()
        .filter(|m| m.regression)
        .map(|m| regression(m, &cell.unit))
        .collect();
    lines.extend(cell.reasons.iter().cloned());
    let rest: Vec<String> = cell.measures.iter().filter(|m| !m.regression).map(at_most).collect();
    if !rest.is_empty() {
        lines.push(rest.join(", "));
    }
    lines
}

fn regression(m: &Judged, unit: &str) -> String {
    let (change, measure) = (&m.change, m.change.measure);
    let by = match change.ratio.as_ref() {
        Some(shift) => format!(", {} ({})", ratio(Some(shift)), ratio_interval(Some(shift))),
        None => String::new(),
    };
    let unit = if m.change.quantity.is_some() { unit } else { "periods" };
    format!(
        "{} {} -> {} {unit}{by}, p {}",
        m.name,
        value(measure, change.a.median),
        value(measure, change.b.median),
        probability(m.p_corrected)
    )
}

/// A measure that is no regression, with what the seeds cannot exclude.
fn at_most(m: &Judged) -> String {
    match m.change.ratio.as_ref() {
        Some(shift) => format!("{} {} (at most x{})", m.name, ratio(Some(shift)), times(shift.high)),
        None => {
            let show = |v| value(m.change.measure, v);
            format!("{} {} -> {}", m.name, show(m.change.a.median), show(m.change.b.median))
        }
    }
}
