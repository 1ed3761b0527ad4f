//! The kernel's threads, read from the guest's memory.

use super::tracker::{Role, Thread};
use crate::counts;
use crate::guest_memory::GuestMemory;
use crate::scheduler;
use crate::tasks::{current_pointer, places_of};
use worstcase_logs::census::facts::Facts;
use worstcase_logs::window::ask::TaskPlaces;

/// The probe's thread and its priority.
#[derive(Clone, Copy, Default)]
pub(crate) struct Probe {
    /// Its address in the kernel's memory.
    pub(crate) task: u64,
    /// The smaller, the higher.
    prio: i32,
}

/// The probe, which runs now, maybe on another CPU than the one that is followed.
pub(crate) fn probe(memory: &GuestMemory, facts: &Facts) -> Option<Probe> {
    let places = match scheduler::followed() {
        Some(followed) if !scheduler::is_alone() => places_of(memory, &facts.tasks, followed, counts::running())?,
        _ => facts.tasks,
    };
    let task = current_pointer(memory, &places)?;
    let prio = prio(memory, facts, task)?;
    Some(Probe { task, prio })
}

/// The current task.
pub(crate) fn current(memory: &GuestMemory, facts: &Facts) -> Option<u64> {
    current_pointer(memory, &facts.tasks)
}

/// The thread that the followed CPU runs.
pub(crate) fn now(memory: &GuestMemory, facts: &Facts, probe: Probe) -> Option<Thread> {
    thread(memory, facts, probe, current(memory, facts)?)
}

/// A task's priority in force: the smaller, the higher.
fn prio(memory: &GuestMemory, facts: &Facts, task: u64) -> Option<i32> {
    let physical = facts.tasks.physical(task.wrapping_add(facts.prio))?;
    memory.read(physical).map(i32::from_le_bytes)
}

/// What a task is to the probe.
pub(crate) fn thread(memory: &GuestMemory, facts: &Facts, probe: Probe, task: u64) -> Option<Thread> {
    let physical = |offset: u64| facts.tasks.physical(task.wrapping_add(offset));
    let pid = u32::from_le_bytes(memory.read(physical(facts.tasks.pid)?)?);
    let comm: [u8; TaskPlaces::COMM_LEN] = memory.read(physical(facts.tasks.comm)?)?;
    let role = if pid == 0 {
        Role::Idle
    } else if task != probe.task && prio(memory, facts, task)? <= probe.prio {
        Role::Above
    } else if comm.starts_with(b"ksoftirqd/") {
        Role::SoftInterrupts
    } else {
        Role::Below
    };
    Some(Thread { task, role })
}
