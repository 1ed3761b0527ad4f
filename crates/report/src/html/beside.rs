//! Published figures, with what this run measured of the same: then and now.
//!
//! A figure's label is text for people: `response, shm, rt, worst`. Only if every part of it is a word that is known here,
//! and the run has cells of all of it, a figure of ours stands beside it.

use super::part::{Labels, distinct};
use crate::terminal::units;
use serde::Serialize;
use worstcase_base::format::micros;
use worstcase_plan::study;
use worstcase_results::record::{Published, Quantity, Record, RunPlan};
use worstcase_results::stats::{Ensemble, ensembles};

/// A published figure and ours.
#[derive(Debug, PartialEq, Serialize)]
pub struct Beside {
    label: String,
    value: String,
    unit: String,
    source: String,
    /// Ours, one a subject; empty if the run has nothing of it.
    ours: Vec<Ours>,
}

#[derive(Debug, PartialEq, Serialize)]
struct Ours {
    subject: String,
    label: String,
    median: String,
    max: String,
    unit: String,
}

/// What a figure is of.
#[derive(Debug, Default, PartialEq)]
struct Meant {
    quantity: Option<(&'static str, Quantity)>,
    load: Option<&'static str>,
    preempt: Option<&'static str>,
}

impl Meant {
    /// Nothing if a part of the label is not known.
    fn by(label: &str) -> Option<Meant> {
        let mut meant = Meant::default();
        for part in label.split(',').map(str::trim) {
            match part {
                "irq_latency" => meant.quantity = Some(("response", Quantity::IrqLatency)),
                "response" => meant.quantity = Some(("response", Quantity::AfterIrq)),
                "shm" => meant.load = Some("shm"),
                "block reads" => meant.load = Some("blockread"),
                "no preemption" => meant.preempt = Some("none"),
                "voluntary" => meant.preempt = Some("voluntary"),
                "full preemption" => meant.preempt = Some("full"),
                "rt" => meant.preempt = Some("rt"),
                "worst" | "mean" => {}
                _ => return None,
            }
        }
        Some(meant)
    }

    fn is(&self, record: &Record) -> bool {
        let fits = |wanted: Option<&str>, is: &str| wanted.is_none_or(|w| w == is);
        fits(self.load, &record.cell.load)
            && fits(self.preempt, &record.subject.preempt.in_force)
            && fits(self.quantity.map(|q| q.0), &record.cell.probe)
    }
}

/// All published figures of a run.
pub fn beside(plan: &RunPlan, records: &[Record], labels: &Labels) -> Vec<Beside> {
    // A figure without a source of its own is from the study's.
    let study = || Some(study::load(&plan.study.as_ref()?.study).ok()?.source);
    let of_study = study().unwrap_or_default();
    let source = |figure: &Published| match figure.source.is_empty() {
        true => of_study.clone(),
        false => figure.source.clone(),
    };
    let one = |figure: &Published| Beside {
        label: figure.label.clone(),
        value: figure.value.clone(),
        unit: figure.unit.clone(),
        source: source(figure),
        ours: Meant::by(&figure.label).map_or_else(Vec::new, |meant| ours(&meant, records, labels)),
    };
    plan.published.iter().map(one).collect()
}

fn ours(meant: &Meant, records: &[Record], labels: &Labels) -> Vec<Ours> {
    let Some((_, quantity)) = meant.quantity else {
        return Vec::new();
    };
    let records: Vec<Record> = records.iter().filter(|r| meant.is(r)).cloned().collect();
    let all = ensembles(&records, quantity);
    let subjects = distinct(all.iter().map(|e| e.subject.to_string()));
    let of = |id: &String| {
        let loads: Vec<&Ensemble> = all.iter().filter(|e| e.subject.as_str() == id).collect();
        let worst = loads.iter().max_by_key(|e| e.max())?;
        let subject = records.iter().map(|r| &r.subject).find(|s| s.id() == worst.subject);
        Some(Ours {
            subject: id.clone(),
            label: labels.get(&worst.subject),
            median: micros(loads.iter().filter_map(|e| e.median()).max()?),
            max: micros(worst.max()),
            unit: units(subject.into_iter()).join(""),
        })
    };
    subjects.iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_has_a_source() {
        use worstcase_plan::{Variant, Venue};
        for built_in in study::built_in() {
            let plan = study::plan(&built_in.name, Venue::Lab, Variant::Quick).unwrap();
            let plan = RunPlan::new(plan, Vec::new());
            for figure in beside(&plan, &[], &Labels::of(&plan, &[])) {
                assert!(!figure.source.is_empty(), "{}: {}", built_in.name, figure.label);
            }
        }
    }

    #[test]
    fn every_part_of_a_label_must_be_known() {
        let meant = Meant::by("response, block reads, rt, worst").unwrap();
        assert_eq!(meant.quantity, Some(("response", Quantity::AfterIrq)));
        assert_eq!((meant.load, meant.preempt), (Some("blockread"), Some("rt")));
        assert_eq!(Meant::by("response, kernel 2.4"), None);
        assert_eq!(Meant::by("irq_latency, shm, no preemption against rt"), None);
    }
}
