//! Loads that make interrupts, and what follows them.

use super::info::{LoadInfo, number};
use crate::device::Device;
use crate::venue::Only;
use worstcase_cell::loads::LoadKind;

pub(super) const RTC: LoadInfo = LoadInfo {
    kind: LoadKind::Rtc,
    about: "the real-time clock interrupts, 8192 times a second or @RATE (more than 64: root)",
    needs: "on a host more than 64 a second: root",
    details: "Reads the periodic interrupts of /dev/rtc.",
    example: "rtc@1024",
    rate: Some(0),
    ..LoadInfo::PLAIN
};

pub(super) const STROBE: LoadInfo = LoadInfo {
    kind: LoadKind::Strobe,
    about: "pulses on the parallel port, each an interrupt of it, 8192 a second or @RATE",
    details: "Writes pulses to the port's output, which is connected to its interrupt. Not beside the probe irq, which has \
              the port.",
    example: "strobe",
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
    details: "All 1000 timers of a process expire at the same moment, every 10 ms, in one interrupt: 259 us with \
              interrupts off, under none and full alike (lab, 6.1, N=1).",
    example: "timerfd:4",
    ..LoadInfo::PLAIN
};

pub(super) const EVENTFD: LoadInfo = LoadInfo {
    kind: LoadKind::Eventfd,
    takes: number("N", 100_000),
    about: "adds to and takes from one event (eventfd) that N (960) epoll instances wait for",
    details: "Nobody sleeps in them. eventfd_write tells each, interrupts off.",
    needs: "as many open files (ulimit -Hn)",
    example: "eventfd:100@1000",
    rate: Some(0),
    ..LoadInfo::PLAIN
};

pub(super) const RECEIVE: LoadInfo = LoadInfo {
    kind: LoadKind::Receive,
    // A process may usually have 1024 files open, which limits N.
    takes: number("N", 900),
    about: "broadcasts over loopback to N (64) UDP sockets, which four processes read (receive soft interrupts)",
    details: "Broadcasts 512 bytes over loopback to N UDP sockets of four processes, in one soft interrupt.",
    example: "receive:900@100",
    rate: Some(0),
    ..LoadInfo::PLAIN
};
