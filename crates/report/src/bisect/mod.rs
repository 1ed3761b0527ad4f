//! The result of a bisection: for the terminal, as Markdown, and a worsening as a mail to the regressions list.

mod loads;
mod mail;
mod markdown;

pub use loads::{OwnProgram, ProgramSource, ToldLoad};
pub use mail::mail;
pub use markdown::markdown;

use crate::table::terminal::figures;
use crate::table::{ColumnKind, Table, field, name};
use worstcase_base::format::micros;
use worstcase_bisect::bisection::{BisectionEnding, BisectionStep};
use worstcase_bisect::criterion::KernelCriterion;
use worstcase_bisect::git::Commit;
use worstcase_bisect::search::{CandidateWord, SoughtChange};
use worstcase_contract::Nanos;

/// A bisection that came to its end, ready to be shown.
#[derive(Debug)]
pub struct ShownBisection<'a> {
    /// The ending of the bisection.
    pub ending: &'a BisectionEnding,
    /// When a kernel was bad or better.
    pub criterion: KernelCriterion,
    /// The good end and the bad end, as they are called.
    pub ends: [&'a str; 2],
    /// The found commit of a tree.
    pub commit: Option<&'a Commit>,
    /// The found kernel and the one before it, for people.
    pub names: [&'a str; 2],
    /// The equipment of the measurement: QEMU and the virtual machine.
    pub measured_with: &'a str,
    /// The loads under which they were measured.
    pub loads: &'a [ToldLoad],
    /// What else differs between the two.
    pub differences: &'a [String],
    /// The command that narrows it down further.
    pub narrower: Option<&'a str>,
    /// The causes of the worst sample, before and after.
    pub breakdown: Option<&'a str>,
    /// The step at the newer end with the commit reverted, or why it could not be reverted.
    pub reverted: Option<&'a Result<BisectionStep, String>>,
    /// Commands that measure the two again, compare them, and bisect again.
    pub commands: &'a [String],
}

/// Widest line, in a mail too.
const LINE: usize = 120;

/// A cell before and after.
#[derive(Debug, PartialEq)]
struct Changed {
    cell: String,
    before: Option<Nanos>,
    after: Option<Nanos>,
    reverted: Option<Nanos>,
    identical: usize,
    of: usize,
}

impl Changed {
    fn is_identical(&self) -> bool {
        self.of > 0 && self.identical == self.of
    }

    fn ratio(&self) -> Option<f64> {
        let (before, after) = self.before.zip(self.after)?;
        (before.0 > 0).then(|| after.0 as f64 / before.0 as f64)
    }

    fn samples(&self) -> String {
        match self.is_identical() {
            true => "identical".to_string(),
            false => format!("{} of {} seeds identical", self.identical, self.of),
        }
    }
}

fn value(value: Option<Nanos>) -> String {
    value.map_or("-".into(), micros)
}

impl ShownBisection<'_> {
    /// Cells that both sides have; those that changed most in the direction that was searched come first.
    fn cells(&self) -> Vec<Changed> {
        let reverted = self.reverted.and_then(|r| r.as_ref().ok());
        let same = |step: &BisectionStep, cell: &str| step.figures.iter().find(|f| f.cell == cell).cloned();
        let of = |after: &worstcase_bisect::figures::KernelFigure| {
            let before = same(&self.ending.before, &after.cell)?;
            let pairs = before.digests.iter().zip(&after.digests);
            Some(Changed {
                before: before.value,
                after: after.value,
                reverted: reverted.and_then(|step| same(step, &after.cell)?.value),
                identical: pairs.filter(|(x, y)| x == y).count(),
                of: after.digests.len(),
                cell: after.cell.clone(),
            })
        };
        let mut cells: Vec<Changed> = self.ending.first.figures.iter().filter_map(of).collect();
        let growth = |cell: &Changed| match (cell.before, cell.after) {
            (Some(before), Some(after)) => after.0 as f64 / before.0.max(1) as f64,
            _ => 1.0,
        };
        cells.sort_by(|a, b| match self.ending.sought {
            SoughtChange::Worse => growth(b).total_cmp(&growth(a)),
            SoughtChange::Better => growth(a).total_cmp(&growth(b)),
        });
        cells
    }

    /// The cell that changed most, in words: `max 34.1 -> 108 us (none: fork, wakeup)`.
    fn change(&self) -> String {
        let measure = self.criterion.measure();
        match self.cells().first() {
            Some(cell) => format!(
                "{measure} {} -> {} us ({})",
                value(cell.before),
                value(cell.after),
                cell.cell
            ),
            None => format!("no {measure} of one cell on both sides"),
        }
    }

    /// The result in a sentence.
    pub fn sentence(&self) -> String {
        let what = if self.commit.is_some() { "commit" } else { "kernel" };
        let [first, before] = self.names;
        let is = self.ending.sought.what();
        let (change, more) = (self.change(), self.differences.iter().map(|text| format!("; {text}")));
        let more: String = more.collect();
        match &self.ending.or_one_of[..] {
            [] => format!("the first {is} {what} is {first}: {change}; the one before it is {before}{more}"),
            some => format!(
                "the first {is} {what} is {first} or one of {} before it that cannot be measured: {change}; {before} is {}{more}",
                some.len(),
                self.criterion.said(self.ending.before.word)
            ),
        }
    }

    /// Candidates that were measured, and those that could not be.
    fn count(&self) -> String {
        let skipped = self
            .ending
            .steps
            .iter()
            .filter(|step| step.word == CandidateWord::Skipped)
            .count();
        let measured = self.ending.steps.len() - skipped;
        match skipped {
            0 => format!("{measured} were measured"),
            _ => format!("{measured} were measured, {skipped} could not be"),
        }
    }

    fn skipped(&self) -> Vec<String> {
        let why = |step: &BisectionStep| Some(format!("{}: {}", step.candidate, step.why.as_ref()?));
        self.ending.steps.iter().filter_map(why).collect()
    }

    /// The versions of the upstream kernel between which the change came, if the kernels' packages tell.
    fn upstream(&self) -> Option<[String; 2]> {
        let [first, before] = self.names.map(upstream);
        let both = [before?, first?];
        (both[0] != both[1]).then_some(both)
    }

    /// For the terminal.
    pub fn terminal(&self) -> String {
        let mut lines = vec![self.sentence(), String::new()];
        lines.extend(self.lines());
        let skipped = self.skipped();
        if !skipped.is_empty() {
            lines.extend([String::new(), "could not be measured:".into()]);
            lines.extend(skipped.iter().map(|line| format!("  {line}")));
        }
        if let Some(Err(why)) = self.reverted {
            lines.extend([String::new(), format!("the newer end with the commit reverted: {why}")]);
        }
        if let Some(breakdown) = self.breakdown {
            lines.extend([String::new(), breakdown.trim_end().to_string()]);
        }
        if let Some(narrower) = self.narrower {
            lines.extend([String::new(), format!("to narrow it down: {narrower}")]);
        }
        lines.join("\n") + "\n"
    }

    /// The cells as plain text.
    fn lines(&self) -> Vec<String> {
        figures(&self.table(), LINE)
    }

    /// The cells before and after.
    fn table(&self) -> Table {
        let time = |key: &str, heading: &str, time: fn(&Changed) -> Option<Nanos>| {
            field(ColumnKind::Time, key, heading, time).optional()
        };
        let fields = [
            name("cell", "cell, virtual us", |cell: &Changed| cell.cell.clone()),
            time("before_ns", "before", |cell| cell.before),
            time("after_ns", "after", |cell| cell.after),
            field(ColumnKind::Factor, "ratio", "ratio", Changed::ratio).optional(),
            time("reverted_ns", "reverted", |cell| cell.reverted),
            field(ColumnKind::Words, "samples", "samples", Changed::samples),
        ];
        Table::new("cells", "", &fields, &self.cells())
    }
}

/// `v6.12.74` of `debian:6.12@6.12.74-2~bpo12+1`, `6.12.74+deb13-amd64`, or a path that ends in one of these.
fn upstream(name: &str) -> Option<String> {
    let name = name
        .rsplit(['/', '@', '_'])
        .find(|part| part.starts_with(|c: char| c.is_ascii_digit()))?;
    let end = name
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(name.len());
    let version = name[..end].trim_end_matches('.');
    (version.matches('.').count() >= 1).then(|| format!("v{version}"))
}

#[cfg(test)]
mod tests;
