//! One fork of a snapshot: resumed with an order to the guest, and run to its end.

use super::LabError;
use super::checkpoint::{self, Checkpoint, SavedMachine};
use super::handed::Handed;
use super::invocation::{self, MemorySharing, ORDER, PLUGIN, PROGRESS, WRITTEN};
use super::message::{console_end, guest_error};
use super::place::QemuPlace;
use super::prepared::Prepared;
use super::process::{Process, QemuLaunch};
use super::record_file;
use super::snapshot::MachineSnapshot;
use super::watchdog::MachineLimits;
use serde_json::json;
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use worstcase_contract::Instructions;

/// Files of a fork that nobody needs after a success.
pub const LEFTOVERS: [&str; 4] = [ORDER, PLUGIN, "errors", PROGRESS];

/// A request to the plugin in addition to its event log.
#[derive(Clone, Debug, Default)]
pub struct PluginRequest {
    /// Arguments of the plugin, each with a comma before it.
    pub arguments: String,
    /// Files that the plugin reads: name and content.
    pub reads: Vec<(&'static str, String)>,
    /// Names of the files that the plugin writes.
    pub writes: Vec<&'static str>,
    /// Whether the plugin reads the guest's memory.
    pub memory: bool,
}

impl PluginRequest {
    /// Joins both requests.
    pub fn and(mut self, more: PluginRequest) -> PluginRequest {
        self.arguments += &more.arguments;
        self.reads.extend(more.reads);
        self.writes.extend(more.writes);
        self.memory |= more.memory;
        self
    }
}

/// Where a fork begins, and where it ends.
pub(crate) enum Course<'a> {
    /// From the snapshot until the guest stops because its load is warm; then it is saved, in this folder. None if it powered
    /// off instead.
    UntilWarm(&'a RefCell<Option<PathBuf>>),
    /// From the warm snapshot, or the snapshot, until the guest powers off.
    Whole,
    /// The same; it is saved on its way.
    Saved(Saves<'a>),
    /// From a checkpoint, or where [`Course::Whole`] begins, until so many instructions have been executed since then; it is
    /// saved on its way.
    Part(Option<&'a Checkpoint>, Instructions, Saves<'a>),
}

/// A machine is stopped and saved when it has executed about so much since it began.
#[derive(Clone, Copy)]
pub(crate) struct Saves<'a> {
    /// When, in ascending order.
    pub(crate) at: &'a [Instructions],
    /// What was saved.
    pub(crate) saved: &'a RefCell<Vec<SavedMachine>>,
}

impl Saves<'_> {
    fn on_the_way(&self, qemu: &mut Process, folder: &Path, memory: &Path) -> Result<(), LabError> {
        checkpoint::save_on_the_way(qemu, folder, memory, self.at, &mut self.saved.borrow_mut())
    }
}

/// A fork to be run.
pub struct Fork<'a> {
    /// The subject.
    pub prepared: &'a Prepared,
    /// Its snapshot.
    pub snapshot: &'a MachineSnapshot,
    /// The warm snapshot to begin at.
    pub(crate) warm: Option<Arc<Checkpoint>>,
    /// The order to the guest (`worstcase_cell::order::Order`).
    pub order: &'a [u8],
    /// The request to the plugin in addition to the event log.
    pub asked: &'a PluginRequest,
    /// The limits of the machine.
    pub limits: MachineLimits,
    /// The fork's name in messages.
    pub what: String,
}

