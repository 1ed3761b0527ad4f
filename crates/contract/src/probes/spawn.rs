//! `spawn[+fork|+exec|+sh]`.

use super::ProbeInfo;
use crate::grammar::{Grammar, OptionChoice, Unsaid, words_of};
use worstcase_instruments::bench::{Bench, Spawn, Step};

pub(super) const SPAWN: ProbeInfo = ProbeInfo {
    name: "spawn",
    sample: Some("time of a process, from fork to wait"),
    about: "what a new process costs, in lmbench's steps: spawn+fork/exec/sh",
    samples: |_| 100,
    grammar: Some(Grammar {
        dimensions: &[],
        grid: "",
        example: "spawn+exec",
        options: &[OptionChoice::Word(
            || words_of(Step::ALL),
            Unsaid::All(&["fork", "exec", "sh"]),
        )],
        presets: &[],
        make: |words| {
            let step = words.one_of(Step::ALL).unwrap_or(Step::Fork);
            Ok(Bench::Spawn(Spawn { step }))
        },
    }),
    ..ProbeInfo::ONE_AFTER_THE_OTHER
};
