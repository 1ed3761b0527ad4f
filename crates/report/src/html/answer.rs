//! The question and the result, in plain words.

use super::extremes::extremes;
use super::labels::SubjectLabels;
use crate::ReportView;
use crate::labels::{mixed_versions, own_images};
use crate::probes::io::can_matter;
use crate::verdict::another_seed;
use serde::Serialize;
use worstcase_base::distinct;
use worstcase_base::duration;
use worstcase_base::format::{grouped, shell};
use worstcase_contract::Nanos;
use worstcase_results::record::{Record, Venue};
use worstcase_results::verdict::{Criterion, Outcome, Verdict, worst};

/// The answer.
#[derive(Debug, Serialize)]
pub(crate) struct ReportAnswer {
    /// The answer in a few words.
    headline: String,
    /// The outcome of the verdicts, if there was a criterion.
    outcome: Option<Outcome>,
    /// Further statements, a sentence each.
    lines: Vec<String>,
    /// The missing part, and how to get it.
    unfinished: Option<String>,
    /// What was asked, if anything.
    asked: Option<String>,
    verdicts: Vec<JudgedSubject>,
}

#[derive(Debug, Serialize)]
struct JudgedSubject {
    subject: String,
    label: String,
    outcome: Outcome,
    /// Why, and what limits it.
    reasons: Vec<String>,
    rests_on: String,
}

impl ReportAnswer {
    /// The answer of a run; `causes`: why the worst samples were late, as far as it is told.
    pub(crate) fn of(view: &ReportView, labels: &SubjectLabels, causes: &[&str]) -> ReportAnswer {
        let (planned, measured) = (view.plan.cells.len(), view.records.len());
        let unfinished = (measured < planned).then(|| {
            format!(
                "Not finished: {measured} of {planned} cells are measured, and only of these this page speaks. To go on: {}",
                shell(&view.to_go_on())
            )
        });
        let mut lines: Vec<String> = extremes(view, labels);
        lines.extend(can_matter(view.records));
        lines.extend(amount(view));
        let (headline, outcome) = match &view.verdicts {
            _ if view.records.is_empty() => ("Nothing is measured yet.".to_string(), None),
            Some((criterion, verdicts)) => (judged(view, labels, criterion, verdicts), in_common(verdicts)),
            None => (lines.remove(0), None),
        };
        if let Some((_, verdicts)) = &view.verdicts {
            let failed = worst(verdicts) == Outcome::Fail;
            let why = causes.iter().filter(|_| failed).map(|cause| format!("Why: {cause}"));
            lines.splice(..0, why.chain(beside(verdicts)));
        }
        let versions = mixed_versions(view.records).into_iter().map(|text| text + ".");
        lines.splice(
            0..0,
            own_images(view.records)
                .map(|text| text + ".")
                .into_iter()
                .chain(versions),
        );
        let verdicts = view.verdicts.iter().flat_map(|(_, verdicts)| {
            verdicts.iter().map(|v| JudgedSubject {
                subject: v.subject.to_string(),
                label: labels.get(&v.subject),
                outcome: v.outcome,
                reasons: v.with_reservations(),
                rests_on: rests_on(v),
            })
        });
        ReportAnswer {
            headline,
            outcome,
            lines,
            unfinished,
            asked: view.verdicts.as_ref().map(|(c, _)| c.title()),
            verdicts: verdicts.collect(),
        }
    }
}

/// The outcome of all; where some pass and some fail there is none.
fn in_common(verdicts: &[Verdict]) -> Option<Outcome> {
    let passes = verdicts.iter().any(|v| v.outcome == Outcome::Pass);
    let worst = worst(verdicts);
    (!(passes && worst == Outcome::Fail)).then_some(worst)
}

