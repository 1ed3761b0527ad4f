//! Version 4 of the interface (QEMU 10).

use super::{Instruction, MAX_LEN};
use qemu_plugin_sys as sys;

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
