//! The timer that wakes a probe on a host, and the probe's scheduling there.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The timer that wakes the measuring thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TimerKind {
    /// clock_nanosleep until an absolute time.
    Nanosleep,
    /// A periodic timerfd, read.
    Timerfd,
    /// A periodic POSIX timer that sends SIGALRM; the handler takes the instant.
    Posix,
    /// setitimer(ITIMER_REAL); one CPU only, because a process has one.
    Setitimer,
    /// The periodic interrupt of /dev/rtc; one CPU only. It has no due times, so it measures jitter only.
    Rtc,
}

/// The scheduling policy of the measuring threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SchedulingPolicy {
    /// SCHED_FIFO.
    Fifo,
    /// SCHED_RR.
    Rr,
    /// SCHED_DEADLINE, the interval as period and deadline; not pinned.
    Deadline,
    /// SCHED_OTHER.
    Other,
}

/// A word that is not known here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{word}' is not one of {known}")]
pub struct UnknownWord {
    word: String,
    known: String,
}

impl TimerKind {
    /// All.
    pub(crate) const ALL: [TimerKind; 5] = [
        TimerKind::Nanosleep,
        TimerKind::Timerfd,
        TimerKind::Posix,
        TimerKind::Setitimer,
        TimerKind::Rtc,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            TimerKind::Nanosleep => "nanosleep",
            TimerKind::Timerfd => "timerfd",
            TimerKind::Posix => "posix",
            TimerKind::Setitimer => "setitimer",
            TimerKind::Rtc => "rtc",
        }
    }
}

impl SchedulingPolicy {
    /// All.
    pub(crate) const ALL: [SchedulingPolicy; 4] = [
        SchedulingPolicy::Fifo,
        SchedulingPolicy::Rr,
        SchedulingPolicy::Deadline,
        SchedulingPolicy::Other,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            SchedulingPolicy::Fifo => "fifo",
            SchedulingPolicy::Rr => "rr",
            SchedulingPolicy::Deadline => "deadline",
            SchedulingPolicy::Other => "other",
        }
    }
}

fn of_name<T: Copy>(all: &[T], name: impl Fn(T) -> &'static str, word: &str) -> Result<T, UnknownWord> {
    all.iter()
        .copied()
        .find(|one| name(*one) == word)
        .ok_or_else(|| UnknownWord {
            word: word.escape_debug().to_string(),
            known: all.iter().map(|one| name(*one)).collect::<Vec<_>>().join(", "),
        })
}

impl FromStr for TimerKind {
    type Err = UnknownWord;
    fn from_str(word: &str) -> Result<TimerKind, UnknownWord> {
        of_name(&TimerKind::ALL, TimerKind::name, word)
    }
}

impl FromStr for SchedulingPolicy {
    type Err = UnknownWord;
    fn from_str(word: &str) -> Result<SchedulingPolicy, UnknownWord> {
        of_name(&SchedulingPolicy::ALL, SchedulingPolicy::name, word)
    }
}

impl fmt::Display for TimerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for SchedulingPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
