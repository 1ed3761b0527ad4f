//! The basis of a record's numbers: periods with a sample each, or gaps in an observation time.

use serde::{Deserialize, Serialize};
pub use worstcase_contract::record::Periods;

/// Lines of the timerlat tracer that the kernel dropped, in a record's environment.
pub const LOST_LINES: &str = "lost_trace_lines";
/// Events of the kernel's trace that it dropped, in a record's environment.
pub const LOST_EVENTS: &str = "lost_trace_events";

/// The basis of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "snake_case")]
pub enum Accounting {
    /// Every period, with a sample or without: `expected = taken + missed + lost`.
    Periods(Periods),
    /// `noise`: a time without periods in which gaps were watched.
    Gaps(GapAccount),
}

/// The gaps in which a thread that never sleeps lost its CPU: noise, as rtla's osnoise calls it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GapAccount {
    /// Observation time: gaps were watched for so long. The gaps are part of it.
    pub observed_ns: u64,
    /// Gaps that were seen and kept.
    pub gaps: u64,
    /// Gaps that were seen and could not be kept.
    pub lost: u64,
    /// Noise: time in gaps, all together.
    pub noise_ns: u64,
    /// Max single noise: the longest gap.
    pub max_single_ns: u64,
}

impl GapAccount {
    /// Noise of a second of observation.
    pub fn noise_ns_a_second(&self) -> u64 {
        let share = u128::from(self.noise_ns) * 1_000_000_000 / u128::from(self.observed_ns.max(1));
        u64::try_from(share).unwrap_or(u64::MAX)
    }

    /// Both together.
    pub fn and(self, other: GapAccount) -> GapAccount {
        GapAccount {
            observed_ns: self.observed_ns.saturating_add(other.observed_ns),
            gaps: self.gaps.saturating_add(other.gaps),
            lost: self.lost.saturating_add(other.lost),
            noise_ns: self.noise_ns.saturating_add(other.noise_ns),
            max_single_ns: self.max_single_ns.max(other.max_single_ns),
        }
    }

    /// The CPU time that was left, as a share of the observation time (rtla: % CPU available).
    pub fn available(&self) -> f64 {
        1.0 - self.noise_ns as f64 / self.observed_ns.max(1) as f64
    }
}

impl Accounting {
    /// The periods, of a probe that has some.
    pub fn periods(&self) -> Option<&Periods> {
        match self {
            Accounting::Periods(periods) => Some(periods),
            Accounting::Gaps(_) => None,
        }
    }

    /// The gaps, of `noise`.
    pub fn gaps(&self) -> Option<&GapAccount> {
        match self {
            Accounting::Periods(_) => None,
            Accounting::Gaps(gaps) => Some(gaps),
        }
    }

    /// Periods that were due; gaps have none.
    pub fn expected(&self) -> u64 {
        self.periods().map_or(0, |p| p.expected)
    }

    /// Samples; a gap is none.
    pub fn taken(&self) -> u64 {
        self.periods().map_or(0, |p| p.taken)
    }

    /// Periods that passed while the probe was late.
    pub fn missed(&self) -> u64 {
        self.periods().map_or(0, |p| p.missed)
    }

    /// Samples or gaps that we failed to keep: a doubt, and no proof of anything.
    pub fn lost(&self) -> u64 {
        match self {
            Accounting::Periods(periods) => periods.lost,
            Accounting::Gaps(gaps) => gaps.lost,
        }
    }

    /// Rows of the samples file: samples, or gaps.
    pub fn rows(&self) -> u64 {
        match self {
            Accounting::Periods(periods) => periods.taken,
            Accounting::Gaps(gaps) => gaps.gaps,
        }
    }

    /// `sample`, or `gap`.
    pub fn row_name(&self) -> &'static str {
        match self {
            Accounting::Periods(_) => "sample",
            Accounting::Gaps(_) => "gap",
        }
    }

    /// A contradiction in the accounting, in words.
    pub(super) fn check(&self) -> Result<(), String> {
        match self {
            Accounting::Periods(p) => {
                let sum = p.taken.checked_add(p.missed).and_then(|n| n.checked_add(p.lost));
                if sum != Some(p.expected) {
                    return Err(format!(
                        "its accounting does not add up: {} expected, {} taken, {} missed, {} lost",
                        p.expected, p.taken, p.missed, p.lost
                    ));
                }
                match p.longest_missed_run > p.missed || p.missed_at_ends > p.missed {
                    true => Err("its counts of missed periods do not fit its accounting".into()),
                    false => Ok(()),
                }
            }
            Accounting::Gaps(g) => match g.max_single_ns > g.noise_ns || g.noise_ns > g.observed_ns {
                true => Err(format!(
                    "its gaps do not fit into its observation time: the longest {} ns, all of them {} ns of {} ns",
                    g.max_single_ns, g.noise_ns, g.observed_ns
                )),
                false => Ok(()),
            },
        }
    }
}
