//! QEMU 8.2 is told that each CPU has the machine for itself: it has, as one thread runs them all.
//!
//! 8.2 asks for it where a page table gets a bit of access on behalf of an instruction whose accesses the plugin sees. The CPU runs
//! then, and 8.2 would wait for ever for all that run. A CPU that has the machine already waits for none: it counts how often.

use super::{Cpu, Finder, cpu, cpus, qemu};
use crate::scheduler::holders::HolderCount;
use std::ffi::c_void;
use std::sync::atomic::Ordering::Relaxed;

pub(super) struct Calls {
    start: unsafe extern "C" fn(),
    end: unsafe extern "C" fn(),
}

impl Calls {
    /// None where QEMU has another way: 7.2 does not ask for it there, 10 stops being a CPU that runs.
    pub(super) fn find(finder: &Finder) -> Result<Option<Calls>, String> {
        // It came with 8.0.
        if !cfg!(feature = "api-v1") || finder.find(c"icount_percpu_budget").is_err() {
            return Ok(None);
        }
        // SAFETY: functions of these names have this form.
        let form = |function| unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn()>(function) };
        Ok(Some(Calls {
            start: form(finder.find(c"start_exclusive")?),
            end: form(finder.find(c"end_exclusive")?),
        }))
    }
}

/// Tells it.
///
/// # Safety
/// On the thread of the CPUs, in the loop of this CPU; none runs.
pub(super) unsafe fn hold(caller: Cpu) {
    let Some(calls) = &qemu().versioned.exclusive else {
        return;
    };
    // SAFETY: QEMU allocates its CPUs one by one, and is called as it calls itself outside of a CPU's code.
    let found = unsafe {
        let size = libc::malloc_usable_size(caller);
        HolderCount::find(caller, size, || (calls.start)(), || (calls.end)())
    };
    let Some(found) = found else {
        eprintln!("worstcase-plugin: this QEMU does not count who has the machine for itself as 8.2 does");
        std::process::exit(1);
    };
    for n in 0..cpus() {
        // SAFETY: a CPU that exists.
        unsafe { found.of(cpu(n)) }.store(1, Relaxed);
    }
}
