//! `statickeys`, `hotplug` and `sysctl`: settings of the whole machine, written to again and again. The lab's machine is
//! gone afterwards.

use super::code::LoadCode;
use super::part::{Ending, RunningPart};
use super::{LoadError, Pace};
use std::fs;
use std::path::{Path, PathBuf};

const WRITES: usize = 0;
/// Drops nothing: the kernel no longer notes in its log that somebody drops caches.
const SILENTLY: &str = "4";

/// Branches that the kernel rewrites.
pub const STATIC_KEYS: LoadCode = LoadCode {
    name: "statickeys",
    units: &["switches"],
    body: Some(start_static_keys),
};

/// A CPU that goes and comes.
pub const HOTPLUG: LoadCode = LoadCode {
    name: "hotplug",
    units: &["switches"],
    body: Some(start_hotplug),
};

/// Settings that are orders to the whole machine.
pub const SYSCTL: LoadCode = LoadCode {
    name: "sysctl",
    units: &["writes"],
    body: Some(start_sysctl),
};

/// The scheduler's statistics: code of the scheduler that the kernel rewrites each time, on every CPU.
fn start_static_keys(load: &mut RunningPart, _seed: u64) -> Result<(), LoadError> {
    let file = Path::new("/proc/sys/kernel/sched_schedstats");
    write_in_turns(load, vec![(file.into(), "0"), (file.into(), "1")])
}

/// A CPU of the load's goes away and comes back.
fn start_hotplug(load: &mut RunningPart, _seed: u64) -> Result<(), LoadError> {
    let placement = load.surroundings().placement.as_ref();
    let last = placement.and_then(|p| p.load.iter().rev().find(|cpu| **cpu != p.probe && **cpu != 0));
    let Some(cpu) = last else {
        return Err(load.not_available(
            "it needs a CPU of its own beside the first one and the probe's: --cpus 3, or more --load-cpus",
        ));
    };
    let file = PathBuf::from(format!("/sys/devices/system/cpu/cpu{cpu}/online"));
    write_in_turns(load, vec![(file.clone(), "0"), (file, "1")])
}

/// Orders to the kernel's memory management, some of which every CPU has to carry out.
fn start_sysctl(load: &mut RunningPart, _seed: u64) -> Result<(), LoadError> {
    let file = |name: &str| Path::new("/proc/sys/vm").join(name);
    let drop_caches = file("drop_caches");
    fs::write(&drop_caches, SILENTLY).map_err(load.preparing("writing to vm.drop_caches"))?;
    let orders = [file("stat_refresh"), drop_caches, file("compact_memory")];
    write_in_turns(load, orders.map(|file| (file, "1")).into())
}

/// Writes each value to its file, again and again.
fn write_in_turns(load: &mut RunningPart, values: Vec<(PathBuf, &'static str)>) -> Result<(), LoadError> {
    if let Some((file, _)) = values.iter().find(|(file, _)| !file.exists()) {
        return Err(load.not_available(format!("this kernel has no {}", file.display())));
    }
    let rate = load.request().rate();
    load.spawn(Ending::Anywhere, move |board| {
        let mut pace = Pace::alone(rate);
        loop {
            for (file, value) in &values {
                pace.wait();
                fs::write(file, value).map_err(|e| format!("cannot write {value} to {}: {e}", file.display()))?;
                board.add(WRITES, 1);
            }
        }
    })
}
