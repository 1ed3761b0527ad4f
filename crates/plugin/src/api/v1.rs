//! Version 1 of the interface, with what QEMU 7.2 gets wrong: additions go to any address.

use super::{Instruction, MAX_LEN, Started};
use crate::decode::{self, Access};
use qemu_plugin_sys as sys;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};

/// How to ask for writes only. QEMU 7.2 compares the wanted kinds (reads 1, writes 2, both 3) with the access's
/// kind plus one: code generated for reads runs on writes only, code generated for writes on both.
pub(crate) const ON_WRITES: sys::qemu_plugin_mem_rw = sys::qemu_plugin_mem_rw::QEMU_PLUGIN_MEM_R;

/// QEMU 7.2 begins to translate an instruction that reaches into the next page, puts it off to the next block, and
/// still lists what it has read of it. It is not executed here: to count with it is wrong.
pub(crate) fn drop_unexecuted(instructions: &mut Vec<Instruction<'_>>) {
    let n = instructions.len();
    instructions.pop_if(|last| {
        let may_cross_pages = last.vaddr() % 4096 > 4096 - MAX_LEN as u64;
        n > 1 && may_cross_pages && decode::is_cut_short(last.bytes())
    });
}

/// Copies an instruction's bytes.
///
/// # Safety
/// `handle` must be of the block that is being translated.
pub(crate) unsafe fn copy_bytes(handle: *mut sys::qemu_plugin_insn) -> ([u8; MAX_LEN], usize) {
    let mut bytes = [0; MAX_LEN];
    // SAFETY: the caller's promise.
    let len = unsafe { sys::qemu_plugin_insn_size(handle) }.min(MAX_LEN);
    // SAFETY: version 1 returns a pointer to as many bytes as the instruction has.
    unsafe {
        let data = sys::qemu_plugin_insn_data(handle).cast::<u8>();
        bytes[..len].copy_from_slice(std::slice::from_raw_parts(data, len));
    }
    (bytes, len)
}

/// Advanced by the code that QEMU generates, on the one CPU's thread; read on the same thread, and at exit.
static COUNTER: AtomicU64 = AtomicU64::new(0);

/// Where additions of nothing go.
static NOTHING: AtomicU64 = AtomicU64::new(0);

/// The counter is a static.
pub(crate) fn set_up() {}

/// The counter.
pub(crate) fn count() -> u64 {
    COUNTER.load(Ordering::Relaxed)
}

/// Adds to the counter.
pub(crate) fn add(n: u64) {
    COUNTER.fetch_add(n, Ordering::Relaxed);
}

/// Adds whenever this instruction starts.
pub(crate) fn add_when_started(handle: *mut sys::qemu_plugin_insn, n: u64) {
    // SAFETY: the handle is of the block being translated; the counter lives as long as the process.
    unsafe {
        sys::qemu_plugin_register_vcpu_insn_exec_inline(
            handle,
            sys::qemu_plugin_op::QEMU_PLUGIN_INLINE_ADD_U64,
            COUNTER.as_ptr().cast(),
            n,
        );
    }
}

/// Adds one after this access.
///
/// QEMU 7.2 forgets, after a block that ends in a branch, that this instruction's additions are over: they are
/// also made for what the CPU's helpers access later (interrupt delivery, `iret`). The helpers match kinds as
/// documented and stop at the first that does not match, generated code does as [`ON_WRITES`] says. Hence
/// lists that add one in generated code and nothing, in sum, in helpers.
pub(crate) fn add_one_after(handle: *mut sys::qemu_plugin_insn, access: Access) {
    use sys::qemu_plugin_mem_rw::*;
    const MINUS_ONE: u64 = u64::MAX;
    let additions: &[_] = match access {
        // Helpers: a write stops at the first; a read adds nothing and stops at the second.
        Access::Only => &[(&NOTHING, QEMU_PLUGIN_MEM_R, 0), (&COUNTER, QEMU_PLUGIN_MEM_W, 1)],
        // Code: a read adds -1 and 1, a write all three. Helpers: a read the first two, a write none.
        Access::Write => &[
            (&COUNTER, QEMU_PLUGIN_MEM_R, 1),
            (&COUNTER, QEMU_PLUGIN_MEM_RW, MINUS_ONE),
            (&COUNTER, QEMU_PLUGIN_MEM_W, 1),
        ],
    };
    for (to, rw, n) in additions {
        // SAFETY: as in `add_when_started`; both numbers live as long as the process.
        unsafe {
            sys::qemu_plugin_register_vcpu_mem_inline(
                handle,
                *rw,
                sys::qemu_plugin_op::QEMU_PLUGIN_INLINE_ADD_U64,
                to.as_ptr().cast(),
                *n,
            );
        }
    }
}

/// Calls whenever the block starts: version 1 cannot compare.
pub(crate) fn on_block_start(handle: *mut sys::qemu_plugin_tb, call: Started, _from: u64, data: u64) {
    // SAFETY: the handle is of the block being translated; the data is never followed.
    unsafe {
        sys::qemu_plugin_register_vcpu_tb_exec_cb(
            handle,
            Some(call),
            sys::qemu_plugin_cb_flags::QEMU_PLUGIN_CB_NO_REGS,
            data as *mut c_void,
        );
    }
}
