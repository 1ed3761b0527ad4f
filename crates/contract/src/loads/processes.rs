//! Loads of many ordinary processes.

use super::info::{LoadInfo, number};
use worstcase_cell::loads::LoadKind;

pub(super) const FORK: LoadInfo = LoadInfo {
    kind: LoadKind::Fork,
    about: "forks a child that writes to inherited memory and exits, waits for it, and again",
    details: "A process with 1 MiB of written memory forks a child, which writes to up to 64 of the inherited pages (the \
              seed decides which) and exits.",
    example: "fork@100",
    rate: Some(0),
    ..LoadInfo::PLAIN
};

pub(super) const EXEC: LoadInfo = LoadInfo {
    kind: LoadKind::Exec,
    takes: number("KIB", 4096),
    about: "starts a program with KIB of arguments (3072), which ends at once, again and again (execve)",
    details: "Arguments of 32 KiB. The lock of a page table is held for up to 512 pages of the new program's stack \
              (change_protection, called by mprotect_fixup).",
    needs: "a hard limit of the stack of four times KIB and 1 MiB (ulimit -Hs)",
    example: "exec:256@50",
    rate: Some(0),
    ..LoadInfo::PLAIN
};

pub(super) const CPU: LoadInfo = LoadInfo {
    kind: LoadKind::Cpu,
    takes: number("N", 1024),
    about: "arithmetic, N processes (one a CPU)",
    details: "N processes, as many as CPUs if N is not given, compute: a round is 20 000 steps. As in latencytest.",
    example: "cpu:4",
    rate: Some(0),
    ..LoadInfo::PLAIN
};

pub(super) const TIMERS: LoadInfo = LoadInfo {
    kind: LoadKind::Timers,
    takes: number("N", 4096),
    about: "N processes (16 a CPU) that sleep about 1 ms, again and again (timer interrupts)",
    details: "N processes, 16 a CPU if N is not given, sleep for 0.5 to 1.5 ms (from the seed) with a timer slack of 1 ns: \
              1000 expiries a second of each process, or @RATE of all, spread at random. timers:1@8192 stands for the \
              clock's periodic interrupt, which kernels make by a timer (commit 6610e0893b8b, \"RTC: Rework RTC code to \
              use timerqueue for events\").",
    example: "timers:1@8192",
    rate: Some(0),
    ..LoadInfo::PLAIN
};

pub(super) const SOCKETS: LoadInfo = LoadInfo {
    kind: LoadKind::Sockets,
    about: "message ping-pong and streaming over loopback TCP and UNIX sockets, eight processes",
    details: "Eight processes in pairs: two TCP pairs over loopback and one UNIX pair return messages of 512 bytes, one \
              TCP pair streams blocks of 16 KiB.",
    example: "sockets",
    ..LoadInfo::PLAIN
};

pub(super) const DRAW: LoadInfo = LoadInfo {
    kind: LoadKind::Draw,
    about: "a program asks over a socket, a server draws into a frame of 1024 x 768 (a desktop's drawing)",
    details: "A program asks over a UNIX socket, 64 requests at a time, and a server draws them in a frame of 1024 x 768.",
    example: "draw@50",
    rate: Some(0),
    ..LoadInfo::PLAIN
};
