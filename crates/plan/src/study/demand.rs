//! `[[demand]]` in a study file: the latency that a use of a machine needs.

use super::checked::{Checked, Wrong, required_text, time};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use toml::Spanned;
use worstcase_contract::Nanos;

/// Wake-ups that share a limit, at most.
const MOST_WAKEUPS: u32 = 100;

/// A class of uses, and the limit on their latency.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Demand {
    /// The name.
    pub name: String,
    /// The latency that nothing may exceed.
    #[serde(rename = "limit_ns")]
    pub limit: Nanos,
    /// The number of wake-ups, one after another, that must be over by then.
    pub wakeups: u32,
    /// The source of the limit, and the other work that shares it.
    pub why: String,
}

impl Demand {
    /// The time for each wake-up.
    pub fn each(&self) -> Nanos {
        Nanos(self.limit.0 / u64::from(self.wakeups.max(1)))
    }
}

/// A demand as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawDemand {
    name: Option<String>,
    limit: Option<Spanned<String>>,
    wakeups: Option<Spanned<u32>>,
    why: Option<String>,
}

pub(super) fn demands(raw: Vec<Spanned<RawDemand>>) -> Checked<Vec<Demand>> {
    let mut all: Vec<Demand> = Vec::new();
    for raw in raw {
        let at = raw.span();
        let demand = demand(&at, raw.into_inner())?;
        if all.iter().any(|known| known.name == demand.name) {
            let what = format!(
                "two demands are called '{}'; name each once",
                demand.name.escape_debug()
            );
            return Err(Wrong(at, what));
        }
        all.push(demand);
    }
    Ok(all)
}

fn demand(at: &Range<usize>, raw: RawDemand) -> Checked<Demand> {
    const SECTION: &str = "[[demand]]";
    let Some(written) = raw.limit else {
        let what = format!("{SECTION} has no 'limit': write e.g. limit = \"5ms\"");
        return Err(Wrong(at.clone(), what));
    };
    let limit = time(&written)?;
    let wakeups = raw.wakeups.as_ref().map_or(1, |n| *n.get_ref());
    if !(1..=MOST_WAKEUPS).contains(&wakeups) {
        let span = raw.wakeups.map_or(at.clone(), |n| n.span());
        return Err(Wrong(span, format!("wakeups is 1 to {MOST_WAKEUPS}, not {wakeups}")));
    }
    let demand = Demand {
        name: required_text(raw.name, at, SECTION, "name", "say what needs it")?,
        limit,
        wakeups,
        why: required_text(raw.why, at, SECTION, "why", "say in a sentence where the limit is from")?,
    };
    match demand.each() {
        Nanos(0) => Err(Wrong(written.span(), "a limit is above 0, also of each wake-up".into())),
        _ => Ok(demand),
    }
}
