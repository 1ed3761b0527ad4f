//! Version 1 of the interface, with what QEMU 7.2 gets wrong, and 8.2 in part.

use super::{Instruction, MAX_LEN};
use crate::decode;
use qemu_plugin_sys as sys;

/// How to ask for writes only. QEMU 7.2 and 8.2 compare the wanted kinds (reads 1, writes 2, both 3) with the access's
/// kind plus one: code generated for reads runs on writes only, code generated for writes on both.
pub(crate) const ON_WRITES: sys::qemu_plugin_mem_rw = sys::qemu_plugin_mem_rw::QEMU_PLUGIN_MEM_R;

/// QEMU 7.2 begins to translate an instruction that reaches into the next page, puts it off to the next block, and
/// still lists what it has read of it. It is not executed here: to count with it is wrong. 8.2 lists what it executes, which is
/// never cut short.
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
