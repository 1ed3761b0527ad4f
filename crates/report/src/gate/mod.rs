//! The output of `worstcase gate`: lines for people, JSON for programs, Markdown for pull requests, JUnit for CI
//! servers.

pub mod json;
pub mod junit;
pub mod markdown;
mod table;
pub mod terminal;

use super::compare::figures::{probability, ratio, ratio_interval, times, value};
use worstcase_results::compare::gate::{Gate, GateCell};
use worstcase_results::compare::judged::{GateLimits, JudgedMeasure, LEVEL};
use worstcase_results::compare::{Replicates, Side};
use worstcase_results::record::Record;
use worstcase_results::verdict::{Criterion, Outcome, Verdict};

/// A gate's answer, ready to be shown.
#[derive(Debug)]
pub struct ShownGate<'a> {
    /// The worst of the gate and the verdicts.
    pub outcome: Outcome,
    /// The gate.
    pub gate: &'a Gate,
    /// The baseline.
    pub baseline: &'a Side,
    /// The run.
    pub run: &'a Side,
    /// The folders of its runs, as they were typed.
    pub folders: Vec<String>,
    /// The command that asks again.
    pub command: String,
    /// With a criterion: its verdict on each subject, and the judged records.
    pub criterion: Option<(Criterion, Vec<Verdict>, &'a [Record])>,
}

impl ShownGate<'_> {
    fn count(&self, outcome: Outcome) -> usize {
        self.gate.cells.iter().filter(|c| c.outcome == outcome).count()
    }

    /// The answer in a line.
    fn summary(&self) -> String {
        let of = self.gate.cells.len();
        format!(
            "{of} cells against the baseline: {} worse, {} inconclusive, {} pass",
            self.count(Outcome::Fail),
            self.count(Outcome::Inconclusive),
            self.count(Outcome::Pass)
        )
    }

    /// The rule that decided.
    fn rule(&self) -> String {
        let limits = &self.gate.limits;
        let percent = |share: f64| {
            times(share * 100.0)
                .trim_end_matches('0')
                .trim_end_matches('.')
                .to_string()
        };
        if limits.exact {
            let by = match limits.worst_seed {
                0.0 => String::new(),
                share => format!(" by more than {} %", percent(share)),
            };
            return format!(
                "worse: the highest median, p99, maximum or count of missed periods of the seeds above the baseline's{by}"
            );
        }
        if self.gate.cells.iter().any(|c| c.replicates == Replicates::Runs) {
            return format!(
                "worse: the typical run (Hodges-Lehmann) more than {} % above the baseline and p at most {LEVEL} (exact one-sided rank test over the runs, Holm's correction for {} tests)",
                percent(limits.tolerance),
                self.gate.tests,
            );
        }
        format!(
            "worse: the typical seed (Hodges-Lehmann) more than {} % above the baseline and p at most {LEVEL} (exact one-sided rank test, Holm's correction for {} tests); or, in the lab, the worst seed more than {} % above the baseline's worst, or two seeds more than {} %",
            percent(limits.tolerance),
            self.gate.tests,
            percent(limits.worst_seed),
            percent(limits.tolerance),
        )
    }

    /// Cells of the run that the baseline does not have.
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

/// Why a cell has its outcome, a line each: regressions first, then worst seeds above their limit.
fn why(cell: &GateCell, limits: &GateLimits) -> Vec<String> {
    let mut lines: Vec<String> = cell
        .measures
        .iter()
        .filter(|m| m.regression)
        .map(|m| regression(m, &cell.unit))
        .collect();
    let (beyond, within): (Vec<&JudgedMeasure>, Vec<&JudgedMeasure>) =
        cell.measures.iter().partition(|m| m.worst_seed.beyond);
    lines.extend(beyond.into_iter().map(|m| worst_seed(m, cell)));
    lines.extend(cell.reasons.iter().cloned());
    if limits.exact {
        let (same, lower): (Vec<&JudgedMeasure>, Vec<&JudgedMeasure>) = within
            .into_iter()
            .partition(|m| m.worst_seed.run == m.worst_seed.baseline);
        lines.extend(lower.into_iter().map(|m| values_of_worst(m, cell)));
        if !same.is_empty() {
            let names: Vec<&str> = same.into_iter().map(|m| m.name.as_str()).collect();
            lines.push(format!(
                "worst {}: the same {}",
                cell.replicates.one(),
                names.join(", ")
            ));
        }
        return lines;
    }
    let rest: Vec<String> = cell.measures.iter().filter(|m| !m.regression).map(at_most).collect();
    if !rest.is_empty() {
        lines.push(rest.join(", "));
    }
    if !within.is_empty() {
        let within: Vec<String> = within.into_iter().map(worst_within).collect();
        lines.push(format!("worst {}: {}", cell.replicates.one(), within.join(", ")));
    }
    lines
}

/// A worst seed above its limit.
fn worst_seed(m: &JudgedMeasure, cell: &GateCell) -> String {
    let (values, one) = (values_of_worst(m, cell), cell.replicates.one());
    match m.worst_seed.second {
        Some(second) => format!(
            "{values} ({one} {}), and {one} {second} is above it too",
            m.worst_seed.seed
        ),
        None => format!("{values}, above its limit ({one} {})", m.worst_seed.seed),
    }
}

/// A worst seed with its values.
fn values_of_worst(m: &JudgedMeasure, cell: &GateCell) -> String {
    let (worst, measure) = (&m.worst_seed, m.change.measure);
    let [before, after] = [worst.baseline, worst.run].map(|shown| value(measure, shown));
    let by = match worst.ratio {
        Some(_) if before == after => format!(", by {:+} ns", worst.run as i64 - worst.baseline as i64),
        Some(ratio) => format!(", x{}", times(ratio)),
        None => String::new(),
    };
    format!(
        "worst {}: {} {before} -> {after} {}{by}",
        cell.replicates.one(),
        m.name,
        m.unit(&cell.unit)
    )
}

/// A worst seed within its limit.
fn worst_within(m: &JudgedMeasure) -> String {
    match m.worst_seed.ratio {
        Some(ratio) => format!("{} x{}", m.name, times(ratio)),
        None => format!("{} 0 -> 0", m.name),
    }
}

fn regression(m: &JudgedMeasure, unit: &str) -> String {
    let (change, measure) = (&m.change, m.change.measure);
    let by = match change.ratio.as_ref() {
        Some(shift) => format!(", {} ({})", ratio(Some(shift)), ratio_interval(Some(shift))),
        None => String::new(),
    };
    format!(
        "{} {} -> {} {}{by}, p {}",
        m.name,
        value(measure, change.a.median),
        value(measure, change.b.median),
        m.unit(unit),
        probability(m.p_corrected)
    )
}

/// A measure without a regression, with the change that the seeds cannot exclude.
fn at_most(m: &JudgedMeasure) -> String {
    match m.change.ratio.as_ref() {
        Some(shift) => format!("{} {} (at most x{})", m.name, ratio(Some(shift)), times(shift.high)),
        None => {
            let show = |v| value(m.change.measure, v);
            format!("{} {} -> {}", m.name, show(m.change.a.median), show(m.change.b.median))
        }
    }
}
