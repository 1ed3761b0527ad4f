//! Names of QEMU 7.2 and 8.2.

use super::CStr;

pub(crate) const LOCK: &CStr = c"qemu_mutex_lock_iothread_impl";
pub(crate) const UNLOCK: &CStr = c"qemu_mutex_unlock_iothread";
pub(crate) const EXECUTE: &CStr = c"tcg_cpus_exec";
