//! The cells of `worstcase lab run|verify`: its options.

use crate::cli::error::Error;
use crate::cli::kept::judged;
use crate::cli::parameters::{ParameterArgs, ParameterChoice};
use clap::Args;
use worstcase_contract::Nanos;
use worstcase_kernels::several;
use worstcase_plan::parameters::KernelChoice;
use worstcase_plan::{Experiment, PreemptChoice, PreemptName, Venue};

/// Which kernels.
#[derive(Debug, Args)]
pub(crate) struct KernelArgs {
    /// Kernels, separated by commas (see `worstcase kernels show --help`)
    #[arg(long = "kernel", value_name = "NAME,...", required = true)]
    kernels: Vec<String>,
}

impl KernelArgs {
    /// Each kernel's name.
    pub(crate) fn names(&self) -> Vec<String> {
        self.kernels.iter().flat_map(|text| several(text)).collect()
    }
}

/// Which cells of each kernel.
#[derive(Debug, Args)]
pub(crate) struct CellSelection {
    /// Preemption models, separated by commas; of several kernels each boots those that it has [default: all that each
    /// kernel can boot]
    #[arg(long, value_name = "MODEL", value_delimiter = ',')]
    preempt: Vec<PreemptName>,
    #[command(flatten)]
    parameters: ParameterArgs<EveryLab>,
}

/// All that the lab has.
#[derive(Debug)]
struct EveryLab;

impl ParameterChoice for EveryLab {
    const VENUE: Venue = Venue::Lab;

    fn takes(_: &str) -> bool {
        true
    }
}

impl CellSelection {
    /// The experiment that the options ask for with these kernels.
    pub(crate) fn experiment(&self, kernels: &[String], criterion: Option<Nanos>) -> Result<Experiment, Error> {
        let models: Vec<PreemptChoice> = match &self.preempt[..] {
            [] => vec![PreemptChoice::All],
            models => models.iter().copied().map(PreemptChoice::One).collect(),
        };
        let choice = |kernel: &String| KernelChoice {
            kernel: kernel.clone(),
            models: models.clone(),
            optional: kernels.len() > 1 && !self.preempt.is_empty(),
        };
        let choices: Vec<KernelChoice> = kernels.iter().map(choice).collect();
        let experiment = self.parameters.given.experiment(Venue::Lab, &choices)?;
        Ok(judged(experiment, criterion)?)
    }
}
