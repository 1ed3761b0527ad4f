//! What QEMU calls, as far as every version up to 6 has it.

use crate::api::Block;
use crate::plugin;
use qemu_plugin_sys as sys;
use std::ffi::{c_int, c_uint, c_void};

/// The version that QEMU is told.
pub(crate) const VERSION: c_int = sys::QEMU_PLUGIN_VERSION as c_int;

/// Tells QEMU what to call.
///
/// # Safety
/// Only while QEMU installs the plugin, with the plugin's id.
pub(crate) unsafe fn register(id: sys::qemu_plugin_id_t) {
    // SAFETY: the caller's promise; the functions have the form of this version.
    unsafe {
        sys::qemu_plugin_register_vcpu_init_cb(id, Some(cpu));
        sys::qemu_plugin_register_vcpu_tb_trans_cb(id, Some(translated));
        sys::qemu_plugin_register_atexit_cb(id, Some(exit), std::ptr::null_mut());
    }
}

unsafe extern "C" fn cpu(_id: sys::qemu_plugin_id_t, number: c_uint) {
    plugin::cpu_made(number);
}

unsafe extern "C" fn translated(_id: sys::qemu_plugin_id_t, block: *mut sys::qemu_plugin_tb) {
    // SAFETY: QEMU's handle, which is gone when this returns, as the block is.
    plugin::translated(&unsafe { Block::of(block) });
}

unsafe extern "C" fn exit(_id: sys::qemu_plugin_id_t, _data: *mut c_void) {
    plugin::finish();
}
