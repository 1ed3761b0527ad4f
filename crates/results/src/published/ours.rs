//! The values of our cells that a published figure means: one a seed, on a host one a measurement.

use super::Ours;
use crate::record::{Quantity, Record, RunPlan, Subject};
use crate::stats::{Percentile, SeedValues};
use std::collections::BTreeMap;
use worstcase_plan::study::published::{OurCell, PublishedFigure, Statistic};
use worstcase_plan::{PreemptChoice, Published, StudyVariant, Venue};

/// The run has no cell of it, or not the statistic.
#[derive(Debug)]
pub(super) struct MissingFigure;

/// Our values of a figure.
pub(super) fn of(figure: &PublishedFigure, venue: Venue, records: &[Record]) -> Result<Ours, MissingFigure> {
    let cell = figure.cell(venue).ok_or(MissingFigure)?;
    // The value of each load, by seed and CPU.
    let mut seeds: BTreeMap<(u64, Option<u32>), BTreeMap<&str, f64>> = BTreeMap::new();
    let means = |record: &&Record| is_meant(cell, record);
    for record in records.iter().filter(means) {
        let value = value(cell, record).ok_or(MissingFigure)?;
        let of_seed = seeds.entry((record.cell.seed, record.cell.cpu)).or_default();
        of_seed.insert(&record.cell.load, value);
    }
    // A seed without one of the loads may lack the largest.
    let whole = seeds.values().filter(|loads| loads.len() == cell.loads.len());
    let largest = |loads: &BTreeMap<&str, f64>| loads.values().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut of_seeds: Vec<f64> = whole.map(largest).collect();
    of_seeds.sort_by(f64::total_cmp);
    let subject: &Subject = &records.iter().find(means).ok_or(MissingFigure)?.subject;
    let n = of_seeds.len();
    match n {
        0 => Err(MissingFigure),
        _ => Ok(Ours {
            subject: subject.id(),
            value_ns: (of_seeds[(n - 1) / 2] + of_seeds[n / 2]) / 2.0,
            of_seeds,
            time_unit: subject.time_unit(),
        }),
    }
}

/// Why a group is not judged: the study has no cells of it, or the run has not all of them.
pub(super) fn not_there(group: &Published, found: &[Result<Ours, MissingFigure>], plan: &RunPlan) -> Option<String> {
    let is_asked = |venue| group.figures.iter().any(|figure| figure.cell(venue).is_some());
    match (plan.experiment.venue, is_asked(Venue::Lab), is_asked(Venue::Host)) {
        (_, false, false) => return Some("no cell of this study stands for it".into()),
        (Venue::Host, _, false) => return Some("the study asks it of the lab, not of a host".into()),
        (Venue::Lab, false, _) => return Some("the study asks it of a host, not of the lab".into()),
        _ => {}
    }
    let missing: Vec<&PublishedFigure> = group
        .figures
        .iter()
        .zip(found)
        .filter_map(|(figure, ours)| ours.is_err().then_some(figure))
        .collect();
    if missing.is_empty() {
        return None;
    }
    let mut cells = missing.iter().filter_map(|figure| figure.cell(plan.experiment.venue));
    let is_quick = plan
        .study
        .as_ref()
        .is_some_and(|study| study.variant == StudyVariant::Quick);
    let remedy = match (cells.all(|cell| is_planned(cell, plan)), is_quick) {
        (true, _) => "give the run's command again: it measures what is missing",
        (false, true) => "the study's full form has all cells",
        (false, false) => "it was planned without them; run the study again",
    };
    let names: Vec<&str> = missing.iter().map(|figure| figure.of.as_str()).collect();
    Some(format!("not in this run: {}; {remedy}", names.join(", ")))
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
    let planned: Vec<(String, String)> = match experiment.venue {
        Venue::Lab => experiment
            .lab_cells()
            .unwrap_or_default()
            .into_iter()
            .filter(|(subject, _)| is_subject(subject))
            .map(|(_, spec)| (spec.probe.to_string(), spec.load))
            .collect(),
        Venue::Host => experiment
            .parts
            .iter()
            .flat_map(|part| part.combinations(Venue::Host).unwrap_or_default())
            .map(|c| (c.probe.to_string(), c.load.to_string()))
            .collect(),
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
    is_subject && cell.probe == record.cell.probe && cell.loads.contains(&record.cell.load)
}

fn value(cell: &OurCell, record: &Record) -> Option<f64> {
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
            Statistic::P90 | Statistic::P99 | Statistic::P999 | Statistic::Elapsed => None,
        };
    }
    let quantity = Quantity::ALL.into_iter().find(|q| q.name() == cell.quantity)?;
    let summary = record.summary(quantity)?;
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
    };
    ns.map(|ns| ns as f64)
}
