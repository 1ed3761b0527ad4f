//! Memory barriers in other threads (membarrier(2)).

use super::check;
use std::io;

/// Who executes a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Among {
    /// Every thread that runs, of the processes that are registered.
    RegisteredProcesses,
    /// Every thread that runs, of the calling process.
    OwnThreads,
}

impl Among {
    /// Commands to register, and to have a barrier executed.
    fn commands(self) -> (libc::c_int, libc::c_int) {
        match self {
            Among::RegisteredProcesses => (
                libc::MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED,
                libc::MEMBARRIER_CMD_GLOBAL_EXPEDITED,
            ),
            Among::OwnThreads => (
                libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED,
                libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED,
            ),
        }
    }
}

/// The calling process takes part.
pub fn register(among: Among) -> io::Result<()> {
    command(among.commands().0)
}

/// Returns when all have executed one.
pub(crate) fn barrier(among: Among) -> io::Result<()> {
    command(among.commands().1)
}

fn command(command: libc::c_int) -> io::Result<()> {
    // SAFETY: no pointers are passed.
    check(unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_registered_can_ask() {
        for among in [Among::RegisteredProcesses, Among::OwnThreads] {
            register(among).unwrap();
            barrier(among).unwrap();
        }
    }
}
