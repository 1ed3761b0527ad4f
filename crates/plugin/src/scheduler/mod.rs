//! Schedules the machine's CPUs in QEMU's stead, so that several run side by side and every run is the same.
//!
//! Under instruction-counted time QEMU runs all CPUs on one thread, one after the other, and its main loop, another
//! thread, moves virtual time while they sleep. What comes when then depends on which thread is quicker. Here only the
//! CPUs' thread moves time, by [`slices`]: nothing that happens outside of it can change what the guest sees.
//!
//! QEMU has no interface for that. So a few of its functions are replaced in memory ([`patch`], [`qemu`]), after a check
//! that this QEMU is one of those that are known.

mod budget;
#[cfg(not(test))]
mod clocks;
#[cfg(not(test))]
mod disk;
#[cfg(not(test))]
mod extra_time;
#[cfg(not(test))]
mod finder;
#[cfg(not(test))]
mod followed;
mod holders;
#[cfg_attr(test, expect(dead_code, reason = "used beside QEMU only"))]
mod lone_pause;
mod patch;
#[cfg(not(test))]
mod qemu;
mod running;
#[cfg(not(test))]
mod settings;
mod slices;
#[cfg(not(any(test, feature = "guest-arm64")))]
mod translation;

#[cfg(test)]
pub(crate) use budget::Fields;
#[cfg(not(test))]
pub(crate) use extra_time::{fetched, paused};
#[cfg(not(test))]
pub(crate) use followed::{followed, is_followed, is_measured, measures};
#[cfg(not(test))]
pub(crate) use qemu::handle;
#[cfg(not(test))]
pub(crate) use qemu::{begin_kicks, fetches, pauses_alone, take_no_time, take_over, time_at, word_at};
pub(crate) use running::{RunningSlice, SLICE};
#[cfg(not(test))]
pub(crate) use settings::{Settings, is_alone, is_port_slow, set};
#[cfg(not(any(test, feature = "guest-arm64")))]
pub(crate) use translation::Translation;
