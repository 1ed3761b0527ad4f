//! The guard: a process that outlives its controller, even one killed by kill -9, and undoes the controller's journal.
//!
//! It is `worstcase host-guard JOURNAL` in a session of its own, and ignores the signals that end a terminal's processes.
//! It reads a pipe whose other end only the controller has. When the pipe ends it waits for the journal's lock, which is
//! free when the controller is gone, and undoes the entries that are left: none, if the controller ended normally.

use super::HostError;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The guard prints this when neither signals nor the terminal can end it any more.
pub(super) const READY: &[u8] = b"ready\n";

#[derive(Debug)]
pub(super) struct Guard {
    process: Child,
}

impl Guard {
    /// Starts the guard of a journal, and returns when the guard is ready.
    pub(crate) fn start(journal: &Path) -> Result<Guard, HostError> {
        let failed = |e: io::Error| HostError::Guard(e.to_string());
        // A new build may have replaced the file at our path.
        let mut process = Command::new("/proc/self/exe")
            .arg0("worstcase")
            .arg("host-guard")
            .arg(journal)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed)?;
        let mut said = Vec::new();
        let output = process.stdout.take().expect("piped");
        output.take(READY.len() as u64).read_to_end(&mut said).map_err(failed)?;
        let guard = Guard { process };
        if said != READY {
            guard.let_go();
            return Err(HostError::Guard("it ended at once".into()));
        }
        Ok(guard)
    }

    /// Ends the guard: call this when the journal's lock is free.
    pub(crate) fn let_go(mut self) {
        drop(self.process.stdin.take());
        // Waiting fails only if the guard was waited for before.
        let _ = self.process.wait();
    }
}
