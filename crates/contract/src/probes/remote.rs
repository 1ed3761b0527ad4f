//! `remote[+futex|+pipe|+eventfd]`.

use super::info::{CpuNeed, Extreme, ProbeForm, ProbeInfo, SampleBegin};
use crate::grammar::{Grammar, OptionChoice, Unsaid, words_of};
use crate::venue::Venue;
use worstcase_cell::bench::{Bench, Details, Remote, Via};

pub(super) const REMOTE: ProbeInfo = ProbeInfo {
    name: "remote",
    sample: Some("remote wake-up: clock read on another CPU to user code of the woken thread"),
    about: "how long waking a thread on another CPU takes, e.g. remote+futex/pipe (two CPUs, real-time right)",
    details: "A thread on another CPU wakes the sleeper and reads the clock before; the sleeper reads it when it runs.",
    needs: "two CPUs, a real-time right",
    cpus: |_| CpuNeed::First(2),
    extreme: Extreme::Largest("Longest wake-up on another CPU"),
    explained: &[Venue::Lab],
    begin: |_| SampleBegin::Woken,
    fits: |details, _, taken| matches!(details, Details::Remote(wakeups) if wakeups.fit(taken)),
    form: ProbeForm::Parameters(Grammar {
        dimensions: &[],
        grid: "",
        example: "remote+futex",
        options: &[OptionChoice::Word(
            || words_of(Via::ALL),
            Unsaid::All(&["futex", "pipe", "eventfd"]),
        )],
        presets: &[],
        make: |words| {
            let via = words.one_of(Via::ALL).unwrap_or(Via::Futex);
            Ok(Bench::Remote(Remote { via }))
        },
    }),
    ..ProbeInfo::PERIODIC
};
