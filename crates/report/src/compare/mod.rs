//! The output of `worstcase compare`: tables for people, JSON for programs, Markdown for pull requests.

pub mod figures;
pub mod json;
pub mod markdown;
pub(crate) mod table;
pub mod terminal;

use crate::labels::row_label;
use worstcase_base::distinct;
use worstcase_base::format::counted;
use worstcase_plan::NOT_ONE_UNIT;
use worstcase_results::compare::across::RankedCell;
use worstcase_results::compare::change::SMALLEST;
use worstcase_results::compare::pair::ComparedSide;
use worstcase_results::compare::words::{ChangeWord, Compared, LEVEL};
use worstcase_results::compare::{Replicates, Side, SideComparison};
use worstcase_results::record::SubjectId;

/// A comparison, ready to be shown.
#[derive(Debug)]
pub struct ShownComparison<'a> {
    /// The runs of both sides, as they are called.
    pub runs: [String; 2],
    /// The first side.
    pub a: &'a Side,
    /// The second.
    pub b: &'a Side,
    /// The result of the comparison.
    pub comparison: &'a SideComparison,
    /// In the lab: the command that explains the largest worsening.
    pub why: Option<String>,
}

impl ShownComparison<'_> {
    /// The heading of a side: its runs, the subject, if a subject is compared, and the question.
    fn head(&self, which: ComparedSide) -> String {
        let [of_a, of_b] = &self.runs;
        let (side, runs) = match which {
            ComparedSide::A => (self.a, of_a),
            ComparedSide::B => (self.b, of_b),
        };
        let of = |cell: &'_ Compared| match which {
            ComparedSide::A => cell.pair.a.clone(),
            ComparedSide::B => cell.pair.b.clone(),
        };
        let compared = distinct(self.comparison.cells.iter().map(of));
        let across = |cell: &RankedCell| match which {
            ComparedSide::A => cell.a.clone(),
            ComparedSide::B => cell.b.clone(),
        };
        let compared = distinct(compared.into_iter().chain(self.comparison.across.iter().map(across)));
        let subject = side.subjects.iter().find(|s| compared == [s.id()]);
        match subject {
            Some(subject) => format!("{runs}: {}; {}", row_label(subject), side.title),
            None => format!("{runs}: {}", side.title),
        }
    }

    /// The number of changed cells, in words.
    fn summary(&self) -> String {
        let cells = &self.comparison.cells;
        let with = |word: ChangeWord| cells.iter().filter(|c| c.said.iter().any(|s| s.word == word)).count();
        let few = |c: &&Compared| {
            let words = c.said.iter().map(|s| s.word);
            let mut told = words
                .filter(|word| !matches!(word, ChangeWord::Identical | ChangeWord::Equal))
                .peekable();
            told.peek().is_some() && told.all(|word| matches!(word, ChangeWord::TooFew { .. }))
        };
        let too_few = match cells.iter().filter(few).count() {
            0 => String::new(),
            count => format!("{count} with too few to tell, "),
        };
        let identical = cells.iter().filter(|c| c.pair.identical()).count();
        format!(
            "{} compared: {} with something worse, {} with something better, {too_few}{identical} identical to the bit, {} not compared",
            counted(cells.len() as u64, "cell"),
            with(ChangeWord::Worse),
            with(ChangeWord::Better),
            self.comparison.unmatched.len()
        )
    }

    /// The ranks of cells of two architectures, with why there is nothing else.
    fn across(&self) -> Vec<String> {
        let cells = &self.comparison.across;
        let is_one_pair = cells
            .iter()
            .all(|cell| (&cell.a, &cell.b) == (&cells[0].a, &cells[0].b));
        let named = |side: &str, subject: &SubjectId| match is_one_pair {
            true => side.to_string(),
            false => format!("{side} ({subject})"),
        };
        let line = |cell: &RankedCell| {
            let [a, b] = cell.ranks;
            format!(
                "{}: maximum {a} of {of} in {}, {b} of {of} in {}",
                cell.how.name(),
                named("A", &cell.a),
                named("B", &cell.b),
                of = cell.of
            )
        };
        match cells.is_empty() {
            true => Vec::new(),
            false => std::iter::once(NOT_ONE_UNIT.to_string())
                .chain(cells.iter().map(line))
                .collect(),
        }
    }

    /// The basis of the words.
    fn notes(&self) -> Vec<String> {
        if self.comparison.cells.is_empty() {
            return Vec::new();
        }
        let replicates = self.comparison.cells.iter().map(|c| c.pair.replicates).max();
        let noun = replicates.unwrap_or_default().noun();
        let one = replicates.unwrap_or_default().one();
        let mut notes = vec![
            format!(
                "A, B: the median over the {noun} of each {one}'s value. difference, ratio: Hodges-Lehmann over the {noun}."
            ),
            match self.comparison.tests {
                0 => "better, worse: not said, since nothing could be tested.".to_string(),
                tests => format!(
                    "better, worse: exact {} over the {noun}, p at most {LEVEL} after Benjamini and Hochberg's correction for {}.",
                    test_names(&self.comparison.cells),
                    counted(tests as u64, "test")
                ),
            },
        ];
        if replicates == Some(Replicates::SeedsOfOneRun) {
            notes.push(
                "A run of a real machine is one draw: what differs between two runs may differ as much between two of the same. \
                 To tell, measure five runs of each, in turns: `worstcase compare A1 A2 A3 A4 A5 --to B1 B2 B3 B4 B5`; \
                 `worstcase host try` does it for settings."
                    .to_string(),
            );
        }
        if replicates == Some(Replicates::Runs) {
            notes.push(
                "The runs of A and B are taken as made in turns: else the time of day is part of the difference."
                    .to_string(),
            );
        }
        let too_few = |c: &&Compared| c.said.iter().any(|s| matches!(s.word, ChangeWord::TooFew { .. }));
        if let Some(cell) = self.comparison.cells.iter().find(too_few) {
            let all: usize = self.comparison.cells.iter().map(|c| c.said.len()).sum();
            let needed = |tests: usize| cell.pair.design.needed(LEVEL / 2.0 / tests.max(1) as f64);
            notes.push(format!(
                "Too few {noun} to tell: no outcome of the test could show a difference; {} on each side can if most cells change, {} if one does.",
                needed(1),
                needed(all)
            ));
        }
        notes
    }
}

