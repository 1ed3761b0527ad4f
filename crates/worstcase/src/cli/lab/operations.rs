//! The hidden `worstcase lab-operations`.

use crate::cli::error::Error;
use crate::cli::output::print_data;
use crate::cli::progress::ProgressDisplay;
use clap::Args;
use worstcase_kernels::preempt::PreemptName;
use worstcase_kernels::{ResolveOptions, resolve};
use worstcase_lab::operations::count;
use worstcase_lab::qemu::Qemu;

/// Its arguments.
#[derive(Debug, Args)]
pub struct OperationsArgs {
    /// The kernel
    kernel: String,
    /// Its preemption model
    #[arg(long, value_name = "MODEL", default_value = "none")]
    preempt: PreemptName,
}

/// Prints the table.
pub fn run(args: &OperationsArgs) -> Result<(), Error> {
    let terminal = ProgressDisplay::new();
    let options = ResolveOptions::from_cache(&terminal)?;
    let kernel = resolve(&args.kernel, &options)?;
    let qemu = Qemu::find(None, kernel.arch, &options.cache, &terminal)?;
    let table = count(&kernel, args.preempt, &qemu, &options.cache)?;
    Ok(print_data(&table.text())?)
}
