//! The values of our cells that a claim's figure means: one a seed, on a host one a measurement.

use crate::record::{CellId, Quantity, Record, RunPlan, Subject, SubjectId, Summary};
use crate::stats::{Percentile, SeedValues};
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use worstcase_contract::Nanos;
use worstcase_plan::study::claim::{ClaimFigure, OurCell, Statistic};
use worstcase_plan::{Claim, Part, PreemptChoice, StudyVariant, Venue};

/// Our values of a figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ours {
    /// The subject.
    pub subject: SubjectId,
    /// The median over the seeds: nanoseconds, or percent where the statistic is a share.
    pub value: f64,
    /// The value of each seed, ascending.
    pub of_seeds: Vec<f64>,
    /// Its clock, in microseconds; in nanoseconds where it is written.
    #[serde(serialize_with = "in_ns")]
    pub time_unit: String,
    /// Whether the values are shares.
    pub is_share: bool,
    /// The cell that has the largest.
    pub largest_in: CellId,
    /// The same values where a factor needs them above zero.
    #[serde(skip)]
    above_zero: Option<Vec<f64>>,
}

fn in_ns<S: Serializer>(unit: &str, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_str(&unit.replacen("us", "ns", 1))
}

impl Ours {
    /// The values whose factors are compared.
    pub fn for_factors(&self) -> Vec<f64> {
        self.above_zero.as_ref().unwrap_or(&self.of_seeds).clone()
    }

    #[cfg(test)]
    pub(super) fn for_test(of_seeds: &[f64]) -> Ours {
        let subject: SubjectId = serde_json::from_str("\"6.1\"").expect("a subject");
        Ours {
            largest_in: CellId::new(&subject, "idle", "wakeup", 1, None),
            subject,
            value: of_seeds[0],
            of_seeds: of_seeds.to_vec(),
            time_unit: "us".into(),
            is_share: false,
            above_zero: None,
        }
    }
}

/// Why a run does not have a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MissingFigure {
    /// It has no cell of it, or not all.
    NotMeasured,
    /// Its cells have too few samples for the statistic, or none.
    NoSample,
}

/// A cell's value.
#[derive(Clone, Copy)]
struct CellValue<'a> {
    value: f64,
    /// Of a share: half a sample more of one more, which is never zero.
    above_zero: f64,
    cell: &'a CellId,
}

/// Our values of a figure.
pub(super) fn of(figure: &ClaimFigure, venue: Venue, records: &[Record]) -> Result<Ours, MissingFigure> {
    let cell = figure.cell(venue).ok_or(MissingFigure::NotMeasured)?;
    // The value of each load, by seed and CPU.
    let mut seeds: BTreeMap<(u64, Option<u32>), BTreeMap<&str, CellValue>> = BTreeMap::new();
    let means = |record: &&Record| is_meant(cell, record);
    for record in records.iter().filter(means) {
        let value = value(cell, record).ok_or(MissingFigure::NoSample)?;
        let of_seed = seeds.entry((record.cell.seed, record.cell.cpu)).or_default();
        of_seed.insert(&record.cell.load, value);
    }
    // A seed without one of the loads may lack the largest.
    let whole = seeds.values().filter(|loads| loads.len() == cell.loads.len());
    let largest = |a: CellValue, b: CellValue| a.value.total_cmp(&b.value);
    let mut found: Vec<CellValue> = whole
        .filter_map(|loads| loads.values().copied().max_by(|a, b| largest(*a, *b)))
        .collect();
    found.sort_by(|a, b| largest(*a, *b));
    let subject: &Subject = &records.iter().find(means).ok_or(MissingFigure::NotMeasured)?.subject;
    let last = found.last().ok_or(MissingFigure::NotMeasured)?;
    let n = found.len();
    let is_share = cell.statistic.is_share();
    Ok(Ours {
        subject: subject.id(),
        value: (found[(n - 1) / 2].value + found[n / 2].value) / 2.0,
        of_seeds: found.iter().map(|of| of.value).collect(),
        time_unit: subject.time_unit(),
        is_share,
        largest_in: last.cell.clone(),
        above_zero: is_share.then(|| found.iter().map(|of| of.above_zero).collect()),
    })
}

