//! `pick[:TASKS]`.

use super::info::{CpuNeed, ProbeForm, ProbeInfo};
use crate::grammar::{Dimension, Grammar, NumberRange};
use worstcase_cell::bench::{Bench, Details, Pick};

pub(super) const PICK: ProbeInfo = ProbeInfo {
    name: "pick",
    about: "what a choice of the scheduler costs when N tasks can run, e.g. pick:1/100/1000; alone: its grid",
    details: "One CPU, N ordinary tasks that can run: a task gives way and the next one is chosen.",
    samples: |_| 1_000,
    cpus: |_| CpuNeed::First(1),
    // Choosing a task is part of every wake-up, so a limit on wake-ups limits this too.
    is_judged: |_| true,
    marks_out_of_order: true,
    fits: |details, bench, taken| match (details, bench) {
        (Details::Pick(d), Bench::Pick(asked)) => {
            d.tasks == u64::from(asked.tasks) && d.same <= taken && taken <= d.turns && d.fewest <= d.most
        }
        _ => false,
    },
    form: ProbeForm::Parameters(Grammar {
        dimensions: &[Dimension {
            range: NumberRange {
                what: "tasks",
                least: 1,
                most: 2_000,
            },
            usual: 1,
        }],
        // Three decades, which include the number of tasks that hackbench makes runnable.
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
