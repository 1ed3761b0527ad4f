//! `spawn[+fork|+exec|+sh]`.

use super::info::{Extreme, ProbeForm, ProbeInfo};
use crate::grammar::{Grammar, OptionChoice, Unsaid, words_of};
use worstcase_cell::bench::{Bench, Details, Spawn, Step};

pub(super) const SPAWN: ProbeInfo = ProbeInfo {
    name: "spawn",
    sample: Some("time of a process, from fork to wait"),
    about: "what a new process costs, in lmbench's steps: spawn+fork/exec/sh",
    details: "fork and wait; fork, exec and wait; the same through a shell.",
    samples: |_| 100,
    extreme: Extreme::Median("Median time of a process"),
    fits: |details, bench, _| match (details, bench) {
        (Details::Spawn(d), Bench::Spawn(asked)) => d.program.is_some() == (asked.step != Step::Fork),
        _ => false,
    },
    form: ProbeForm::Parameters(Grammar {
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
