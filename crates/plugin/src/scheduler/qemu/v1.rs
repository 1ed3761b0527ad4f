//! Names and forms of QEMU 7.2.

use super::{CStr, c_void};

pub(crate) const LOCK: &CStr = c"qemu_mutex_lock_iothread_impl";
pub(crate) const UNLOCK: &CStr = c"qemu_mutex_unlock_iothread";
pub(crate) const EXECUTE: &CStr = c"tcg_cpus_exec";

/// Lets a CPU execute as many instructions as fit.
///
/// # Safety
/// `prepare` is 7.2's `icount_prepare_for_run`, called on the thread of the CPUs or before there is one.
pub(crate) unsafe fn prepare(prepare: *mut c_void, cpu: *mut c_void, _most: i64) {
    // SAFETY: it has this form.
    unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void)>(prepare)(cpu) };
}
