//! Running a user's command to its end, whatever signals come meanwhile.

use super::HostError;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

/// Runs the command, and returns its exit code: 128 and the signal's number if a signal ended it.
///
/// A terminal sends Ctrl-C to the command itself. SIGTERM and SIGHUP reach this process alone, so they are passed on.
pub fn run(command: &[String]) -> Result<u8, HostError> {
    let (program, arguments) = command.split_first().expect("clap asks for one word at least");
    let failed = |source| HostError::Command {
        program: program.clone(),
        source,
    };
    let mut signals = Signals::new([SIGINT, SIGQUIT, SIGTERM, SIGHUP]).map_err(failed)?;
    let signals_end = signals.handle();
    let mut child = Command::new(program).args(arguments).spawn().map_err(failed)?;
    // A pidfd, because another process may have the number once the child is reaped.
    let process = pidfd_open(Pid::from_child(&child), PidfdFlags::empty()).map_err(|e| failed(e.into()))?;
    let forwarder = std::thread::spawn(move || {
        for signal in signals.forever().filter(|signal| [SIGTERM, SIGHUP].contains(signal)) {
            let signal = Signal::from_named_raw(signal).expect("one of the four above");
            // The command may have ended by itself just now.
            let _ = pidfd_send_signal(&process, signal);
        }
    });
    let status = child.wait().map_err(failed);
    signals_end.close();
    forwarder.join().expect("forwarding does not panic");
    let status = status?;
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    Ok(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX))
}
