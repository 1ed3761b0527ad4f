//! The part of QEMU's machine protocol (QMP) that the lab needs, over the standard streams of a QEMU process.

use super::LabError;
use super::watchdog::{LOOK, Watchdog};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{ChildStdin, ChildStdout};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

/// Limit for messages that wait to be read; then QEMU waits.
const WAITING: usize = 64;
/// Limit for unread events. QEMU sends few in a machine's life.
const MOST_EVENTS: usize = 1_000;
/// The longest line; QEMU's have some hundred bytes.
const LONGEST_LINE: u64 = 1 << 20;

/// A QMP session.
pub(crate) struct Qmp {
    input: ChildStdin,
    messages: Receiver<Result<Value, LabError>>,
    /// Events that came while a command waited for its answer.
    events: Vec<Value>,
    watchdog: Watchdog,
}

impl Qmp {
    /// Negotiates with QEMU. No wait in this session is longer than `watchdog` allows.
    pub(crate) fn start(input: ChildStdin, output: ChildStdout, watchdog: Watchdog) -> Result<Qmp, LabError> {
        let (sender, messages) = sync_channel(WAITING);
        std::thread::spawn(move || read_messages(BufReader::new(output), &sender));
        let mut qmp = Qmp {
            input,
            messages,
            events: Vec::new(),
            watchdog,
        };
        qmp.next()?;
        qmp.execute("qmp_capabilities", json!({}))?;
        Ok(qmp)
    }

    /// Runs a command and gives its result.
    pub fn execute(&mut self, command: &str, arguments: Value) -> Result<Value, LabError> {
        let text = json!({"execute": command, "arguments": arguments}).to_string();
        if self
            .input
            .write_all(text.as_bytes())
            .and_then(|()| self.input.flush())
            .is_err()
        {
            return Err(LabError::QemuEnded(String::new()));
        }
        loop {
            let message = self.next()?;
            if let Some(error) = message.get("error") {
                let reason = error["desc"].as_str().unwrap_or("no reason given");
                return Err(LabError::Qemu(format!("{command}: {reason}")));
            }
            if let Some(answer) = message.get("return") {
                return Ok(answer.clone());
            }
            self.keep(message)?;
        }
    }

    fn keep(&mut self, event: Value) -> Result<(), LabError> {
        self.events.push(event);
        match self.events.len() > MOST_EVENTS {
            true => Err(LabError::Qemu(format!("it sends more than {MOST_EVENTS} events"))),
            false => Ok(()),
        }
    }

    /// Waits until an event of this name has come.
    pub(crate) fn wait_event(&mut self, name: &str) -> Result<(), LabError> {
        loop {
            if let Some(at) = self.events.iter().position(|e| e["event"] == name) {
                self.events.remove(at);
                return Ok(());
            }
            let message = self.next()?;
            self.keep(message)?;
        }
    }

    /// Repeats a command until `done` accepts its result.
    pub fn poll(
        &mut self,
        command: &str,
        mut done: impl FnMut(&Value) -> Result<bool, LabError>,
    ) -> Result<(), LabError> {
        while !done(&self.execute(command, json!({}))?)? {
            std::thread::sleep(Duration::from_micros(500));
        }
        Ok(())
    }

    /// Restores the devices' state, without the machine's running on.
    pub(crate) fn restore(&mut self, uri: &str) -> Result<(), LabError> {
        self.execute("migrate-incoming", json!({"uri": uri}))?;
        self.poll("query-status", |answer| Ok(answer["status"] != "inmigrate"))
    }

    /// Whether QEMU ends its side of the session within this time.
    pub(crate) fn ends_within(&mut self, time: Duration) -> Result<bool, LabError> {
        self.watchdog.look()?;
        match self.messages.recv_timeout(time) {
            Ok(message) => message.map(|_| false),
            Err(RecvTimeoutError::Timeout) => Ok(false),
            Err(RecvTimeoutError::Disconnected) => Ok(true),
        }
    }

    /// Waits for QEMU to end its side of the session.
    pub(crate) fn wait_end(&mut self) -> Result<(), LabError> {
        loop {
            match self.next() {
                Ok(_) => {}
                Err(LabError::QemuEnded(_)) => return Ok(()),
                Err(other) => return Err(other),
            }
        }
    }

    fn next(&mut self) -> Result<Value, LabError> {
        loop {
            self.watchdog.look()?;
            match self.messages.recv_timeout(LOOK) {
                Ok(message) => return message,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(LabError::QemuEnded(String::new())),
            }
        }
    }
}

/// Passes on QEMU's messages until the receiver is gone or a line is too long. A line that is not JSON is ignored.
fn read_messages(mut output: impl BufRead, sender: &SyncSender<Result<Value, LabError>>) {
    let mut line = Vec::new();
    loop {
        line.clear();
        match output.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(n) if n as u64 == LONGEST_LINE => {
                let told = LabError::Qemu("a line of its protocol has no end".into());
                // If the receiver is gone, nobody needs the error.
                let _ = sender.send(Err(told));
                return;
            }
            Ok(_) => {}
        }
        if let Ok(message) = serde_json::from_slice(&line)
            && sender.send(Ok(message)).is_err()
        {
            return;
        }
    }
}
