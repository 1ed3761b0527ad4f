//! The numbers: a table for each question, a row for each subject, probe and load.

use super::extremes::{Question, questions};
use super::part::Labels;
use crate::View;
use crate::terminal::observation_time;
use serde::Serialize;
use worstcase_base::duration;
use worstcase_base::format::{grouped, micros, range};
use worstcase_results::record::SubjectId;
use worstcase_results::stats::Ensemble;

/// A question's figures.
#[derive(Debug, Serialize)]
pub struct Table {
    probe: String,
    title: &'static str,
    unit: String,
    /// On how much the figures rest.
    rests: String,
    rows: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    subject: SubjectId,
    label: String,
    probe: String,
    load: String,
    median: String,
    p99: String,
    max: String,
    /// Lowest to highest maximum of a seed.
    of_seeds: String,
    seeds: usize,
    samples: String,
    observation_time: String,
    missed: String,
}

/// All of a run.
pub fn tables(view: &View, labels: &Labels) -> Vec<Table> {
    let table = |question: Question| Table {
        probe: question.family.to_string(),
        title: question.quantity.title_of(question.probe),
        rests: observation_time(&question.ensembles),
        rows: question.ensembles.iter().map(|e| row(labels, e)).collect(),
        unit: question.unit,
    };
    questions(view).into_iter().map(table).collect()
}

fn row(labels: &Labels, e: &Ensemble) -> Row {
    Row {
        subject: e.subject.clone(),
        label: match e.cpu {
            Some(cpu) => format!("{}, CPU {cpu}", labels.get(&e.subject)),
            None => labels.get(&e.subject),
        },
        probe: e.probe.clone(),
        load: e.load.clone(),
        median: e.median().map_or_else(String::new, micros),
        p99: e.p99().map_or_else(String::new, micros),
        max: micros(e.max()),
        of_seeds: match e.seeds.len() {
            1 => String::new(),
            _ => range(e.least_max(), e.max(), micros),
        },
        seeds: e.seeds.len(),
        samples: grouped(e.taken()),
        observation_time: duration::about(e.observation_time()),
        missed: match (e.missed(), e.lost()) {
            (None, _) => String::new(),
            (Some(missed), 0) => grouped(missed),
            (Some(missed), lost) => format!("{}, {} lost", grouped(missed), grouped(lost)),
        },
    }
}
