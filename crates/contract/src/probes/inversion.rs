//! `inversion[:DEPTH][+inherit|+none|+protect][+sectionTIME][+middleTIME]`.

use super::info::{CpuNeed, Extreme, ProbeForm, ProbeInfo};
use crate::grammar::{Dimension, Grammar, NumberRange, OptionChoice, Unsaid, ValueKind, words_of};
use worstcase_cell::bench::{Bench, Details, Inversion, InversionDetails, Protocol};
use worstcase_logs::Nanos;

pub(super) const INVERSION: ProbeInfo = ProbeInfo {
    name: "inversion",
    sample: Some("blocking: most urgent thread made ready to mutex owned"),
    about: "priority inversion on a mutex, e.g. inversion:1/4+inherit/none (real-time right)",
    details: "A less urgent thread owns the mutex that the most urgent one wants, while a third, between the two, wants \
              the CPU: it must not come first with +inherit and +protect; +none is the control. section is the owner's CPU \
              time, middle that of the third thread.",
    needs: "a real-time right",
    // Enough rounds to see a rare inversion.
    samples: |_| 500,
    // A third of the time is left to other threads, so that the kernel does not throttle these.
    period: |bench, _| match bench {
        Some(Bench::Inversion(chain)) => Nanos(3 * (chain.section.0 + chain.middle.0)),
        _ => Nanos(0),
    },
    // The criterion of the published test.
    criterion: Some(Nanos::from_micros(100)),
    cpus: |_| CpuNeed::First(1),
    extreme: Extreme::Largest("Longest wait for the mutex"),
    // Without inheritance a long wait is expected.
    is_judged: |bench| !matches!(bench, Bench::Inversion(chain) if chain.protocol == Protocol::None),
    fits: |details, _, taken| match details {
        Details::Inversion(d) => u64::from(d.contended) <= taken && u64::from(d.inverted) <= taken,
        _ => false,
    },
    failure,
    doubt,
    form: ProbeForm::Parameters(Grammar {
        dimensions: &[Dimension {
            range: NumberRange {
                what: "depth",
                least: 1,
                most: 8,
            },
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
        range: NumberRange {
            what,
            least: 1_000,
            most: 1_000_000_000,
        },
    }
}

/// A mutex that keeps the middle thread away must have done so every time.
fn failure(details: &Details, bench: &Bench, taken: u64) -> Option<String> {
    let (InversionDetails { inverted, .. }, chain) = of_chain(details, bench)?;
    (chain.protocol != Protocol::None && *inverted > 0).then(|| {
        format!(
            "{inverted} of {taken} rounds inverted: a less urgent thread ran while the most urgent one waited, so '{}' does not work",
            chain.protocol.word()
        )
    })
}

fn doubt(details: &Details, bench: &Bench, taken: u64) -> Option<String> {
    let (details, chain) = of_chain(details, bench)?;
    let (contended, inverted) = (u64::from(details.contended), u64::from(details.inverted));
    if contended < taken {
        let free = taken - contended;
        return Some(format!("in {free} of {taken} rounds nobody owned the mutex"));
    }
    (chain.protocol == Protocol::None && inverted < taken)
        .then(|| format!("without inheritance only {inverted} of {taken} rounds inverted, so this was no test"))
}

fn of_chain<'a>(details: &'a Details, bench: &'a Bench) -> Option<(&'a InversionDetails, &'a Inversion)> {
    match (details, bench) {
        (Details::Inversion(details), Bench::Inversion(chain)) => Some((details, chain)),
        _ => None,
    }
}
