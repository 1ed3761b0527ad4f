//! What a thread of a real-time probe needs: its CPU, its policy, memory that is present. Given back when dropped.

use super::{BenchError, Request};
use crate::sys::sched::Policy;
use crate::sys::{affinity, memory};
use std::io;

/// Room for the 64 KiB that are touched beforehand, and as much again.
pub(super) const STACK: usize = 128 * 1024;

/// The CPU that a probe measures on: the first that it is given, or that it may run on.
pub fn first_cpu(request: &Request<'_>) -> Result<u32, BenchError> {
    match request.cpus.first() {
        Some(cpu) => Ok(*cpu),
        None => Ok(allowed_cpus()?[0]),
    }
}

fn allowed_cpus() -> Result<Vec<u32>, BenchError> {
    affinity::current().map_err(BenchError::system("cannot read which CPUs are allowed"))
}

/// The caller's policy, given back when dropped.
#[derive(Debug)]
pub struct Kept(Policy);

impl Drop for Kept {
    fn drop(&mut self) {
        // Going back to where one came from needs no right beyond the one that was there.
        let _ = self.0.apply();
    }
}

/// Puts the calling thread under SCHED_FIFO at `priority`.
pub fn take_policy(priority: u8) -> Result<Kept, BenchError> {
    let before = Policy::current().map_err(BenchError::system("cannot read the scheduling policy"))?;
    apply_fifo(priority)?;
    Ok(Kept(before))
}

fn apply_fifo(priority: u8) -> Result<(), BenchError> {
    Policy::fifo(priority).apply().map_err(|e| {
        BenchError::Missing(format!(
            "SCHED_FIFO at priority {priority} is refused ({e}), and this probe measures threads of real-time priority; run as root, or give CAP_SYS_NICE or `ulimit -r {priority}`"
        ))
    })
}

/// The CPUs of the caller, given back when dropped.
#[derive(Debug)]
pub struct Unpinned(Vec<u32>);

impl Drop for Unpinned {
    fn drop(&mut self) {
        // They were there a moment ago; if they are not any more, the kernel has put the thread elsewhere itself.
        let _ = affinity::set(&self.0);
    }
}

/// The calling thread runs on `cpu` alone, under SCHED_FIFO at `priority`.
pub fn take_cpu(cpu: u32, priority: u8) -> Result<(Kept, Unpinned), BenchError> {
    let before = Unpinned(allowed_cpus()?);
    pin(cpu)?;
    Ok((take_policy(priority)?, before))
}

/// The calling thread runs on `cpu` alone.
pub(super) fn pin(cpu: u32) -> Result<(), BenchError> {
    affinity::set(&[cpu]).map_err(|e| {
        BenchError::Limit(format!(
            "cannot run on CPU {cpu} ({e}): choose one of /sys/devices/system/cpu/online that the control group's cpuset.cpus allows"
        ))
    })
}

/// The calling thread, which a probe has started, gets its CPU, its priority, and a stack that is present.
pub(super) fn become_one(cpu: u32, priority: u8) -> Result<(), BenchError> {
    pin(cpu)?;
    apply_fifo(priority)?;
    memory::prefault_stack();
    Ok(())
}

/// The error of a thread that cannot be started.
pub(super) fn no_thread(error: io::Error) -> BenchError {
    BenchError::Limit(format!(
        "cannot start a thread ({error}): the limit is `ulimit -u`, /proc/sys/kernel/threads-max or the control group's pids.max"
    ))
}

/// Memory that is locked here, given back when dropped. A caller that has locked its own keeps what it has.
#[derive(Debug)]
pub struct Locked(bool);

impl Locked {
    /// All that there is now, as far as permitted.
    pub fn take(warnings: &mut Vec<String>) -> Locked {
        if memory::is_locked() {
            return Locked(false);
        }
        let locked = memory::lock_present();
        if let Err(e) = &locked {
            warnings.push(format!(
                "memory is not locked ({e}): page faults may be part of the samples; run as root, or give CAP_IPC_LOCK or `ulimit -l unlimited`"
            ));
        }
        Locked(locked.is_ok())
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        if self.0 {
            memory::unlock_all();
        }
    }
}
