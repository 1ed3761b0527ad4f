//! What QEMU looks for in the plugin: the interface's version, and the function that sets it up.
//!
//! `callbacks` tells QEMU what to call later: `entry/callbacks.rs`, or from 11.1 on `entry/callbacks_v7.rs`.

#[cfg_attr(feature = "api-v7", path = "entry/callbacks_v7.rs")]
mod callbacks;

use crate::plugin::{self, QemuInfo};
use qemu_plugin_sys as sys;
use std::ffi::{CStr, c_char, c_int};

/// The interface's version that this build speaks; QEMU refuses the plugin if it does not.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "QEMU looks for this name")]
pub static qemu_plugin_version: c_int = callbacks::VERSION;

/// QEMU's entry; anything but 0 makes QEMU end.
///
/// # Safety
/// Only QEMU calls this, with its own description and `argc` strings in `argv`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qemu_plugin_install(
    id: sys::qemu_plugin_id_t,
    info: *const sys::qemu_info_t,
    argc: c_int,
    argv: *const *const c_char,
) -> c_int {
    // SAFETY: QEMU passes a valid description; `system` is the only member of its union.
    let machine = unsafe {
        QemuInfo {
            target: text((*info).target_name),
            whole_system: (*info).system_emulation,
            cpus: (*info).__bindgen_anon_1.system.smp_vcpus,
        }
    };
    let arguments: Vec<String> = (0..usize::try_from(argc).unwrap_or(0))
        // SAFETY: QEMU passes `argc` strings.
        .map(|i| unsafe { text(*argv.add(i)) })
        .collect();
    if let Err(message) = plugin::install(&machine, &arguments) {
        eprintln!("worstcase-plugin: {message}");
        return -1;
    }
    // SAFETY: called during installation with this plugin's id.
    unsafe { callbacks::register(id) };
    0
}

/// SAFETY: `string` must be a valid C string.
unsafe fn text(string: *const c_char) -> String {
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(string) }.to_string_lossy().into_owned()
}
