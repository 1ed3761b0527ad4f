//! What is done about a late cycle while the program is followed.

use super::FollowArgs;
use crate::cli::host::hooks;
use rustix::process::{Pid, Signal, kill_process};
use std::ops::ControlFlow;
use std::thread::JoinHandle;
use worstcase_base::near;
use worstcase_contract::Nanos;
use worstcase_host::HostError;
use worstcase_host::follow::SessionState;
use worstcase_traces::follow::words::{SIGNALS, signal_number};

/// Between two commands or signals.
const AGAIN: Nanos = Nanos::from_millis(1_000);

/// Reads a signal's name.
pub(super) fn signal(text: &str) -> Result<u32, String> {
    signal_number(text).ok_or_else(|| near::unknown("signal", text, SIGNALS, "kill -l lists them"))
}

/// What to do.
pub(super) struct LateReaction {
    is_break: bool,
    signal: Option<Signal>,
    command: Option<Vec<String>>,
    folder: std::path::PathBuf,
    next: Nanos,
    running: Option<JoinHandle<Vec<String>>>,
}

impl LateReaction {
    /// As it was asked.
    pub fn of(args: &FollowArgs) -> Result<LateReaction, HostError> {
        Ok(LateReaction {
            is_break: args.is_break,
            signal: args.signal.and_then(|number| Signal::from_named_raw(number as i32)),
            command: hooks::words("--on-late", args.on_late.as_deref())?,
            folder: args.output.clone().unwrap_or_default(),
            next: Nanos(0),
            running: None,
        })
    }

    /// Reacts to a late cycle, if there was one.
    pub fn to(&mut self, state: &SessionState) -> ControlFlow<()> {
        let Some(late) = state.late else {
            return ControlFlow::Continue(());
        };
        if state.time >= self.next {
            self.next = state.time + AGAIN;
            if let (Some(signal), Some(pid)) = (self.signal, Pid::from_raw(state.process as i32)) {
                // The program may have ended meanwhile.
                let _ = kill_process(pid, signal);
            }
            self.run(&[
                ("WORSTCASE_PID", state.process.to_string()),
                ("WORSTCASE_CYCLE", late.index.to_string()),
                ("WORSTCASE_RESPONSE_NS", late.response().0.to_string()),
            ]);
        }
        match self.is_break {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    /// Beside the trace, unless the command before still runs.
    fn run(&mut self, facts: &[(&'static str, String)]) {
        let Some(command) = self.command.clone() else { return };
        if self.running.as_ref().is_some_and(|running| !running.is_finished()) {
            return;
        }
        self.end();
        let (folder, facts) = (self.folder.clone(), facts.to_vec());
        self.running = Some(std::thread::spawn(move || {
            hooks::run(&command, "--on-late", &folder, &facts)
        }));
    }

    /// Waits for the command, and tells what it said.
    pub fn end(&mut self) {
        // The panic of that thread has been reported.
        if let Some(Ok(said)) = self.running.take().map(JoinHandle::join) {
            hooks::tell(&said);
        }
    }
}
