//! `pick[:TASKS]`.

use super::{CpuNeed, ProbeInfo};
use crate::grammar::{Dimension, Grammar};
use worstcase_instruments::bench::{Bench, Pick};

pub(super) const PICK: ProbeInfo = ProbeInfo {
    name: "pick",
    about: "what a choice of the scheduler costs when N tasks can run, e.g. pick:1/100/1000; alone: its grid",
    samples: |_| 1_000,
    cpus: |_| CpuNeed::First(1),
    grammar: Some(Grammar {
        dimensions: &[Dimension {
            what: "tasks",
            least: 1,
            most: 2_000,
            usual: 1,
        }],
        // Three decades, and what hackbench makes runnable.
        grid: "1/2/5/10/20/50/100/200/500/1000/2000",
        example: "pick:100",
        options: &[],
        presets: &[],
        make: |words| {
            Ok(Bench::Pick(Pick {
                tasks: words.dimension(0),
            }))
        },
    }),
    ..ProbeInfo::ONE_AFTER_THE_OTHER
};
