//! `statickeys` and `hotplug`: a setting of the whole machine, switched to and fro. The lab's machine is gone afterwards.

use super::part::{Ending, RunningPart};
use super::{LoadError, Pace};
use std::fs;
use std::path::{Path, PathBuf};

const SWITCHES: usize = 0;

/// The scheduler's statistics: code of the scheduler that the kernel rewrites each time, on every CPU.
pub(super) fn start_static_keys(load: &mut RunningPart, _seed: u64) -> Result<(), LoadError> {
    switch(load, PathBuf::from("/proc/sys/kernel/sched_schedstats"))
}

/// A CPU of the load's goes away and comes back.
pub(super) fn start_hotplug(load: &mut RunningPart, _seed: u64) -> Result<(), LoadError> {
    let placement = load.env().placement.as_ref();
    let last = placement.and_then(|p| p.load.iter().rev().find(|cpu| **cpu != p.probe && **cpu != 0));
    let Some(cpu) = last else {
        return Err(load.not_available(
            "it needs a CPU of its own beside the first one and the probe's: --cpus 3, or more --load-cpus",
        ));
    };
    let path = PathBuf::from(format!("/sys/devices/system/cpu/cpu{cpu}/online"));
    switch(load, path)
}

/// Writes 0 and 1 to a file in turns.
fn switch(load: &mut RunningPart, file: PathBuf) -> Result<(), LoadError> {
    if !Path::new(&file).exists() {
        return Err(load.not_available(format!("this kernel has no {}", file.display())));
    }
    let rate = load.part().rate();
    load.spawn(Ending::Anywhere, move |board| {
        let mut pace = Pace::alone(rate);
        loop {
            for value in ["0", "1"] {
                pace.wait();
                fs::write(&file, value).map_err(|e| format!("cannot write {value} to {}: {e}", file.display()))?;
                board.add(SWITCHES, 1);
            }
        }
    })
}
