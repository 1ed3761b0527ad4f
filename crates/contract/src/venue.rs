//! Where a cell runs, and what only one of the two places has.

use crate::spec_error::SpecError;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Where a cell runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Venue {
    /// A machine that serves others too: loads and probes that would endanger it are refused.
    Host,
    /// A lab machine that belongs to this cell alone.
    Lab,
}

impl Venue {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Venue::Host => "host",
            Venue::Lab => "lab",
        }
    }

    /// As a sentence names it.
    pub(crate) const fn place(self) -> &'static str {
        match self {
            Venue::Host => "on the host",
            Venue::Lab => "in the lab",
        }
    }
}

impl fmt::Display for Venue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Venue {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Venue, SpecError> {
        [Venue::Host, Venue::Lab]
            .into_iter()
            .find(|venue| venue.name() == text)
            .ok_or_else(|| SpecError(format!("unknown venue '{text}'; known: host, lab")))
    }
}

/// A feature that only one venue has: which, why, and what the other one has instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Only {
    /// The venue that has it.
    pub venue: Venue,
    /// Why the other venue does not have it, and what to ask for there.
    pub why: &'static str,
}

impl Only {
    pub(crate) const fn host(why: &'static str) -> Option<Only> {
        Some(Only {
            venue: Venue::Host,
            why,
        })
    }

    pub(crate) const fn lab(why: &'static str) -> Option<Only> {
        Some(Only { venue: Venue::Lab, why })
    }

    /// Refuses `what` (its kind and name) where `venue` does not have it.
    pub(crate) fn check(only: Option<Only>, venue: Venue, what: &str) -> Result<(), SpecError> {
        match only {
            Some(only) if only.venue != venue => Err(SpecError(format!(
                "{what} is there {} only: {}",
                only.venue.place(),
                only.why
            ))),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_venue_is_written_as_it_is_read() {
        for venue in [Venue::Host, Venue::Lab] {
            assert_eq!(venue.to_string().parse(), Ok(venue));
        }
        assert!("controller".parse::<Venue>().is_err());
    }

    #[test]
    fn what_one_venue_has_is_refused_in_the_other_with_the_reason() {
        let only = Only::lab("it pages; on the host: memory");
        assert_eq!(Only::check(only, Venue::Lab, "load 'apps'"), Ok(()));
        assert_eq!(Only::check(None, Venue::Host, "load 'shm'"), Ok(()));
        assert_eq!(
            Only::check(only, Venue::Host, "load 'apps'").unwrap_err().0,
            "load 'apps' is there in the lab only: it pages; on the host: memory"
        );
    }
}
