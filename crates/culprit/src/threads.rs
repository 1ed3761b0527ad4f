//! Threads with names and priorities, and computing of a known length.

use std::convert::Infallible;
use std::io;
use std::thread::{Builder, JoinHandle};
use worstcase_contract::Nanos;
use worstcase_instruments::sys::{clock, sched::Policy};

/// Above the probe.
const HIGHEST: u8 = 99;
/// Not the probe's period, so that the two walk past each other.
const PERIOD: Nanos = Nanos(200_000);

/// Executes at least so many instructions, and few more.
pub(crate) fn compute(instructions: u32) {
    count_down(u64::from(instructions.div_ceil(2)).max(1));
}

#[cfg(target_arch = "x86_64")]
fn count_down(turns: u64) {
    // SAFETY: counts a register down to zero, two instructions a turn.
    unsafe { std::arch::asm!("2:", "sub {turns}, 1", "jnz 2b", turns = inout(reg) turns => _, options(nomem, nostack)) }
}

#[cfg(target_arch = "aarch64")]
fn count_down(turns: u64) {
    // SAFETY: counts a register down to zero, two instructions a turn.
    unsafe {
        std::arch::asm!("2:", "subs {turns}, {turns}, #1", "b.ne 2b", turns = inout(reg) turns => _, options(nomem, nostack))
    }
}

/// Starts a thread that the kernel knows by this name.
pub(crate) fn named(name: &str, body: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    Builder::new().name(name.into()).spawn(body)
}

/// Every [`PERIOD`], with the highest priority.
pub(crate) fn highest_every_period(mut work: impl FnMut()) -> io::Result<Infallible> {
    Policy::fifo(HIGHEST).apply()?;
    let mut due = clock::monotonic();
    loop {
        due = due + PERIOD;
        clock::sleep_until(due);
        work();
    }
}

/// A thread above the probe that computes, and one below that leaves the CPU no idle time.
pub(crate) fn above(instructions: u32) -> io::Result<Infallible> {
    named("planted-above", move || {
        let failed = highest_every_period(|| compute(instructions));
        failed.expect("root may have every priority");
    })?;
    loop {
        compute(u32::MAX);
    }
}

/// Waits for a thread that has no end.
pub(crate) fn gone(thread: JoinHandle<()>) -> io::Error {
    match thread.join() {
        Ok(()) => io::Error::other("a thread ended"),
        Err(_) => io::Error::other("a thread panicked"),
    }
}
