//! The name of this machine, for what several machines make.

/// The node's name in Slurm, if Slurm started this process; else the host's name.
pub fn name() -> String {
    match std::env::var("SLURMD_NODENAME") {
        Ok(node) if !node.is_empty() => node,
        _ => rustix::system::uname().nodename().to_string_lossy().into_owned(),
    }
}
