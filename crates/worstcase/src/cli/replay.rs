//! The equipment to replay a cell of the lab: options that several commands share.

use clap::Args;
use std::path::{Path, PathBuf};
use worstcase_analysis::explain::ReplayMeans;
use worstcase_kernels::ResolveOptions;
use worstcase_lab::LabError;
use worstcase_lab::additions::Additions;
use worstcase_plan::{Added, LabModule};

/// What was put into the machines.
#[derive(Debug, Default, Args)]
pub(crate) struct AddedArgs {
    /// The programs that were added when the run was measured [default: those that the run names]
    #[arg(long = "add", value_name = "PATH[:DEST]")]
    added: Vec<Added>,
    /// The kernel modules that were loaded when the run was measured [default: those that the run names]
    #[arg(long = "module", value_name = "PATH.ko[ PARAMETERS]")]
    modules: Vec<LabModule>,
}

/// What a cell of the lab is replayed with.
#[derive(Debug, Default, Args)]
pub(crate) struct ReplayArgs {
    /// The QEMU that measured the run [default: qemu-system-x86_64, for arm64 qemu-system-aarch64, on the search path]
    #[arg(long, value_name = "PATH")]
    pub qemu: Option<PathBuf>,
    #[command(flatten)]
    pub added: AddedArgs,
}

impl AddedArgs {
    /// The named additions; the others are taken from the run.
    pub fn named(&self) -> Result<Additions, LabError> {
        Additions::named(&self.added, &self.modules)
    }
}

impl ReplayArgs {
    /// The means to replay with these options, and the places of kernels.
    pub(crate) fn means<'a>(
        &'a self,
        additions: &'a Additions,
        options: &'a ResolveOptions<'a>,
        debug_info: Option<&'a Path>,
    ) -> ReplayMeans<'a> {
        ReplayMeans {
            qemu: self.qemu.as_deref(),
            additions,
            debug_info,
            options,
        }
    }
}
