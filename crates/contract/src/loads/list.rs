//! The list of all loads.

use super::info::LoadInfo;
use super::{block, files, idle, interrupts, kernel, memory, processes, programs};
use crate::device::Device;
use std::collections::BTreeSet;
use worstcase_cell::loads::LoadKind;

/// All loads, in the order in which help texts name them.
pub static LOADS: [LoadInfo; 47] = [
    idle::IDLE,
    memory::SHM,
    processes::FORK,
    processes::EXEC,
    block::BLOCK_READ,
    block::BLOCK_READ_IDE,
    block::BLOCK_READ_VIRTIO,
    files::PROC_READ,
    files::FIND,
    memory::APPS,
    processes::SOCKETS,
    programs::COMPILE,
    programs::BUILD,
    processes::DRAW,
    processes::CPU,
    files::PROC,
    processes::TIMERS,
    interrupts::RTC,
    interrupts::STROBE,
    interrupts::TIMERFD,
    interrupts::EVENTFD,
    files::PIPES,
    kernel::RCU,
    interrupts::RECEIVE,
    files::WRITEBACK,
    memory::MEMORY,
    files::DISK,
    programs::DESKTOP,
    kernel::BPF,
    kernel::BPF_MAPS,
    kernel::SECCOMP,
    kernel::PERF,
    kernel::PERF_GROUP,
    kernel::STATIC_KEYS,
    kernel::HOTPLUG,
    memory::MUNMAP,
    memory::MUNMAP_OWN,
    memory::UNMAP,
    memory::MPROTECT,
    memory::MEMFD,
    memory::MEMBARRIER,
    memory::MEMBARRIER_OWN,
    kernel::MODULE,
    kernel::SYSCTL,
    kernel::CGROUP,
    programs::CMD,
    programs::CMD_READY,
];

/// Names of the modules that some load needs.
pub fn modules() -> BTreeSet<&'static str> {
    LOADS.iter().flat_map(|load| load.modules).copied().collect()
}

/// The modules that loads need for this device and for nothing else.
pub fn drivers(device: Device) -> impl Iterator<Item = &'static str> {
    let of_device = LOADS.iter().filter(move |load| load.device == Some(device));
    of_device.flat_map(|load| load.modules).copied()
}

impl LoadInfo {
    /// The row of this load.
    pub fn of(kind: LoadKind) -> &'static LoadInfo {
        LOADS
            .iter()
            .find(|info| info.kind == kind)
            .expect("every kind has its row")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_one_row_a_kind_and_only_idle_counts_nothing() {
        for (i, info) in LOADS.iter().enumerate() {
            let same = |other: &&LoadInfo| other.name() == info.name() && other.takes == info.takes;
            assert_eq!(LOADS[..i].iter().filter(same).count(), 0, "{}", info.name());
            assert_eq!(
                info.kind.code().units.is_empty(),
                info.kind == LoadKind::Idle,
                "{}",
                info.name()
            );
            assert_eq!(LoadInfo::of(info.kind).usage(), info.usage());
            assert!(info.rate.is_none_or(|unit| unit < info.kind.code().units.len()));
            // The kernel keeps 15 characters of a thread's name.
            assert!("load-".len() + info.name().len() <= 15, "{}", info.name());
        }
    }

    #[test]
    fn help_shows_parameters_and_rates() {
        let usages: Vec<String> = LOADS.iter().map(LoadInfo::usage).collect();
        for usage in [
            "idle",
            "fork[@RATE]",
            "cpu[:N][@RATE]",
            "compile",
            "compile:PATH",
            "blockread[:null]",
            "proc[@RATE]",
            "apps:N",
        ] {
            assert!(usages.iter().any(|u| u == usage), "{usage}");
        }
    }
}
