//! Settings of the scheduler, and the watchdogs.

use super::tree::FileTree;
use crate::CpuList;
use serde::Serialize;

/// Settings of the scheduler.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SchedulerFacts {
    /// Time that real-time tasks may run in a period; -1: no limit.
    pub rt_runtime_us: Option<i64>,
    /// The length of the period.
    pub rt_period_us: Option<i64>,
    /// Time a second that the fair server gives ordinary tasks on the first CPU (ns), from debugfs.
    pub fair_server_ns: Option<u64>,
    /// Whether a timer of an idle CPU may be armed on another.
    pub timer_migration: Option<bool>,
    /// Whether the kernel unmaps pages now and then to see which node uses them.
    pub numa_balancing: Option<bool>,
    /// Memory nodes.
    pub numa_nodes: Option<usize>,
    /// Tasks ready to run, averaged over one minute.
    pub load_average: Option<f64>,
}

/// Watchdogs for stuck CPUs.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Watchdogs {
    /// The hard-lockup detector, which interrupts by NMI.
    pub nmi: Option<bool>,
    /// The soft-lockup detector, a real-time thread and a timer on each CPU.
    pub soft: Option<bool>,
    /// The CPUs that they watch.
    pub cpus: Option<CpuList>,
    /// The time after which they report.
    pub(crate) threshold_s: Option<u32>,
}

pub(super) fn read(tree: &FileTree) -> SchedulerFacts {
    let load = tree.text("proc/loadavg");
    let nodes = tree.numbers("sys/devices/system/node", "node").len();
    SchedulerFacts {
        rt_runtime_us: tree.value("proc/sys/kernel/sched_rt_runtime_us"),
        rt_period_us: tree.value("proc/sys/kernel/sched_rt_period_us"),
        fair_server_ns: tree.value("sys/kernel/debug/sched/fair_server/cpu0/runtime"),
        timer_migration: switch(tree, "timer_migration"),
        numa_balancing: switch(tree, "numa_balancing"),
        numa_nodes: (nodes > 0).then_some(nodes),
        load_average: load.and_then(|text| text.split(' ').next()?.parse().ok()),
    }
}

pub(super) fn watchdogs(tree: &FileTree) -> Watchdogs {
    Watchdogs {
        nmi: switch(tree, "nmi_watchdog"),
        soft: switch(tree, "soft_watchdog"),
        cpus: tree.value("proc/sys/kernel/watchdog_cpumask"),
        threshold_s: tree.value("proc/sys/kernel/watchdog_thresh"),
    }
}

fn switch(tree: &FileTree, name: &str) -> Option<bool> {
    tree.value::<u32>(&format!("proc/sys/kernel/{name}"))
        .map(|value| value != 0)
}
