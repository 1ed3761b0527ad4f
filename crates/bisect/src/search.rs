//! What to measure next: halving, in a list or in the commits of a git tree.

use crate::BisectError;
use serde::{Deserialize, Serialize};

/// What is known about a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CandidateWord {
    /// Good, as the good end is.
    Good,
    /// Bad, as the bad end is.
    Bad,
    /// The candidate cannot be measured.
    Skipped,
}

/// What is searched: the first that is bad, or the first that is good again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SoughtChange {
    /// The older end is good, the newer one bad.
    Worse,
    /// The older end is bad, the newer one good.
    Better,
}

impl SoughtChange {
    /// What lies between two ends; nothing if they are alike.
    pub fn between(older: CandidateWord, newer: CandidateWord) -> Option<SoughtChange> {
        match (older, newer) {
            (CandidateWord::Good, CandidateWord::Bad) => Some(SoughtChange::Worse),
            (CandidateWord::Bad, CandidateWord::Good) => Some(SoughtChange::Better),
            _ => None,
        }
    }

    /// What the first candidate behind the change is.
    pub fn what(self) -> &'static str {
        match self {
            SoughtChange::Worse => "bad",
            SoughtChange::Better => "better",
        }
    }

    /// On which side of the change a candidate is.
    pub fn side(self, word: CandidateWord) -> ChangeSide {
        match (self, word) {
            (_, CandidateWord::Skipped) => ChangeSide::Unknown,
            (SoughtChange::Worse, CandidateWord::Good) | (SoughtChange::Better, CandidateWord::Bad) => {
                ChangeSide::Before
            }
            _ => ChangeSide::After,
        }
    }
}

/// On which side of the change a candidate is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeSide {
    /// As the older end.
    Before,
    /// As the newer end.
    After,
    /// The candidate cannot be measured.
    Unknown,
}

/// The next step of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Measure this candidate.
    Measure {
        /// Which.
        candidate: String,
        /// How many candidates may be the first behind the change.
        left: usize,
    },
    /// The first behind the change.
    Found(String),
    /// The first one is among these; all but the last cannot be measured.
    OneOf(Vec<String>),
}

/// Candidates in an order that can be halved: what follows one behind the change is behind it, too.
pub trait CandidateOrder {
    /// The next step, given all that is known; both ends are among it.
    fn next(&self, known: &[(String, ChangeSide)]) -> Result<Next, BisectError>;

    /// The candidate right before this one.
    fn before(&self, candidate: &str) -> Result<Option<String>, BisectError>;

    /// The candidate's name for people.
    fn shown(&self, candidate: &str) -> String;
}

/// A kernel of a list as people call it: a file without its folder.
pub fn shown_of_list(candidate: &str) -> String {
    candidate.rsplit('/').next().unwrap_or(candidate).to_string()
}

/// How many steps it takes to find the first one of `left` candidates.
pub(crate) fn steps(left: usize) -> u32 {
    left.max(1).next_power_of_two().trailing_zeros()
}

/// A list, from the older end to the newer one.
#[derive(Clone, Debug)]
pub struct List(pub Vec<String>);

impl List {
    fn place(&self, candidate: &str) -> Option<usize> {
        self.0.iter().position(|c| c == candidate)
    }
}

impl CandidateOrder for List {
    fn next(&self, known: &[(String, ChangeSide)]) -> Result<Next, BisectError> {
        let places = |side: ChangeSide| {
            let with = known.iter().filter(move |(_, s)| *s == side);
            with.filter_map(|(candidate, _)| self.place(candidate))
                .collect::<Vec<usize>>()
        };
        let after = places(ChangeSide::After).into_iter().min().unwrap_or(self.0.len() - 1);
        let earlier = places(ChangeSide::Before).into_iter().filter(|p| *p < after);
        let before = earlier.max().unwrap_or(0);
        let skipped = places(ChangeSide::Unknown);
        let open: Vec<usize> = (before + 1..after).filter(|p| !skipped.contains(p)).collect();
        // Distances are doubled because the middle may lie between two candidates.
        let Some(nearest) = open.iter().min_by_key(|p| (2 * **p).abs_diff(before + after)) else {
            let rest = self.0[(before + 1).min(after)..=after].to_vec();
            return Ok(match rest.len() {
                1 => Next::Found(self.0[after].clone()),
                _ => Next::OneOf(rest),
            });
        };
        Ok(Next::Measure {
            candidate: self.0[*nearest].clone(),
            left: open.len() + 1,
        })
    }

