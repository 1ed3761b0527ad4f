//! CPUs that the kernel keeps work away from.

use super::kernel::RunningKernel;
use super::tree::FileTree;
use crate::CpuList;
use serde::Serialize;

/// Isolated CPUs, and the arguments that asked for them.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Isolation {
    /// `isolcpus=` of the command line.
    pub isolcpus: Option<String>,
    /// `nohz_full=` of the command line.
    pub nohz_full: Option<String>,
    /// `rcu_nocbs=` of the command line.
    pub rcu_nocbs: Option<String>,
    /// `irqaffinity=` of the command line.
    pub irqaffinity: Option<String>,
    /// CPUs that the scheduler balances no task to, as the kernel reports.
    pub isolated: Option<CpuList>,
    /// CPUs without a tick while one task runs, as the kernel reports.
    pub tickless: Option<CpuList>,
}

impl Isolation {
    /// CPUs without ordinary work: isolated or tickless.
    pub fn cpus(&self) -> CpuList {
        let both = [&self.isolated, &self.tickless];
        both.into_iter().flatten().flat_map(CpuList::iter).collect()
    }
}

pub(super) fn read(tree: &FileTree, kernel: &RunningKernel) -> Isolation {
    let argument = |name| kernel.argument(name).map(str::to_string);
    Isolation {
        isolcpus: argument("isolcpus"),
        nohz_full: argument("nohz_full"),
        rcu_nocbs: argument("rcu_nocbs"),
        irqaffinity: argument("irqaffinity"),
        isolated: tree.value("sys/devices/system/cpu/isolated"),
        tickless: tree.value("sys/devices/system/cpu/nohz_full"),
    }
}
