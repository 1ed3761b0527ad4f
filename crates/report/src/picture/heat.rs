//! Subjects by loads: the worst of each.

use super::data::{PictureData, PictureQuestion, ShownSubject, distinct};
use super::{Heat, HeatCell, HeatRow, Picture, PictureAxis, PictureHead};
use worstcase_base::format::{micros, plain};
use worstcase_contract::Nanos;
use worstcase_results::record::Quantity;
use worstcase_results::verdict::{Criterion, verdicts};

/// The colours span at least this factor: small differences look small.
const LEAST_RANGE: f64 = 2.0;
/// They have a logarithm: no value is less than a nanosecond.
const LEAST: f64 = 0.001;

/// A picture for each question.
pub fn pictures(data: &PictureData<'_>) -> Vec<Picture> {
    data.questions().iter().map(|q| picture(data, q)).collect()
}

fn picture(data: &PictureData<'_>, question: &PictureQuestion<'_>) -> Picture {
    let rows: Vec<HeatRow> = question
        .subjects(data)
        .iter()
        .flat_map(|a| rows(data, question, a))
        .collect();
    let limit = question.limit(data).map(|limit| limit.as_micros_f64());
    // The limit is a place on the scale: one late value alone is late.
    let values = || {
        let cells = rows.iter().flat_map(|r| &r.cells).flatten();
        // What nothing entered is below the scale.
        let measured = cells.filter_map(|c| c.value).filter(|us| *us > 0.0);
        measured.chain(limit).map(|us| us.max(LEAST))
    };
    let (from, to) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    let names = rows.iter().map(|r| r.of.label.clone()).collect();
    let mut about = "Each field: the largest of all seeds.".to_string();
    if question.limit(data).is_some() {
        about += " A triangle: a sample is above the criterion. The word at the end of a row is the subject's verdict.";
    }
    Picture::Heat(Heat {
        head: PictureHead {
            id: question.id("heat"),
            title: format!("largest {}", question.title()),
            about,
            x: PictureAxis::named("load", question.loads.iter().map(|l| plain(l)).collect()),
            y: PictureAxis::named("subject", names),
            limit,
        },
        unit: data.micros.clone(),
        from: if from.is_finite() { from } else { 0.0 },
        to: to.max(from.min(to) * LEAST_RANGE),
        rows,
    })
}

/// The row of a subject; for a host with several CPUs one for all of them, and one for each.
fn rows(data: &PictureData<'_>, question: &PictureQuestion<'_>, subject: &ShownSubject<'_>) -> Vec<HeatRow> {
    let of_subject = question.ensembles.iter().filter(|e| e.subject == subject.id);
    let mut cpus = distinct(of_subject.filter_map(|e| e.cpu));
    if cpus.len() < 2 {
        return vec![row(data, question, subject)];
    }
    cpus.sort_unstable();
    let mut all = row(data, question, subject);
    all.of.label += ", all CPUs";
    let limit = question.limit(data).filter(|_| question.quantity == Quantity::Latency);
    let of_cpu = |cpu: u32| {
        let mut of = subject.label("");
        of.label = format!("{}, CPU {cpu}", of.label);
        let cells = question.loads.iter();
        HeatRow {
            of,
            outcome: None,
            cells: cells
                .map(|load| cell(question, subject, load, Some(cpu), limit))
                .collect(),
        }
    };
    [all].into_iter().chain(cpus.into_iter().map(of_cpu)).collect()
}

fn row(data: &PictureData<'_>, question: &PictureQuestion<'_>, subject: &ShownSubject<'_>) -> HeatRow {
    let limit = question.limit(data).filter(|_| question.quantity == Quantity::Latency);
    let outcome = limit.and_then(|limit| {
        let criterion = Criterion::of(limit, data.records);
        let all = verdicts(data.planned, data.records, &criterion);
        all.into_iter().find(|v| v.subject == subject.id).map(|v| v.outcome)
    });
    HeatRow {
        of: subject.label(""),
        outcome,
        cells: question
            .loads
            .iter()
            .map(|load| cell(question, subject, load, None, limit))
            .collect(),
    }
}

/// The field of one CPU, or of all.
fn cell(
    question: &PictureQuestion<'_>,
    subject: &ShownSubject<'_>,
    load: &str,
    cpu: Option<u32>,
    limit: Option<Nanos>,
) -> Option<HeatCell> {
    let is_asked = |of: Option<u32>| cpu.is_none() || cpu == of;
    let mut records = question.records_for(subject, load);
    records.retain(|r| is_asked(r.cell.cpu));
    if records.is_empty() {
        return None;
    }
    let all = question.ensembles.iter();
    let of_cell = all.filter(|e| e.subject == subject.id && e.load == load && is_asked(e.cpu));
    let ensemble = of_cell.max_by_key(|e| e.max());
    // A thread that nothing stopped has no gap: no longest one is the best that there is.
    let nothing = || {
        records
            .iter()
            .all(|r| r.accounting.gaps().is_some_and(|gaps| gaps.gaps == 0 && gaps.lost == 0))
    };
    let highest = ensemble.map(|e| e.max()).or_else(|| nothing().then_some(Nanos(0)));
    // CPUs of a host are no seeds.
    let seeds = ensemble.filter(|e| e.cpu.is_none() && e.seeds.len() > 1);
    let us = |ns: Nanos| ns.as_micros_f64();
    Some(HeatCell {
        value: highest.map(us),
        text: match highest {
            None => "missed".into(),
            Some(Nanos(0)) => "none".into(),
            Some(highest) => micros(highest),
        },
        median: seeds.map(|e| us(e.median_max())),
        interval: seeds
            .and_then(|e| e.median_max_interval())
            .map(|i| [us(i.low), us(i.high)]),
        seeds: distinct(records.iter().map(|r| r.cell.seed)).len(),
        samples: records.iter().map(|r| r.accounting.rows()).sum(),
        missed: records.iter().map(|r| r.accounting.missed()).sum(),
        above: limit.is_some_and(|limit| highest.is_some_and(|max| max > limit)),
    })
}
