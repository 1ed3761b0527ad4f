//! Programs that end with the command that started them, also when that is killed.

use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Has the system end the program by this signal when the thread that starts it ends; what it starts itself is its own
/// affair.
pub fn ends_with_us(command: &mut Command, signal: Signal) -> &mut Command {
    let us = getpid();
    let ask = move || {
        set_parent_process_death_signal(Some(signal))?;
        match getppid() == Some(us) {
            true => Ok(()),
            // We ended before it could ask.
            false => Err(io::ErrorKind::Interrupted.into()),
        }
    };
    // SAFETY: between fork and exec only prctl and getppid are called, which are async-signal-safe.
    unsafe { command.pre_exec(ask) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Stdio;

    /// The thread that starts it is what counts, as for the system.
    #[test]
    fn it_does_not_outlive_who_started_it() {
        let start = || {
            let mut sleep = Command::new("sleep");
            sleep.arg("1000").stdin(Stdio::null());
            ends_with_us(&mut sleep, Signal::TERM).spawn().unwrap()
        };
        let mut child = std::thread::spawn(start).join().unwrap();
        let status = child.wait().unwrap();
        let signal = std::os::unix::process::ExitStatusExt::signal(&status);
        assert_eq!(signal, Some(Signal::TERM.as_raw()));
    }
}
