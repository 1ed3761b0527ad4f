//! The change that would remove a cause that a recording shows, where it is not the one that the lab would advise.

use super::late::{LateReason, RunStops};

/// Against a late interrupt.
pub(crate) fn of_late_interrupt(reason: LateReason, is_idle: bool, run: &RunStops) -> Option<&'static str> {
    match (reason, run.is_guest) {
        (LateReason::InterruptsOff | LateReason::NotArmed | LateReason::HeldBack, _) => None,
        (LateReason::CpuStopped, Some(true)) => Some(HYPERVISOR),
        (LateReason::CpuStopped, Some(false)) if is_idle => Some(
            "idle states from which the CPU wakes slowly (worstcase host doctor names them), or the firmware's settings: SMIs, power management",
        ),
        (LateReason::CpuStopped, Some(false)) => Some(
            "the firmware's settings (SMIs, power management), its maker's guide to low latency; worstcase host isolate counts SMIs of Intel's processors",
        ),
        (LateReason::CpuStopped, None) => Some(
            "something below the kernel: on a virtual machine CPUs of their own, on a bare one the firmware's settings (SMIs)",
        ),
        (LateReason::NotKnown, Some(true)) => Some(GUEST),
        (LateReason::NotKnown, _) => Some(
            "first what tells the two apart: explain as root while the kernel that was measured runs, which shows the interrupted code; --probe noise counts stops of the CPU",
        ),
    }
}

/// What the host of a guest can do.
pub(crate) const HYPERVISOR: &str = worstcase_host::doctor::HYPERVISOR_REMEDY;

/// Where it is not shown that the hypervisor did it.
pub(crate) const GUEST: &str = "first rule out the hypervisor: on its host give this guest's CPUs, one to one, CPUs that nobody else uses; what is late then is this kernel's";
