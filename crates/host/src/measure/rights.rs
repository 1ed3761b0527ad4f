//! The rights that a measurement needs: locked memory, no deep idle states, a CPU, a policy. A refused one becomes a
//! warning with its effect on the result.

use crate::spec::{HostSpec, ThreadScheduling};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use worstcase_contract::Nanos;
use worstcase_instruments::sys::{affinity, memory, sched};
use worstcase_plan::SchedulingPolicy;
use worstcase_results::record::NOT_REAL_TIME;

/// What the process holds while it measures; released when dropped.
#[derive(Debug)]
pub(crate) struct HeldRights {
    locked: bool,
    /// Limits the idle states as long as this file is open.
    _dma_latency: Option<File>,
}

impl HeldRights {
    /// Locks memory when it is touched from now on, and keeps the CPUs out of deep idle states.
    pub(crate) fn acquire(warnings: &mut Vec<String>) -> HeldRights {
        // Not the whole executable: a page is locked when it is touched, and the sampling loop touches all of its own pages
        // first.
        let locked = memory::lock_on_touch();
        if let Err(e) = &locked {
            warnings.push(format!(
                "memory is not locked ({e}): page faults may be part of the samples; run as root, or give CAP_IPC_LOCK or `ulimit -l unlimited`"
            ));
        }
        HeldRights {
            locked: locked.is_ok(),
            _dma_latency: no_deep_idle(warnings),
        }
    }
}

impl Drop for HeldRights {
    fn drop(&mut self) {
        if self.locked {
            memory::unlock_all();
        }
    }
}

const DMA_LATENCY: &str = "/dev/cpu_dma_latency";

fn no_deep_idle(warnings: &mut Vec<String>) -> Option<File> {
    if !std::path::Path::new("/sys/devices/system/cpu/cpu0/cpuidle").exists() {
        return None;
    }
    let open = || {
        let mut file = OpenOptions::new().write(true).open(DMA_LATENCY)?;
        file.write_all(&0_i32.to_ne_bytes())?;
        Ok::<_, io::Error>(file)
    };
    open()
        .inspect_err(|e| {
            warnings.push(format!(
                "deep idle states are not kept off ({DMA_LATENCY}: {e}): leaving them is part of the samples; run as root"
            ));
        })
        .ok()
}

/// Puts the calling thread on `cpu` with the measurement's policy.
pub(crate) fn take_cpu(spec: &HostSpec, cpu: u32, warnings: &mut Vec<String>) -> io::Result<()> {
    if spec.scheduling.policy() == SchedulingPolicy::Deadline {
        // The kernel admits SCHED_DEADLINE only to threads that may run on all CPUs of their domain.
        warnings.push(
            "SCHED_DEADLINE threads are not pinned (the kernel refuses it): a CPU's samples may be from another one"
                .into(),
        );
    } else {
        affinity::set(&[cpu])?;
    }
    let taken = under(spec.scheduling, spec.interval);
    if let (Err(e), SchedulingPolicy::Other) = (&taken, spec.scheduling.policy()) {
        warnings.push(format!(
            "SCHED_OTHER at the nice value {} is refused ({e}), it stays {}; run as root, or give CAP_SYS_NICE",
            spec.scheduling.nice(),
            sched::nice()
        ));
    } else if let Err(e) = taken {
        warnings.push(format!(
            "{NOT_REAL_TIME}: {} is refused ({e}): samples hold the waiting for ordinary processes; run as root, or give CAP_SYS_NICE or `ulimit -r {}`",
            spec.scheduling,
            spec.scheduling.priority().max(1)
        ));
    }
    Ok(())
}

fn under(scheduling: ThreadScheduling, interval: Nanos) -> io::Result<()> {
    match scheduling.policy() {
        SchedulingPolicy::Fifo => sched::Policy::fifo(scheduling.priority()).apply(),
        SchedulingPolicy::Rr => sched::Policy::round_robin(scheduling.priority()).apply(),
        // Half of the period is far more than a sample needs, and the kernel admits it on every CPU at once.
        SchedulingPolicy::Deadline => sched::apply_deadline(Nanos(interval.0 / 2), interval),
        SchedulingPolicy::Other => {
            sched::Policy::OTHER.apply()?;
            match scheduling.nice() {
                0 => Ok(()),
                nice => sched::set_nice(nice.into()),
            }
        }
    }
}
