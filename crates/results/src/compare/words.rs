//! The changes that are called better or worse: those that the test shows, with all changes of a comparison taken
//! together.

use super::across::{RankedCell, ranked};
use super::change::{MeasureChange, Pair};
use super::pair::{ComparedSide, MappedSubjects, NO_SUBJECT, UNLIKE, Unmatched, pair};
use super::{CompareError, Replicates, Side};
use crate::stats::many::benjamini_hochberg;
use serde::Serialize;
use worstcase_base::distinct;

/// Share of wrong words among all words.
pub const LEVEL: f64 = 0.05;

/// The word for a change.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "word", rename_all = "snake_case")]
pub enum ChangeWord {
    /// The second side is higher.
    Worse,
    /// The second side is lower.
    Better,
    /// Of a real machine: the second run is higher than the first, which says nothing of other runs.
    HigherInThisRun,
    /// The same: lower.
    LowerInThisRun,
    /// The test shows a change, and it is below [`SMALLEST`](super::change::SMALLEST).
    Slight,
    /// The test shows none.
    NoDifferenceShown,
    /// The same samples.
    Identical,
    /// Every seed of both sides has the same value.
    Equal,
    /// No outcome of the test could have shown a change.
    TooFew {
        /// The number of seeds, or runs, on each side with which a test can show one.
        needs: usize,
        /// What is too few.
        of: Replicates,
    },
}

impl ChangeWord {
    /// Whether it is a change that the test shows.
    pub fn shown(self) -> bool {
        matches!(
            self,
            ChangeWord::Better | ChangeWord::Worse | ChangeWord::HigherInThisRun | ChangeWord::LowerInThisRun
        )
    }
}

/// A change with its word.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JudgedChange {
    /// The change.
    #[serde(flatten)]
    pub change: MeasureChange,
    /// Probability of a change as large by chance.
    pub p: f64,
    /// The same, corrected for all other changes; nothing if no test could show any.
    pub p_corrected: Option<f64>,
    /// The word.
    #[serde(flatten)]
    pub word: ChangeWord,
}

/// A cell with its words.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// Cell and sides.
    #[serde(flatten)]
    pub pair: Pair,
    /// Its changes.
    #[serde(rename = "changes")]
    pub said: Vec<JudgedChange>,
}

impl Compared {
    /// Whether the test shows a change of it that is not slight.
    pub fn shown(&self) -> bool {
        self.said.iter().any(|s| s.word.shown())
    }

    /// The largest change: of those that the test shows, if there are any.
    pub fn size(&self) -> f64 {
        let shown = |s: &&JudgedChange| !self.shown() || s.word.shown();
        self.said
            .iter()
            .filter(shown)
            .map(|s| s.change.size())
            .fold(0.0, f64::max)
    }
}

/// Two sides, compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SideComparison {
    /// Cells, the largest change first; those that the test shows before the others.
    pub cells: Vec<Compared>,
    /// Cells that are not compared.
    pub unmatched: Vec<Unmatched>,
    /// Cells of two architectures, by rank.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub across: Vec<RankedCell>,
    /// Changes that were tested together.
    pub tests: usize,
}

/// Why no cell has a partner: what all differ in, or the reason of one that both sides have, or of the first.
fn nothing_in_common(unmatched: &[Unmatched]) -> Option<String> {
    let differ = |what: &str, of: fn(&Unmatched) -> String| {
        let on = |side| distinct(unmatched.iter().filter(|u| u.side == side).map(of));
        let (a, b) = (on(ComparedSide::A), on(ComparedSide::B));
        let is_so = !a.is_empty() && !b.is_empty() && a.iter().all(|name| !b.contains(name));
        is_so.then(|| format!("no {what} in common, {} against {}", a.join(", "), b.join(", ")))
    };
    differ("load", |u| u.how.load.to_string())
        .or_else(|| differ("probe", |u| u.how.probe.to_string()))
        .or_else(|| {
            unmatched.iter().find(|u| u.why == NO_SUBJECT)?;
            let differ = differ("subject", |u| u.subject.to_string())?;
            Some(format!("{differ}; name those that belong together with --map A=B"))
        })
        .or_else(|| {
            let unlike = unmatched.iter().find(|u| u.why.starts_with(UNLIKE));
            let first = unlike.or(unmatched.first())?;
            Some(format!("{}, {}: {}", first.subject, first.how.name(), first.why))
        })
}

/// Compares two sides.
pub fn compare(a: &Side, b: &Side, mapped: &[MappedSubjects], only: bool) -> Result<SideComparison, CompareError> {
    let pairing = pair(a, b, mapped, only)?;
    if pairing.pairs.is_empty() && pairing.across.is_empty() {
        return Err(CompareError::NothingInCommon {
            why: nothing_in_common(&pairing.unmatched),
        });
    }
    let pairs: Vec<Pair> = pairing.pairs.iter().map(|(x, y)| Pair::new(a, x, b, y)).collect();
    // A change that no outcome of its test could have shown takes no part in the correction.
    let family: Vec<f64> = changes(&pairs)
        .filter(|(p, c)| tested(p, c))
        .map(|(_, c)| c.test.two_sided())
        .collect();
    let mut corrected = benjamini_hochberg(&family).into_iter();
    let mut cells: Vec<Compared> = Vec::new();
    for pair in pairs {
        let mut said = Vec::new();
        for change in &pair.changes {
            let p_corrected = if tested(&pair, change) { corrected.next() } else { None };
            said.push(JudgedChange {
                p: change.test.two_sided(),
                p_corrected,
                word: word(&pair, change, p_corrected),
                change: change.clone(),
            });
        }
        cells.push(Compared { pair, said });
    }
    cells.sort_by(|x, y| {
        (y.shown(), y.size())
            .partial_cmp(&(x.shown(), x.size()))
            .expect("sizes are numbers")
    });
    Ok(SideComparison {
        cells,
        unmatched: pairing.unmatched,
        across: ranked(&pairing.across),
        tests: family.len(),
    })
}

fn changes(pairs: &[Pair]) -> impl Iterator<Item = (&Pair, &MeasureChange)> {
    pairs
        .iter()
        .flat_map(|pair| pair.changes.iter().map(move |change| (pair, change)))
}

fn tested(pair: &Pair, change: &MeasureChange) -> bool {
    !pair.identical() && change.test.least_two_sided() <= LEVEL
}

fn word(pair: &Pair, change: &MeasureChange, p: Option<f64>) -> ChangeWord {
    match p {
        _ if pair.identical() => ChangeWord::Identical,
        Some(p) if p <= LEVEL && change.slight() => ChangeWord::Slight,
        Some(p) if p <= LEVEL => match (
            change.test.greater < change.test.less,
            pair.replicates == Replicates::SeedsOfOneRun,
        ) {
            (true, false) => ChangeWord::Worse,
            (false, false) => ChangeWord::Better,
            (true, true) => ChangeWord::HigherInThisRun,
            (false, true) => ChangeWord::LowerInThisRun,
        },
        Some(_) => ChangeWord::NoDifferenceShown,
        None if change.constant() => ChangeWord::Equal,
        None if 2.0 * pair.design.least() > LEVEL => ChangeWord::TooFew {
            needs: pair.design.needed(LEVEL / 2.0),
            of: pair.replicates,
        },
        None => ChangeWord::NoDifferenceShown,
    }
}
