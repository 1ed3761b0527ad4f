//! What `inversion` adds to a verdict: a mutex that should keep the middle thread away must have done so, every time.

use crate::record::{Record, probe_name};
use worstcase_contract::bench::{Bench, Details, Inversion, Protocol};
use worstcase_contract::names;

/// Whether a probe's samples are judged: what a switch or an unmapping
/// costs or message passing takes is no latency, and without inheritance
/// a long wait is what one expects.
pub(super) fn is_judged(probe: &str) -> bool {
    match probe_name(probe) {
        "switch" | "hackbench" | "spawn" | "io" | "shootdown" => false,
        _ => chain(probe).is_none_or(|c| c.protocol != Protocol::None),
    }
}

fn chain(probe: &str) -> Option<Inversion> {
    match names::parse(probe) {
        Ok(Bench::Inversion(chain)) => Some(chain),
        _ => None,
    }
}

/// Records of `inversion` with their chain, rounds that were contended, and inverted.
fn counts<'a>(records: &'a [&Record]) -> impl Iterator<Item = (&'a Record, Inversion, u32, u32)> {
    records.iter().filter_map(|r| match &r.details {
        Some(Details::Inversion(d)) => Some((*r, chain(&r.cell.probe)?, d.contended, d.inverted)),
        _ => None,
    })
}

/// The proofs that inheritance or ceiling is broken.
pub(super) fn failures(records: &[&Record]) -> Vec<String> {
    counts(records)
        .filter(|(_, chain, _, inverted)| chain.protocol != Protocol::None && *inverted > 0)
        .map(|(r, chain, _, inverted)| {
            format!(
                "{inverted} of {} rounds inverted: a less urgent thread ran while the most urgent one waited, so '{}' does not work ({}, {}, seed {})",
                r.accounting.taken(),
                chain.protocol.word(),
                r.cell.load,
                r.cell.probe,
                r.cell.seed
            )
        })
        .collect()
}

/// What makes the result of `inversion` say nothing.
pub(super) fn doubts(records: &[&Record]) -> Vec<String> {
    let say = |(r, chain, contended, inverted): (&Record, Inversion, u32, u32)| {
        let taken = r.accounting.taken();
        if u64::from(contended) < taken {
            let free = taken - u64::from(contended);
            return Some(format!("{}: in {free} of {taken} rounds nobody owned the mutex", r.id));
        }
        let control = chain.protocol == Protocol::None && u64::from(inverted) < taken;
        control.then(|| {
            format!(
                "{}: without inheritance only {inverted} of {taken} rounds inverted, so this was no test",
                r.id
            )
        })
    };
    counts(records).filter_map(say).collect()
}
