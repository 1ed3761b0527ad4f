//! The list of all loads.

use super::code::LoadCode;
use super::{
    apps, blockread, bpf, brought, cgroup, cmd, compile, cpu, draw, find, fork, interrupts, membarrier, munmap, perf,
    proc, procread, rcu, receive, settings, shm, sockets, timerfd, timers, writeback,
};
use serde::{Deserialize, Serialize};

macro_rules! loads {
    ($($(#[$about:meta])* $kind:ident = $code:expr,)+) => {
        /// Which load.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum LoadKind {
            $($(#[$about])* $kind,)+
        }

        impl LoadKind {
            /// Its row.
            pub fn code(self) -> &'static LoadCode {
                match self {
                    $(LoadKind::$kind => &$code,)+
                }
            }
        }
    };
}

loads! {
    /// Nothing but the probe.
    Idle = brought::IDLE,
    /// System V segments made, touched and removed.
    Shm = shm::SHM,
    /// Fork, exit, wait.
    Fork = fork::FORK,
    /// Direct reads from a null_blk device, many in flight.
    BlockRead = blockread::BLOCK_READ,
    /// The same from a disk whose data the CPU fetches from an IDE controller's port.
    BlockReadIde = blockread::BLOCK_READ_IDE,
    /// The same from a disk of the kind virtio.
    BlockReadVirtio = blockread::BLOCK_READ_VIRTIO,
    /// Big files of /proc read from end to end.
    ProcRead = procread::PROC_READ,
    /// A walk through a tree of files.
    Find = find::FIND,
    /// Processes whose working sets together exceed the memory.
    Apps = apps::APPS,
    /// Messages and streams over loopback and UNIX sockets.
    Sockets = sockets::SOCKETS,
    /// A synthetic build.
    Compile = compile::COMPILE,
    /// A real tree built by its own Makefile (`compile:PATH`).
    Build = brought::BUILD,
    /// A program and a server that draw.
    Draw = draw::DRAW,
    /// Arithmetic on every CPU.
    Cpu = cpu::CPU,
    /// What `top` reads, every 10 ms.
    Proc = proc::PROC,
    /// Many processes that sleep for short times.
    Timers = timers::TIMERS,
    /// Interrupts of the real-time clock.
    Rtc = interrupts::RTC,
    /// Interrupts of the parallel port.
    Strobe = interrupts::STROBE,
    /// Thousands of timers that expire in one interrupt.
    Timerfd = timerfd::TIMERFD,
    /// Objects that the kernel frees through RCU.
    Rcu = rcu::RCU,
    /// Broadcasts to many sockets.
    Receive = receive::RECEIVE,
    /// Dirty pages of a file system that the kernel writes back.
    Writeback = writeback::WRITEBACK,
    /// Streams through more memory than the caches hold.
    Memory = brought::MEMORY,
    /// A big file written, copied and read.
    Disk = brought::DISK,
    /// A walk through the root partition and two builds.
    Desktop = brought::DESKTOP,
    /// Filters of packets made and thrown away.
    Bpf = bpf::BPF,
    /// Counters of events opened and closed.
    Perf = perf::PERF,
    /// Branches that the kernel rewrites.
    StaticKeys = settings::STATIC_KEYS,
    /// A CPU that goes and comes.
    Hotplug = settings::HOTPLUG,
    /// Memory mapped, touched and unmapped.
    Munmap = munmap::MUNMAP,
    /// The same by a thread of the probe's process.
    MunmapOwn = munmap::MUNMAP_OWN,
    /// Memory barriers on other CPUs.
    Membarrier = membarrier::MEMBARRIER,
    /// The same by a thread of the probe's process.
    MembarrierOwn = membarrier::MEMBARRIER_OWN,
    /// A module that goes and comes.
    Module = brought::MODULE,
    /// Settings that are orders to the whole machine.
    Sysctl = settings::SYSCTL,
    /// A process that moves between control groups.
    Cgroup = cgroup::CGROUP,
    /// Any program.
    Cmd = cmd::CMD,
    /// Any program that says when it is ready.
    CmdReady = cmd::CMD_READY,
}

impl LoadKind {
    /// Its name.
    pub fn name(self) -> &'static str {
        self.code().name
    }
}
