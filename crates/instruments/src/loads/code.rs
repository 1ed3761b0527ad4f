//! Every load: its name, what it counts, and what starts it.

use super::part::Body;
use super::{
    apps, blockread, bpf, cgroup, cmd, compile, cpu, draw, find, fork, interrupts, membarrier, munmap, perf, proc,
    procread, rcu, receive, settings, shm, sockets, timerfd, timers, writeback,
};
use serde::{Deserialize, Serialize};

/// Which load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum LoadKind {
    /// Nothing but the probe.
    Idle,
    /// System V segments made, touched and removed.
    Shm,
    /// Fork, exit, wait.
    Fork,
    /// Direct reads from a null_blk device, many in flight.
    BlockRead,
    /// The same from a disk whose data the CPU fetches from an IDE controller's port.
    BlockReadIde,
    /// The same from a disk of the kind virtio.
    BlockReadVirtio,
    /// Big files of /proc read from end to end.
    ProcRead,
    /// A walk through a tree of files.
    Find,
    /// Processes whose working sets together exceed the memory.
    Apps,
    /// Messages and streams over loopback and UNIX sockets.
    Sockets,
    /// A synthetic build.
    Compile,
    /// A real tree built by its own Makefile (`compile:PATH`).
    Build,
    /// A program and a server that draw.
    Draw,
    /// Arithmetic on every CPU.
    Cpu,
    /// What `top` reads, every 10 ms.
    Proc,
    /// Many processes that sleep for short times.
    Timers,
    /// Interrupts of the real-time clock.
    Rtc,
    /// Interrupts of the parallel port.
    Strobe,
    /// Thousands of timers that expire in one interrupt.
    Timerfd,
    /// Objects that the kernel frees through RCU.
    Rcu,
    /// Broadcasts to many sockets.
    Receive,
    /// Dirty pages of a file system that the kernel writes back.
    Writeback,
    /// Streams through more memory than the caches hold.
    Memory,
    /// A big file written, copied and read.
    Disk,
    /// A walk through the root partition and two builds.
    Desktop,
    /// Filters of packets made and thrown away.
    Bpf,
    /// Counters of events opened and closed.
    Perf,
    /// Branches that the kernel rewrites.
    StaticKeys,
    /// A CPU that goes and comes.
    Hotplug,
    /// Memory mapped, touched and unmapped.
    Munmap,
    /// The same by a thread of the probe's process.
    MunmapOwn,
    /// Memory barriers on other CPUs.
    Membarrier,
    /// The same by a thread of the probe's process.
    MembarrierOwn,
    /// A module that goes and comes.
    Module,
    /// Settings that are orders to the whole machine.
    Sysctl,
    /// A process that moves between control groups.
    Cgroup,
    /// Any program.
    Cmd,
    /// Any program that says when it is ready.
    CmdReady,
}

/// What runs when a load runs.
#[derive(Debug)]
pub struct LoadCode {
    /// Which load.
    pub kind: LoadKind,
    /// Its name: that of its workers, and the one that users type.
    pub name: &'static str,
    /// What it counts as its work.
    pub units: &'static [&'static str],
    /// What starts it; none if a venue brings that.
    pub body: Option<Body>,
}

