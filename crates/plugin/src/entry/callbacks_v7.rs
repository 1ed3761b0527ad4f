//! What QEMU calls, as version 7 has it (QEMU 11.1): data of the plugin's own instead of its id.

use crate::api::Block;
use crate::plugin;
use qemu_plugin_sys as sys;
use std::ffi::{c_int, c_uint, c_void};
use std::ptr::null_mut;

/// The version that QEMU is told. All else that is used here is as in version 4.
pub(crate) const VERSION: c_int = 7;

type OnCpu = unsafe extern "C" fn(c_uint, *mut c_void);
type OnTranslation = unsafe extern "C" fn(*mut sys::qemu_plugin_tb, *mut c_void);
type OnExit = unsafe extern "C" fn(*mut c_void);

unsafe extern "C" {
    fn qemu_plugin_register_vcpu_init_cb(id: sys::qemu_plugin_id_t, call: OnCpu, data: *mut c_void);
    fn qemu_plugin_register_vcpu_tb_trans_cb(id: sys::qemu_plugin_id_t, call: OnTranslation, data: *mut c_void);
    fn qemu_plugin_register_atexit_cb(id: sys::qemu_plugin_id_t, call: OnExit, data: *mut c_void);
}

/// Tells QEMU what to call.
///
/// # Safety
/// Only while QEMU installs the plugin, with the plugin's id.
pub(crate) unsafe fn register(id: sys::qemu_plugin_id_t) {
    // SAFETY: the caller's promise; the functions have the form of this version.
    unsafe {
        qemu_plugin_register_vcpu_init_cb(id, cpu, null_mut());
        qemu_plugin_register_vcpu_tb_trans_cb(id, translated, null_mut());
        qemu_plugin_register_atexit_cb(id, exit, null_mut());
    }
}

unsafe extern "C" fn cpu(number: c_uint, _data: *mut c_void) {
    plugin::cpu_made(number);
}

unsafe extern "C" fn translated(block: *mut sys::qemu_plugin_tb, _data: *mut c_void) {
    // SAFETY: QEMU's handle, which is gone when this returns, as the block is.
    plugin::translated(&unsafe { Block::of(block) });
}

unsafe extern "C" fn exit(_data: *mut c_void) {
    plugin::finish();
}
