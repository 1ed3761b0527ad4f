//! The details of a probe beside its samples, and their effect on a verdict.

use crate::record::Record;
use worstcase_contract::Probe;
use worstcase_contract::bench::Details;

/// Whether a probe's samples are held against the limit; another tool's always are.
pub(super) fn is_judged(probe: &str) -> bool {
    probe.parse::<Probe>().map_or(true, Probe::is_judged)
}

/// The proofs that something does not work.
pub(super) fn failures(records: &[&Record]) -> Vec<String> {
    let failure = |(r, what): (&Record, String)| {
        let cell = &r.cell;
        format!("{what} ({}, {}, seed {})", cell.load, cell.probe, cell.seed)
    };
    found(records, Probe::failure).map(failure).collect()
}

/// The reasons why the samples say nothing.
pub(super) fn doubts(records: &[&Record]) -> Vec<String> {
    found(records, Probe::doubt)
        .map(|(r, what)| format!("{}: {what}", r.id))
        .collect()
}

fn found<'a>(
    records: &'a [&Record],
    find: fn(Probe, &Details, u64) -> Option<String>,
) -> impl Iterator<Item = (&'a Record, String)> {
    records.iter().filter_map(move |record| {
        let (probe, details) = (record.cell.probe.parse().ok()?, record.details.as_ref()?);
        Some((*record, find(probe, details, record.accounting.taken())?))
    })
}
