//! Loads that give the kernel work of its own.

use super::info::LoadInfo;
use crate::venue::Only;
use worstcase_cell::loads::LoadKind;

pub(super) const RCU: LoadInfo = LoadInfo {
    kind: LoadKind::Rcu,
    about: "opens and closes 500 sockets at a time, which the kernel frees through RCU callbacks",
    rate: Some(0),
    ..LoadInfo::PLAIN
};

pub(super) const BPF: LoadInfo = LoadInfo {
    kind: LoadKind::Bpf,
    about: "gives a socket one packet filter after the other (code made and freed)",
    rate: Some(0),
    ..LoadInfo::PLAIN
};

pub(super) const PERF: LoadInfo = LoadInfo {
    kind: LoadKind::Perf,
    about: "counts its own context switches for a moment, again and again (static keys)",
    rate: Some(0),
    ..LoadInfo::PLAIN
};

pub(super) const STATIC_KEYS: LoadInfo = LoadInfo {
    kind: LoadKind::StaticKeys,
    about: "switches the scheduler's statistics on and off (code rewritten on every CPU)",
    rate: Some(0),
    only: Only::lab("it switches a setting of the whole machine; on the host: perf"),
    ..LoadInfo::PLAIN
};

pub(super) const HOTPLUG: LoadInfo = LoadInfo {
    kind: LoadKind::Hotplug,
    about: "takes a CPU of the load's away and brings it back (needs three CPUs)",
    rate: Some(0),
    only: Only::lab("it takes CPUs away from the whole machine"),
    ..LoadInfo::PLAIN
};

pub(super) const MODULE: LoadInfo = LoadInfo {
    kind: LoadKind::Module,
    about: "unloads and loads a module of a network driver",
    rate: Some(0),
    modules: &["dummy"],
    only: Only::lab("it loads a module into the whole machine"),
    ..LoadInfo::PLAIN
};

pub(super) const SYSCTL: LoadInfo = LoadInfo {
    kind: LoadKind::Sysctl,
    about: "writes to vm.stat_refresh, vm.drop_caches and vm.compact_memory in turns",
    rate: Some(0),
    only: Only::lab("it empties the caches of the whole machine"),
    ..LoadInfo::PLAIN
};

pub(super) const CGROUP: LoadInfo = LoadInfo {
    kind: LoadKind::Cgroup,
    about: "one process moves to and fro between two control groups",
    rate: Some(0),
    only: Only::lab("it mounts a hierarchy of control groups of its own"),
    ..LoadInfo::PLAIN
};
