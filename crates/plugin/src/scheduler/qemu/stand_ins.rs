//! Functions that stand for some of QEMU's.

use super::allow::round;
use super::exclusive;
use super::{Cpu, EXCP_INTERRUPT, OnCpuThread, RUNNING, SENT, cpu, cpus, qemu, version};
use crate::scheduler::clocks::OTHER_CLOCKS;
use crate::scheduler::followed::followed;
use crate::scheduler::settings::settings;
use crate::scheduler::slices::{Back, Slices};
use std::ffi::{CStr, c_int, c_void};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError};

static SLICES: Mutex<Option<Slices>> = Mutex::new(None);

/// A function that stands for one of QEMU's.
#[derive(Clone, Copy)]
pub(super) struct By(pub(super) *const c_void);

// SAFETY: the address of a function.
unsafe impl Sync for By {}

pub(super) const REPLACEMENTS: &[(&CStr, By)] = &[
    (version::EXECUTE, By(execute as *const c_void)),
    (c"icount_round", By(round as *const c_void)),
    (c"icount_handle_interrupt", By(handle_interrupt as *const c_void)),
    (c"icount_start_warp_timer", By(nothing as *const c_void)),
    (c"icount_handle_deadline", By(nothing as *const c_void)),
    (c"all_cpu_threads_idle", By(all_idle as *const c_void)),
    (c"qemu_clock_run_all_timers", By(run_other_timers as *const c_void)),
];

/// What stands for `cpu_exec`, the core of `version::EXECUTE`.
pub(super) const INLINED: By = By(execute_within as *const c_void);

/// For `tcg_cpus_exec` (7.2) and `tcg_cpu_exec`: runs not this CPU, but the one whose turn it is.
unsafe extern "C" fn execute(caller: Cpu) -> c_int {
    // SAFETY: what QEMU's loop has prepared for the CPU that it chose is taken back.
    unsafe { (qemu().call.icount_process_data)(caller) };
    let mut machine = OnCpuThread;
    let mut guard = SLICES.lock().unwrap_or_else(PoisonError::into_inner);
    let slices = guard.get_or_insert_with(|| {
        let quantum = settings().quantum;
        // SAFETY: called without arguments, as it is meant.
        let now = unsafe { (qemu().call.icount_get)() };
        // SAFETY: this CPU's loop called, and none runs.
        unsafe { exclusive::hold(caller) };
        Slices::new(quantum, now, &machine)
    });
    match slices.run(&mut machine) {
        Back::Again => EXCP_INTERRUPT,
        Back::Special(code) => code,
    }
}

/// For `cpu_exec`: QEMU's loop calls it by itself where QEMU was optimised as a whole, which makes `version::EXECUTE` a part of the
/// loop (Ubuntu's 8.2 for arm64).
unsafe extern "C" fn execute_within(caller: Cpu) -> c_int {
    let call = &qemu().call;
    // SAFETY: the loop has begun it, and ends it.
    unsafe {
        (call.cpu_exec_end)(caller);
        let code = execute(caller);
        (call.cpu_exec_start)(caller);
        code
    }
}

/// For `icount_handle_interrupt`: an interrupt for another CPU ends the sender's slice.
unsafe extern "C" fn handle_interrupt(target: Cpu, mask: c_int) {
    let call = &qemu().call;
    // SAFETY: as QEMU called this.
    unsafe { (call.tcg_handle_interrupt)(target, mask) };
    let running = RUNNING.load(Relaxed);
    // SAFETY: called without arguments, as it is meant.
    if !running.is_null() && target != running && unsafe { (call.qemu_in_vcpu_thread)() } {
        SENT.store(true, Relaxed);
        if followed().is_some_and(|followed| cpu(followed) == target) {
            crate::record::sent();
        }
        // SAFETY: the CPU that runs.
        unsafe { (call.cpu_exit)(running) };
    }
}

/// For `icount_start_warp_timer` and `icount_handle_deadline`: only the scheduler moves the clock and runs its timers.
unsafe extern "C" fn nothing() {}

/// For `all_cpu_threads_idle`: while a timer is pending the scheduler has work. Another thread asks before it would move the clock,
/// in a copy of `icount_start_warp_timer` where QEMU was optimised as a whole (Ubuntu).
unsafe extern "C" fn all_idle() -> bool {
    let call = &qemu().call;
    // SAFETY: called without arguments, as it is meant.
    if !unsafe { (call.qemu_in_vcpu_thread)() } {
        return false;
    }
    // SAFETY: CPUs that exist.
    if (0..cpus()).any(|n| unsafe { !(call.cpu_thread_is_idle)(cpu(n)) }) {
        return false;
    }
    // SAFETY: called without arguments, as it is meant.
    let may_run = unsafe { (call.runstate_is_running)() };
    !may_run || qemu().deadline().is_none()
}

/// For `qemu_clock_run_all_timers`: the main loop leaves virtual time alone.
unsafe extern "C" fn run_other_timers() -> bool {
    let mut progress = false;
    for clock in OTHER_CLOCKS {
        // SAFETY: called with clocks.
        progress |= unsafe { (qemu().call.qemu_clock_run_timers)(clock) };
    }
    progress
}
