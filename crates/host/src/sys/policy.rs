//! Scheduling policy of the calling thread.

use super::check;
use std::io;
use worstcase_probe::Nanos;

/// `struct sched_attr` as of Linux 3.14.
#[repr(C)]
struct SchedAttr {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime: u64,
    deadline: u64,
    period: u64,
}

fn set(attr: &SchedAttr) -> io::Result<()> {
    // SAFETY: `attr` is a valid sched_attr of the size that it states; 0 is the calling thread.
    check(unsafe { libc::syscall(libc::SYS_sched_setattr, 0, std::ptr::from_ref(attr), 0) })?;
    Ok(())
}

fn attr(policy: libc::c_int) -> SchedAttr {
    SchedAttr {
        size: size_of::<SchedAttr>() as u32,
        policy: policy as u32,
        flags: 0,
        nice: 0,
        priority: 0,
        runtime: 0,
        deadline: 0,
        period: 0,
    }
}

/// SCHED_FIFO.
pub fn fifo(priority: u8) -> io::Result<()> {
    set(&SchedAttr {
        priority: u32::from(priority),
        ..attr(libc::SCHED_FIFO)
    })
}

/// SCHED_RR.
pub fn round_robin(priority: u8) -> io::Result<()> {
    set(&SchedAttr {
        priority: u32::from(priority),
        ..attr(libc::SCHED_RR)
    })
}

/// SCHED_DEADLINE with the period as deadline.
pub fn deadline(runtime: Nanos, period: Nanos) -> io::Result<()> {
    set(&SchedAttr {
        runtime: runtime.0,
        deadline: period.0,
        period: period.0,
        ..attr(libc::SCHED_DEADLINE)
    })
}

/// SCHED_OTHER, nice 0.
pub fn other() -> io::Result<()> {
    set(&attr(libc::SCHED_OTHER))
}
