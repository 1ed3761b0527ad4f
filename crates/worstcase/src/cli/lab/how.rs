//! Options for running cells that do not change the result.

use crate::cli::jobs::Jobs;
use crate::cli::stop;
use clap::Args;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use worstcase_kernels::ResolveOptions;
use worstcase_lab::LabError;
use worstcase_lab::qemu::Qemus;
use worstcase_plan::{Arch, Experiment, VirtualMachine};
use worstcase_remote::ExecutorChoice;

/// Which QEMU, and how long it may take.
#[derive(Debug, Args)]
pub struct QemuArgs {
    /// The QEMU to use [default: qemu-system-x86_64, for arm64 qemu-system-aarch64, on the search path]
    #[arg(long, value_name = "PATH")]
    qemu: Option<PathBuf>,
    /// Real time that one boot or one cell may take, in seconds [default: what it needs, as long as the machine gets on;
    /// one that stands still for 60 s, or goes on for many times what it should need, is stopped]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=604_800))]
    timeout: Option<u64>,
}

/// Which machines measure.
#[derive(Debug, Args)]
pub struct ExecutorArgs {
    /// Which machines measure: local, slurm[:NAME=VALUE,...] or ssh:HOSTS-FILE (see docs/cluster.md)
    #[arg(long, value_name = "EXECUTOR", default_value = "local")]
    pub executor: ExecutorChoice,
}

impl ExecutorArgs {
    /// Becomes true when the user wants an end and other machines have to be told. Here, signals end everything at once.
    pub(crate) fn stop(&self) -> Arc<AtomicBool> {
        match self.executor {
            ExecutorChoice::Local => Arc::default(),
            ExecutorChoice::Slurm(_) | ExecutorChoice::Ssh(_) => stop::in_order("ending what other machines do"),
        }
    }
}

/// How to run a matrix; changes nothing of the result.
#[derive(Debug, Args)]
pub struct MatrixRunArgs {
    /// How many at once.
    #[command(flatten)]
    pub jobs: Jobs,
    /// On which machines.
    #[command(flatten)]
    pub executor: ExecutorArgs,
    /// Take the census of every cell, too (see `worstcase census --help`)
    #[arg(long)]
    pub census: bool,
    /// Which QEMU.
    #[command(flatten)]
    pub qemu: QemuArgs,
}

impl QemuArgs {
    /// Finds those of an experiment's machines.
    pub fn find<'a>(&self, options: &'a ResolveOptions, experiment: &Experiment) -> Result<Qemus<'a>, LabError> {
        self.find_of(options, experiment.machines().map(VirtualMachine::arch))
    }

    /// Finds those of these architectures.
    pub(crate) fn find_of<'a>(
        &self,
        options: &'a ResolveOptions,
        mut archs: impl Iterator<Item = Arch>,
    ) -> Result<Qemus<'a>, LabError> {
        let qemus = Qemus::new(self.qemu.as_deref(), &options.cache, options.progress);
        archs.try_for_each(|arch| qemus.of(arch).map(drop))?;
        Ok(qemus)
    }

    /// The one that is named.
    pub fn path(&self) -> Option<&Path> {
        self.qemu.as_deref()
    }

    /// Real time for one machine, if it is bounded.
    pub fn limit(&self) -> Option<Duration> {
        self.timeout.map(Duration::from_secs)
    }
}
