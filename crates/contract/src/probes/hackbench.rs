//! `hackbench[:GROUPS[xPAIRS[xMESSAGES[xBYTES]]]][+sockets|+pipes][+threads][+cpusN][+pinned][+latency]`.

use super::info::{CpuNeed, Extreme, ProbeForm, ProbeInfo, SamplePath};
use crate::grammar::{Dimension, Grammar, NumberRange, OptionChoice, Unsaid, ValueKind, words_of};
use worstcase_cell::bench::{Bench, Details, Hackbench, Transport};

pub(super) const HACKBENCH: ProbeInfo = ProbeInfo {
    name: "hackbench",
    sample: Some("time of a run: all messages sent and received"),
    about: "how long message passing takes, e.g. hackbench:1/10x25x100x100+pipes+cpus1/2",
    details: "Each group has SENDERS senders and as many receivers; each sender sends MESSAGES to each receiver of its group. +latency \
              keeps the time of each message, +pinned gives each process a CPU, +cpusN takes the first N.",
    // The article's four runs.
    samples: |_| 4,
    cpus: |bench| match bench {
        Bench::Hackbench(what) if what.cpus > 0 => CpuNeed::Exactly(what.cpus.into()),
        _ => CpuNeed::All,
    },
    extreme: Extreme::Median("Median time of a run of hackbench"),
    path: |_| SamplePath::Many,
    fits: |details, _, taken| match details {
        Details::Hackbench(d) => {
            let messages = d.messages.checked_mul(d.runs.len() as u64);
            let counted = |l: &Vec<(u64, u64)>| l.iter().try_fold(0_u64, |sum, (_, n)| sum.checked_add(*n));
            d.runs.len() as u64 == taken && d.message_latency.as_ref().is_none_or(|l| counted(l) == messages)
        }
        _ => false,
    },
    form: ProbeForm::Parameters(Grammar {
        // The article's senders, receivers and messages.
        dimensions: &[
            dimension("groups", 1_000, 1),
            dimension("senders", 1_000, 25),
            dimension("messages", 1_000_000, 100),
            dimension("bytes", 64 << 10, 100),
        ],
        // The article's groups.
        grid: "1/2/4/8",
        example: "hackbench:10+pipes",
        options: &[
            OptionChoice::Word(|| words_of(Transport::ALL), Unsaid::Nothing),
            OptionChoice::Word(|| vec!["threads", "processes"], Unsaid::Nothing),
            OptionChoice::Value {
                prefix: "cpus",
                kind: ValueKind::Number,
                range: NumberRange {
                    what: "CPUs",
                    least: 0,
                    most: u16::MAX as u64,
                },
            },
            OptionChoice::Word(|| vec!["pinned", "free"], Unsaid::Nothing),
            OptionChoice::Word(|| vec!["latency"], Unsaid::Nothing),
        ],
        presets: &[],
        make: |words| {
            let what = Hackbench {
                groups: words.dimension(0),
                pairs: words.dimension(1),
                messages: words.dimension(2),
                size: words.dimension(3),
                transport: words.one_of(Transport::ALL).unwrap_or(Transport::Sockets),
                threads: words.has("threads"),
                cpus: words.value("cpus").unwrap_or(0),
                pinned: words.has("pinned"),
                latency: words.has("latency"),
            };
            match what.latency && what.size < 8 {
                true => Err(format!("bytes: 8 to 65536 with latency, not {}", what.size)),
                false => Ok(Bench::Hackbench(what)),
            }
        },
    }),
    ..ProbeInfo::ONE_AFTER_THE_OTHER
};

const fn dimension(what: &'static str, most: u64, usual: u64) -> Dimension {
    Dimension {
        range: NumberRange { what, least: 1, most },
        usual,
    }
}
