//! The few words of QEMU's machine protocol (QMP) that the lab needs, over the standard streams of a QEMU process.

use super::LabError;
use super::watchdog::{LOOK, Watchdog};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, ChildStdout};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// A QMP session.
pub struct Qmp {
    input: ChildStdin,
    messages: Receiver<Value>,
    /// Events that came while an answer was awaited.
    events: Vec<Value>,
    watchdog: Watchdog,
}

impl Qmp {
    /// Greets QEMU. Nothing in this session waits longer than `watchdog` does.
    pub fn start(input: ChildStdin, output: ChildStdout, watchdog: Watchdog) -> Result<Qmp, LabError> {
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if let Ok(message) = serde_json::from_str(&line)
                    && sender.send(message).is_err()
                {
                    return;
                }
            }
        });
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

    /// Runs a command and gives what it returns.
    pub fn execute(&mut self, command: &str, arguments: Value) -> Result<Value, LabError> {
        let text = json!({"execute": command, "arguments": arguments}).to_string();
        if self
            .input
            .write_all(text.as_bytes())
            .and_then(|()| self.input.flush())
            .is_err()
        {
            return Err(LabError::QemuEnded);
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
            self.events.push(message);
        }
    }

    /// Waits until an event of this name has come.
    pub fn wait_event(&mut self, name: &str) -> Result<(), LabError> {
        loop {
            if let Some(at) = self.events.iter().position(|e| e["event"] == name) {
                self.events.remove(at);
                return Ok(());
            }
            let message = self.next()?;
            self.events.push(message);
        }
    }

    /// Repeats a question until `done` accepts the answer.
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

    /// Waits for QEMU to end its side of the session.
    pub fn wait_end(&mut self) -> Result<(), LabError> {
        loop {
            match self.next() {
                Ok(_) => {}
                Err(LabError::QemuEnded) => return Ok(()),
                Err(other) => return Err(other),
            }
        }
    }

    fn next(&mut self) -> Result<Value, LabError> {
        loop {
            self.watchdog.look()?;
            match self.messages.recv_timeout(LOOK) {
                Ok(message) => return Ok(message),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(LabError::QemuEnded),
            }
        }
    }
}