/// Why a claim is not judged: the study has no cells of it, or the run has not all of them.
pub(super) fn not_there(claim: &Claim, found: &[Result<Ours, MissingFigure>], plan: &RunPlan) -> Option<String> {
    match (
        plan.experiment.venue,
        claim.is_asked(Venue::Lab),
        claim.is_asked(Venue::Host),
    ) {
        (_, false, false) => return Some(claim.why.clone()),
        (Venue::Host, _, false) => return Some("the study asks it of the lab, not of a host".into()),
        (Venue::Lab, false, _) => return Some("the study asks it of a host, not of the lab".into()),
        _ => {}
    }
    let missing: Vec<&ClaimFigure> = claim
        .figures
        .iter()
        .zip(found)
        .filter_map(|(figure, ours)| ours.is_err().then_some(figure))
        .collect();
    if missing.is_empty() {
        return None;
    }
    let names = |figures: &[&ClaimFigure]| {
        figures
            .iter()
            .map(|figure| figure.of.as_str())
            .collect::<Vec<_>>()
            .join(", ")
    };
    let is_measured = |ours: &Result<Ours, MissingFigure>| !matches!(ours, Err(MissingFigure::NotMeasured));
    if found.iter().all(is_measured) {
        let why = "measured, and no sample tells it (of noise: no gap)";
        return Some(format!("{why}: {}", names(&missing)));
    }
    let mut cells = missing.iter().filter_map(|figure| figure.cell(plan.experiment.venue));
    let is_quick = plan
        .study
        .as_ref()
        .is_some_and(|study| study.variant == StudyVariant::Quick);
    let remedy = match (cells.all(|cell| is_planned(cell, plan)), is_quick) {
        (true, _) => "give the run's command again: it measures what is missing",
        _ if plan.study.as_ref().is_some_and(|study| !study.arch.is_usual()) => {
            "this architecture's kernels or machines do not have it"
        }
        (false, true) => "the study's full form has all cells",
        (false, false) => "it was planned without them; run the study again",
    };
    Some(format!("not in this run: {}; {remedy}", names(&missing)))
}

/// Whether a run is going to have all of it.
fn is_planned(cell: &OurCell, plan: &RunPlan) -> bool {
    let experiment = &plan.experiment;
    let is_subject = |is: &worstcase_plan::PlannedSubject| {
        cell.subject.as_ref().is_none_or(|meant| {
            let is_model = is.preempt == PreemptChoice::All || is.preempt == meant.preempt;
            is_model && (&is.kernel, &is.machine) == (&meant.kernel, &meant.machine)
        })
    };
    let of_host = |part: &Part| {
        let is_policy = cell
            .policy
            .as_deref()
            .is_none_or(|policy| policy == part.method.policy_in_words());
        let all = is_policy.then(|| part.combinations(Venue::Host).unwrap_or_default());
        let all = all.into_iter().flatten();
        all.map(|c| (c.probe.to_string(), c.load.to_string()))
            .collect::<Vec<_>>()
    };
    let planned: Vec<(String, String)> = match experiment.venue {
        Venue::Lab => experiment
            .lab_cells()
            .unwrap_or_default()
            .into_iter()
            .filter(|(subject, _)| is_subject(subject))
            .map(|(_, spec)| (spec.probe.to_string(), spec.load))
            .collect(),
        Venue::Host => experiment.parts.iter().flat_map(of_host).collect(),
    };
    let has = |load: &String| planned.iter().any(|(probe, of)| *probe == cell.probe && of == load);
    cell.loads.iter().all(has)
}

