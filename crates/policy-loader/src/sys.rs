//! What the loader asks the kernel for itself.

/// Stays in memory, and answers whatever the attached scheduler does: as SCHED_FIFO it is not among its tasks.
/// Without the right to either, it works as well, only less promptly.
pub(crate) fn stand_apart() {
    // SAFETY: Takes flags and changes no memory that Rust knows of.
    unsafe { libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE) };
    let lowest = libc::sched_param { sched_priority: 1 };
    // SAFETY: The parameter lives during the call; 0 is the calling thread.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const lowest) };
}
