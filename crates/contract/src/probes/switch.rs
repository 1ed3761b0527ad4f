//! `switch[:PROCESSESxBYTES][+pipe|+eventfd|+futex][+threads][+same|+smt|+cache|+across|+free][+spinTIME][+againPERCENT][+mhzN]`.

use super::info::{CpuNeed, Extreme, ProbeForm, ProbeInfo, SamplePath};
use crate::grammar::{Dimension, Grammar, NumberRange, OptionChoice, Unsaid, ValueKind, words_of};
use crate::spec_error::SpecError;
use crate::venue::{Only, Venue};
use worstcase_cell::bench::{Bench, Details, Placement, Switch, SwitchRepetition, Via};
use worstcase_logs::Nanos;

pub(super) const SWITCH: ProbeInfo = ProbeInfo {
    name: "switch",
    sample: Some("time of a hop: token passed and working set touched"),
    about: "what a context switch costs: lat_ctx's ring, e.g. switch:2/16x0/16k+pipe/futex; alone: its grid",
    details: "A ring of processes passes a token, by a pipe unless +eventfd or +futex is given; each reads its working set \
              before it passes it on. +same (usual), +smt, +cache, +across, +free: on which CPUs. +spinTIME adds CPU time \
              to each hop, +againN measures again what is N % off, +mhzN holds the clock (both on a host).",
    // Ten values for the trimmed mean.
    samples: |_| 10,
    cpus: |bench| match bench {
        Bench::Switch(ring) => CpuNeed::Ring(ring.placement),
        _ => CpuNeed::All,
    },
    also_refused: refused,
    extreme: Extreme::Median("Median cost of a switch"),
    path: |bench| match bench {
        Some(Bench::Switch(ring)) => SamplePath::Lap(ring.processes as usize),
        _ => SamplePath::Many,
    },
    derived: &[
        ("net", |details| net(details, |r| r.hot)),
        ("net_cold", |details| net(details, |r| r.cold)),
    ],
    fits: |details, bench, taken| match (details, bench) {
        (Details::Switch(d), Bench::Switch(ring)) => {
            let is_in_order = d.again.is_sorted_by(|a, b| a.index < b.index);
            let is_one_of_them = d.again.iter().all(|a| u64::from(a.index) < taken && a.tries > 0);
            let again = d.again.is_empty() || (ring.again > 0 && is_in_order && is_one_of_them);
            d.hops > 0 && d.repetitions.len() as u64 == taken && again
        }
        _ => false,
    },
    form: ProbeForm::Parameters(Grammar {
        dimensions: &[
            Dimension {
                range: NumberRange {
                    what: "processes",
                    least: 2,
                    most: 4_096,
                },
                usual: 2,
            },
            Dimension {
                range: NumberRange {
                    what: "bytes",
                    least: 0,
                    most: 64 << 20,
                },
                usual: 0,
            },
        ],
        // The working sets of lat_ctx in the study.
        grid: "2/4/8/16/24/32/64/96x0/4k/8k/16k/32k/64k",
        example: "switch:16x16k",
        options: &[
            OptionChoice::Word(|| words_of(Via::ALL), Unsaid::Nothing),
            OptionChoice::Word(|| vec!["threads", "processes"], Unsaid::Nothing),
            OptionChoice::Word(|| words_of(Placement::ALL), Unsaid::Nothing),
            OptionChoice::Value {
                prefix: "spin",
                kind: ValueKind::Time,
                range: NumberRange {
                    what: "spin in ns",
                    least: 0,
                    most: 1_000_000_000,
                },
            },
            OptionChoice::Value {
                prefix: "again",
                kind: ValueKind::Number,
                range: NumberRange {
                    what: "percent off before it is measured again",
                    least: 1,
                    most: 50,
                },
            },
            OptionChoice::Value {
                prefix: "mhz",
                kind: ValueKind::Number,
                range: NumberRange {
                    what: "MHz",
                    least: 1,
                    most: 100_000,
                },
            },
        ],
        presets: &[],
        make: |words| {
            Ok(Bench::Switch(Switch {
                processes: words.dimension(0),
                size: words.dimension(1),
                via: words.one_of(Via::ALL).unwrap_or(Via::Pipe),
                threads: words.has("threads"),
                placement: words.one_of(Placement::ALL).unwrap_or(Placement::Same),
                spin: Nanos(words.value("spin").unwrap_or(0)),
                again: words.value("again").unwrap_or(0),
                mhz: words.value("mhz").unwrap_or(0),
            }))
        },
    }),
    ..ProbeInfo::ONE_AFTER_THE_OTHER
};

fn refused(bench: &Bench, venue: Venue) -> Result<(), SpecError> {
    let Bench::Switch(ring) = bench else {
        return Ok(());
    };
    let only_host = |why| Only::check(Only::host(why), venue, &format!("probe '{bench}'"));
    if ring.again > 0 {
        only_host("the lab's values are exact, and the same each time; leave +again out")?;
    }
    if ring.mhz > 0 {
        only_host("the lab's CPUs have MIPS: leave +mhz out, and give --mips")?;
    }
    Ok(())
}

/// Time of a hop minus that of one process alone, for each repetition.
fn net(details: &Details, alone: fn(&SwitchRepetition) -> Nanos) -> Vec<f64> {
    let Details::Switch(switch) = details else {
        return Vec::new();
    };
    let a_hop = |r: &SwitchRepetition| (r.total.0 as f64 - alone(r).0 as f64) / switch.hops as f64;
    switch.settled().iter().map(a_hop).collect()
}
