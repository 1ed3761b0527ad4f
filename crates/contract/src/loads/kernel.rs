//! Loads that give the kernel work of its own.

use super::info::{LoadInfo, Takes, number, up_to};
use crate::venue::Only;
use worstcase_cell::loads::LoadKind;

pub(super) const RCU: LoadInfo = LoadInfo {
    kind: LoadKind::Rcu,
    about: "opens and closes 500 sockets at a time, which the kernel frees through RCU callbacks",
    details: "Opens 500 UNIX sockets and closes them; callbacks of RCU free them in a soft interrupt: some 90 000 a second \
              in the lab.",
    example: "rcu@10000",
    rate: Some(0),
    ..LoadInfo::PLAIN
};

pub(super) const BPF: LoadInfo = LoadInfo {
    kind: LoadKind::Bpf,
    about: "gives a socket one packet filter after the other (code made and freed)",
    details: "Gives a socket one packet filter of 65 instructions after the other, which the kernel compiles.",
    example: "bpf",
    rate: Some(0),
    ..LoadInfo::PLAIN
};

pub(super) const BPF_MAPS: LoadInfo = LoadInfo {
    kind: LoadKind::BpfMaps,
    takes: Takes::Word("maps"),
    about: "makes a hash map of the kernel's programs, fills it and gives it back, again and again",
    details: "32 768 elements of 1 KiB, not allocated beforehand. @RATE counts elements.",
    needs: "on a host root (CAP_BPF), or kernel.unprivileged_bpf_disabled of 0",
    example: "bpf:maps",
    rate: Some(0),
    ..LoadInfo::PLAIN
};

pub(super) const SECCOMP: LoadInfo = LoadInfo {
    kind: LoadKind::Seccomp,
    takes: number("INSTRUCTIONS", 4095),
    about: "20 times a second a process installs a system call filter of INSTRUCTIONS (400), and ends",
    details: "The kernel tries a new filter on every call's number (since 5.11). 20 times a second or at the rate given.",
    example: "seccomp:100@50",
    rate: Some(0),
    ..LoadInfo::PLAIN
};

pub(super) const PERF: LoadInfo = LoadInfo {
    kind: LoadKind::Perf,
    about: "counts its own context switches for a moment, again and again (static keys)",
    needs: "on a host root, or kernel.perf_event_paranoid of 1 or less",
    details: "Opens and closes a software event, whose first and last counter rewrite code of the kernel on every CPU (a \
              static key).",
    example: "perf@100",
    rate: Some(0),
    ..LoadInfo::PLAIN
};

pub(super) const PERF_GROUP: LoadInfo = LoadInfo {
    kind: LoadKind::PerfGroup,
    // A process may usually have 1024 files open.
    takes: Takes::Number {
        range: up_to("N", 900),
        required: true,
    },
    about: "switches a group of N such counters on and off and reads it, again and again",
    details: "The kernel switches all of a group at once, interrupts off (generic_exec_single).",
    needs: "on a host root, or kernel.perf_event_paranoid of 1 or less",
    example: "perf:96",
    rate: Some(0),
    ..LoadInfo::PLAIN
};

pub(super) const STATIC_KEYS: LoadInfo = LoadInfo {
    kind: LoadKind::StaticKeys,
    about: "switches the scheduler's statistics on and off (code rewritten on every CPU)",
    details: "Writes 0 and 1 to /proc/sys/kernel/sched_schedstats.",
    example: "statickeys",
    rate: Some(0),
    only: Only::lab("it switches a setting of the whole machine; on the host: perf"),
    ..LoadInfo::PLAIN
};

pub(super) const HOTPLUG: LoadInfo = LoadInfo {
    kind: LoadKind::Hotplug,
    about: "takes a CPU of the load's away and brings it back (needs three CPUs)",
    needs: "--cpus 3 or more",
    details: "Takes the last CPU of the load's that is neither the first one nor the probe's away and back.",
    example: "hotplug@20",
    lab_options: "--cpus 3 --load-cpus 0-1",
    rate: Some(0),
    only: Only::lab("it takes CPUs away from the whole machine"),
    ..LoadInfo::PLAIN
};

pub(super) const MODULE: LoadInfo = LoadInfo {
    kind: LoadKind::Module,
    about: "unloads and loads a module of a network driver",
    details: "Unloads and loads the module dummy.",
    example: "module",
    rate: Some(0),
    modules: &["dummy"],
    only: Only::lab("it loads a module into the whole machine"),
    ..LoadInfo::PLAIN
};

pub(super) const SYSCTL: LoadInfo = LoadInfo {
    kind: LoadKind::Sysctl,
    about: "writes to vm.stat_refresh, vm.drop_caches and vm.compact_memory in turns",
    example: "sysctl",
    rate: Some(0),
    only: Only::lab("it empties the caches of the whole machine"),
    ..LoadInfo::PLAIN
};

pub(super) const CGROUP: LoadInfo = LoadInfo {
    kind: LoadKind::Cgroup,
    about: "one process moves to and fro between two control groups",
    details: "The groups are of version 2, with the controller cpu.",
    example: "cgroup",
    rate: Some(0),
    only: Only::lab("it mounts a hierarchy of control groups of its own"),
    ..LoadInfo::PLAIN
};
