//! All that a cell's census says: plain data, for the reports.

use super::cell_census::{About, CellCensus, name};
use super::histogram::{self, Sum};
use super::join::{Path, SampleContradiction, join};
use super::longest_delay::{LongestDelay, longest_delay};
use super::places::{SectionGroup, places};
use super::tail::{CensusTail, tail};
use super::top::TopList;
use serde::Serialize;
use worstcase_contract::census::Kind;

/// The findings of one kind of section.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OfKind {
    /// All of them.
    #[serde(flatten)]
    pub sum: Sum,
    /// The sections by the functions that began and ended them, the longest first.
    pub places: Vec<SectionGroup>,
    /// The longest, replayed, by owner.
    pub longest: TopList,
}

/// See the module.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Findings {
    /// The cell of the findings.
    pub about: About,
    /// Instructions from the first sample to the last.
    pub observed_instructions: u64,
    /// Blocks whose tracked state was compared with the true one, all without a difference; 0 without `--audit`.
    pub audited_blocks: u64,
    /// Whether sections are cut where the kernel polls.
    pub polls_known: bool,
    /// The largest sum of a section and a path.
    pub longest_of_run: Option<LongestDelay>,
    /// The wake-up path.
    pub path: Path,
    /// Expected and seen.
    pub tail: CensusTail,
    /// The findings by kind, in the order of [`KINDS`].
    pub kinds: Vec<OfKind>,
}

/// The kinds in the order of reports: those that delay a wake-up first.
pub const KINDS: [Kind; 4] = [
    Kind::NonPreemptible,
    Kind::HigherPriority,
    Kind::InterruptsOff,
    Kind::PreemptionOff,
];

/// The findings of a census. `longest` has a list for each of [`KINDS`]; at most `most` places of each are kept.
pub fn findings(taken: &CellCensus, longest: Vec<TopList>, most: usize) -> Result<Findings, SampleContradiction> {
    let joined = join(taken)?;
    let path = Path::of(&joined);
    let kind = |(kind, mut longest): (Kind, TopList)| {
        let mut places = places(taken, kind);
        places.truncate(most);
        longest.owners.truncate(most);
        OfKind {
            sum: histogram::sum(taken, kind),
            places,
            longest,
        }
    };
    let observed = &taken.census.observed;
    Ok(Findings {
        about: taken.about.clone(),
        observed_instructions: observed.end.0.saturating_sub(observed.start.0),
        audited_blocks: taken.census.audited,
        polls_known: taken.polls_known,
        longest_of_run: longest_delay(taken, &joined),
        path,
        tail: tail(taken, &joined),
        kinds: KINDS.into_iter().zip(longest).map(kind).collect(),
    })
}

impl Findings {
    /// The findings of one kind.
    pub fn of_kind(&self, kind: Kind) -> &OfKind {
        let found = self.kinds.iter().find(|k| k.sum.kind == name(kind));
        found.expect("every kind is there")
    }
}
