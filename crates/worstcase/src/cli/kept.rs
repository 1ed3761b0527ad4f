//! The place of a run, and its limit: the same options for the lab and for a host.

use crate::cli::words;
use clap::Args;
use std::path::PathBuf;
use worstcase_contract::Nanos;
use worstcase_plan::{Experiment, Problem};

/// Where a run is kept, and what limit it is judged by.
#[derive(Debug, Args)]
pub(crate) struct KeptArgs {
    /// The run's folder [default: one that is told]
    #[arg(long, short, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Judge every subject: no latency above this, e.g. 100us [default: 100us if inversion is the only probe]
    #[arg(long, value_name = "DURATION", value_parser = words::limit)]
    pub criterion: Option<Nanos>,
}

/// The folder of a run in the lab, if nobody names one: the same cell gives the same there, so the same folder goes on.
pub(crate) const LAB_RUN: &str = "worstcase-run";

/// Adds the given limit, or the usual one of the probes; an error if the experiment cannot be measured.
pub fn judged(mut experiment: Experiment, criterion: Option<Nanos>) -> Result<Experiment, Problem> {
    experiment.criterion = criterion.or(experiment.usual_criterion());
    experiment.check()?;
    Ok(experiment)
}
