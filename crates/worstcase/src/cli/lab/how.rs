//! Options for running cells that do not change the result.

use clap::Args;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;
use worstcase_kernels::ResolveOptions;
use worstcase_lab::LabError;
use worstcase_lab::qemu::Qemu;
use worstcase_remote::ExecutorChoice;

/// Which QEMU, and how long it may take.
#[derive(Debug, Args)]
pub struct QemuArgs {
    /// The QEMU to use [default: qemu-system-x86_64 on the search path]
    #[arg(long, value_name = "PATH")]
    qemu: Option<PathBuf>,
    /// Real time that one boot or one cell may take, in seconds [default: what it needs, as long as the machine gets on;
    /// one that stands still for 60 s, or goes on for many times what it should need, is stopped]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=604_800))]
    timeout: Option<u64>,
}

/// How many at once.
#[derive(Debug, Args)]
pub(crate) struct Jobs {
    /// QEMUs at once [default: one for each CPU]
    #[arg(long, short, value_name = "N", value_parser = positive)]
    jobs: Option<NonZeroUsize>,
}

/// Which machines measure.
#[derive(Debug, Args)]
pub(crate) struct ExecutorArgs {
    /// Which machines measure: local, slurm[:NAME=VALUE,...] or ssh:HOSTS-FILE (see docs/cluster.md)
    #[arg(long, value_name = "EXECUTOR", default_value = "local")]
    pub(crate) executor: ExecutorChoice,
}

/// How to run a matrix; changes nothing of the result.
#[derive(Debug, Args)]
pub struct MatrixRunArgs {
    /// How many at once.
    #[command(flatten)]
    pub(crate) jobs: Jobs,
    /// On which machines.
    #[command(flatten)]
    pub(crate) executor: ExecutorArgs,
    /// Take the census of every cell, too (see `worstcase census --help`)
    #[arg(long)]
    pub census: bool,
    /// Which QEMU.
    #[command(flatten)]
    pub qemu: QemuArgs,
}

impl QemuArgs {
    /// Finds it.
    pub fn find(&self, options: &ResolveOptions) -> Result<Qemu, LabError> {
        Qemu::find(self.qemu.as_deref(), &options.cache, options.progress)
    }

    /// The one that is named.
    pub fn path(&self) -> Option<&Path> {
        self.qemu.as_deref()
    }

    /// Real time for one machine, if it is bounded.
    pub(crate) fn limit(&self) -> Option<Duration> {
        self.timeout.map(Duration::from_secs)
    }
}

impl Jobs {
    /// QEMUs at once.
    pub fn count(&self) -> NonZeroUsize {
        self.jobs
            .or_else(|| std::thread::available_parallelism().ok())
            .unwrap_or(NonZeroUsize::MIN)
    }
}

/// A number of things of which there must be one.
pub(crate) fn positive(text: &str) -> Result<NonZeroUsize, String> {
    text.parse()
        .map_err(|_| "write a whole number of at least 1".to_string())
}
