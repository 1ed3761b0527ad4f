//! How many instructions QEMU allows a CPU: as many as fit before the next timer, and not more than it is told.

use super::{Relaxed, c_void, qemu};
use std::sync::atomic::{AtomicBool, AtomicI64};

/// Most instructions that a CPU may execute.
static MOST: AtomicI64 = AtomicI64::new(i64::MAX);
/// So many, whatever timers there are.
static EXACTLY: AtomicBool = AtomicBool::new(false);

/// For `icount_round`: instructions that fit into so many ns, but not more than the slice has.
pub(super) unsafe extern "C" fn round(ns: i64) -> i64 {
    let (shift, most) = (qemu().shift(), MOST.load(Relaxed));
    match EXACTLY.load(Relaxed) {
        true => most,
        false => ((ns + (1 << shift) - 1) >> shift).min(most),
    }
}

/// Lets a CPU execute at most so many instructions.
///
/// # Safety
/// `cpu` is a CPU of QEMU's that does not run.
pub(super) unsafe fn allow(cpu: *mut c_void, most: i64) {
    MOST.store(most, Relaxed);
    // SAFETY: QEMU's function; that of 7.2 leaves the second argument alone, which comes in a register.
    unsafe { (qemu().call.icount_prepare_for_run)(cpu, most) };
    MOST.store(i32::MAX.into(), Relaxed);
}

/// Lets a CPU execute so many instructions, whatever timers there are.
///
/// # Safety
/// As above.
pub(super) unsafe fn allow_exactly(cpu: *mut c_void, instructions: i64) {
    EXACTLY.store(true, Relaxed);
    // SAFETY: the caller's promise.
    unsafe { allow(cpu, instructions) };
    EXACTLY.store(false, Relaxed);
}