fn is_meant(cell: &OurCell, record: &Record) -> bool {
    let is_subject = cell.subject.as_ref().is_none_or(|meant| {
        let is = &record.subject;
        let preempt = is.preempt.asked.as_ref().unwrap_or(&is.preempt.in_force);
        meant.kernel == is.kernel.name
            && meant.preempt.to_string() == *preempt
            && is.virtual_machine() == Some(&meant.machine)
    });
    let is_policy = cell.policy.as_ref().is_none_or(|policy| {
        let method = record.cell.method.as_ref();
        method.is_some_and(|method| without_priority(&method.policy) == policy)
    });
    is_subject && is_policy && cell.probe == record.cell.probe && cell.loads.contains(&record.cell.load)
}

/// `fifo` of `fifo:90`; what follows `other:` is a nice value.
fn without_priority(policy: &str) -> &str {
    match policy.split_once(':') {
        Some((real_time @ ("fifo" | "rr"), _)) => real_time,
        _ => policy,
    }
}

fn value<'a>(cell: &OurCell, record: &'a Record) -> Option<CellValue<'a>> {
    let id = &record.id;
    if let Statistic::Above(limit) = cell.statistic {
        let summary = record.summary(quantity(cell)?)?;
        let (above, of) = samples_above(summary, limit)?;
        return Some(CellValue {
            value: 100.0 * above as f64 / of as f64,
            above_zero: 100.0 * (above as f64 + 0.5) / (of as f64 + 1.0),
            cell: id,
        });
    }
    let value = time(cell, record)?;
    Some(CellValue {
        value,
        above_zero: value,
        cell: id,
    })
}

fn quantity(cell: &OurCell) -> Option<Quantity> {
    Quantity::ALL.into_iter().find(|q| q.name() == cell.quantity)
}

/// How many samples and missed periods are above a limit, of how many.
fn samples_above(summary: &Summary, limit: Nanos) -> Option<(u64, u64)> {
    let all = summary.held()?;
    let is_above = |value: u64| all.lowest_equivalent(value) > limit.0;
    let above = all.iter_recorded().filter(|step| is_above(step.value_iterated_to()));
    Some((above.map(|step| step.count_at_value()).sum(), all.len()))
}

fn time(cell: &OurCell, record: &Record) -> Option<f64> {
    let info = record.cell.probe_info();
    let derived = info.and_then(|info| info.derived.iter().find(|(name, _)| *name == cell.quantity));
    if let (Some(details), Some((_, values))) = (&record.details, derived) {
        let figures = SeedValues::new([values(details)])?.figures();
        return match cell.statistic {
            Statistic::Min => Some(figures.min),
            Statistic::Mean => Some(figures.trimmed_mean),
            Statistic::P50 => Some(figures.median),
            Statistic::Max => Some(figures.max),
            Statistic::Spread => Some(figures.max - figures.min),
            Statistic::P90 | Statistic::P99 | Statistic::P999 | Statistic::Elapsed | Statistic::Above(_) => None,
        };
    }
    let summary = record.summary(quantity(cell)?)?;
    // Of samples alone, as the articles have them.
    let percentile = |p| summary.percentiles_ns.get(&p).copied();
    let ns = match cell.statistic {
        Statistic::Min => summary.min_ns,
        Statistic::Mean => summary.mean_ns,
        Statistic::P50 => summary.median_ns,
        Statistic::P90 => percentile(Percentile::P90),
        Statistic::P99 => percentile(Percentile::P99),
        Statistic::P999 => percentile(Percentile::P99_9),
        Statistic::Max => Some(summary.max_ns),
        Statistic::Spread => Some(summary.max_ns - summary.min_ns?),
        Statistic::Elapsed => {
            let elapsed = (info?.elapsed)(record.details.as_ref()?);
            elapsed.map(|time| time.0)
        }
        Statistic::Above(_) => None,
    };
    ns.map(|ns| ns as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_is_known_without_its_priority() {
        for (of_record, of_claim) in [
            ("fifo:90", "fifo"),
            ("rr:1", "rr"),
            ("deadline", "deadline"),
            ("other", "other"),
            ("other:-11", "other:-11"),
        ] {
            assert_eq!(without_priority(of_record), of_claim);
        }
    }
}
