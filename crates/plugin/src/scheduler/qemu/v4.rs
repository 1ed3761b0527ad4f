//! Names of QEMU 10 and 11.

use super::CStr;

pub(crate) const LOCK: &CStr = c"bql_lock_impl";
pub(crate) const UNLOCK: &CStr = c"bql_unlock";
pub(crate) const EXECUTE: &CStr = c"tcg_cpu_exec";
