//! A subject booted once and stopped at its ready point, from which every cell is forked.
//!
//! QEMU writes guest memory straight to a file (`share=on`) and the devices' state to another (migration with
//! `x-ignore-shared`). A fork maps the memory file privately, so that the snapshot never changes.
//!
//! The clock can jump by hundreds of us while QEMU pauses the machine. The guest measures the time that passed at the
//! stop; a snapshot whose gap is larger than the few instructions in between is thrown away and made again.

use super::LabError;
use super::boot_state::BootState;
use super::cell::{self, CellRun};
use super::confine::{User, UserAccess};
use super::fork::{LONGEST_MESSAGE, guest_error};
use super::handed::Handed;
use super::machine::{
    self, CONSOLE, EVENTS, MachineFiles, MemorySharing, ORDER, PLUGIN, PROGRESS, READ, RECORD, WRITTEN,
};
use super::place::{ERRORS, QemuPlace};
use super::plugin_log;
use super::process::{Process, QemuLaunch, last_lines};
use super::ready::ReadyReport;
use super::subject::Prepared;
use super::watchdog::MachineLimits;
use serde_json::json;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use worstcase_base::cache::Cache;
use worstcase_base::files::read_most;
use worstcase_base::room::HeldEntry;
use worstcase_contract::CellSpec;
use worstcase_contract::Probe;
use worstcase_contract::{Instructions, Nanos};
use worstcase_instruments::order::ORDER_LEN;
use worstcase_kernels::preempt::ModelChoice;
use worstcase_plan::CpuList;

/// The area of the cache.
pub const AREA: &str = "snapshots";

const MEMORY: &str = "memory";
const INITRD: &str = "initrd";
const STATE: &str = "state";
/// The socket to which QEMU sends the devices' state.
const SOCKET: &str = "socket";

/// The message about a damaged snapshot.
pub(super) const AGAIN: &str = "the subject is booted again";

/// Limit in bytes of the disk for all unused snapshots together; each can be made again in seconds.
const MOST: u64 = 10 << 30;

/// Limit in instructions for a boot. Debian's 6.1 takes 5.4 thousand million.
pub(super) const BOOT: Instructions = Instructions(50_000_000_000);

/// The stop takes a few instructions, measured 8 ns at 1000 MIPS; a jump is hundreds of us.
const LARGEST_GAP: Nanos = Nanos::from_micros(20);
const ATTEMPTS: usize = 6;

/// Limit in bytes for image, devices' state and console of a boot. QEMU dies from SIGBUS, without a message, if the
/// disk is full while it writes guest memory, so there must be room for everything.
const SPACE_FOR_THE_REST: u64 = 64 << 20;

/// A snapshot in the cache.
#[derive(Clone, Debug)]
pub struct MachineSnapshot {
    folder: PathBuf,
    /// Length and times of its memory file when it was opened.
    written: [i64; 5],
    /// Keeps it in the cache while it is used.
    _held: Option<Arc<HeldEntry>>,
    /// The guest's report before the stop.
    pub ready: ReadyReport,
}

impl MachineSnapshot {
    /// Takes the snapshot from the cache if it fits its checksums. Otherwise boots the subject and makes it; the boot must
    /// agree with this subject's first boot.
    ///
    /// `limit` is the real time that the boot may take, if the user limits it.
    pub fn obtain(cache: &Cache, prepared: &Prepared, limit: Option<Duration>) -> Result<MachineSnapshot, LabError> {
        loop {
            let folder = cache.keep(AREA, &prepared.key, AGAIN, |building| {
                cache.bound(AREA, MOST);
                let needed = memory_bytes(prepared) + SPACE_FOR_THE_REST;
                if cache.require_free(needed).is_err() {
                    cache.bound(AREA, 0);
                    cache.require_free(needed)?;
                }
                make(building, prepared, limit)?.agree(cache, prepared)
            })?;
            if let Some(held) = cache.hold(AREA, &prepared.key)? {
                let snapshot = MachineSnapshot::open(&folder, Some(held), prepared)?;
                snapshot.ready.keep(cache, &prepared.key, &prepared.subject.label())?;
                return Ok(snapshot);
            }
        }
    }

