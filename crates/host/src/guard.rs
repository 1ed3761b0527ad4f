//! The guard: a process that outlives its controller, even one killed by kill -9, and undoes the controller's journal.
//!
//! It is `worstcase host-guard JOURNAL` in a session of its own, deaf to the signals that end a terminal's processes. It
//! reads a pipe whose other end only the controller has. At the pipe's end it waits for the journal's lock, which is free
//! when the controller is gone, and undoes what is still written there: nothing, if the controller ended as it should.

use super::{HostError, journal};
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use worstcase_instruments::sys::sched::Policy;

/// What a guard says when signals and the terminal can no longer end it.
const READY: &[u8] = b"ready\n";

/// A running guard.
#[derive(Debug)]
pub(super) struct Guard {
    process: Child,
}

impl Guard {
    /// Starts the guard of a journal, and returns when it is on guard.
    pub fn start(journal: &Path) -> Result<Guard, HostError> {
        let failed = |e: io::Error| HostError::Guard(e.to_string());
        // Not by its path, which a new build may have replaced.
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

    /// Ends it: call this when the journal's lock is free.
    pub fn let_go(mut self) {
        drop(self.process.stdin.take());
        // It cannot be waited for only if it was already.
        let _ = self.process.wait();
    }
}

/// The guard's whole life.
pub fn run(journal: &Path) -> io::Result<()> {
    // Fails only for the leader of a group, which is one that a person started.
    let _ = rustix::process::setsid();
    let ignored = Arc::new(AtomicBool::new(false));
    for signal in [
        signal_hook::consts::SIGINT,
        signal_hook::consts::SIGTERM,
        signal_hook::consts::SIGHUP,
        signal_hook::consts::SIGQUIT,
    ] {
        signal_hook::flag::register(signal, Arc::clone(&ignored))?;
    }
    // Real-time threads of the run could keep it from ever running. Without the right, it waits as others do.
    let _ = Policy::fifo(99).apply();
    let mut out = io::stdout();
    out.write_all(READY)?;
    out.flush()?;
    io::copy(&mut io::stdin().lock(), &mut io::sink())?;
    journal::undo_left_over(journal, true)?;
    Ok(())
}
