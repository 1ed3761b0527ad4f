//! The machine that a command looks at.

use clap::Args;
use std::path::PathBuf;

/// Which machine is asked.
#[derive(Debug, Args)]
pub(super) struct MachineArgs {
    /// Read /proc, /sys, /dev and /boot below this folder
    #[arg(long, hide = true, default_value = "/", value_name = "FOLDER")]
    pub(super) root: PathBuf,
}
