//! The name of this machine, for what several machines make.

/// Slurm's name of the node, where one runs there; else the host's name.
pub fn name() -> String {
    match std::env::var("SLURMD_NODENAME") {
        Ok(node) if !node.is_empty() => node,
        _ => rustix::system::uname().nodename().to_string_lossy().into_owned(),
    }
}