    /// The state of its boot.
    pub(crate) fn boot_state(&self) -> Result<BootState, LabError> {
        BootState::read(&self.folder)
    }

    /// Whether the cache has it, so that no boot is needed.
    pub(crate) fn is_cached(cache: &Cache, prepared: &Prepared) -> bool {
        cache.get(AREA, &prepared.key).is_some()
    }

    /// Opens a finished snapshot. A file of another length is refused: QEMU would fill up a truncated memory file with
    /// zeros and run on.
    fn open(folder: &Path, held: Option<HeldEntry>, prepared: &Prepared) -> Result<MachineSnapshot, LabError> {
        let damaged = |reason: &str| LabError::Damaged {
            folder: folder.to_path_buf(),
            reason: reason.into(),
            again: AGAIN,
        };
        let ready = ReadyReport::of(folder)?;
        let length = |name: &str| std::fs::metadata(folder.join(name)).map_or(0, |file| file.len());
        if length(MEMORY) != memory_bytes(prepared) || length(INITRD) != prepared.initrd.len() as u64 {
            return Err(damaged("its memory or its image is cut short"));
        }
        Ok(MachineSnapshot {
            folder: folder.to_path_buf(),
            written: written(&folder.join(MEMORY))?,
            _held: held.map(Arc::new),
            ready,
        })
    }

    /// The files for a fork.
    pub(super) fn given(&self, prepared: &Prepared) -> Result<MachineFiles, LabError> {
        given(&self.folder, prepared)
    }

    /// An error if its memory file was written to since it was opened: then no cell since then is valid.
    pub(super) fn is_as_it_was(&self) -> Result<(), LabError> {
        match written(&self.memory())? {
            now if now == self.written => Ok(()),
            _ => Err(LabError::Damaged {
                folder: self.folder.clone(),
                reason: "its memory was written to while a machine ran".into(),
                again: AGAIN,
            }),
        }
    }

    /// Guest memory.
    pub(crate) fn memory(&self) -> PathBuf {
        self.folder.join(MEMORY)
    }

    /// The devices' state.
    pub fn state(&self) -> PathBuf {
        self.folder.join(STATE)
    }
}

/// Shows when a file was written to: its length, and the times of the last change, which no user can set (ctime).
fn written(path: &Path) -> Result<[i64; 5], LabError> {
    let is = std::fs::metadata(path).map_err(LabError::io(path))?;
    Ok([
        is.size().cast_signed(),
        is.mtime(),
        is.mtime_nsec(),
        is.ctime(),
        is.ctime_nsec(),
    ])
}

fn memory_bytes(prepared: &Prepared) -> u64 {
    u64::from(prepared.subject.machine.memory_mb) << 20
}

fn make(folder: &Path, prepared: &Prepared, limit: Option<Duration>) -> Result<BootState, LabError> {
    let mut gap = Nanos(0);
    for _ in 0..ATTEMPTS {
        let instructions = boot(folder, prepared, limit)?;
        gap = gap_of(&MachineSnapshot::open(folder, None, prepared)?, prepared, limit)?;
        if gap <= LARGEST_GAP {
            let state = BootState::of(instructions, &folder.join(MEMORY))?;
            state.write(folder)?;
            return Ok(state);
        }
    }
    Err(LabError::ClockJump(prepared.subject.label(), gap))
}

