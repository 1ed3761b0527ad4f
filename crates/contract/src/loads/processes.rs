//! Loads of many ordinary processes.

use super::info::{LoadInfo, number};
use worstcase_cell::loads::LoadKind;

pub(super) const FORK: LoadInfo = LoadInfo {
    kind: LoadKind::Fork,
    about: "forks a child that writes to inherited memory and exits, waits for it, and again",
    rate: Some(0),
    ..LoadInfo::PLAIN
};

pub(super) const CPU: LoadInfo = LoadInfo {
    kind: LoadKind::Cpu,
    takes: number("N", 1024),
    about: "arithmetic, N processes (one a CPU)",
    rate: Some(0),
    ..LoadInfo::PLAIN
};

pub(super) const TIMERS: LoadInfo = LoadInfo {
    kind: LoadKind::Timers,
    takes: number("N", 4096),
    about: "N processes (16 a CPU) that sleep about 1 ms, again and again (timer interrupts)",
    rate: Some(0),
    ..LoadInfo::PLAIN
};

pub(super) const SOCKETS: LoadInfo = LoadInfo {
    kind: LoadKind::Sockets,
    about: "message ping-pong and streaming over loopback TCP and UNIX sockets, eight processes",
    ..LoadInfo::PLAIN
};

pub(super) const DRAW: LoadInfo = LoadInfo {
    kind: LoadKind::Draw,
    about: "a program asks over a socket, a server draws into a frame of 1024 x 768 (a desktop's drawing)",
    rate: Some(0),
    ..LoadInfo::PLAIN
};