/// The tests behind the words.
fn test_names(cells: &[Compared]) -> &'static str {
    let is_paired = |c: &Compared| c.pair.design.is_paired();
    match (cells.iter().any(is_paired), cells.iter().all(is_paired)) {
        (true, true) => "signed-rank test (each seed against itself)",
        (true, false) => {
            "signed-rank test (each seed against itself), where the seeds are the same, else rank-sum test"
        }
        (false, _) => "rank-sum test",
    }
}

/// A change's word.
fn word(word: ChangeWord) -> String {
    match word {
        ChangeWord::Worse => "worse".to_string(),
        ChangeWord::Better => "better".to_string(),
        ChangeWord::HigherInThisRun => "higher in this run".to_string(),
        ChangeWord::LowerInThisRun => "lower in this run".to_string(),
        ChangeWord::Slight => format!("differs by less than {} %", SMALLEST * 100.0),
        ChangeWord::NoDifferenceShown => "no difference shown".to_string(),
        ChangeWord::Identical => "identical".to_string(),
        ChangeWord::Equal => "equal".to_string(),
        ChangeWord::TooFew { needs, of } => format!("too few {}, needs {needs}", of.noun()),
    }
}

/// In the lab: the statement of the samples, seed by seed.
fn exact(cell: &Compared) -> Option<String> {
    let exact = cell.pair.exact.as_ref()?;
    Some(match (exact.common, exact.common - exact.identical) {
        (0, _) => "exact: no seed is on both sides".to_string(),
        (common, 0) => format!("exact: identical to the bit, {common} seeds of {common}"),
        (common, different) => {
            let by = |m: &worstcase_results::compare::change::MaxDifference| {
                format!("{} (seed {})", figures::signed_exact(m.difference_ns), m.seed)
            };
            let maxima: Vec<String> = exact.maxima.iter().take(MAXIMA).map(by).collect();
            let more = if exact.maxima.len() > MAXIMA { ", ..." } else { "" };
            format!(
                "exact: different, {different} seeds of {common}; max, B - A: {}{more}",
                maxima.join(", ")
            )
        }
    })
}

/// Seeds whose exact difference is listed.
const MAXIMA: usize = 5;
