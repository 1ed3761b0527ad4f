//! What a thread that never sleeps was stopped for, in words: where nothing entered at all, and how much noise there is elsewhere.

use super::labels::SubjectLabels;
use crate::ReportView;
use crate::labels::units;
use worstcase_base::distinct;
use worstcase_base::format::{grouped, micros};
use worstcase_contract::Nanos;
use worstcase_results::record::{GapAccount, Record, SubjectId};

/// A subject under a load, all seeds and CPUs together.
struct NoiseOf {
    subject: SubjectId,
    gaps: GapAccount,
}

impl NoiseOf {
    fn noise(&self) -> u64 {
        self.gaps.noise_ns_a_second()
    }

    fn is_quiet(&self) -> bool {
        self.gaps.gaps == 0 && self.gaps.lost == 0
    }

    fn gaps_a_second(&self) -> String {
        let a_second = self.gaps.gaps as f64 * 1e9 / self.gaps.observed_ns.max(1) as f64;
        grouped(a_second.round() as u64)
    }
}

/// The sentences; none without a probe that counts gaps.
pub(super) fn sentences(view: &ReportView, labels: &SubjectLabels) -> Vec<String> {
    let records: Vec<&Record> = view.records.iter().filter(|r| r.accounting.gaps().is_some()).collect();
    let unit = units(records.iter().map(|r| &r.subject)).join(", ");
    let loads = distinct(records.iter().map(|r| r.cell.load.as_str()));
    let mut quiet: Vec<(SubjectId, Vec<&str>)> = Vec::new();
    let mut loud = Vec::new();
    for load in loads {
        let all = of_load(&records, load);
        for of in all.iter().filter(|of| of.is_quiet()) {
            match quiet.iter_mut().find(|(subject, _)| *subject == of.subject) {
                Some((_, loads)) => loads.push(load),
                None => quiet.push((of.subject.clone(), vec![load])),
            }
        }
        let least = all.iter().min_by_key(|of| of.noise());
        let most = all.iter().max_by_key(|of| of.noise());
        if let (Some(least), Some(most)) = (least, most)
            && !least.is_quiet()
        {
            loud.push(in_words(load, least, most, &unit, labels));
        }
    }
    let quiet = quiet.into_iter().map(|(subject, loads)| {
        format!(
            "Nothing enters the CPU of {} under {}.",
            labels.get(&subject),
            loads.join(", ")
        )
    });
    quiet.chain(loud).collect()
}

fn in_words(load: &str, least: &NoiseOf, most: &NoiseOf, unit: &str, labels: &SubjectLabels) -> String {
    let of = |of: &NoiseOf| {
        format!(
            "{} {unit} of noise a second in {} gaps ({})",
            micros(Nanos(of.noise())),
            of.gaps_a_second(),
            labels.get(&of.subject)
        )
    };
    match least.subject == most.subject {
        true => format!("Load {load}: {}.", of(least)),
        false => format!("Load {load}: from {} to {}.", of(least), of(most)),
    }
}

fn of_load(records: &[&Record], load: &str) -> Vec<NoiseOf> {
    let mut all: Vec<NoiseOf> = Vec::new();
    for record in records.iter().filter(|r| r.cell.load == load) {
        let Some(gaps) = record.accounting.gaps() else {
            continue;
        };
        let subject = record.subject.id();
        match all.iter_mut().find(|of| of.subject == subject) {
            Some(of) => of.gaps = of.gaps.and(*gaps),
            None => all.push(NoiseOf { subject, gaps: *gaps }),
        }
    }
    all
}
