//! Counts the events of the operations of calibrations: a machine in which the program that does them is all there is.

use super::LabError;
use super::additions::Additions;
use super::confine::UserAccess;
use super::cpio::CpioArchive;
use super::direct_kernel;
use super::invocation::{self, CONSOLE, MemorySharing, ORDER, PLUGIN, PROGRESS, WRITTEN};
use super::machine::Mips;
use super::message::console_end;
use super::place::QemuPlace;
use super::prepared::Prepared;
use super::process::{Process, QemuLaunch};
use super::qemu::Qemu;
use super::record_file;
use super::snapshot::{self, INITRD, MEMORY, memory_bytes};
use super::subject::LabSubject;
use super::watchdog::MachineLimits;
use crate::payload;
use std::collections::BTreeMap;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use worstcase_base::cache::Cache;
use worstcase_contract::Instructions;
use worstcase_contract::costs::EventCounts;
use worstcase_contract::costs::log::{CountedStretch, decode};
use worstcase_kernels::Kernel;
use worstcase_kernels::preempt::{self, PreemptName};
use worstcase_plan::VirtualMachine;
use worstcase_timing::table::{CountedOperation, HELD_OUT, OperationTable};

/// What the operations need, and the kernel.
const MEMORY_MB: u32 = 512;
/// Many times what all operations need.
const MOST: Instructions = Instructions(200_000_000_000);
/// The plugin's counts.
const COSTS: &str = "costs";

/// Runs every operation on this kernel with this preemption model, and tells its events.
pub fn count(kernel: &Kernel, model: PreemptName, qemu: &Qemu, cache: &Cache) -> Result<OperationTable, LabError> {
    let machine = VirtualMachine {
        memory_mb: MEMORY_MB,
        ..VirtualMachine::default()
    };
    let subject = LabSubject {
        kernel: kernel.clone(),
        preempt: preempt::choose(kernel, model)?,
        mips: Mips::ALL[0],
        machine,
        disk: None,
        scheduler: None,
        additions: Additions::default(),
    };
    let prepared = Prepared::with_image(subject, image(), qemu);
    let folder = tempfile::tempdir().map_err(LabError::io(std::env::temp_dir()))?;
    run(&prepared, folder.path(), cache)?;
    let table = read(folder.path()).map_err(|reason| LabError::NoResult {
        what: prepared.subject.label(),
        reason,
        console: console_end(folder.path()),
    })?;
    Ok(OperationTable {
        kernel: prepared.subject.label(),
        operations: table,
    })
}

fn image() -> Vec<u8> {
    let mut archive = CpioArchive::default();
    for folder in ["dev", "proc", "tmp"] {
        archive.directory(folder);
    }
    archive.file("init", payload::operations());
    archive.finish()
}

fn run(prepared: &Prepared, folder: &Path, cache: &Cache) -> Result<(), LabError> {
    let at = |name: &str| folder.join(name);
    let (qemu, user) = (&prepared.qemu.program, prepared.qemu.program.user);
    let mut place = QemuPlace::new(folder, user);
    fs::write(at(INITRD), &prepared.initrd).map_err(LabError::io(at(INITRD)))?;
    place.read(ORDER, &[])?;
    place.read(PLUGIN, prepared.qemu.plugin)?;
    let memory = File::create(at(MEMORY)).and_then(|file| file.set_len(memory_bytes(prepared)));
    memory.map_err(LabError::io(at(MEMORY)))?;
    user.lend(&at(MEMORY), UserAccess::Write)
        .map_err(LabError::io(at(MEMORY)))?;
    let written = WRITTEN.iter().chain(&[COSTS]);
    let mut writable: Vec<PathBuf> = written.map(|name| place.written(name)).collect::<Result<_, _>>()?;
    record_file::prepare(folder, prepared.subject.machine.arch())?;
    writable.push(at(MEMORY));
    direct_kernel::put(cache, &prepared.subject.kernel, folder)?;
    let given = snapshot::given(folder, &direct_kernel::of(folder, &prepared.subject.kernel), prepared)?;
    let (from, to) = marks(folder)?;
    let plugin = format!(",{COSTS}={COSTS},cost_from={from},cost_to={to}");
    let started = Process::start(QemuLaunch {
        qemu,
        args: invocation::arguments(prepared, MemorySharing::Shared, &given, &plugin),
        folder,
        handed: &[&given.kernel, &given.initrd, &given.memory],
        writable,
        stderr: place.errors()?,
        progress: Some(&at(PROGRESS)),
        limits: MachineLimits::new(MOST, None),
    });
    let ended = started.and_then(Process::wait);
    place.take_back()?;
    ended.map_err(|error| LabError::NoResult {
        what: prepared.subject.label(),
        reason: error.to_string(),
        console: console_end(folder),
    })
}

