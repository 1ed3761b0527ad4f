//! Names and forms of QEMU 7.2.

use super::stand_ins::{By, execute};
use super::{AtomicBool, AtomicI64, CStr, Relaxed, c_void};

/// Most instructions that a CPU may execute.
static MOST: AtomicI64 = AtomicI64::new(i64::MAX);
/// So many, and no fewer.
static EXACTLY: AtomicBool = AtomicBool::new(false);

pub(crate) const LOCK: &CStr = c"qemu_mutex_lock_iothread_impl";
pub(crate) const UNLOCK: &CStr = c"qemu_mutex_unlock_iothread";

pub(crate) fn replacements() -> &'static [(&'static CStr, By)] {
    &[
        (c"tcg_cpus_exec", By(execute as *const c_void)),
        (c"icount_round", By(round as *const c_void)),
    ]
}

/// Instructions that fit into so many ns, but not more than the slice has.
unsafe extern "C" fn round(ns: i64) -> i64 {
    let (shift, most) = (super::qemu().shift(), MOST.load(Relaxed));
    match EXACTLY.load(Relaxed) {
        true => most,
        false => ((ns + (1 << shift) - 1) >> shift).min(most),
    }
}

/// Lets a CPU execute at most so many instructions.
///
/// # Safety
/// `prepare` is 7.2's `icount_prepare_for_run`, called on the thread of the CPUs.
pub(crate) unsafe fn prepare(prepare: *mut c_void, cpu: *mut c_void, most: i64) {
    MOST.store(most, Relaxed);
    // SAFETY: it has this form.
    unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void)>(prepare)(cpu) };
    MOST.store(i32::MAX.into(), Relaxed);
}

/// Lets a CPU execute so many instructions, whatever timers there are.
///
/// # Safety
/// As above; no CPU runs.
pub(crate) unsafe fn prepare_exactly(function: *mut c_void, cpu: *mut c_void, instructions: i64) {
    EXACTLY.store(true, Relaxed);
    // SAFETY: the caller's promise.
    unsafe { prepare(function, cpu, instructions) };
    EXACTLY.store(false, Relaxed);
}
