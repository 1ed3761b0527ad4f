//! Child processes.

use rustix::process::{Pid, Signal, WaitOptions, kill_process, set_parent_process_death_signal, waitpid};

/// A child that has not been waited for.
pub struct Child(Pid);

/// Forks; the child does this and ends.
pub fn forked(body: impl FnOnce()) -> Child {
    // SAFETY: this process has one thread, so that the child may do whatever the parent might.
    match unsafe { libc::fork() } {
        0 => {
            body();
            // SAFETY: ends the child without what the parent has yet to write.
            unsafe { libc::_exit(0) }
        }
        id => Child(Pid::from_raw(id).expect("a process can be made")),
    }
}

/// The same for a child that waits: it ends with its parent.
pub fn helper(body: impl FnOnce()) -> Child {
    forked(|| {
        let _ = set_parent_process_death_signal(Some(Signal::KILL));
        body();
    })
}

impl Child {
    /// Waits for its end.
    pub fn wait(self) {
        waitpid(Some(self.0), WaitOptions::empty()).expect("it is a child");
    }

    /// Ends it.
    pub fn kill(self) {
        kill_process(self.0, Signal::KILL).expect("it is a child");
        self.wait();
    }
}
