//! One cell: a fork of a snapshot that measures, and the raw result it leaves.

use super::LabError;
use super::machine::{self, Files, Memory, quoted};
use super::process::Process;
use super::snapshot::{Snapshot, console_end};
use super::subject::Prepared;
use crate::cache::Cache;
use crate::digest::Digest;
use serde_json::json;
use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};
use worstcase_probe::RawRecord;
use worstcase_probe::spec::{CellSpec, MAX_LEN};
use worstcase_probe::trace::{self, Event};

/// Where raw results are in the cache.
const AREA: &str = "cells";

const ERROR_MAGIC: &[u8] = b"WCERR\0";

/// What is needed to run one cell.
pub struct Run<'a> {
    /// The subject.
    pub prepared: &'a Prepared,
    /// Its snapshot.
    pub snapshot: &'a Snapshot,
    /// The cell.
    pub spec: &'a CellSpec,
    /// Real time that the machine may take; by default, a generous multiple of what the cell needs.
    pub limit: Option<Duration>,
}

/// What a cell left: the guest's record and the plugin's events.
#[derive(Debug, PartialEq)]
pub struct Raw {
    /// From the guest.
    pub record: RawRecord,
    /// From the plugin, in order.
    pub events: Vec<Event>,
}

/// The cell's content key: equal keys give equal results.
pub fn key(prepared: &Prepared, spec: &CellSpec) -> Result<String, LabError> {
    let text = spec.to_text().map_err(|e| LabError::Request(e.to_string()))?;
    Ok(Digest::new("worstcase-cell/1").text(&prepared.key).text(&text).hex())
}

/// Whether the cache has this cell's result.
pub fn is_cached(cache: &Cache, key: &str) -> bool {
    cache.get(AREA, key).is_some()
}

/// Takes the result from the cache, or runs the cell and keeps what it gave.
pub fn obtain(cache: &Cache, run: &Run) -> Result<Raw, LabError> {
    let key = key(run.prepared, run.spec)?;
    let folder = cache.publish(AREA, &key, |building| {
        execute(run, building)?;
        for name in ["cell", "plugin.so", "console", "errors"] {
            let path = building.join(name);
            std::fs::remove_file(&path).map_err(LabError::io(path))?;
        }
        Ok::<(), LabError>(())
    })?;
    read_raw(&folder)
}

/// Runs the cell with its files in `folder`.
pub fn execute(run: &Run, folder: &Path) -> Result<Raw, LabError> {
    let at = |name: &str| folder.join(name);
    let text = run.spec.to_text().map_err(|e| LabError::Request(e.to_string()))?;
    let write = |name: &str, data: &[u8]| std::fs::write(at(name), data).map_err(LabError::io(at(name)));
    write("cell", format!("{text:<MAX_LEN$}").as_bytes())?;
    write("plugin.so", run.prepared.qemu.plugin)?;
    let errors = File::create(at("errors")).map_err(LabError::io(at("errors")))?;
    let timer_entry = run
        .snapshot
        .ready
        .get("timer_entry")
        .map(String::as_str)
        .unwrap_or_default();
    let files = Files {
        kernel: &run.prepared.subject.kernel.bzimage,
        initrd: &run.snapshot.initrd(),
        memory: &run.snapshot.memory(),
        plugin: &format!(
            "{},log={},timer_entry={timer_entry}",
            quoted(&at("plugin.so")),
            quoted(&at("events"))
        ),
        cell: &at("cell"),
        record: &at("record"),
        console: &at("console"),
    };
    let machine = &run.prepared.subject.machine;
    let args = machine::arguments(machine, &run.prepared.command_line, Memory::Private, &files);
    let deadline = Instant::now() + run.limit.unwrap_or_else(|| default_limit(run));
    let ended = Process::start(&run.prepared.qemu.program, &args, errors, deadline)
        .and_then(|qemu| resume(qemu, &run.snapshot.state()));
    let message = std::fs::read(at("record")).unwrap_or_default();
    if let Some(words) = guest_error(&message) {
        return Err(LabError::Guest {
            what: describe(run),
            message: words,
        });
    }
    let no_result = |reason: String| LabError::NoResult {
        what: describe(run),
        reason,
        console: console_end(folder),
    };
    ended.map_err(|e| no_result(e.to_string()))?;
    decode(folder).map_err(no_result)
}

fn describe(run: &Run) -> String {
    let spec = run.spec;
    format!(
        "{}, load {}, probe {}, seed {}",
        run.prepared.subject.label(),
        spec.load,
        spec.probe,
        spec.seed
    )
}

/// A minute to start with, and the cell's instructions at a tenth of the speed seen on slow machines.
fn default_limit(run: &Run) -> Duration {
    let virtual_ns = run.spec.warmup.0 + run.spec.period.0 * u64::from(run.spec.periods);
    let instructions = virtual_ns >> run.prepared.subject.machine.mips.shift();
    Duration::from_secs(60 + instructions / 20_000_000)
}

fn resume(mut qemu: Process, state: &Path) -> Result<(), LabError> {
    let capability = json!({"capabilities": [{"capability": "x-ignore-shared", "state": true}]});
    qemu.qmp.execute("migrate-set-capabilities", capability)?;
    qemu.qmp
        .execute("migrate-incoming", json!({"uri": machine::restore_uri(state)}))?;
    qemu.qmp
        .poll("query-status", |answer| Ok(answer["status"] != "inmigrate"))?;
    qemu.qmp.execute("cont", json!({}))?;
    qemu.wait()
}

/// Reads a kept result.
fn read_raw(folder: &Path) -> Result<Raw, LabError> {
    decode(folder).map_err(|reason| LabError::Damaged {
        folder: folder.to_path_buf(),
        reason,
        again: "the cell is measured again",
    })
}

/// Reads what a cell left; the error says why it is no result.
fn decode(folder: &Path) -> Result<Raw, String> {
    let read = |name: &str| std::fs::read(folder.join(name)).map_err(|e| format!("{name}: {e}"));
    let record = RawRecord::decode(&read("record")?).map_err(|e| e.to_string())?;
    let events = trace::decode(&read("events")?).map_err(|e| e.to_string())?;
    Ok(Raw { record, events })
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
