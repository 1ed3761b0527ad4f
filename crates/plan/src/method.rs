//! What wakes a probe on a host, and how it is scheduled there.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// What wakes the measuring thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Timer {
    /// clock_nanosleep until an absolute time.
    Nanosleep,
    /// A periodic timerfd, read.
    Timerfd,
    /// A periodic POSIX timer that sends SIGALRM; the handler takes the instant.
    Posix,
    /// setitimer(ITIMER_REAL); one CPU only, because a process has one.
    Setitimer,
    /// The periodic interrupt of /dev/rtc; one CPU only. It has no due times, so jitter only.
    Rtc,
}

/// The scheduling policy of the measuring threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Policy {
    /// SCHED_FIFO.
    Fifo,
    /// SCHED_RR.
    Rr,
    /// SCHED_DEADLINE, the interval as period and deadline; not pinned.
    Deadline,
    /// SCHED_OTHER.
    Other,
}

/// A word that is none of those that are known here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{word}' is not one of {known}")]
pub struct UnknownWord {
    word: String,
    known: String,
}

impl Timer {
    /// All.
    pub const ALL: [Timer; 5] = [
        Timer::Nanosleep,
        Timer::Timerfd,
        Timer::Posix,
        Timer::Setitimer,
        Timer::Rtc,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Timer::Nanosleep => "nanosleep",
            Timer::Timerfd => "timerfd",
            Timer::Posix => "posix",
            Timer::Setitimer => "setitimer",
            Timer::Rtc => "rtc",
        }
    }
}

impl Policy {
    /// All.
    pub const ALL: [Policy; 4] = [Policy::Fifo, Policy::Rr, Policy::Deadline, Policy::Other];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Policy::Fifo => "fifo",
            Policy::Rr => "rr",
            Policy::Deadline => "deadline",
            Policy::Other => "other",
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

impl FromStr for Timer {
    type Err = UnknownWord;
    fn from_str(word: &str) -> Result<Timer, UnknownWord> {
        of_name(&Timer::ALL, Timer::name, word)
    }
}

impl FromStr for Policy {
    type Err = UnknownWord;
    fn from_str(word: &str) -> Result<Policy, UnknownWord> {
        of_name(&Policy::ALL, Policy::name, word)
    }
}

impl fmt::Display for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
