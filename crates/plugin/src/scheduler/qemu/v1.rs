//! Names and forms of QEMU 7.2.

use super::stand_ins::{By, execute};
use super::{AtomicI64, CStr, Relaxed, c_void};

/// Most instructions that a CPU may execute.
static MOST: AtomicI64 = AtomicI64::new(i64::MAX);

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
    let shift = super::qemu().shift();
    ((ns + (1 << shift) - 1) >> shift).min(MOST.load(Relaxed))
}

/// All CPUs share one counter anyhow.
///
/// # Safety
/// None is needed.
pub(crate) unsafe fn as_counted<T>(_cpu: *mut c_void, _number: usize, work: impl FnOnce() -> T) -> T {
    work()
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
