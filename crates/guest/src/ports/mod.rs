//! What differs between the boards of lab machines: where a cell's text comes from, where its record goes, how the machine
//! stops, and which counter shows virtual time.
//!
//! A board has
//! - `prepare`, which comes first;
//! - `select` and `next`: an item of fw_cfg (docs/specs/fw_cfg), and its bytes;
//! - `send`: bytes for the controller;
//! - `stop_register`: that of QEMU's pvpanic device;
//! - `counter`;
//! - `TIMER_ENTRY`, `VECTORS`: what the controller must know of the kernel's code.

#[cfg(any(test, target_arch = "aarch64"))]
mod mailbox;
#[cfg_attr(target_arch = "x86_64", path = "q35.rs")]
#[cfg_attr(target_arch = "aarch64", path = "virt.rs")]
mod this;

pub(crate) use this::{StopRegister, TIMER_ENTRY, VECTORS, counter, next, prepare, select, send, stop_register};
