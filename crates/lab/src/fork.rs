//! One fork of a snapshot: resumed with a text that asks something of the guest, run to its end.

use super::LabError;
use super::machine::{self, Files, Memory};
use super::process::Process;
use super::snapshot::{Snapshot, console_end};
use super::subject::Prepared;
use super::watchdog::Limits;
use serde_json::json;
use std::fs::File;
use std::path::Path;
use worstcase_base::files::read_most;
use worstcase_probe::spec::MAX_LEN;

/// Files that a fork writes and nobody needs when it went well.
pub const LEFTOVERS: [&str; 4] = ["cell", "plugin.so", "errors", "progress"];

/// What a guest may send; forty million samples take less.
pub(super) const LONGEST_MESSAGE: u64 = 256 << 20;

const ERROR_MAGIC: &[u8] = b"WCERR\0";

/// A fork to be run.
pub struct Fork<'a> {
    /// The subject.
    pub prepared: &'a Prepared,
    /// Its snapshot.
    pub snapshot: &'a Snapshot,
    /// What the guest is asked for; shorter than [`MAX_LEN`].
    pub text: &'a str,
    /// The plugin's arguments beyond the event log, each with a comma before it.
    pub plugin: &'a str,
    /// What it may take.
    pub limits: Limits,
    /// What it is, for messages.
    pub what: String,
}

impl Fork<'_> {
    /// Runs it with its files in `folder` (the plugin's events in `events`), and gives what the guest sent.
    pub fn run(&self, folder: &Path) -> Result<Vec<u8>, LabError> {
        let at = |name: &str| folder.join(name);
        let write = |name: &str, data: &[u8]| std::fs::write(at(name), data).map_err(LabError::io(at(name)));
        write("cell", format!("{:<MAX_LEN$}", self.text).as_bytes())?;
        write("plugin.so", self.prepared.qemu.plugin)?;
        let errors = File::create(at("errors")).map_err(LabError::io(at("errors")))?;
        let timer_entry = self
            .snapshot
            .ready
            .get("timer_entry")
            .map(String::as_str)
            .unwrap_or_default();
        let files = Files {
            kernel: &self.prepared.subject.kernel.bzimage,
            initrd: &self.snapshot.initrd(),
            memory: &self.snapshot.memory(),
            plugin: &at("plugin.so"),
            events: &at("events"),
            progress: &at("progress"),
            plugin_arguments: &format!(",timer_entry={timer_entry}{}", self.plugin),
            cell: &at("cell"),
            record: &at("record"),
            console: &at("console"),
        };
        let subject = &self.prepared.subject;
        let args = machine::arguments(subject, &self.prepared.command_line, Memory::Private, &files);
        let program = &self.prepared.qemu.program;
        let state = self.snapshot.state();
        let state = File::open(&state).map_err(LabError::io(state))?;
        let ended = Process::start(
            program,
            &args,
            // QEMU opens the memory to write, though it maps it privately.
            &[folder, &self.snapshot.memory()],
            errors.into(),
            Some(&at("progress")),
            Some(&state),
            self.limits,
        )
        .and_then(|qemu| resume(qemu, &machine::restore_uri(&self.prepared.qemu)));
        let message = read_most(&at("record"), LONGEST_MESSAGE).unwrap_or_default();
        if let Some(words) = guest_error(&message) {
            return Err(LabError::Guest {
                what: self.what.clone(),
                message: words,
            });
        }
        ended.map_err(|e| self.no_result(folder, e.to_string()))?;
        Ok(message)
    }

    /// The error for a fork that ended but left nothing that can be used.
    pub fn no_result(&self, folder: &Path, reason: String) -> LabError {
        LabError::NoResult {
            what: self.what.clone(),
            reason,
            console: console_end(folder),
        }
    }
}

fn resume(mut qemu: Process, restore_uri: &str) -> Result<(), LabError> {
    let capability = json!({"capabilities": [{"capability": "x-ignore-shared", "state": true}]});
    qemu.talk(|qmp| {
        qmp.execute("migrate-set-capabilities", capability)?;
        qmp.execute("migrate-incoming", json!({"uri": restore_uri}))?;
        qmp.poll("query-status", |answer| Ok(answer["status"] != "inmigrate"))?;
        qmp.execute("cont", json!({}))
    })?;
    qemu.wait()
}

/// The guest's own words in one line, if it sent an error instead of what was awaited.
pub fn guest_error(message: &[u8]) -> Option<String> {
    let at = message.windows(ERROR_MAGIC.len()).position(|w| w == ERROR_MAGIC)?;
    let text = String::from_utf8_lossy(&message[at + ERROR_MAGIC.len()..]);
    let words: Vec<&str> = text.split_whitespace().collect();
    Some(words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guests_error_is_found_behind_a_message() {
        assert_eq!(
            guest_error(b"WCREADY\n\nWCERR\0no such load"),
            Some("no such load".into())
        );
        assert_eq!(
            guest_error(b"WCERR\0the guest panicked: panicked at a.rs:1:\nindex 3\n"),
            Some("the guest panicked: panicked at a.rs:1: index 3".into())
        );
        assert_eq!(guest_error(b"WCREC\0"), None);
    }
}
