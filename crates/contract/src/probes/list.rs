//! The list of all probes.

use super::info::ProbeInfo;
use super::{epoll, follow, hackbench, inversion, io, irq, pick, remote, shootdown, spawn, switch, timed};

/// All probes, in the order in which help texts name them.
pub static PROBES: [ProbeInfo; 15] = [
    timed::WAKEUP,
    timed::RESPONSE,
    timed::JITTER,
    timed::NOISE,
    timed::TIMERLAT,
    switch::SWITCH,
    hackbench::HACKBENCH,
    pick::PICK,
    spawn::SPAWN,
    io::IO,
    inversion::INVERSION,
    remote::REMOTE,
    epoll::EPOLL,
    irq::IRQ,
    shootdown::SHOOTDOWN,
];

impl ProbeInfo {
    /// The row of the probe or program that `word` names, with or without parameters; none for a probe of another tool.
    pub fn of_word(word: &str) -> Option<&'static ProbeInfo> {
        let name = word.split([':', '+']).next().unwrap_or(word);
        PROBES.iter().chain([&follow::FOLLOW]).find(|info| info.name == name)
    }
}
