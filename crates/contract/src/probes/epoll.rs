//! `epoll[+same|+across]`.

use super::{CpuNeed, ProbeInfo};
use crate::grammar::{Grammar, OptionChoice, Unsaid};
use worstcase_instruments::bench::{Bench, EpollWait};

pub(super) const EPOLL: ProbeInfo = ProbeInfo {
    name: "epoll",
    sample: Some("wake-up from epoll_wait: clock read by who wakes to user code of the woken thread"),
    about: "how long a thread takes to wake up that waits in epoll_wait for an eventfd, e.g. epoll, epoll+across (two CPUs; real-time right)",
    cpus: |bench| match bench {
        Bench::Epoll(EpollWait { across: true }) => CpuNeed::First(2),
        _ => CpuNeed::First(1),
    },
    grammar: Some(Grammar {
        dimensions: &[],
        grid: "",
        example: "epoll+across",
        options: &[OptionChoice::Word(|| vec!["same", "across"], Unsaid::Nothing)],
        presets: &[],
        make: |words| {
            Ok(Bench::Epoll(EpollWait {
                across: words.has("across"),
            }))
        },
    }),
    ..ProbeInfo::PERIODIC
};
