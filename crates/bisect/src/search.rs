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

/// The next step of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Measure this candidate.
    Measure {
        /// Which.
        candidate: String,
        /// How many candidates may be the first bad one.
        left: usize,
    },
    /// The first bad one.
    Found(String),
    /// The first bad candidate is among these; all but the last cannot be measured.
    OneOf(Vec<String>),
}

/// Candidates in an order that can be halved: those after a bad one count as bad, those before a good one as good.
pub trait CandidateOrder {
    /// The next step, given all that is known; both ends are among it.
    fn next(&self, known: &[(String, CandidateWord)]) -> Result<Next, BisectError>;

    /// The candidate right before this one.
    fn before(&self, candidate: &str) -> Result<Option<String>, BisectError>;

    /// The candidate's name for people.
    fn shown(&self, candidate: &str) -> String;
}

/// A kernel of a list as people call it: a file without its folder.
pub fn shown_of_list(candidate: &str) -> String {
    candidate.rsplit('/').next().unwrap_or(candidate).to_string()
}

/// How many steps it takes to find the first bad one of `left` candidates.
pub(crate) fn steps(left: usize) -> u32 {
    left.max(1).next_power_of_two().trailing_zeros()
}

/// A list, from the good end to the bad one.
#[derive(Clone, Debug)]
pub struct List(pub Vec<String>);

impl List {
    fn place(&self, candidate: &str) -> Option<usize> {
        self.0.iter().position(|c| c == candidate)
    }
}

impl CandidateOrder for List {
    fn next(&self, known: &[(String, CandidateWord)]) -> Result<Next, BisectError> {
        let places = |word: CandidateWord| {
            let with = known.iter().filter(move |(_, w)| *w == word);
            with.filter_map(|(candidate, _)| self.place(candidate))
                .collect::<Vec<usize>>()
        };
        let bad = places(CandidateWord::Bad).into_iter().min().unwrap_or(self.0.len() - 1);
        let good = places(CandidateWord::Good)
            .into_iter()
            .filter(|p| *p < bad)
            .max()
            .unwrap_or(0);
        let skipped = places(CandidateWord::Skipped);
        let open: Vec<usize> = (good + 1..bad).filter(|p| !skipped.contains(p)).collect();
        // Distances are doubled because the middle may lie between two candidates.
        let Some(nearest) = open.iter().min_by_key(|p| (2 * **p).abs_diff(good + bad)) else {
            let rest = self.0[(good + 1).min(bad)..=bad].to_vec();
            return Ok(match rest.len() {
                1 => Next::Found(self.0[bad].clone()),
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
            ("0".to_string(), CandidateWord::Good),
            ((n - 1).to_string(), CandidateWord::Bad),
        ];
        let mut measured = 0;
        loop {
            match list.next(&known).unwrap() {
                Next::Measure { candidate, .. } => {
                    let place: usize = candidate.parse().unwrap();
                    assert!(!known.iter().any(|(c, _)| *c == candidate), "{candidate} twice");
                    let word = match place >= first_bad {
                        _ if broken.contains(&place) => CandidateWord::Skipped,
                        true => CandidateWord::Bad,
                        false => CandidateWord::Good,
                    };
                    measured += 1;
                    known.push((candidate, word));
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
    fn neighbours_are_an_answer_at_once() {
        assert_eq!(bisect(2, 1, &[]), (0, Next::Found("1".into())));
        assert_eq!((steps(1), steps(2), steps(3), steps(8), steps(9)), (0, 1, 2, 3, 4));
    }
}
