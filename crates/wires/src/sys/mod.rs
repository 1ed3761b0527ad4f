//! One file a device that interrupts.

pub mod gpio;
pub mod hpet;
pub(crate) mod parport;
pub(crate) mod serial;
