//! Version 4 of the interface (QEMU 10): additions go to a "scoreboard", an array with one element for each CPU.

use super::{Instruction, MAX_LEN, Started};
use crate::decode::Access;
use qemu_plugin_sys as sys;
use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, Ordering};

/// How to ask for writes only.
pub(crate) const ON_WRITES: sys::qemu_plugin_mem_rw = sys::qemu_plugin_mem_rw::QEMU_PLUGIN_MEM_W;

/// QEMU 10 lists what it executes.
pub(crate) fn drop_unexecuted(_instructions: &mut Vec<Instruction<'_>>) {}

/// Copies an instruction's bytes.
///
/// # Safety
/// `handle` must be of the block that is being translated.
pub(crate) unsafe fn copy_bytes(handle: *mut sys::qemu_plugin_insn) -> ([u8; MAX_LEN], usize) {
    let mut bytes = [0; MAX_LEN];
    // SAFETY: the caller's promise.
    let len = unsafe { sys::qemu_plugin_insn_size(handle) }.min(MAX_LEN);
    // SAFETY: version 4 copies at most `len` bytes, which `bytes` has.
    unsafe {
        sys::qemu_plugin_insn_data(handle, bytes.as_mut_ptr().cast(), len);
    }
    (bytes, len)
}

/// The scoreboard, one number for each CPU, of which only the first is used ([`crate::scheduler`]).
static BOARD: AtomicPtr<sys::qemu_plugin_scoreboard> = AtomicPtr::new(std::ptr::null_mut());

/// Makes the counter.
pub(crate) fn set_up() {
    // SAFETY: called once, while QEMU installs the plugin; the scoreboard is never freed.
    let board = unsafe { sys::qemu_plugin_scoreboard_new(size_of::<u64>()) };
    BOARD.store(board, Ordering::Relaxed);
}

fn entry() -> sys::qemu_plugin_u64 {
    sys::qemu_plugin_u64 {
        score: BOARD.load(Ordering::Relaxed),
        offset: 0,
    }
}

/// The counter.
pub(crate) fn count() -> u64 {
    // The sum over CPUs: when QEMU ends before it made its one CPU, asking for that CPU's number would abort it.
    // SAFETY: the scoreboard was made at installation.
    unsafe { sys::qemu_plugin_u64_sum(entry()) }
}

/// Adds to the counter.
pub(crate) fn add(n: u64) {
    // SAFETY: the scoreboard was made at installation, and has one element at least.
    unsafe { sys::qemu_plugin_u64_add(entry(), 0, n) }
}

/// Adds whenever this instruction starts.
pub(crate) fn add_when_started(handle: *mut sys::qemu_plugin_insn, n: u64) {
    // SAFETY: the handle is of the block being translated; the scoreboard lives as long as the process.
    unsafe {
        sys::qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(
            handle,
            sys::qemu_plugin_op::QEMU_PLUGIN_INLINE_ADD_U64,
            entry(),
            n,
        );
    }
}

/// Adds one after this access.
pub(crate) fn add_one_after(handle: *mut sys::qemu_plugin_insn, access: Access) {
    let rw = match access {
        Access::Only => sys::qemu_plugin_mem_rw::QEMU_PLUGIN_MEM_RW,
        Access::Write => ON_WRITES,
    };
    // SAFETY: as in `add_when_started`.
    unsafe {
        sys::qemu_plugin_register_vcpu_mem_inline_per_vcpu(
            handle,
            rw,
            sys::qemu_plugin_op::QEMU_PLUGIN_INLINE_ADD_U64,
            entry(),
            1,
        );
    }
}

/// Calls when the block starts, if the counter has reached `from`.
pub(crate) fn on_block_start(handle: *mut sys::qemu_plugin_tb, call: Started, from: u64, data: u64) {
    // SAFETY: as in `add_when_started`; the data is never followed.
    unsafe {
        sys::qemu_plugin_register_vcpu_tb_exec_cond_cb(
            handle,
            Some(call),
            sys::qemu_plugin_cb_flags::QEMU_PLUGIN_CB_NO_REGS,
            sys::qemu_plugin_cond::QEMU_PLUGIN_COND_GE,
            entry(),
            from,
            data as *mut c_void,
        );
    }
}
