//! What a probe tells beside its samples must fit them.

use super::Record;
use worstcase_contract::bench::{Bench, Details, Step};
use worstcase_contract::names;

/// What does not fit, in words.
pub(super) fn check(record: &Record) -> Result<(), String> {
    let bench = names::parse(&record.cell.probe).ok();
    let taken = record.accounting.taken();
    let fits = match (&record.details, bench) {
        (None, None) => true,
        (Some(Details::Switch(d)), Some(Bench::Switch(ring))) => {
            let is_in_order = d.again.is_sorted_by(|a, b| a.index < b.index);
            let is_one_of_them = d.again.iter().all(|a| u64::from(a.index) < taken && a.tries > 0);
            let again = d.again.is_empty() || (ring.again > 0 && is_in_order && is_one_of_them);
            d.hops > 0 && d.repetitions.len() as u64 == taken && again
        }
        (Some(Details::Hackbench(d)), Some(Bench::Hackbench(_))) => {
            let messages = d.messages.checked_mul(d.runs.len() as u64);
            let counted = |l: &Vec<(u64, u64)>| l.iter().try_fold(0_u64, |sum, (_, n)| sum.checked_add(*n));
            d.runs.len() as u64 == taken && d.message_latency.as_ref().is_none_or(|l| counted(l) == messages)
        }
        (Some(Details::Inversion(d)), Some(Bench::Inversion(_))) => {
            u64::from(d.contended) <= taken && u64::from(d.inverted) <= taken
        }
        (Some(Details::Remote(d)), Some(Bench::Remote(_) | Bench::Epoll(_)))
        | (Some(Details::Irq(d)), Some(Bench::Irq(_))) => {
            let in_order = d.send.is_none_or(|s| s.min <= s.median && s.median <= s.max);
            d.send.is_some() == (taken > 0) && in_order && u64::from(d.awake) <= taken
        }
        (Some(Details::Pick(d)), Some(Bench::Pick(asked))) => {
            d.tasks == u64::from(asked.tasks) && d.same <= taken && taken <= d.turns && d.fewest <= d.most
        }
        (Some(Details::Spawn(d)), Some(Bench::Spawn(asked))) => d.program.is_some() == (asked.step != Step::Fork),
        (Some(Details::Io(d)), Some(Bench::Io(_))) => d.sync.is_none_or(|sync| sync <= d.elapsed),
        (Some(Details::Shootdown(d)), Some(Bench::Shootdown(asked))) => {
            (d.threads, d.pages) == (asked.threads.into(), asked.pages) && u64::from(d.all_ran) <= taken
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
