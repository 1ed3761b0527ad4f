//! A subject booted once and stopped at its ready point, from which every cell is forked.
//!
//! QEMU writes guest memory straight to a file (`share=on`) and the devices' state to another (migration with
//! `x-ignore-shared`). A fork maps the memory file privately, so that the snapshot never changes.
//!
//! The clock can jump by hundreds of us while QEMU pauses the machine. The guest measures the time that passed at the
//! stop; a snapshot whose gap is larger than the few instructions in between is thrown away and made again.

use super::LabError;
use super::boot_state::BootState;
use super::cell::{self, Run};
use super::fork::{LONGEST_MESSAGE, guest_error};
use super::machine::{self, Files, Memory};
use super::plugin_log;
use super::process::{Process, last_lines};
use super::subject::Prepared;
use super::watchdog::Limits;
use serde_json::json;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use worstcase_base::cache::Cache;
use worstcase_base::files::read_most;
use worstcase_base::room::Held;
use worstcase_kernels::preempt::Chosen;
use worstcase_plan::CpuList;
use worstcase_probe::Probe;
use worstcase_probe::spec::{CellSpec, MAX_LEN};
use worstcase_probe::{Instructions, Nanos};

/// Where snapshots are in the cache.
pub const AREA: &str = "snapshots";

/// What happens to a snapshot that is damaged.
pub(super) const AGAIN: &str = "the subject is booted again";

/// Snapshots that nobody uses are kept up to so many bytes of the disk together; each is made again in seconds.
const MOST: u64 = 10 << 30;

/// A boot of more instructions than this does not come to its end. Debian's 6.1 takes 5.4 thousand million.
pub(super) const BOOT: Instructions = Instructions(50_000_000_000);

/// The stop takes a few instructions, measured 8 ns at 1000 MIPS; a jump is hundreds of us.
const LARGEST_GAP: Nanos = Nanos::from_micros(20);
const ATTEMPTS: usize = 6;

/// Image, devices' state and console of a boot, at most. QEMU dies from SIGBUS, without a word, when the disk is full
/// while it writes guest memory; so there must be room for all of it.
const SPACE_FOR_THE_REST: u64 = 64 << 20;

/// A snapshot in the cache.
#[derive(Clone, Debug)]
pub struct Snapshot {
    folder: PathBuf,
    /// It stays in the cache as long as somebody works with it.
    _held: Option<Arc<Held>>,
    /// What the guest said of itself before the stop.
    pub ready: BTreeMap<String, String>,
}

impl Snapshot {
    /// Takes the snapshot from the cache if it fits its checksums, or boots the subject and makes it; then it must be what the first boot of this
    /// subject came to.
    ///
    /// `limit` is the real time that the boot may take, if the user bounds it.
    pub fn obtain(cache: &Cache, prepared: &Prepared, limit: Option<Duration>) -> Result<Snapshot, LabError> {
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
                return Snapshot::open(&folder, Some(held), prepared);
            }
        }
    }

    /// What its boot came to.
    pub fn boot_state(&self) -> Result<BootState, LabError> {
        BootState::read(&self.folder)
    }

    /// Whether the cache has it, so that no boot is needed.
    pub fn is_cached(cache: &Cache, prepared: &Prepared) -> bool {
        cache.get(AREA, &prepared.key).is_some()
    }

    /// Opens a finished snapshot. A file of another length is refused here: QEMU would fill up a memory file that was
    /// cut short with zeros and run on.
    fn open(folder: &Path, held: Option<Held>, prepared: &Prepared) -> Result<Snapshot, LabError> {
        let damaged = |reason: &str| LabError::Damaged {
            folder: folder.to_path_buf(),
            reason: reason.into(),
            again: AGAIN,
        };
        let text = std::fs::read_to_string(folder.join("ready")).unwrap_or_default();
        let ready = parse_ready(&text).ok_or_else(|| damaged("its file 'ready' is cut short"))?;
        let length = |name: &str| std::fs::metadata(folder.join(name)).map_or(0, |file| file.len());
        if length("memory") != memory_bytes(prepared) || length("initrd") != prepared.initrd.len() as u64 {
            return Err(damaged("its memory or its image is cut short"));
        }
        Ok(Snapshot {
            folder: folder.to_path_buf(),
            _held: held.map(Arc::new),
            ready,
        })
    }

    /// The initramfs, which QEMU wants to read again for each fork.
    pub fn initrd(&self) -> PathBuf {
        self.folder.join("initrd")
    }

    /// Guest memory.
    pub fn memory(&self) -> PathBuf {
        self.folder.join("memory")
    }

    /// The devices' state.
    pub fn state(&self) -> PathBuf {
        self.folder.join("state")
    }
}

fn memory_bytes(prepared: &Prepared) -> u64 {
    u64::from(prepared.subject.machine.memory_mb) << 20
}

fn make(folder: &Path, prepared: &Prepared, limit: Option<Duration>) -> Result<BootState, LabError> {
    let mut gap = Nanos(0);
    for _ in 0..ATTEMPTS {
        let instructions = boot(folder, prepared, limit)?;
        gap = gap_of(&Snapshot::open(folder, None, prepared)?, prepared, limit)?;
        if gap <= LARGEST_GAP {
            let state = BootState::of(instructions, &folder.join("memory"))?;
            state.write(folder)?;
            return Ok(state);
        }
    }
    Err(LabError::ClockJump(prepared.subject.label(), gap))
}

