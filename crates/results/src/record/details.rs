//! What a probe tells beside its samples must fit them.

use super::Record;
use worstcase_probe::bench::{Bench, Details};

/// What does not fit, in words.
pub(super) fn check(record: &Record) -> Result<(), String> {
    let bench: Option<Bench> = record.cell.probe.parse().ok();
    let taken = record.accounting.taken();
    let fits = match (&record.details, bench) {
        (None, None) => true,
        (Some(Details::Switch(d)), Some(Bench::Switch(_))) => d.hops > 0 && d.repetitions.len() as u64 == taken,
        (Some(Details::Hackbench(d)), Some(Bench::Hackbench(_))) => {
            let messages = d.messages.checked_mul(d.runs.len() as u64);
            let counted = |l: &Vec<(u64, u64)>| l.iter().try_fold(0_u64, |sum, (_, n)| sum.checked_add(*n));
            d.runs.len() as u64 == taken && d.message_latency.as_ref().is_none_or(|l| counted(l) == messages)
        }
        (Some(Details::Inversion(d)), Some(Bench::Inversion(_))) => {
            u64::from(d.contended) <= taken && u64::from(d.inverted) <= taken
        }
        _ => false,
    };
    match fits {
        true => Ok(()),
        false => Err(format!(
            "its details are not those of {taken} samples of '{}'",
            record.cell.probe
        )),
    }
}