/// Runs the shortest possible cell and gives the time that the guest measured at the stop.
fn gap_of(snapshot: &MachineSnapshot, prepared: &Prepared, limit: Option<Duration>) -> Result<Nanos, LabError> {
    let spec = CellSpec {
        probe: Probe::Wakeup,
        load: "idle".into(),
        period: Nanos::from_millis(1),
        periods: 1,
        seed: 1,
        warmup: Nanos(0),
        priority: 98,
    };
    let scratch = tempfile::tempdir_in(&snapshot.folder).map_err(LabError::io(&snapshot.folder))?;
    let raw = cell::execute(
        &CellRun {
            prepared,
            snapshot,
            spec: &spec,
            limit,
        },
        scratch.path(),
    )?;
    let gap = raw.record.environment.get("stop_gap_ns").and_then(|g| g.parse().ok());
    gap.map(Nanos)
        .ok_or_else(|| LabError::Qemu("the guest did not report the gap at its stop".into()))
}

/// The placeholder for an order until the snapshot is taken: no order begins with it.
const NO_ORDER: u8 = 0xff;

/// Boots the subject, and gives its instructions up to the stop.
fn boot(folder: &Path, prepared: &Prepared, limit: Option<Duration>) -> Result<Instructions, LabError> {
    let at = |name: &str| folder.join(name);
    let write = |name: &str, data: &[u8]| std::fs::write(at(name), data).map_err(LabError::io(at(name)));
    let (qemu, user) = (&prepared.qemu.program, prepared.qemu.program.user);
    let mut place = QemuPlace::new(folder, user);
    write(INITRD, &prepared.initrd)?;
    place.read(ORDER, &[NO_ORDER; ORDER_LEN])?;
    place.read(PLUGIN, prepared.qemu.plugin)?;
    let memory = File::create(at(MEMORY)).map_err(LabError::io(at(MEMORY)))?;
    let length = memory.set_len(memory_bytes(prepared));
    length.map_err(LabError::io(at(MEMORY)))?;
    let lent = user.lend(&at(MEMORY), UserAccess::Write);
    lent.map_err(LabError::io(at(MEMORY)))?;
    let mut writable: Vec<PathBuf> = WRITTEN
        .iter()
        .map(|name| place.written(name))
        .collect::<Result<_, _>>()?;
    writable.push(at(MEMORY));
    let given = given(folder, prepared)?;
    let started = Process::start(QemuLaunch {
        qemu,
        args: machine::arguments(prepared, MemorySharing::Shared, &given, ""),
        folder,
        handed: &[&given.kernel, &given.initrd, &given.memory],
        writable,
        stderr: place.errors()?,
        progress: Some(&at(PROGRESS)),
        limits: MachineLimits::new(BOOT, limit),
    });
    let booted = started.and_then(|process| save(process, folder, user));
    place.take_back()?;
    let message = read_most(&at(RECORD), LONGEST_MESSAGE).unwrap_or_default();
    if let Err(error) = booted {
        return Err(no_result(prepared, &message, &error, folder));
    }
    let text = String::from_utf8_lossy(&message).into_owned();
    let ready = ReadyReport::parse(text).ok_or_else(|| {
        no_result(
            prepared,
            &message,
            &LabError::Qemu("stopped before it was ready".into()),
            folder,
        )
    })?;
    check_preempt(prepared, &ready.said)?;
    check_cpus(prepared, &ready.said)?;
    let logged = plugin_log::read(&at(EVENTS)).and_then(|events| plugin_log::stop(&events));
    let instructions = logged.map_err(|reason| no_result(prepared, &[], &LabError::Qemu(reason), folder))?;
    ready.write(folder)?;
    for name in READ.iter().chain(&WRITTEN).chain(&[ERRORS]) {
        std::fs::remove_file(at(name)).map_err(LabError::io(at(name)))?;
    }
    Ok(instructions)
}

/// The files for a machine: the kernel, and image and memory of the snapshot in this folder.
fn given(folder: &Path, prepared: &Prepared) -> Result<MachineFiles, LabError> {
    let to_read = |path: &Path| Handed::to_read(path, prepared.qemu.program.user).map_err(LabError::io(path));
    let memory = folder.join(MEMORY);
    Ok(MachineFiles {
        kernel: to_read(&prepared.subject.kernel.bzimage)?,
        initrd: to_read(&folder.join(INITRD))?,
        memory: Handed::as_is(&memory).map_err(LabError::io(memory))?,
    })
}

