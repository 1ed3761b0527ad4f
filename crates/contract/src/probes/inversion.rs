//! `inversion[:DEPTH][+inherit|+none|+protect][+sectionTIME][+middleTIME]`.

use super::{CpuNeed, ProbeInfo};
use crate::grammar::{Dimension, Grammar, OptionChoice, Unsaid, ValueKind, words_of};
use worstcase_instruments::bench::{Bench, Inversion, Protocol};
use worstcase_logs::Nanos;

pub(super) const INVERSION: ProbeInfo = ProbeInfo {
    name: "inversion",
    sample: Some("blocking: most urgent thread made ready to mutex owned"),
    about: "priority inversion on a mutex, e.g. inversion:1/4+inherit/none (real-time right)",
    // Enough rounds to see a rare inversion.
    samples: |_| 500,
    // A third of the time is left for everybody else, so that the kernel does not hold the threads back.
    period: |bench, _| match bench {
        Some(Bench::Inversion(chain)) => Nanos(3 * (chain.section.0 + chain.middle.0)),
        _ => Nanos(0),
    },
    // What the published test asks: nobody waits longer.
    criterion: Some(Nanos::from_micros(100)),
    cpus: |_| CpuNeed::First(1),
    grammar: Some(Grammar {
        dimensions: &[Dimension {
            what: "depth",
            least: 1,
            most: 8,
            usual: 1,
        }],
        grid: "1/2/4/8",
        example: "inversion:4+none",
        options: &[
            OptionChoice::Word(
                || words_of(Protocol::ALL),
                Unsaid::AllInGrid(&["inherit", "none", "protect"]),
            ),
            time("section", "section in ns"),
            time("middle", "middle in ns"),
        ],
        presets: &[],
        make: |words| {
            Ok(Bench::Inversion(Inversion {
                depth: words.dimension(0),
                protocol: words.one_of(Protocol::ALL).unwrap_or(Protocol::Inherit),
                section: words.value("section").map_or(Inversion::SECTION, Nanos),
                middle: words.value("middle").map_or(Inversion::MIDDLE, Nanos),
            }))
        },
    }),
    ..ProbeInfo::PERIODIC
};

const fn time(prefix: &'static str, what: &'static str) -> OptionChoice {
    OptionChoice::Value {
        prefix,
        kind: ValueKind::Time,
        what,
        least: 1_000,
        most: 1_000_000_000,
    }
}
