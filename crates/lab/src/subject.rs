//! Subjects of the lab: a kernel, its preemption model, and the machine under it.

use super::additions::Additions;
use super::machine::Mips;
use super::own_module::OwnModule;
use super::scheduler::LabScheduler;
use worstcase_kernels::Kernel;
use worstcase_kernels::preempt::PreemptModel;
use worstcase_plan::VirtualMachine;
use worstcase_results::record::LoadedModule;

/// A subject of the lab.
#[derive(Clone, Debug)]
pub struct LabSubject {
    /// The kernel.
    pub kernel: Kernel,
    /// A model that the kernel can boot.
    pub preempt: PreemptModel,
    /// The machine.
    pub machine: VirtualMachine,
    /// Its speed.
    pub mips: Mips,
    /// Its disk's profile as one word, if it has a disk.
    pub disk: Option<String>,
    /// The scheduler that is loaded into its kernel, if there is one.
    pub scheduler: Option<LabScheduler>,
    /// The user's additions.
    pub additions: Additions,
}

impl LabSubject {
    /// Kernel and preemption model, as tables show them.
    pub fn label(&self) -> String {
        format!("{} {}", self.kernel.label, self.preempt.model)
    }

    /// The user's modules, for a record.
    pub fn modules(&self) -> Vec<LoadedModule> {
        self.additions.modules.iter().map(OwnModule::described).collect()
    }
}
