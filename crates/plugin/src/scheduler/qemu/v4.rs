//! Names and forms of QEMU 10 and 11.

use super::stand_ins::{By, execute};
use super::{CStr, OnceLock, c_void};
use crate::scheduler::index::Index;

pub(crate) const LOCK: &CStr = c"bql_lock_impl";
pub(crate) const UNLOCK: &CStr = c"bql_unlock";

pub(crate) fn replacements() -> &'static [(&'static CStr, By)] {
    &[(c"tcg_cpu_exec", By(execute as *const c_void))]
}

/// Runs a CPU so that what it translates counts on the one counter.
///
/// # Safety
/// `cpu` is QEMU's CPU of this number, run on the thread of the CPUs.
pub(crate) unsafe fn as_counted<T>(cpu: *mut c_void, number: usize, work: impl FnOnce() -> T) -> T {
    static INDEX: OnceLock<Index> = OnceLock::new();
    if number == 0 {
        return work();
    }
    let index = *INDEX.get_or_init(|| {
        // SAFETY: CPUs 0 and 1 exist, since one with a higher number than 0 runs; the lab's machine looks for none meanwhile.
        let found = unsafe { Index::find(super::cpu(0), super::cpu(1), super::qemu().call.qemu_get_cpu) };
        found.unwrap_or_else(|| {
            eprintln!("worstcase-plugin: this QEMU cannot count on several CPUs: its CPUs' numbers are not found");
            std::process::exit(1)
        })
    });
    // SAFETY: the caller's promise.
    unsafe { index.with_first_counter(cpu, number, work) }
}

/// Lets a CPU execute at most so many instructions.
///
/// # Safety
/// `prepare` is `icount_prepare_for_run` of QEMU 10, called on the thread of the CPUs.
pub(crate) unsafe fn prepare(prepare: *mut c_void, cpu: *mut c_void, most: i64) {
    // SAFETY: it has this form.
    unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void, i64)>(prepare)(cpu, most) };
}
