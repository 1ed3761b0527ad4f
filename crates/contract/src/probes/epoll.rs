//! `epoll[+same|+across]`.

use super::info::{CpuNeed, ProbeForm, ProbeInfo, SampleBegin};
use crate::grammar::{Grammar, OptionChoice, Unsaid};
use crate::venue::Venue;
use worstcase_cell::bench::{Bench, Details, EpollWait};

pub(super) const EPOLL: ProbeInfo = ProbeInfo {
    name: "epoll",
    sample: Some("wake-up from epoll_wait: clock read by who wakes to user code of the woken thread"),
    about: "how long a thread takes to wake up that waits in epoll_wait for an eventfd, e.g. epoll, epoll+across (two CPUs; real-time right)",
    details: "+same (usual): who wakes is on the same CPU; +across: on another.",
    needs: "a real-time right; +across: two CPUs",
    cpus: |bench| match bench {
        Bench::Epoll(EpollWait { across: true }) => CpuNeed::First(2),
        _ => CpuNeed::First(1),
    },
    explained: &[Venue::Lab],
    begin: |_| SampleBegin::Woken,
    fits: |details, _, taken| matches!(details, Details::Remote(wakeups) if wakeups.fit(taken)),
    form: ProbeForm::Parameters(Grammar {
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
