//! The facts of this machine. A fact that cannot be read is absent: not known, never a guess.
//!
//! ```text
//! tree  files below a root        live  what only measuring tells        one module a subject, each reads its files
//! ```

mod arm;
pub mod busy;
pub mod cgroup;
pub mod clock;
pub mod container;
pub mod cpu;
pub mod daemons;
pub mod disks;
pub(crate) mod drives;
pub mod identity;
pub mod interrupts;
pub mod isolation;
pub mod kernel;
pub mod live;
pub mod memory;
pub mod power;
pub mod rights;
pub mod scheduling;
pub mod thermal;
pub mod tree;
pub mod virtualization;

pub(crate) use live::LiveFacts;
pub use tree::FileTree;

use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// All that is known of a machine.
#[derive(Clone, Debug, Default, Serialize)]
pub struct MachineFacts {
    /// Which machine it is.
    pub identity: identity::MachineIdentity,
    /// The processor.
    pub cpu: cpu::CpuFacts,
    /// The clock source.
    pub clock: clock::ClockSource,
    /// The kernel.
    pub kernel: kernel::RunningKernel,
    /// Isolated CPUs.
    pub isolation: isolation::Isolation,
    /// Frequency and sleep.
    pub power: power::Power,
    /// Heat, and what is slowed down for it.
    pub thermal: thermal::Thermal,
    /// The scheduler's settings.
    pub scheduling: scheduling::SchedulerFacts,
    /// Watchdogs.
    pub watchdogs: scheduling::Watchdogs,
    /// Device interrupts.
    pub interrupts: interrupts::Interrupts,
    /// Memory.
    pub memory: memory::MemoryFacts,
    /// Hypervisor and steal.
    pub virtualization: virtualization::Virtualization,
    /// Container.
    pub container: container::Container,
    /// Flaws of the processor, and what the kernel does about each.
    pub vulnerabilities: BTreeMap<String, String>,
    /// How busy each CPU was while this was read (%).
    pub busy_percent: BTreeMap<u32, f64>,
    /// The processes that kept them busy meanwhile, the busiest first.
    pub busy_processes: Vec<busy::BusyProcess>,
    /// Rights of this user.
    pub rights: rights::Rights,
    /// Control group.
    pub cgroup: cgroup::Cgroup,
    /// Block devices.
    pub disks: Vec<disks::DiskFacts>,
    /// Drives that need the CPUs.
    pub(crate) drives: drives::Drives,
    /// Daemons, those that wake most first.
    pub daemons: Vec<daemons::Daemon>,
}

impl MachineFacts {
    /// The facts of the machine below `root`; for this machine, at `/`, with those that are measured.
    pub fn of(root: &Path) -> MachineFacts {
        let live = if root == Path::new("/") {
            LiveFacts::measure()
        } else {
            LiveFacts::default()
        };
        MachineFacts::read(&FileTree::at(root), live)
    }

    /// The facts from a tree of files.
    pub(crate) fn read(tree: &FileTree, live: LiveFacts) -> MachineFacts {
        let kernel = kernel::read(tree, live.tick_ns);
        let container = container::read(tree);
        MachineFacts {
            identity: identity::read(tree),
            cpu: cpu::read(tree),
            clock: clock::read(tree, live.clock_read_ns),
            isolation: isolation::read(tree, &kernel),
            kernel,
            power: power::read(tree),
            thermal: thermal::read(tree),
            scheduling: scheduling::read(tree),
            watchdogs: scheduling::watchdogs(tree),
            interrupts: interrupts::read(tree),
            memory: memory::read(tree),
            virtualization: virtualization::read(tree, live.steal_percent),

            vulnerabilities: vulnerabilities(tree),
            busy_percent: live.busy_percent,
            busy_processes: live.busy_processes,
            rights: rights::read(tree, container.own_users),
            container,
            cgroup: cgroup::read(tree),
            disks: disks::read(tree),
            drives: drives::read(tree),
            daemons: daemons::read(tree),
        }
    }
}

fn vulnerabilities(tree: &FileTree) -> BTreeMap<String, String> {
    const FOLDER: &str = "sys/devices/system/cpu/vulnerabilities";
    let state = |name: String| Some((name.clone(), tree.text(&format!("{FOLDER}/{name}"))?));
    tree.names(FOLDER).into_iter().filter_map(state).collect()
}

#[cfg(test)]
pub(crate) mod board_tests;
#[cfg(test)]
mod tests;