fn save(mut qemu: Process, folder: &Path, user: User) -> Result<(), LabError> {
    let capability = json!({"capabilities": [{"capability": "x-ignore-shared", "state": true}]});
    qemu.talk(|qmp| {
        qmp.wait_event("STOP")?;
        qmp.execute("migrate-set-capabilities", capability)
    })?;
    // QEMU may not start a program that writes the file, and accepts no descriptor: it sends the state to this socket. A
    // socket's name must be short.
    let state = folder.join(STATE);
    let socket = folder.join(SOCKET);
    let opened = File::open(folder).map_err(LabError::io(folder))?;
    let listener = UnixListener::bind(format!("/proc/self/fd/{}/{SOCKET}", opened.as_raw_fd()));
    let listener = listener.map_err(LabError::io(&socket))?;
    user.lend(&socket, UserAccess::Write).map_err(LabError::io(&socket))?;
    let file = File::create(&state).map_err(LabError::io(&state))?;
    let received = std::thread::spawn(move || io::copy(&mut listener.accept()?.0, &mut &file));
    qemu.talk(|qmp| {
        qmp.execute("migrate", json!({"uri": format!("unix:{SOCKET}")}))?;
        qmp.poll("query-migrate", |answer| match answer["status"].as_str() {
            Some("completed") => Ok(true),
            Some("failed" | "cancelled") => Err(LabError::Qemu(format!(
                "the machine's state could not be saved: {answer}"
            ))),
            _ => Ok(false),
        })
    })?;
    let received = received.join().expect("copying does not panic");
    received.map_err(LabError::io(state))?;
    std::fs::remove_file(&socket).map_err(LabError::io(socket))?;
    qemu.quit()
}

fn no_result(prepared: &Prepared, message: &[u8], error: &LabError, folder: &Path) -> LabError {
    let what = prepared.subject.label();
    if let Some(words) = guest_error(message) {
        return LabError::Guest { what, message: words };
    }
    LabError::NoResult {
        what,
        reason: error.to_string(),
        console: console_end(folder),
    }
}

/// A kernel without the requested model reports that on its console and boots another one; the guest's report names the
/// model in force.
fn check_preempt(prepared: &Prepared, ready: &BTreeMap<String, String>) -> Result<(), LabError> {
    let asked = &prepared.subject.preempt;
    let in_force = ready.get("preempt").map(String::as_str).unwrap_or("unknown");
    if asked.chosen == ModelChoice::Fixed || in_force == asked.model.name() {
        return Ok(());
    }
    Err(LabError::OtherPreempt {
        kernel: prepared.subject.kernel.name.clone(),
        asked: asked.model.to_string(),
        in_force: in_force.to_string(),
    })
}

/// A kernel that was built for fewer CPUs, or limited to fewer, boots with those.
fn check_cpus(prepared: &Prepared, ready: &BTreeMap<String, String>) -> Result<(), LabError> {
    let asked = prepared.subject.machine.smp.cpus;
    let online = ready.get("cpus_online").map(String::as_str).unwrap_or_default();
    match online.parse::<CpuList>().map_or(0, |cpus| cpus.len()) {
        used if used == asked as usize => Ok(()),
        used => Err(LabError::Request(format!(
            "{}: the kernel uses {used} of {asked} CPUs; ask for fewer (--cpus), or leave out the boot parameter that forbids them",
            prepared.subject.label()
        ))),
    }
}

/// The last lines of QEMU's errors and of the console, for messages.
pub(super) fn console_end(folder: &Path) -> String {
    let parts = [ERRORS, CONSOLE].map(|name| last_lines(&folder.join(name), 60));
    let said: Vec<String> = parts.into_iter().filter(|p| !p.is_empty()).collect();
    if said.is_empty() {
        "(neither QEMU nor the kernel said anything)".into()
    } else {
        said.join("\n")
    }
}