/// `1 of 4 subjects keeps every latency within 100 us; 3 do not.`
fn judged(view: &ReportView, labels: &SubjectLabels, criterion: &Criterion, verdicts: &[Verdict]) -> String {
    let of = |outcome| verdicts.iter().filter(move |v| v.outcome == outcome);
    let count = |outcome| of(outcome).count();
    let limit = format!("{}{}", duration::show(criterion.limit), clock(view));
    let what = criterion.asked_of();
    let (pass, fail, open) = (count(Outcome::Pass), count(Outcome::Fail), count(Outcome::Inconclusive));
    let all = verdicts.len();
    if let [one] = verdicts {
        let name = labels.get(&one.subject);
        return match one.outcome {
            Outcome::Pass => format!("{name} keeps {what} within {limit}."),
            Outcome::Fail if one.evidence.ordinary_cells > 0 && criterion.percentile.is_none() => {
                format!("{name} was later than {limit}, but not as a real-time thread.")
            }
            Outcome::Fail => format!("{name} does not keep {what} within {limit}."),
            Outcome::Inconclusive => {
                format!("Whether {name} keeps {what} within {limit} cannot be said from what was measured.")
            }
        };
    }
    let mut text = match pass {
        0 if fail == all => return format!("None of {all} subjects keeps {what} within {limit}."),
        0 => format!("None of {all} subjects was shown to keep {what} within {limit}"),
        _ if pass == all => return format!("All {all} subjects keep {what} within {limit}."),
        1 => format!("1 of {all} subjects keeps {what} within {limit}"),
        _ => format!("{pass} of {all} subjects keep {what} within {limit}"),
    };
    if pass == 1 {
        text += &of(Outcome::Pass)
            .map(|v| format!(": {}", labels.get(&v.subject)))
            .collect::<String>();
    }
    if fail > 0 {
        text += &format!("; {fail} {}", if fail == 1 { "does not" } else { "do not" });
    }
    if open > 0 {
        text += &format!("; of {open} it cannot be said");
    }
    text + "."
}

/// What stands beside the verdicts: the periods above the limit, and what limits the answers.
fn beside(verdicts: &[Verdict]) -> Vec<String> {
    let above = verdicts
        .iter()
        .filter_map(|v| v.evidence.above)
        .filter(|above| above.count() > 0);
    let above = above.map(|above| above.words() + ".").filter(|_| verdicts.len() == 1);
    let but = verdicts
        .iter()
        .flat_map(|v| &v.reservations)
        .map(|text| format!("But {text}."));
    distinct(above.chain(but))
}

/// In the lab a limit is compared with virtual time. Each sentence about it must say so.
fn clock(view: &ReportView) -> &'static str {
    match view.records.iter().any(|r| r.subject.venue() == Venue::Lab) {
        true => " of virtual time",
        false => "",
    }
}

/// `Measured: 4 subjects under 3 loads ...`
fn amount(view: &ReportView) -> Option<String> {
    let records = view.records;
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let subjects = distinct(records.iter().map(|r| r.subject.id().to_string())).len();
    let loads = distinct(records.iter().map(|r| r.cell.load.clone()));
    let probes = distinct(records.iter().map(|r| r.cell.probe.clone()));
    let seeds = distinct(records.iter().map(|r| r.cell.seed.to_string())).len();
    let sum = |of: fn(&Record) -> u64| records.iter().map(of).sum::<u64>();
    records.first()?;
    let observation_time = match Nanos(sum(|r| r.observation_time().0)) {
        // The probe has no regular due times.
        Nanos(0) => String::new(),
        observation_time => format!(" in {}{}", duration::about(observation_time), clock(view)),
    };
    let lost = match sum(|r| r.accounting.lost()) {
        0 => String::new(),
        lost => format!(", {} lost by us", grouped(lost)),
    };
    let gaps = match sum(|r| r.accounting.gaps().map_or(0, |g| g.gaps)) {
        0 => String::new(),
        gaps => format!(" and {} gaps", grouped(gaps)),
    };
    let in_periods: Vec<&Record> = records.iter().filter(|r| r.awaits_timer()).collect();
    let missed: Option<u64> = in_periods.iter().map(|r| r.missed()).sum();
    let missed = match missed {
        // Work with files has no periods.
        _ if in_periods.is_empty() => String::new(),
        None => ", missed periods not known".to_string(),
        Some(missed) => {
            let expected: u64 = in_periods.iter().map(|r| r.accounting.expected()).sum();
            format!(", {} of {} periods missed", grouped(missed), grouped(expected))
        }
    };
    Some(format!(
        "Measured: {} under {} with {}, {}; {} samples{gaps}{observation_time}{missed}{lost}.",
        count(subjects, "subject"),
        count(loads.len(), "load"),
        count(probes.len(), "probe"),
        count(seeds, "seed"),
        grouped(sum(|r| r.accounting.taken())),
    ))
}

fn rests_on(verdict: &Verdict) -> String {
    let e = &verdict.evidence;
    let text = format!(
        "{} samples in {}, {} cells",
        grouped(e.samples),
        duration::about(e.observation_ns),
        e.cells
    );
    text + &another_seed(verdict)
}