/// Runs the shortest cell there is and gives the time that the guest saw pass at the stop.
fn gap_of(snapshot: &Snapshot, prepared: &Prepared, limit: Option<Duration>) -> Result<Nanos, LabError> {
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
        &Run {
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

/// Boots the subject, and gives its instructions up to the stop.
fn boot(folder: &Path, prepared: &Prepared, limit: Option<Duration>) -> Result<Instructions, LabError> {
    let at = |name: &str| folder.join(name);
    let write = |name: &str, data: &[u8]| std::fs::write(at(name), data).map_err(LabError::io(at(name)));
    write("initrd", &prepared.initrd)?;
    write("cell", " ".repeat(MAX_LEN).as_bytes())?;
    write("plugin.so", prepared.qemu.plugin)?;
    let memory = File::create(at("memory")).map_err(LabError::io(at("memory")))?;
    memory
        .set_len(memory_bytes(prepared))
        .map_err(LabError::io(at("memory")))?;
    let errors = File::create(at("errors")).map_err(LabError::io(at("errors")))?;
    let files = Files {
        kernel: &prepared.subject.kernel.bzimage,
        initrd: &at("initrd"),
        memory: &at("memory"),
        plugin: &at("plugin.so"),
        events: &at("events"),
        progress: &at("progress"),
        plugin_arguments: "",
        cell: &at("cell"),
        record: &at("message"),
        console: &at("console"),
    };
    let args = machine::arguments(&prepared.subject, &prepared.command_line, Memory::Shared, &files);
    let (program, limits) = (&prepared.qemu.program, Limits::new(BOOT, limit));
    let (progress, own) = (at("progress"), [folder]);
    let booted = Process::start(program, &args, &own, errors.into(), Some(&progress), None, limits)
        .and_then(|qemu| save(qemu, &at("state")));
    let message = read_most(&at("message"), LONGEST_MESSAGE).unwrap_or_default();
    if let Err(error) = booted {
        return Err(no_result(prepared, &message, &error, folder));
    }
    let text = String::from_utf8_lossy(&message);
    let ready = parse_ready(&text).ok_or_else(|| {
        no_result(
            prepared,
            &message,
            &LabError::Qemu("stopped before it was ready".into()),
            folder,
        )
    })?;
    check_preempt(prepared, &ready)?;
    check_cpus(prepared, &ready)?;
    let logged = plugin_log::read(&at("events")).and_then(|events| plugin_log::stop(&events));
    let instructions = logged.map_err(|reason| no_result(prepared, &[], &LabError::Qemu(reason), folder))?;
    write("ready", text.as_bytes())?;
    for name in [
        "cell",
        "plugin.so",
        "message",
        "console",
        "errors",
        "events",
        "progress",
    ] {
        std::fs::remove_file(at(name)).map_err(LabError::io(at(name)))?;
    }
    Ok(instructions)
}

fn save(mut qemu: Process, state: &Path) -> Result<(), LabError> {
    let capability = json!({"capabilities": [{"capability": "x-ignore-shared", "state": true}]});
    qemu.talk(|qmp| {
        qmp.wait_event("STOP")?;
        qmp.execute("migrate-set-capabilities", capability)
    })?;
    // QEMU may not start a program that writes the file, and takes no open one by its number: it sends the state here. The
    // folder's name is short, as a socket's must be.
    let folder = tempfile::tempdir().map_err(LabError::io(std::env::temp_dir()))?;
    let socket = folder.path().join("state");
    let listener = UnixListener::bind(&socket).map_err(LabError::io(&socket))?;
    let file = File::create(state).map_err(LabError::io(state))?;
    let received = std::thread::spawn(move || io::copy(&mut listener.accept()?.0, &mut &file));
    qemu.talk(|qmp| {
        qmp.execute("migrate", json!({"uri": format!("unix:{}", socket.display())}))?;
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

/// A kernel that does not know a model answers on its console and boots another: the guest says what is in force.
fn check_preempt(prepared: &Prepared, ready: &BTreeMap<String, String>) -> Result<(), LabError> {
    let asked = &prepared.subject.preempt;
    let in_force = ready.get("preempt").map(String::as_str).unwrap_or("unknown");
    if asked.chosen == Chosen::Fixed || in_force == asked.model.name() {
        return Ok(());
    }
    Err(LabError::OtherPreempt {
        kernel: prepared.subject.kernel.name.clone(),
        asked: asked.model.to_string(),
        in_force: in_force.to_string(),
    })
}

/// A kernel that was built for fewer CPUs, or told to use fewer, boots with those.
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

/// `WCREADY`, `key=value` lines, an empty line.
fn parse_ready(text: &str) -> Option<BTreeMap<String, String>> {
    let body = text.strip_prefix("WCREADY\n")?.split_once("\n\n")?.0;
    Some(
        body.lines()
            .filter_map(|l| l.split_once('='))
            .map(|(k, v)| (k.to_string(), v.to_string()))
            .collect(),
    )
}

/// The end of what QEMU and the kernel said, for messages.
pub(super) fn console_end(folder: &Path) -> String {
    let parts = ["errors", "console"].map(|name| last_lines(&folder.join(name), 60));
    let said: Vec<String> = parts.into_iter().filter(|p| !p.is_empty()).collect();
    if said.is_empty() {
        "(neither QEMU nor the kernel said anything)".into()
    } else {
        said.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ready_message_is_read_only_when_it_is_whole() {
        let ready = parse_ready("WCREADY\nrelease=6.1\ntimer_entry=0xff\n\n").unwrap();
        assert_eq!(ready["release"], "6.1");
        assert_eq!(parse_ready("WCREADY\nrelease=6.1\n"), None);
        assert_eq!(parse_ready("SeaBIOS"), None);
    }
}
