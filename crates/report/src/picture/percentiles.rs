//! Value over how seldom it is exceeded, to the last nine that the number of samples bears.

use super::data::{PictureData, PictureQuestion, ShownSubject, groups};
use super::merged::Merged;
use super::{
    MOST_SERIES, Percentiles, PercentilesPanel, PercentilesSeries, Picture, PictureAxis, PictureHead, SeriesLabel, axis,
};
use worstcase_base::format::plain;
use worstcase_results::stats::distribution::SAMPLES_ABOVE;

/// Points of a curve from one power of ten to the next.
const STEPS: usize = 20;

/// A picture for each question: a panel a load with a line a subject, or the other way around if those are too many.
pub fn pictures(data: &PictureData<'_>) -> Vec<Picture> {
    let questions = data.questions();
    questions.iter().filter_map(|q| picture(data, q)).collect()
}

fn picture(data: &PictureData<'_>, question: &PictureQuestion<'_>) -> Option<Picture> {
    let subjects = question.subjects(data);
    let panels: Vec<PercentilesPanel> = match subjects.len() <= MOST_SERIES {
        true => question
            .loads
            .iter()
            .enumerate()
            .flat_map(|(i, l)| of_load(question, &subjects, i, l))
            .collect(),
        false => subjects
            .iter()
            .flat_map(|subject| of_subject(question, subject))
            .collect(),
    };
    let largest = panels
        .iter()
        .flat_map(|p| &p.series)
        .map(|s| s.max[0])
        .fold(10.0, f64::max);
    if panels.is_empty() {
        return None;
    }
    let y = PictureAxis {
        label: question.name().into(),
        ..axis::of_question(data, question)
    };
    let head = PictureHead {
        id: question.id("percentiles"),
        title: format!("{}, by how seldom it is exceeded", question.title()),
        about: format!(
            "So many samples are above the line: at one in 1000 (99.9 %) is the 99.9th percentile. A line ends where fewer than \
             {SAMPLES_ABOVE} samples are above it; the mark to its right is the largest of all samples, at their number. \
             All seeds together; values to three digits."
        ),
        x: PictureAxis {
            label: "one sample in".into(),
            log: true,
            from: 1.0,
            to: largest * 1.3,
            ..PictureAxis::default()
        },
        y,
        limit: question.limit(data).map(|limit| limit.0 as f64 / 1_000.0),
    };
    Some(Picture::Percentiles(Percentiles { head, panels }))
}

fn of_load(
    question: &PictureQuestion<'_>,
    subjects: &[&ShownSubject<'_>],
    place: usize,
    load: &str,
) -> Vec<PercentilesPanel> {
    let series = subjects
        .iter()
        .filter_map(|subject| series(question, subject, load, subject.label(load)));
    let of = SeriesLabel {
        style: place,
        ..SeriesLabel::load(load)
    };
    panels(&of, series.collect())
}

fn of_subject(question: &PictureQuestion<'_>, subject: &ShownSubject<'_>) -> Vec<PercentilesPanel> {
    let loads = question.loads.iter().enumerate();
    let series = loads.filter_map(|(place, load)| {
        let of = SeriesLabel {
            label: plain(load),
            style: place,
            ..subject.label(load)
        };
        series(question, subject, load, of)
    });
    panels(&subject.label(""), series.collect())
}

fn panels(of: &SeriesLabel, series: Vec<PercentilesSeries>) -> Vec<PercentilesPanel> {
    let groups = groups(&series).into_iter();
    groups
        .map(|series| PercentilesPanel { of: of.clone(), series })
        .collect()
}

fn series(
    question: &PictureQuestion<'_>,
    subject: &ShownSubject<'_>,
    load: &str,
    of: SeriesLabel,
) -> Option<PercentilesSeries> {
    let merged = Merged::new(&question.records_for(subject, load), question.quantity)?;
    let count = merged.histogram.len();
    let last = (count / SAMPLES_ABOVE) as f64;
    let steps = (0..).map(|i| 10_f64.powf(i as f64 / STEPS as f64));
    let mut at: Vec<f64> = steps.take_while(|x| *x < last).collect();
    if last >= 1.0 {
        at.push(last);
    }
    let digits = |x: f64| (x * 1_000.0).round() / 1_000.0;
    Some(PercentilesSeries {
        of,
        points: at
            .into_iter()
            .map(|x| [digits(x), merged.exceeded_once_in(x)])
            .collect(),
        max: [count as f64, merged.max as f64 / 1_000.0],
    })
}
