//! What was found while programs were followed, read again: the causes of all late cycles, and two runs side by side.

use super::lines::CycleLines;
use crate::breakdown::compare::side_by_side;
use crate::breakdown::group;
use crate::compare::figures::signed_exact;
use crate::table::{ColumnKind, Table, field};
use serde::Deserialize;
use std::collections::BTreeMap;
use worstcase_analysis::breakdown::compare::{BreakdownChange, changes};
use worstcase_analysis::breakdown::group::CauseGroup;
use worstcase_contract::Nanos;

/// The part of the document that is told again.
#[derive(Deserialize)]
pub struct FoundThen {
    /// For people.
    pub sentences: Vec<String>,
    #[serde(default)]
    cycles: u64,
    #[serde(default)]
    causes: Vec<FoundCause>,
    #[serde(default)]
    slowest: Vec<CycleLines>,
    #[serde(default)]
    parts: Vec<FoundPart>,
}

#[derive(Deserialize)]
struct FoundCause {
    sentence: String,
    in_any_run: Option<String>,
    #[serde(default)]
    cycles: u64,
    #[serde(default)]
    longest_ns: Nanos,
    worst: Option<CycleLines>,
}

#[derive(Deserialize)]
struct FoundPart {
    sentence: String,
    in_any_run: Option<String>,
    sum_ns: Nanos,
}

/// A program that was followed.
#[derive(Clone, Copy)]
pub struct FoundProgram<'a> {
    /// Its cell.
    pub cell: &'a str,
    /// The subject.
    pub subject: &'a str,
    /// The load.
    pub load: &'a str,
    /// What was found.
    pub found: &'a FoundThen,
}

impl FoundThen {
    /// The most frequent cause.
    pub fn cause(&self) -> Option<&str> {
        self.causes.first().map(|cause| cause.sentence.as_str())
    }

    /// The slowest cycle.
    pub fn cycle(self) -> Option<CycleLines> {
        let of_causes = self.causes.into_iter().filter_map(|cause| cause.worst);
        let kept = self.slowest.into_iter().chain(of_causes);
        kept.max_by_key(|cycle| cycle.response_ns)
    }

    /// Of a thousand cycles so many are late for each cause.
    fn shares(&self) -> BTreeMap<&str, f64> {
        let mut shares = BTreeMap::new();
        for cause in &self.causes {
            let name = cause.in_any_run.as_ref().unwrap_or(&cause.sentence);
            *shares.entry(name.as_str()).or_default() += cause.cycles as f64 * 1e3 / self.cycles.max(1) as f64;
        }
        shares
    }

    /// The mean of each part over all cycles.
    fn means(&self) -> Vec<(String, u64)> {
        let mean = |part: &FoundPart| {
            let name = part.in_any_run.as_ref().unwrap_or(&part.sentence);
            (name.clone(), part.sum_ns.0 / self.cycles.max(1))
        };
        self.parts.iter().map(mean).collect()
    }
}

/// Why the late cycles of programs were late, a table for each subject; the most frequent cause first.
pub fn all(programs: &[FoundProgram<'_>]) -> String {
    let mut groups: Vec<CauseGroup> = programs.iter().flat_map(groups).collect();
    groups.sort_by(|a, b| (&a.subject, b.samples).cmp(&(&b.subject, a.samples)));
    if groups.is_empty() {
        return "no cycle was late\n".into();
    }
    group::terminal(&groups, |subject| {
        format!("Why cycles were late on {subject}, the most frequent cause first (us)")
    })
}

fn groups(program: &FoundProgram<'_>) -> Vec<CauseGroup> {
    let group = |cause: &FoundCause| CauseGroup {
        subject: program.subject.into(),
        load: program.load.into(),
        cause: cause.sentence.clone(),
        samples: cause.cycles as usize,
        worst_ns: cause.worst.as_ref().map_or(cause.longest_ns, |worst| worst.response_ns),
        cause_ns: cause.longest_ns,
    };
    program.found.causes.iter().map(group).collect()
}

/// Parts that are shown.
const PARTS: usize = 15;

/// A cause on both sides, in late cycles of a thousand.
struct CauseShare {
    cause: String,
    left: f64,
    right: f64,
}

/// Which causes and which parts grew, as two tables; what differs most comes first.
pub fn compared(left: FoundProgram<'_>, right: FoundProgram<'_>) -> String {
    let side = |program: &FoundProgram<'_>| {
        let sentence = program.found.sentences.first().cloned().unwrap_or_default();
        (program.cell.to_string(), sentence)
    };
    let mut parts = changes(left.found.means(), right.found.means());
    parts.truncate(PARTS);
    let tables = [of_causes(&shares(left.found, right.found)), of_parts(&parts)];
    side_by_side([side(&left), side(&right)], &tables)
}

fn shares(left: &FoundThen, right: &FoundThen) -> Vec<CauseShare> {
    let (left, right) = (left.shares(), right.shares());
    let mut names: Vec<&str> = left.keys().chain(right.keys()).copied().collect();
    names.sort_unstable();
    names.dedup();
    let share = |name: &str| CauseShare {
        cause: name.into(),
        left: left.get(name).copied().unwrap_or_default(),
        right: right.get(name).copied().unwrap_or_default(),
    };
    let mut shares: Vec<CauseShare> = names.into_iter().map(share).collect();
    shares.sort_by(|a, b| (b.right - b.left).abs().total_cmp(&(a.right - a.left).abs()));
    shares
}

fn of_causes(shares: &[CauseShare]) -> Table {
    let fields = [
        field(ColumnKind::Words, "left", "left", |share: &CauseShare| {
            one_digit(share.left)
        }),
        field(ColumnKind::Words, "right", "right", |share: &CauseShare| {
            one_digit(share.right)
        }),
        field(ColumnKind::Words, "grew", "grew", |share: &CauseShare| {
            format!("{:+.1}", share.right - share.left)
        }),
        field(
            ColumnKind::Text,
            "cause",
            "late cycles of 1 000",
            |share: &CauseShare| share.cause.clone(),
        ),
    ];
    Table::new("causes", "", &fields, shares)
}

fn one_digit(share: f64) -> String {
    format!("{share:.1}")
}

fn of_parts(parts: &[BreakdownChange]) -> Table {
    let fields = [
        field(ColumnKind::ExactTime, "left_ns", "left", |part: &BreakdownChange| {
            part.left_ns
        }),
        field(ColumnKind::ExactTime, "right_ns", "right", |part: &BreakdownChange| {
            part.right_ns
        }),
        field(ColumnKind::Words, "grew", "grew", |part: &BreakdownChange| {
            signed_exact(part.grew())
        }),
        field(
            ColumnKind::Text,
            "part",
            "part of a cycle, mean (us)",
            |part: &BreakdownChange| part.name.clone(),
        ),
    ];
    Table::new("parts", "", &fields, parts)
}
