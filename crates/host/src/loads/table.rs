//! The table of the host's own loads, and which loads take a rate: for help texts and the parser.

use std::ops::RangeInclusive;
use worstcase_probe::loads::{LOADS, LoadInfo, LoadKind};

/// A load that only the host has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HostLoadKind {
    /// A big file written, copied and read.
    Disk,
    /// What `top` reads, every 10 ms.
    Proc,
    /// A walk through the root partition and two builds.
    Desktop,
    /// A real tree built by its own Makefile.
    Compile,
    /// Arithmetic on every CPU.
    Cpu,
    /// Streams through more memory than the caches hold.
    Memory,
    /// Many processes that sleep for short times.
    Timers,
}

/// What help texts and parsers need to know of a load of the host.
#[derive(Debug)]
pub struct HostLoadInfo {
    /// Which load.
    pub kind: HostLoadKind,
    /// Its name, as users type it.
    pub name: &'static str,
    /// What follows the name and a colon, in the form of a help text; empty if nothing may.
    pub parameter: &'static str,
    /// The numbers that `parameter` may be; for a path, none.
    pub range: RangeInclusive<u32>,
    /// One line for help texts.
    pub about: &'static str,
    /// What it counts as its work.
    pub units: &'static [&'static str],
    /// Whether `@RATE` sets how many of the first of `units` it does a second.
    pub rate: bool,
}

#[allow(clippy::reversed_empty_ranges)] // a path is no number
const NO_NUMBER: RangeInclusive<u32> = 1..=0;

/// The loads that only the host has, in the order in which help texts name them.
pub const HOST_LOADS: [HostLoadInfo; 7] = [
    HostLoadInfo {
        kind: HostLoadKind::Disk,
        name: "disk",
        parameter: "MIB",
        range: 1..=1 << 20,
        about: "writes, copies and reads a file of 350 MiB in the work folder, through the device, in a loop",
        units: &["mebibytes", "rounds"],
        rate: true,
    },
    HostLoadInfo {
        kind: HostLoadKind::Proc,
        name: "proc",
        parameter: "",
        range: NO_NUMBER,
        about: "every 10 ms reads from /proc what top reads: the system's files and two of every process",
        units: &["rounds", "files"],
        rate: true,
    },
    HostLoadInfo {
        kind: HostLoadKind::Desktop,
        name: "desktop",
        parameter: "FILES",
        range: 1..=1000,
        about: "walks the root partition, and builds two trees of FILES (48) C files from clean, in a loop",
        units: &["entries", "cpu_time_us", "builds"],
        rate: false,
    },
    HostLoadInfo {
        kind: HostLoadKind::Compile,
        name: "compile",
        parameter: "PATH",
        range: NO_NUMBER,
        about: "copies the tree PATH into the work folder and builds it there with make from clean, in a loop",
        units: &["cpu_time_us", "builds"],
        rate: false,
    },
    HostLoadInfo {
        kind: HostLoadKind::Cpu,
        name: "cpu",
        parameter: "N",
        range: 1..=1024,
        about: "arithmetic, N processes (one a CPU)",
        units: &["rounds"],
        rate: true,
    },
    HostLoadInfo {
        kind: HostLoadKind::Memory,
        name: "memory",
        parameter: "MIB",
        range: 1..=1 << 20,
        about: "streams through MIB of memory (twice the last-level caches), one process a CPU",
        units: &["mebibytes"],
        rate: true,
    },
    HostLoadInfo {
        kind: HostLoadKind::Timers,
        name: "timers",
        parameter: "N",
        range: 1..=4096,
        about: "N processes (16 a CPU) that sleep about 1 ms, again and again (timer interrupts)",
        units: &["expiries"],
        rate: true,
    },
];

impl HostLoadKind {
    /// Its row in [`HOST_LOADS`].
    pub fn info(self) -> &'static HostLoadInfo {
        HOST_LOADS
            .iter()
            .find(|info| info.kind == self)
            .expect("every kind has its row")
    }
}

impl HostLoadInfo {
    /// The load of this name that is written `name` or `name:number`.
    pub(super) fn find(name: &str) -> Option<&'static HostLoadInfo> {
        HOST_LOADS
            .iter()
            .find(|info| info.name == name && info.kind != HostLoadKind::Compile)
    }

    /// The load as a help text shows it: `cpu[:N][@RATE]`.
    pub fn usage(&self) -> String {
        let parameter = match (self.parameter, self.kind) {
            ("", _) => String::new(),
            (path, HostLoadKind::Compile) => format!(":{path}"),
            (number, _) => format!("[:{number}]"),
        };
        let rate = if self.rate { "[@RATE]" } else { "" };
        format!("{}{parameter}{rate}", self.name)
    }
}

/// What `@RATE` counts for a load of the lab: a unit's place among its units; nothing if it takes no rate.
pub(super) fn lab_rate(kind: LoadKind) -> Option<usize> {
    match kind {
        LoadKind::Shm | LoadKind::Fork | LoadKind::Find => Some(0),
        LoadKind::ProcRead => Some(1),
        _ => None,
    }
}

/// The loads of the lab that make sense on a host.
fn lab_loads() -> impl Iterator<Item = &'static LoadInfo> {
    LOADS.iter().filter(|info| info.kind != LoadKind::Apps)
}

/// Every load as a help text shows it.
pub fn usages() -> impl Iterator<Item = String> {
    let lab = |info: &LoadInfo| {
        let rate = if lab_rate(info.kind).is_some() { "[@RATE]" } else { "" };
        format!("{}{rate}", info.usage())
    };
    lab_loads().map(lab).chain(HOST_LOADS.iter().map(HostLoadInfo::usage))
}

/// The name of every load there is, those of the lab alone too.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    let lab = LOADS.iter().map(|info| info.name);
    lab.chain(HOST_LOADS.iter().map(|info| info.name))
}

/// Which loads take a rate, for the error of one that does not.
pub(super) fn why_no_rate() -> String {
    let lab = LOADS
        .iter()
        .filter(|info| lab_rate(info.kind).is_some())
        .map(|i| i.name);
    let host = HOST_LOADS.iter().filter(|info| info.rate).map(|info| info.name);
    let names: Vec<&str> = lab.chain(host).collect();
    format!("only {} can be paced", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_row_and_a_name_that_fits_the_kernels() {
        for info in &HOST_LOADS {
            assert_eq!(info.kind.info().name, info.name);
            assert!(!info.units.is_empty());
            assert!("load-".len() + info.name.len() <= 15, "{}", info.name);
        }
    }

    #[test]
    fn help_shows_parameters_and_rates() {
        let all: Vec<String> = usages().collect();
        for usage in [
            "idle",
            "fork[@RATE]",
            "cpu[:N][@RATE]",
            "compile",
            "compile:PATH",
            "proc[@RATE]",
            "blockread",
        ] {
            assert!(all.iter().any(|u| u == usage), "{usage}");
        }
        assert!(!all.iter().any(|u| u.starts_with("apps")));
    }
}
