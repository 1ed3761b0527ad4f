//! Each sample with the section in which it was due: `rest of the section + residual = latency`.
//!
//! The residual is the wake-up's own way: interrupt, scheduler, switch, return to user code, and whatever else came
//! between. A sample that was due in no long section has no rest; its latency is all residual, and holds the rest of
//! the shorter section it may have been due in.

use super::taken::Taken;
use crate::stats::Distribution;
use serde::Serialize;
use worstcase_probe::census::Kind;
use worstcase_probe::{Instructions, Nanos};

/// A sample and its section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Joined {
    /// Its latency.
    pub latency: Nanos,
    /// From the due time to the end of the section, if it was due in a long one.
    pub rest: Option<Nanos>,
    /// The rest of the latency.
    pub residual: Nanos,
}

/// Smallest, middle and largest of some times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Spread {
    /// How many.
    pub count: u64,
    /// The smallest.
    pub min_ns: Nanos,
    /// The nearest-rank median.
    pub median_ns: Nanos,
    /// The largest.
    pub max_ns: Nanos,
}

/// The wake-up path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Path {
    /// Residuals of samples that were due in a long section.
    pub in_sections: Option<Spread>,
    /// Latencies of all others.
    pub elsewhere: Option<Spread>,
}

/// A sample that was taken before its section was over: census and samples contradict each other.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("sample {sample} was taken {early} instructions before the section ended in which it was due")]
pub struct Contradiction {
    /// Number of the sample.
    pub sample: usize,
    /// By how much.
    pub early: u64,
}

/// All samples, in order.
pub fn join(taken: &Taken) -> Result<Vec<Joined>, Contradiction> {
    let sections: Vec<_> = taken.sections(Kind::HeldOff).collect();
    let end_of = |due: Instructions| {
        let after = sections.partition_point(|s| s.start.0 + s.length <= due.0);
        let section = sections.get(after).filter(|s| s.start <= due)?;
        Some(section.start.0 + section.length)
    };
    let joined = |moment: &crate::lab::moments::Moment| {
        let Some(end) = end_of(moment.due) else {
            return Ok(Joined {
                latency: moment.latency,
                rest: None,
                residual: moment.latency,
            });
        };
        if end > moment.sample.0 {
            return Err(Contradiction {
                sample: moment.index,
                early: end - moment.sample.0,
            });
        }
        let rest = taken.time_of(end - moment.due.0);
        Ok(Joined {
            latency: moment.latency,
            rest: Some(rest),
            residual: moment.latency - rest,
        })
    };
    taken.moments.iter().map(joined).collect()
}

impl Path {
    /// The path that these samples took.
    pub fn of(joined: &[Joined]) -> Path {
        let spread =
            |inside: bool| Spread::of(joined.iter().filter(|j| j.rest.is_some() == inside).map(|j| j.residual));
        Path {
            in_sections: spread(true),
            elsewhere: spread(false),
        }
    }

    /// The longest of all.
    pub fn longest(&self) -> Option<Nanos> {
        [self.in_sections, self.elsewhere]
            .into_iter()
            .flatten()
            .map(|s| s.max_ns)
            .max()
    }
}

impl Spread {
    fn of(values: impl Iterator<Item = Nanos>) -> Option<Spread> {
        let values = Distribution::new(values)?;
        Some(Spread {
            count: values.count(),
            min_ns: values.min(),
            median_ns: values.median(),
            max_ns: values.max(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::census::testing::{moment, section, taken};

    #[test]
    fn rest_and_residual_are_the_latency() {
        let mut taken = taken();
        taken.census.sections = vec![
            section(Kind::HeldOff, 10_000, 2_000),
            section(Kind::InterruptsOff, 19_000, 3_000),
            section(Kind::HeldOff, 20_000, 5_000),
        ];
        // At the first instruction, the last, one past it, and in none.
        taken.moments = vec![
            moment(0, 10_000, 4_500),
            moment(1, 11_999, 2_600),
            moment(2, 12_000, 2_700),
            moment(3, 19_500, 3_000),
            moment(4, 24_000, 3_900),
        ];
        let joined = join(&taken).unwrap();
        let rests: Vec<_> = joined.iter().map(|j| j.rest.map(|r| r.0)).collect();
        assert_eq!(rests, [Some(2_000), Some(1), None, None, Some(1_000)]);
        assert!(
            joined
                .iter()
                .all(|j| j.rest.unwrap_or_default() + j.residual == j.latency)
        );
        let path = Path::of(&joined);
        let inside = path.in_sections.unwrap();
        assert_eq!(
            (inside.count, inside.min_ns, inside.median_ns, inside.max_ns),
            (3, Nanos(2_500), Nanos(2_599), Nanos(2_900))
        );
        assert_eq!(path.elsewhere.unwrap().count, 2);
        assert_eq!(path.longest(), Some(Nanos(3_000)));
    }

    #[test]
    fn slower_machines_keep_the_part_of_an_instruction() {
        let mut taken = taken();
        taken.shift = 2;
        taken.census.sections = vec![section(Kind::HeldOff, 10_000, 2_000)];
        let mut sample = moment(0, 11_000, 1_500);
        sample.latency = Nanos(6_003);
        taken.moments = vec![sample];
        assert_eq!(join(&taken).unwrap()[0].residual, Nanos(2_003));
    }

    #[test]
    fn a_sample_within_its_section_is_a_contradiction() {
        let mut taken = taken();
        taken.census.sections = vec![section(Kind::HeldOff, 10_000, 2_000)];
        taken.moments = vec![moment(0, 11_000, 900)];
        assert_eq!(join(&taken), Err(Contradiction { sample: 0, early: 100 }));
    }

    #[test]
    fn no_sample_no_path() {
        let path = Path::of(&[]);
        assert_eq!((path.in_sections, path.longest()), (None, None));
    }
}
