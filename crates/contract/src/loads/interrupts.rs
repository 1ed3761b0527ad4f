//! Loads that make interrupts, and what follows them.

use super::info::{LoadInfo, number};
use crate::device::Device;
use crate::venue::Only;
use worstcase_cell::loads::LoadKind;

pub(super) const RTC: LoadInfo = LoadInfo {
    kind: LoadKind::Rtc,
    about: "the real-time clock interrupts, 8192 times a second or @RATE (more than 64: root)",
    rate: Some(0),
    ..LoadInfo::PLAIN
};

pub(super) const STROBE: LoadInfo = LoadInfo {
    kind: LoadKind::Strobe,
    about: "pulses on the parallel port, each an interrupt of it, 8192 a second or @RATE",
    rate: Some(0),
    modules: &["parport_pc"],
    only: Only::lab("it writes to the parallel port of the whole machine"),
    device: Some(Device::Parport),
    ..LoadInfo::PLAIN
};

pub(super) const TIMERFD: LoadInfo = LoadInfo {
    kind: LoadKind::Timerfd,
    takes: number("N", 100),
    about: "N (1) processes with 1000 timers each; all expire in one interrupt, every 10 ms",
    ..LoadInfo::PLAIN
};

pub(super) const RECEIVE: LoadInfo = LoadInfo {
    kind: LoadKind::Receive,
    // A process may usually have 1024 files open, which limits N.
    takes: number("N", 900),
    about: "broadcasts over loopback to N (64) UDP sockets, which four processes read (receive soft interrupts)",
    rate: Some(0),
    ..LoadInfo::PLAIN
};
