//! Names and forms of QEMU 10 and 11.

use super::stand_ins::{By, execute};
use super::{CStr, c_void};

pub(crate) const LOCK: &CStr = c"bql_lock_impl";
pub(crate) const UNLOCK: &CStr = c"bql_unlock";

pub(crate) fn replacements() -> &'static [(&'static CStr, By)] {
    &[(c"tcg_cpu_exec", By(execute as *const c_void))]
}

/// Lets a CPU execute at most so many instructions.
///
/// # Safety
/// `prepare` is `icount_prepare_for_run` of QEMU 10, called on the thread of the CPUs.
pub(crate) unsafe fn prepare(prepare: *mut c_void, cpu: *mut c_void, most: i64) {
    // SAFETY: it has this form.
    unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void, i64)>(prepare)(cpu, most) };
}

pub(crate) use prepare as prepare_exactly;
