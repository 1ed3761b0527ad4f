//! One file a device that interrupts.

pub mod gpio;
pub mod hpet;
pub mod parport;
pub mod serial;