    fn before(&self, candidate: &str) -> Result<Option<String>, BisectError> {
        let place = self.place(candidate).and_then(|p| p.checked_sub(1));
        Ok(place.map(|p| self.0[p].clone()))
    }

    fn shown(&self, candidate: &str) -> String {
        shown_of_list(candidate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bisects n candidates, of which those in `broken` cannot be measured; gives the number of measurements and the
    /// result.
    fn bisect(n: usize, first_bad: usize, broken: &[usize]) -> (usize, Next) {
        let list = List((0..n).map(|i| i.to_string()).collect());
        let mut known = vec![
            ("0".to_string(), ChangeSide::Before),
            ((n - 1).to_string(), ChangeSide::After),
        ];
        let mut measured = 0;
        loop {
            match list.next(&known).unwrap() {
                Next::Measure { candidate, .. } => {
                    let place: usize = candidate.parse().unwrap();
                    assert!(!known.iter().any(|(c, _)| *c == candidate), "{candidate} twice");
                    let side = match place >= first_bad {
                        _ if broken.contains(&place) => ChangeSide::Unknown,
                        true => ChangeSide::After,
                        false => ChangeSide::Before,
                    };
                    measured += 1;
                    known.push((candidate, side));
                }
                end => return (measured, end),
            }
        }
    }

    #[test]
    fn the_first_bad_one_is_found_in_as_many_steps_as_the_logarithm_says() {
        for n in 2..70 {
            for first_bad in 1..n {
                let (measured, end) = bisect(n, first_bad, &[]);
                assert_eq!(end, Next::Found(first_bad.to_string()));
                assert!(measured <= steps(n - 1) as usize, "{measured} of {n}");
            }
        }
    }

    #[test]
    fn what_cannot_be_measured_is_gone_around() {
        assert_eq!(bisect(16, 5, &[7, 8, 9]).1, Next::Found("5".into()));
        let all = |range: std::ops::RangeInclusive<usize>| range.map(|i| i.to_string()).collect();
        assert_eq!(bisect(16, 5, &[5, 6]).1, Next::OneOf(all(5..=7)));
        assert_eq!(bisect(16, 5, &[4]).1, Next::OneOf(all(4..=5)));
        assert_eq!(bisect(4, 2, &[1, 2]).1, Next::OneOf(all(1..=3)));
    }

    #[test]
    fn the_direction_is_that_of_the_ends() {
        let (good, bad) = (CandidateWord::Good, CandidateWord::Bad);
        assert_eq!(SoughtChange::between(good, bad), Some(SoughtChange::Worse));
        assert_eq!(SoughtChange::between(bad, good), Some(SoughtChange::Better));
        assert_eq!(SoughtChange::between(bad, bad), None);
        for sought in [SoughtChange::Worse, SoughtChange::Better] {
            let sides = [good, bad, CandidateWord::Skipped].map(|word| sought.side(word));
            let first = match sought {
                SoughtChange::Worse => [ChangeSide::Before, ChangeSide::After],
                SoughtChange::Better => [ChangeSide::After, ChangeSide::Before],
            };
            assert_eq!((&sides[..2], sides[2]), (&first[..], ChangeSide::Unknown));
        }
    }

    #[test]
    fn neighbours_are_an_answer_at_once() {
        assert_eq!(bisect(2, 1, &[]), (0, Next::Found("1".into())));
        assert_eq!((steps(1), steps(2), steps(3), steps(8), steps(9)), (0, 1, 2, 3, 4));
    }
}
