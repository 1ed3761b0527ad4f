//! The table of all loads: parameters, titles, and which venue has them. Their names, and what they count, are with their code.

use crate::venue::{Only, Venue};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use worstcase_instruments::loads::LoadKind;

/// What follows a load's name and a colon; the words are those of help texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Nothing.
    Nothing,
    /// A number in a range.
    Number {
        /// What is counted.
        what: &'static str,
        /// What it may be.
        range: RangeInclusive<u32>,
        /// Whether the load has no usual number of its own.
        required: bool,
    },
    /// Nothing, or this word, which changes nothing: other words make it another load.
    Usual(&'static str),
    /// This word, which makes it another load than the one without.
    Word(&'static str),
    /// A folder.
    Path(&'static str),
    /// A program with its arguments.
    Command(&'static str),
}

/// What help texts, parsers and venues need to know of a load.
#[derive(Debug)]
pub struct LoadInfo {
    /// Which load.
    pub kind: LoadKind,
    /// What follows the name.
    pub takes: Takes,
    /// One line for help texts.
    pub about: &'static str,
    /// Which of `units` `@RATE` counts, if the load can be paced.
    pub rate: Option<usize>,
    /// Kernel modules that it needs (where they are not built in), without their dependencies.
    pub modules: &'static [&'static str],
    /// The one venue that has it, if not both have.
    pub only: Option<Only>,
}

const fn number(what: &'static str, most: u32) -> Takes {
    Takes::Number {
        what,
        range: 1..=most,
        required: false,
    }
}

/// What makes a load work in the probe's own process.
const OWN: &str = "own";
const OWN_IN_THE_LAB: &str = "on the host loads are processes of their own; there the same without ':own'";

const DISK_IN_THE_LAB: &str = "the lab gives its machine such a disk; on the host: blockread";

/// All loads, in the order in which help texts name them.
pub const LOADS: [LoadInfo; 38] = [
    LoadInfo {
        kind: LoadKind::Idle,
        takes: Takes::Nothing,
        about: "nothing: the machine waits for the probe",
        rate: None,
        modules: &[],
        only: None,
    },
    LoadInfo {
        kind: LoadKind::Shm,
        takes: Takes::Nothing,
        about: "makes, touches and removes 16 MiB System V segments in a loop (page allocation and freeing)",
        rate: Some(0),
        modules: &[],
        only: None,
    },
    LoadInfo {
        kind: LoadKind::Fork,
        takes: Takes::Nothing,
        about: "forks a child that writes to inherited memory and exits, waits for it, and again",
        rate: Some(0),
        modules: &[],
        only: None,
    },
    LoadInfo {
        kind: LoadKind::BlockRead,
        takes: Takes::Usual("null"),
        about: "32 direct 4 KiB reads in flight at random places of a null_blk device that it makes (interrupts)",
        rate: None,
        modules: &["null_blk"],
        only: None,
    },
    LoadInfo {
        kind: LoadKind::BlockReadIde,
        takes: Takes::Word("ide-pio"),
        about: "the same from an IDE disk without DMA: the CPU fetches all data from the controller's port",
        rate: None,
        modules: &["ata_piix", "libata", "sd_mod"],
        only: Only::lab(DISK_IN_THE_LAB),
    },
    LoadInfo {
        kind: LoadKind::BlockReadVirtio,
        takes: Takes::Word("virtio"),
        about: "the same from a virtio disk",
        rate: None,
        modules: &["virtio_blk", "virtio_pci"],
        only: Only::lab(DISK_IN_THE_LAB),
    },
    LoadInfo {
        kind: LoadKind::ProcRead,
        takes: Takes::Nothing,
        about: "reads /proc/kallsyms and other big files of /proc from end to end (long system calls)",
        rate: Some(1),
        modules: &[],
        only: None,
    },
    LoadInfo {
        kind: LoadKind::Find,
        takes: Takes::Nothing,
        about: "walks a generated tree of 4096 files and asks for the status of each (path lookup)",
        rate: Some(0),
        modules: &[],
        only: None,
    },
    LoadInfo {
        kind: LoadKind::Apps,
        takes: Takes::Number {
            what: "N",
            range: 1..=200,
            required: true,
        },
        about: "N processes sweep working sets that together exceed the memory (paging)",
        rate: None,
        modules: &["null_blk"],
        only: Only::lab("it drives the whole machine into paging; on the host: memory"),
    },
    LoadInfo {
        kind: LoadKind::Sockets,
        takes: Takes::Nothing,
        about: "message ping-pong and streaming over loopback TCP and UNIX sockets, eight processes",
        rate: None,
        modules: &[],
        only: None,
    },
    LoadInfo {
        kind: LoadKind::Compile,
        takes: Takes::Nothing,
        about: "a synthetic build, two jobs at once: fork, exec, many small files, hashing, renames",
        rate: None,
        modules: &[],
        only: None,
    },
    LoadInfo {
        kind: LoadKind::Build,
        takes: Takes::Path("PATH"),
        about: "copies the tree PATH into the work folder and builds it there with make from clean, in a loop",
        rate: None,
        modules: &[],
        only: Only::host("the lab's machine has no compiler; in the lab: compile"),
    },
    LoadInfo {
        kind: LoadKind::Draw,
        takes: Takes::Nothing,
        about: "a program asks over a socket, a server draws into a frame of 1024 x 768 (a desktop's drawing)",
        rate: Some(0),
        modules: &[],
        only: None,
    },
    LoadInfo {
        kind: LoadKind::Cpu,
        takes: number("N", 1024),
        about: "arithmetic, N processes (one a CPU)",
        rate: Some(0),
        modules: &[],
        only: None,
    },
    LoadInfo {
        kind: LoadKind::Proc,
        takes: Takes::Nothing,
        about: "every 10 ms reads from /proc what top reads: the system's files and two of every process",
        rate: Some(0),
        modules: &[],
        only: None,
    },
    LoadInfo {
        kind: LoadKind::Timers,
        takes: number("N", 4096),
        about: "N processes (16 a CPU) that sleep about 1 ms, again and again (timer interrupts)",
        rate: Some(0),
        modules: &[],
        only: None,
    },
    LoadInfo {
        kind: LoadKind::Rtc,
        takes: Takes::Nothing,
        about: "the real-time clock interrupts, 8192 times a second or @RATE (more than 64: root)",
        rate: Some(0),
        modules: &[],
        only: None,
    },
    LoadInfo {
        kind: LoadKind::Strobe,
        takes: Takes::Nothing,
        about: "pulses on the parallel port, each an interrupt of it, 8192 a second or @RATE",
        rate: Some(0),
        modules: &["parport_pc"],
        only: Only::lab("it writes to the parallel port of the whole machine"),
    },
    LoadInfo {
        kind: LoadKind::Timerfd,
        takes: number("N", 100),
        about: "N (1) processes with 1000 timers each; all expire in one interrupt, every 10 ms",
        rate: None,
        modules: &[],
        only: None,
    },
    LoadInfo {
        kind: LoadKind::Rcu,
        takes: Takes::Nothing,
        about: "opens and closes 500 sockets at a time, which the kernel frees through RCU callbacks",
        rate: Some(0),
        modules: &[],
        only: None,
    },
    LoadInfo {
        kind: LoadKind::Receive,
        // A process may usually have 1024 files open.
        takes: number("N", 900),
        about: "broadcasts over loopback to N (64) UDP sockets, which four processes read (receive soft interrupts)",
        rate: Some(0),
        modules: &[],
        only: None,
    },
    LoadInfo {
        kind: LoadKind::Writeback,
        takes: Takes::Nothing,
        about: "writes at random places of a file on ext4 in a RAM disk; the kernel writes the dirty pages back",
        rate: Some(0),
        modules: &["brd", "crc32c_generic", "ext4"],
        only: Only::lab("it mounts a file system and limits the dirty pages of the whole machine; on the host: disk"),
    },
    LoadInfo {
        kind: LoadKind::Memory,
        takes: number("MIB", 1 << 20),
        about: "streams through MIB of memory (twice the last-level caches), one process a CPU",
        rate: Some(0),
        modules: &[],
        only: Only::host("the lab counts instructions and has no caches; in the lab: shm"),
    },
    LoadInfo {
        kind: LoadKind::Disk,
        takes: number("MIB", 1 << 20),
        about: "writes, copies and reads a file of 350 MiB in the work folder, through the device, in a loop",
        rate: Some(0),
        modules: &[],
        only: Only::host("no disk of the lab keeps what is written; in the lab: blockread"),
    },
    LoadInfo {
        kind: LoadKind::Desktop,
        takes: number("FILES", 1000),
        about: "walks the root partition, and builds two trees of FILES (48) C files from clean, in a loop",
        rate: None,
        modules: &[],
        only: Only::host(
            "the lab's machine has neither a root partition nor a compiler; in the lab: find+compile+compile",
        ),
    },
    LoadInfo {
        kind: LoadKind::Bpf,
        takes: Takes::Nothing,
        about: "gives a socket one packet filter after the other (code made and freed)",
        rate: Some(0),
        modules: &[],
        only: None,
    },
    LoadInfo {
        kind: LoadKind::Perf,
        takes: Takes::Nothing,
        about: "counts its own context switches for a moment, again and again (static keys)",
        rate: Some(0),
        modules: &[],
        only: None,
    },
    LoadInfo {
        kind: LoadKind::StaticKeys,
        takes: Takes::Nothing,
        about: "switches the scheduler's statistics on and off (code rewritten on every CPU)",
        rate: Some(0),
        modules: &[],
        only: Only::lab("it switches a setting of the whole machine; on the host: perf"),
    },
    LoadInfo {
        kind: LoadKind::Hotplug,
        takes: Takes::Nothing,
        about: "takes a CPU of the load's away and brings it back (needs three CPUs)",
        rate: Some(0),
        modules: &[],
        only: Only::lab("it takes CPUs away from the whole machine"),
    },
    LoadInfo {
        kind: LoadKind::Munmap,
        takes: Takes::Nothing,
        about: "maps, touches and unmaps 64 pages, again and again (TLB shootdowns)",
        rate: Some(0),
        modules: &[],
        only: None,
    },
    LoadInfo {
        kind: LoadKind::MunmapOwn,
        takes: Takes::Word(OWN),
        about: "the same by a thread of the probe's own process",
        rate: Some(0),
        modules: &[],
        only: Only::lab(OWN_IN_THE_LAB),
    },
    LoadInfo {
        kind: LoadKind::Membarrier,
        takes: Takes::Nothing,
        about: "asks for a memory barrier in every process that takes part, itself alone (membarrier, global expedited)",
        rate: Some(0),
        modules: &[],
        only: None,
    },
    LoadInfo {
        kind: LoadKind::MembarrierOwn,
        takes: Takes::Word(OWN),
        about: "a thread of the probe's own process asks for one in every thread of it (private expedited)",
        rate: Some(0),
        modules: &[],
        only: Only::lab(OWN_IN_THE_LAB),
    },
    LoadInfo {
        kind: LoadKind::Module,
        takes: Takes::Nothing,
        about: "unloads and loads a module of a network driver",
        rate: Some(0),
        modules: &["dummy"],
        only: Only::lab("it loads a module into the whole machine"),
    },
    LoadInfo {
        kind: LoadKind::Sysctl,
        takes: Takes::Nothing,
        about: "writes to vm.stat_refresh, vm.drop_caches and vm.compact_memory in turns",
        rate: Some(0),
        modules: &[],
        only: Only::lab("it empties the caches of the whole machine"),
    },
    LoadInfo {
        kind: LoadKind::Cgroup,
        takes: Takes::Nothing,
        about: "one process moves to and fro between two control groups",
        rate: Some(0),
        modules: &[],
        only: Only::lab("it mounts a hierarchy of control groups of its own"),
    },
    LoadInfo {
        kind: LoadKind::Cmd,
        takes: Takes::Command("PROGRAM [ARGUMENT...]"),
        about: "any program; started again when it ends with success",
        rate: None,
        modules: &[],
        only: None,
    },
    LoadInfo {
        kind: LoadKind::CmdReady,
        takes: Takes::Command("PROGRAM [ARGUMENT...]"),
        about: "the same, measured once the program has made the file $WORSTCASE_READY",
        rate: None,
        modules: &[],
        only: None,
    },
];

/// Names of the modules that some load needs.
pub fn modules() -> BTreeSet<&'static str> {
    LOADS.iter().flat_map(|load| load.modules).copied().collect()
}

impl LoadInfo {
    /// The row of this load.
    pub fn of(kind: LoadKind) -> &'static LoadInfo {
        LOADS
            .iter()
            .find(|info| info.kind == kind)
            .expect("every kind has its row")
    }

    /// Its name, as users type it.
    pub fn name(&self) -> &'static str {
        self.kind.name()
    }

    /// The load as a help text shows it: `apps:N`, `cpu[:N][@RATE]`.
    pub fn usage(&self) -> String {
        let parameter = match &self.takes {
            Takes::Nothing => String::new(),
            Takes::Usual(what)
            | Takes::Number {
                what, required: false, ..
            } => format!("[:{what}]"),
            Takes::Number { what, .. } | Takes::Word(what) | Takes::Path(what) | Takes::Command(what) => {
                format!(":{what}")
            }
        };
        let rate = if self.rate.is_some() { "[@RATE]" } else { "" };
        format!("{}{parameter}{rate}", self.name())
    }

    /// The loads that `venue` has.
    pub fn of_venue(venue: Venue) -> impl Iterator<Item = &'static LoadInfo> {
        LOADS
            .iter()
            .filter(move |info| info.only.is_none_or(|only| only.venue == venue))
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
            // What the kernel keeps of a thread's name.
            assert!("load-".len() + info.name().len() <= 15, "{}", info.name());
        }
    }

    #[test]
    fn help_shows_parameters_rates_and_what_the_venue_has() {
        let usages = |venue| -> Vec<String> { LoadInfo::of_venue(venue).map(LoadInfo::usage).collect() };
        for usage in [
            "idle",
            "fork[@RATE]",
            "cpu[:N][@RATE]",
            "compile",
            "blockread[:null]",
            "proc[@RATE]",
        ] {
            for venue in [Venue::Host, Venue::Lab] {
                assert!(usages(venue).iter().any(|u| u == usage), "{usage}");
            }
        }
        assert!(usages(Venue::Lab).contains(&"apps:N".to_string()));
        assert!(!usages(Venue::Host).contains(&"apps:N".to_string()));
        assert!(usages(Venue::Host).contains(&"compile:PATH".to_string()));
        assert!(!usages(Venue::Lab).contains(&"compile:PATH".to_string()));
    }
}