const CODES: [LoadCode; 38] = [
    LoadCode {
        kind: LoadKind::Idle,
        name: "idle",
        units: &[],
        body: Some(|_, _| Ok(())),
    },
    LoadCode {
        kind: LoadKind::Shm,
        name: "shm",
        units: &["segments", "pages"],
        body: Some(shm::start),
    },
    LoadCode {
        kind: LoadKind::Fork,
        name: "fork",
        units: &["forks"],
        body: Some(fork::start),
    },
    LoadCode {
        kind: LoadKind::BlockRead,
        name: "blockread",
        units: &["reads"],
        body: Some(blockread::start),
    },
    LoadCode {
        kind: LoadKind::BlockReadIde,
        name: "blockread",
        units: &["reads"],
        body: Some(blockread::start_ide),
    },
    LoadCode {
        kind: LoadKind::BlockReadVirtio,
        name: "blockread",
        units: &["reads"],
        body: Some(blockread::start_virtio),
    },
    LoadCode {
        kind: LoadKind::ProcRead,
        name: "procread",
        units: &["bytes", "files"],
        body: Some(procread::start),
    },
    LoadCode {
        kind: LoadKind::Find,
        name: "find",
        units: &["entries"],
        body: Some(find::start),
    },
    LoadCode {
        kind: LoadKind::Apps,
        name: "apps",
        units: &["page_ins"],
        body: Some(apps::start),
    },
    LoadCode {
        kind: LoadKind::Sockets,
        name: "sockets",
        units: &["messages", "bytes"],
        body: Some(sockets::start),
    },
    LoadCode {
        kind: LoadKind::Compile,
        name: "compile",
        units: &["units", "links"],
        body: Some(compile::start),
    },
    LoadCode {
        kind: LoadKind::Build,
        name: "compile",
        units: &["cpu_time_us", "builds"],
        body: None,
    },
    LoadCode {
        kind: LoadKind::Draw,
        name: "draw",
        units: &["batches", "pixels"],
        body: Some(draw::start),
    },
    LoadCode {
        kind: LoadKind::Cpu,
        name: "cpu",
        units: &["rounds"],
        body: Some(cpu::start),
    },
    LoadCode {
        kind: LoadKind::Proc,
        name: "proc",
        units: &["rounds", "files"],
        body: Some(proc::start),
    },
    LoadCode {
        kind: LoadKind::Timers,
        name: "timers",
        units: &["expiries"],
        body: Some(timers::start),
    },
    LoadCode {
        kind: LoadKind::Rtc,
        name: "rtc",
        units: &["interrupts"],
        body: Some(interrupts::start_rtc),
    },
    LoadCode {
        kind: LoadKind::Strobe,
        name: "strobe",
        units: &["interrupts"],
        body: Some(interrupts::start_strobe),
    },
    LoadCode {
        kind: LoadKind::Timerfd,
        name: "timerfd",
        units: &["expiries"],
        body: Some(timerfd::start),
    },
    LoadCode {
        kind: LoadKind::Rcu,
        name: "rcu",
        units: &["freed"],
        body: Some(rcu::start),
    },
    LoadCode {
        kind: LoadKind::Receive,
        name: "receive",
        units: &["broadcasts", "datagrams"],
        body: Some(receive::start),
    },
    LoadCode {
        kind: LoadKind::Writeback,
        name: "writeback",
        units: &["writes", "pages_written"],
        body: Some(writeback::start),
    },
    LoadCode {
        kind: LoadKind::Memory,
        name: "memory",
        units: &["mebibytes"],
        body: None,
    },
    LoadCode {
        kind: LoadKind::Disk,
        name: "disk",
        units: &["mebibytes", "rounds"],
        body: None,
    },
    LoadCode {
        kind: LoadKind::Desktop,
        name: "desktop",
        units: &["entries", "cpu_time_us", "builds"],
        body: None,
    },
    LoadCode {
        kind: LoadKind::Bpf,
        name: "bpf",
        units: &["filters"],
        body: Some(bpf::start),
    },
    LoadCode {
        kind: LoadKind::Perf,
        name: "perf",
        units: &["counters"],
        body: Some(perf::start),
    },
    LoadCode {
        kind: LoadKind::StaticKeys,
        name: "statickeys",
        units: &["switches"],
        body: Some(settings::start_static_keys),
    },
    LoadCode {
        kind: LoadKind::Hotplug,
        name: "hotplug",
        units: &["switches"],
        body: Some(settings::start_hotplug),
    },
    LoadCode {
        kind: LoadKind::Munmap,
        name: "munmap",
        units: &["unmappings"],
        body: Some(munmap::start),
    },
    LoadCode {
        kind: LoadKind::MunmapOwn,
        name: "munmap",
        units: &["unmappings"],
        body: Some(munmap::start_own),
    },
    LoadCode {
        kind: LoadKind::Membarrier,
        name: "membarrier",
        units: &["barriers"],
        body: Some(membarrier::start),
    },
    LoadCode {
        kind: LoadKind::MembarrierOwn,
        name: "membarrier",
        units: &["barriers"],
        body: Some(membarrier::start_own),
    },
    LoadCode {
        kind: LoadKind::Module,
        name: "module",
        units: &["insertions"],
        body: None,
    },
    LoadCode {
        kind: LoadKind::Sysctl,
        name: "sysctl",
        units: &["writes"],
        body: Some(settings::start_sysctl),
    },
    LoadCode {
        kind: LoadKind::Cgroup,
        name: "cgroup",
        units: &["moves"],
        body: Some(cgroup::start),
    },
    LoadCode {
        kind: LoadKind::Cmd,
        name: "cmd",
        units: &["cpu_time_us", "runs"],
        body: Some(cmd::start),
    },
    LoadCode {
        kind: LoadKind::CmdReady,
        name: "cmd-ready",
        units: &["cpu_time_us", "runs"],
        body: Some(cmd::start_ready),
    },
];

impl LoadKind {
    /// Its row.
    pub fn code(self) -> &'static LoadCode {
        CODES
            .iter()
            .find(|code| code.kind == self)
            .expect("every kind has its row")
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.code().name
    }
}
