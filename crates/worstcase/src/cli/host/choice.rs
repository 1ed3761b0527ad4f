//! The host parameters that each command takes.

use crate::cli::parameters::ParameterChoice;
use worstcase_plan::Venue;
use worstcase_plan::parameters::OF_STUDY_RUN;

/// `host run`: all.
#[derive(Debug)]
pub(crate) struct EveryHost;

impl ParameterChoice for EveryHost {
    const VENUE: Venue = Venue::Host;

    fn takes(_: &str) -> bool {
        true
    }
}

/// `host watch`: it has no end, measures with one seed, and has its own way with captures.
#[derive(Debug)]
pub(crate) struct OfWatch;

impl ParameterChoice for OfWatch {
    const VENUE: Venue = Venue::Host;

    fn takes(key: &str) -> bool {
        !["samples", "time", "seeds", "seed", "threshold", "captures", "break"].contains(&key)
    }
}

/// The choice of `study run`: parameters that the study cannot know.
#[derive(Debug)]
pub(crate) struct OfStudy;

impl ParameterChoice for OfStudy {
    const VENUE: Venue = Venue::Host;
    const NEEDS: Option<&'static str> = Some("host");

    fn takes(key: &str) -> bool {
        OF_STUDY_RUN.contains(&key)
    }
}
