//! QEMU's clocks, by their numbers.

use std::ffi::c_int;

/// `QEMU_CLOCK_VIRTUAL`.
pub(crate) const VIRTUAL: c_int = 1;
/// All other kinds.
pub(crate) const OTHER_CLOCKS: [c_int; 3] = [0, 2, 3];
