//! CPUs that the kernel keeps work away from.

use super::kernel::RunningKernel;
use super::tree::FileTree;
use crate::CpuList;
use serde::Serialize;

/// What is isolated, by whom asked.
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
    /// CPUs that the scheduler balances nothing to, as the kernel says.
    pub isolated: Option<CpuList>,
    /// CPUs without a tick while one task runs, as the kernel says.
    pub tickless: Option<CpuList>,
}

impl Isolation {
    /// CPUs that ordinary work is kept away from.
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
