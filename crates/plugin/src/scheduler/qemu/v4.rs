//! Names and forms of QEMU 10 and 11.

use super::{CStr, c_void};

pub(crate) const LOCK: &CStr = c"bql_lock_impl";
pub(crate) const UNLOCK: &CStr = c"bql_unlock";
pub(crate) const EXECUTE: &CStr = c"tcg_cpu_exec";

/// Lets a CPU execute as many instructions as fit, but not more than `most`.
///
/// # Safety
/// `prepare` is `icount_prepare_for_run` of QEMU 10, called on the thread of the CPUs.
pub(crate) unsafe fn prepare(prepare: *mut c_void, cpu: *mut c_void, most: i64) {
    // SAFETY: it has this form.
    unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void, i64)>(prepare)(cpu, most) };
}
