//! The scheduling policy of the lab's probe.

use crate::spec_error::SpecError;
use crate::text_form;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use worstcase_cell::order::PolicyOrder;

/// A policy, written `fifo`, `rr`, `other`, or `other:5` with that nice value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum ProbePolicy {
    /// SCHED_FIFO at the cell's priority.
    #[default]
    Fifo,
    /// SCHED_RR at the cell's priority.
    Rr,
    /// SCHED_OTHER, with a nice value.
    Other {
        /// -20 to 19.
        nice: i8,
    },
}

impl ProbePolicy {
    /// The nice values that the kernel has.
    pub const NICE: std::ops::RangeInclusive<i8> = -20..=19;

    /// The order to the machine that measures.
    pub fn order(self) -> PolicyOrder {
        match self {
            ProbePolicy::Fifo => PolicyOrder::Fifo,
            ProbePolicy::Rr => PolicyOrder::RoundRobin,
            ProbePolicy::Other { nice } => PolicyOrder::Ordinary(nice),
        }
    }

    /// Whether it is SCHED_OTHER, under which threads take turns.
    pub fn is_ordinary(&self) -> bool {
        matches!(self, ProbePolicy::Other { .. })
    }

    /// Whether it is that of probes that sleep until they are due.
    pub fn is_usual(&self) -> bool {
        *self == ProbePolicy::default()
    }
}

impl fmt::Display for ProbePolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProbePolicy::Fifo => f.pad("fifo"),
            ProbePolicy::Rr => f.pad("rr"),
            ProbePolicy::Other { nice: 0 } => f.pad("other"),
            ProbePolicy::Other { nice } => write!(f, "other:{nice}"),
        }
    }
}

impl FromStr for ProbePolicy {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<ProbePolicy, SpecError> {
        let unknown = || {
            let text = text.escape_debug();
            SpecError(format!(
                "a policy is fifo, rr, other or other:NICE (-20 to 19), not '{text}'"
            ))
        };
        let nice = match text {
            "fifo" => return Ok(ProbePolicy::Fifo),
            "rr" => return Ok(ProbePolicy::Rr),
            "other" => 0,
            text => text
                .strip_prefix("other:")
                .and_then(|nice| nice.parse().ok())
                .ok_or_else(unknown)?,
        };
        match ProbePolicy::NICE.contains(&nice) {
            true => Ok(ProbePolicy::Other { nice }),
            false => Err(unknown()),
        }
    }
}

text_form!(ProbePolicy);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_back() {
        for text in ["fifo", "rr", "other", "other:-20", "other:19"] {
            assert_eq!(text.parse::<ProbePolicy>().unwrap().to_string(), text);
        }
        for text in ["", "batch", "other:", "other:20", "fifo:5"] {
            assert!(
                text.parse::<ProbePolicy>().unwrap_err().0.contains("other:NICE"),
                "{text}"
            );
        }
    }
}