/// Asks the program for the addresses between which is counted.
fn marks(folder: &Path) -> Result<(String, String), LabError> {
    let path = folder.join("operations");
    let failed = LabError::io(&path);
    let made = fs::write(&path, payload::operations());
    let made = made.and_then(|()| fs::set_permissions(&path, Permissions::from_mode(0o700)));
    let said = made
        .and_then(|()| Command::new(&path).arg("marks").output())
        .map_err(failed)?;
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    let marks = text.trim_end().split_once(' ');
    let (from, to) = marks.ok_or_else(|| LabError::Qemu("the operations have no marks".into()))?;
    Ok((from.into(), to.into()))
}

/// What the program printed on the console, with the plugin's counts.
fn read(folder: &Path) -> Result<Vec<CountedOperation>, String> {
    let text = |name: &str| fs::read_to_string(folder.join(name)).map_err(|e| format!("{name}: {e}"));
    let log = decode(&text(COSTS)?).map_err(|e| e.to_string())?;
    let mut by_id: BTreeMap<u64, Vec<CountedStretch>> = BTreeMap::new();
    for stretch in log.stretches {
        by_id.entry(stretch.id).or_default().push(stretch);
    }
    let console = text(CONSOLE)?;
    if !console.lines().any(|line| line == "done") {
        return Err("the operations did not end".into());
    }
    let lines = console.lines().filter_map(|line| line.strip_prefix("operation "));
    let operation = |(id, line): (u64, &str)| {
        let stretches = by_id.get(&id).map(Vec::as_slice).unwrap_or_default();
        counted(line, stretches).ok_or_else(|| format!("'{line}' has {} stretches", stretches.len()))
    };
    (0..).zip(lines).map(operation).collect()
}

/// `NAME CLASS PURPOSE TIMES WINDOWS NS...`, a number of ns for each round.
fn counted(line: &str, stretches: &[CountedStretch]) -> Option<CountedOperation> {
    let words: Vec<&str> = line.split(' ').collect();
    let [name, class, purpose, times, windows, rounds @ ..] = &words[..] else {
        return None;
    };
    let (times, windows): (u64, usize) = (times.parse().ok()?, windows.parse().ok()?);
    if windows == 0 || stretches.len() != windows * rounds.len() {
        return None;
    }
    let sum = |round: &[CountedStretch]| {
        round
            .iter()
            .fold(EventCounts::default(), |sum, stretch| sum + stretch.counts)
    };
    let mut rounds: Vec<EventCounts> = stretches.chunks(windows).map(sum).collect();
    // A tick of the timer makes a round longer.
    rounds.sort_by_key(EventCounts::lab_instructions);
    Some(CountedOperation {
        name: (*name).into(),
        class: (*class).into(),
        is_held_out: *purpose == HELD_OUT,
        times,
        windows: windows as u64,
        counts: rounds[rounds.len() / 2],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use worstcase_contract::costs::CostEvent;

    fn stretch(instructions: u64) -> CountedStretch {
        CountedStretch {
            id: 0,
            counts: [(CostEvent::Instruction, instructions)].into_iter().collect(),
        }
    }

    #[test]
    fn the_middle_round_is_told() {
        let of = |line, all: [u64; 6]| counted(line, &all.map(stretch));
        let operation = of("unmap.16 map fit 2 2 10 11 12", [5, 6, 900, 7, 4, 4]).unwrap();
        assert_eq!(operation.counts[CostEvent::Instruction], 11);
        assert_eq!(
            (operation.times, operation.windows, operation.is_held_out),
            (2, 2, false)
        );
        assert_eq!(of("unmap.16 map fit 2 4 10 11 12", [1; 6]), None);
        assert_eq!(of("unmap.16 map", [1; 6]), None);
    }
}
