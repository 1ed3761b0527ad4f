//! Boots a subject up to its ready point, and makes a snapshot of it.
//!
//! The clock can jump by hundreds of us while QEMU pauses the machine. The guest measures the time that passed at the
//! stop; a snapshot whose gap is larger than the few instructions in between is thrown away and made again.

use super::boot_state::BootState;
use super::cell::{self, CellRun};
use super::confine::{User, UserAccess};
use super::direct_kernel;
use super::invocation::{self, EVENTS, MemorySharing, ORDER, PLUGIN, PROGRESS, READ, WRITTEN};
use super::message::{console_end, guest_error};
use super::place::{ERRORS, QemuPlace};
use super::plugin_log;
use super::prepared::Prepared;
use super::process::{Process, QemuLaunch};
use super::ready::ReadyReport;
use super::record_file;
use super::snapshot::{self, INITRD, MEMORY, MachineSnapshot, STATE, memory_bytes};
use super::speed::{TimedWork, timed};
use super::watchdog::{BOOT, MachineLimits};
use super::{BOOT_AGAIN, LabError};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::Duration;
use worstcase_base::cache::Cache;
use worstcase_base::room;
use worstcase_cell::order::ORDER_LEN;
use worstcase_contract::CellSpec;
use worstcase_contract::Probe;
use worstcase_contract::{Instructions, Nanos};
use worstcase_kernels::preempt::ModelChoice;
use worstcase_plan::CpuList;

/// The area of the cache.
const AREA: &str = room::SNAPSHOTS;

/// The socket to which QEMU sends the devices' state.
const SOCKET: &str = "socket";

/// Limit in bytes of the disk for all unused snapshots together; each can be made again in seconds.
const MOST: u64 = 10 << 30;

/// The stop takes a few instructions, measured 8 ns at 1000 MIPS; a jump is hundreds of us.
const LARGEST_GAP: Nanos = Nanos::from_micros(20);
const ATTEMPTS: usize = 6;

/// Limit in bytes for image, uncompressed kernel, devices' state and console of a boot. QEMU dies from SIGBUS, without a message, if the
/// disk is full while it writes guest memory, so there must be room for everything.
const SPACE_FOR_THE_REST: u64 = 192 << 20;

/// Takes the snapshot from the cache if it fits its checksums. Otherwise boots the subject and makes it; the boot must
/// agree with this subject's first boot.
///
/// `limit` is the real time that the boot may take, if the user limits it.
pub fn obtain(cache: &Cache, prepared: &Prepared, limit: Option<Duration>) -> Result<MachineSnapshot, LabError> {
    loop {
        let folder = cache.keep(AREA, &prepared.key, BOOT_AGAIN, |building| {
            cache.bound(AREA, MOST);
            let needed = memory_bytes(prepared) + SPACE_FOR_THE_REST;
            cache.require_free(needed)?;
            let state = timed(cache, TimedWork::Boot, Nanos(0), || {
                direct_kernel::put(cache, &prepared.subject.kernel, building)?;
                make(building, prepared, limit)
            })?;
            state.agree(cache, prepared)
        })?;
        if let Some(held) = cache.hold(AREA, &prepared.key)? {
            let snapshot = MachineSnapshot::open(&folder, Some(held), prepared, cache)?;
            snapshot.ready.keep(cache, &prepared.key, &prepared.subject.label())?;
            return Ok(snapshot);
        }
    }
}

/// Whether the cache has it, so that no boot is needed.
pub fn is_cached(cache: &Cache, prepared: &Prepared) -> bool {
    cache.get(AREA, &prepared.key).is_some()
}

fn make(folder: &Path, prepared: &Prepared, limit: Option<Duration>) -> Result<BootState, LabError> {
    let mut gap = Nanos(0);
    for _ in 0..ATTEMPTS {
        let instructions = boot(folder, prepared, limit)?;
        gap = gap_of(folder, prepared, limit)?;
        if gap <= LARGEST_GAP {
            let state = BootState::of(instructions, &folder.join(MEMORY))?;
            state.write(folder)?;
            return Ok(state);
        }
    }
    Err(LabError::ClockJump(prepared.subject.label(), gap))
}

/// Runs the shortest possible cell and gives the time that the guest measured at the stop.
fn gap_of(folder: &Path, prepared: &Prepared, limit: Option<Duration>) -> Result<Nanos, LabError> {
    let spec = CellSpec {
        probe: Probe::Wakeup,
        load: "idle".into(),
        period: Nanos::from_millis(1),
        periods: 1,
        seed: 1,
        warmup: Nanos(0),
        priority: 98,
    };
    let scratch = tempfile::tempdir_in(folder).map_err(LabError::io(folder))?;
    let private = Cache::at(scratch.path().join("cache"));
    let snapshot = MachineSnapshot::open(folder, None, prepared, &private)?;
    let raw = cell::execute(
        &CellRun {
            prepared,
            snapshot: &snapshot,
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
    let arch = prepared.subject.machine.arch();
    record_file::prepare(folder, arch)?;
    writable.push(at(MEMORY));
    let kernel = direct_kernel::of(folder, &prepared.subject.kernel);
    let given = snapshot::given(folder, &kernel, prepared)?;
    let started = Process::start(QemuLaunch {
        qemu,
        args: invocation::arguments(prepared, MemorySharing::Shared, &given, ""),
        folder,
        handed: &[&given.kernel, &given.initrd, &given.memory],
        writable,
        stderr: place.errors()?,
        progress: Some(&at(PROGRESS)),
        limits: MachineLimits::new(BOOT, limit),
    });
    let booted = started.and_then(|process| save(process, folder, user));
    place.take_back()?;
    let message = record_file::take(folder, arch);
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
