//! What the [guard](super::guard) does in its own process.

use super::guard::READY;
use super::journal;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use worstcase_instruments::sys::sched::Policy;

/// Runs the guard to its end.
pub fn run(journal: &Path) -> io::Result<()> {
    // Fails only for the leader of a process group, such as a guard that a user started by hand.
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
    // The run's real-time threads could keep the guard from ever running. Without the right, it stays an ordinary
    // thread.
    let _ = Policy::fifo(99).apply();
    let mut out = io::stdout();
    out.write_all(READY)?;
    out.flush()?;
    io::copy(&mut io::stdin().lock(), &mut io::sink())?;
    journal::undo_left_over(journal, true)?;
    Ok(())
}