impl Fork<'_> {
    /// Runs the fork with its files in `folder` (the plugin's events in `events`), and gives the guest's message.
    pub fn run(&self, folder: &Path) -> Result<Vec<u8>, LabError> {
        self.run_along(folder, &Course::Whole)
    }

    /// The same; a part has no message.
    pub(crate) fn run_along(&self, folder: &Path, course: &Course) -> Result<Vec<u8>, LabError> {
        let qemu = &self.prepared.qemu;
        let mut place = QemuPlace::new(folder, qemu.program.user);
        place.read(ORDER, self.order)?;
        place.read(PLUGIN, qemu.plugin)?;
        for (name, text) in &self.asked.reads {
            place.read(name, text.as_bytes())?;
        }
        let is_saved = match course {
            Course::UntilWarm(_) => true,
            Course::Saved(saves) | Course::Part(_, _, saves) => !saves.at.is_empty(),
            Course::Whole => false,
        };
        let devices = is_saved.then_some(&checkpoint::DEVICES);
        let written = WRITTEN.iter().chain(&self.asked.writes).chain(devices);
        let mut writable: Vec<PathBuf> = written.map(|name| place.written(name)).collect::<Result<_, _>>()?;
        let arch = self.prepared.subject.machine.arch();
        record_file::prepare(folder, arch)?;
        // QEMU opens the memory file for writing, though it maps it privately.
        writable.push(self.snapshot.memory());
        let given = self.snapshot.given(self.prepared)?;
        let from = match course {
            Course::Part(Some(from), ..) => Some(*from),
            _ => self.warm.as_deref(),
        };
        let state = from.map_or_else(|| self.snapshot.state(), Checkpoint::state);
        let state = Handed::as_is(&state).map_err(LabError::io(state))?;
        let said = &self.snapshot.ready.said;
        let ready = said.get("timer_entry").map(String::as_str);
        let vectors = said
            .get("vectors")
            .map(|at| format!(",vectors={at}"))
            .unwrap_or_default();
        let memory = match self.asked.memory {
            true => format!(",memory={}", given.memory.path().display()),
            false => String::new(),
        };
        let plugin = format!(
            ",timer_entry={}{vectors}{}{memory}",
            ready.unwrap_or_default(),
            self.asked.arguments
        );
        let started = Process::start(QemuLaunch {
            qemu: &qemu.program,
            args: invocation::arguments(self.prepared, MemorySharing::Private, &given, &plugin),
            folder,
            handed: &[&given.kernel, &given.initrd, &given.memory, &state],
            writable,
            stderr: place.errors()?,
            progress: Some(&folder.join(PROGRESS)),
            limits: self.limits,
        });
        let uri = invocation::restore_uri(qemu, &state);
        let ended = started.and_then(|mut process| {
            match from {
                Some(checkpoint) => checkpoint.restore(&mut process, &self.snapshot.memory(), &uri)?,
                None => restore(&mut process, &uri)?,
            }
            self.follow(process, folder, course)
        });
        place.take_back()?;
        self.snapshot.is_as_it_was()?;
        let message = record_file::take(folder, arch);
        if let Some(words) = guest_error(&message) {
            return Err(LabError::Guest {
                what: self.what.clone(),
                message: words,
            });
        }
        ended.map_err(|e| self.no_result(folder, e))?;
        Ok(message)
    }

    /// Lets the restored machine run to its end, or to that of its part.
    fn follow(&self, mut qemu: Process, folder: &Path, course: &Course) -> Result<(), LabError> {
        qemu.talk(|qmp| qmp.execute("cont", json!({})))?;
        match course {
            Course::UntilWarm(saved) => {
                let stopped = qemu.talk(|qmp| qmp.wait_event("STOP"));
                if let Err(LabError::QemuEnded(_)) = stopped {
                    return qemu.wait();
                }
                stopped?;
                let own = folder.join("warm");
                checkpoint::save(&mut qemu, folder, &self.snapshot.memory(), &own, usize::MAX)?;
                *saved.borrow_mut() = Some(own);
                qemu.quit()
            }
            Course::Whole => qemu.wait(),
            Course::Saved(saves) => {
                saves.on_the_way(&mut qemu, folder, &self.snapshot.memory())?;
                qemu.wait()
            }
            Course::Part(_, until, saves) => {
                saves.on_the_way(&mut qemu, folder, &self.snapshot.memory())?;
                match checkpoint::runs_until(&mut qemu, folder, *until)? {
                    true => qemu.quit(),
                    false => qemu.wait(),
                }
            }
        }
    }

    /// The error for a fork that ended without a usable result.
    pub fn no_result(&self, folder: &Path, reason: impl ToString) -> LabError {
        LabError::NoResult {
            what: self.what.clone(),
            reason: reason.to_string(),
            console: console_end(folder),
        }
    }
}

fn restore(qemu: &mut Process, uri: &str) -> Result<(), LabError> {
    let capability = json!({"capabilities": [{"capability": "x-ignore-shared", "state": true}]});
    qemu.talk(|qmp| {
        qmp.execute("migrate-set-capabilities", capability)?;
        qmp.restore(uri)
    })
}
