//! The names of all loads.

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
    /// Programs started with many arguments.
    Exec,
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
    /// An event that many wait for.
    Eventfd,
    /// Many pipes closed at once.
    Pipes,
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
    /// Maps of programs made, filled and thrown away.
    BpfMaps,
    /// Filters of system calls installed.
    Seccomp,
    /// Counters of events opened and closed.
    Perf,
    /// A group of them switched on and off.
    PerfGroup,
    /// Branches that the kernel rewrites.
    StaticKeys,
    /// A CPU that goes and comes.
    Hotplug,
    /// Memory mapped, touched and unmapped.
    Munmap,
    /// The same by a thread of the probe's process.
    MunmapOwn,
    /// Big areas of memory given back at once.
    Unmap,
    /// A big area of memory that may be written to, and may not.
    Mprotect,
    /// A big file in memory filled and emptied.
    Memfd,
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
