//! Threads, as breakdowns name them.

use serde::{Deserialize, Serialize};

/// A thread.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelTask {
    /// Its id; 0 is the idle task.
    pub pid: u32,
    /// The kernel's name of it.
    pub comm: String,
}

impl KernelTask {
    /// The thread's name and id; a thread without a known name is described by what is known about it.
    pub fn named(&self) -> String {
        match (self.comm.is_empty(), self.pid) {
            (true, 0) => "an unknown task".into(),
            (true, pid) => format!("thread {pid}"),
            (false, pid) => format!("{} ({pid})", self.comm),
        }
    }

    /// The thread as in `named`, and the system call if one is known, as in `sh (87) in write(2)`.
    pub fn within(&self, system_call: Option<&str>) -> String {
        in_call(self.named(), system_call)
    }
}

/// A thread's name, with its system call if one is known.
pub(crate) fn in_call(who: String, system_call: Option<&str>) -> String {
    match system_call {
        Some(call) => format!("{who} in {call}(2)"),
        None => who,
    }
}
