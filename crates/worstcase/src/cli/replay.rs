//! What a cell of the lab is replayed with: options that several commands share.

use clap::Args;
use std::path::{Path, PathBuf};
use worstcase_analysis::explain::Means;
use worstcase_kernels::ResolveOptions;
use worstcase_lab::added::Added;

/// What a cell of the lab is replayed with.
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// The QEMU that measured the run [default: qemu-system-x86_64 on the search path]
    #[arg(long, value_name = "PATH")]
    pub qemu: Option<PathBuf>,
    /// The programs that were added when the run was measured
    #[arg(long = "add", value_name = "PATH[:DEST]")]
    pub added: Vec<Added>,
}

impl ReplayArgs {
    /// With these, and where kernels are found.
    pub fn means<'a>(&'a self, options: &'a ResolveOptions<'a>, debug_info: Option<&'a Path>) -> Means<'a> {
        Means {
            qemu: self.qemu.as_deref(),
            added: &self.added,
            debug_info,
            options,
        }
    }
}
