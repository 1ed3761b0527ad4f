//! The list of all loads: each with its row, which stands beside its code.

use super::kind::LoadKind;
use worstcase_instruments::loads::{
    LoadCode, bpf, brought, cgroup, cmd, compile, cpu, draw, eventfd, exec, find, fork, membarrier, memfd, mprotect,
    munmap, perf, pipes, proc, procread, rcu, receive, rtc, seccomp, settings, shm, sockets, timerfd, timers, unmap,
};
use worstcase_io::{apps, blockread, writeback};
use worstcase_wires::strobe;

impl LoadKind {
    /// Its row.
    pub fn code(self) -> &'static LoadCode {
        match self {
            LoadKind::Idle => &brought::IDLE,
            LoadKind::Shm => &shm::SHM,
            LoadKind::Fork => &fork::FORK,
            LoadKind::Exec => &exec::EXEC,
            LoadKind::BlockRead => &blockread::BLOCK_READ,
            LoadKind::BlockReadIde => &blockread::BLOCK_READ_IDE,
            LoadKind::BlockReadVirtio => &blockread::BLOCK_READ_VIRTIO,
            LoadKind::ProcRead => &procread::PROC_READ,
            LoadKind::Find => &find::FIND,
            LoadKind::Apps => &apps::APPS,
            LoadKind::Sockets => &sockets::SOCKETS,
            LoadKind::Compile => &compile::COMPILE,
            LoadKind::Build => &brought::BUILD,
            LoadKind::Draw => &draw::DRAW,
            LoadKind::Cpu => &cpu::CPU,
            LoadKind::Proc => &proc::PROC,
            LoadKind::Timers => &timers::TIMERS,
            LoadKind::Rtc => &rtc::RTC,
            LoadKind::Strobe => &strobe::STROBE,
            LoadKind::Timerfd => &timerfd::TIMERFD,
            LoadKind::Eventfd => &eventfd::EVENTFD,
            LoadKind::Pipes => &pipes::PIPES,
            LoadKind::Rcu => &rcu::RCU,
            LoadKind::Receive => &receive::RECEIVE,
            LoadKind::Writeback => &writeback::WRITEBACK,
            LoadKind::Memory => &brought::MEMORY,
            LoadKind::Disk => &brought::DISK,
            LoadKind::Desktop => &brought::DESKTOP,
            LoadKind::Bpf => &bpf::BPF,
            LoadKind::BpfMaps => &bpf::BPF_MAPS,
            LoadKind::Seccomp => &seccomp::SECCOMP,
            LoadKind::Perf => &perf::PERF,
            LoadKind::PerfGroup => &perf::PERF_GROUP,
            LoadKind::StaticKeys => &settings::STATIC_KEYS,
            LoadKind::Hotplug => &settings::HOTPLUG,
            LoadKind::Munmap => &munmap::MUNMAP,
            LoadKind::MunmapOwn => &munmap::MUNMAP_OWN,
            LoadKind::Unmap => &unmap::UNMAP,
            LoadKind::Mprotect => &mprotect::MPROTECT,
            LoadKind::Memfd => &memfd::MEMFD,
            LoadKind::Membarrier => &membarrier::MEMBARRIER,
            LoadKind::MembarrierOwn => &membarrier::MEMBARRIER_OWN,
            LoadKind::Module => &brought::MODULE,
            LoadKind::Sysctl => &settings::SYSCTL,
            LoadKind::Cgroup => &cgroup::CGROUP,
            LoadKind::Cmd => &cmd::CMD,
            LoadKind::CmdReady => &cmd::CMD_READY,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.code().name
    }
}
