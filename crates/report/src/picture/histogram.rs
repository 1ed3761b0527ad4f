//! Number of samples over value: a panel a subject with its loads, and the article's picture, subjects against each other.

use super::data::{PictureData, PictureQuestion, ShownSubject, groups};
use super::merged::Merged;
use super::{
    HistogramPanel, HistogramPicture, HistogramSeries, MOST_SERIES, Picture, PictureAxis, PictureHead, SeriesLabel,
    axis,
};
use worstcase_results::record::Quantity;

/// Bins of an axis.
const BINS: usize = 120;

/// Two pictures for each question, if there is more than one subject.
pub fn pictures(data: &PictureData<'_>) -> Vec<Picture> {
    let questions = data.questions();
    questions
        .iter()
        .flat_map(|question| {
            let subjects = question.subjects(data);
            let rows = HistogramRows::new(data, question, &subjects);
            let by_subject = rows.by_subject(&subjects);
            let against = (2..=MOST_SERIES)
                .contains(&subjects.len())
                .then(|| rows.by_load(&subjects));
            std::iter::once(by_subject).chain(against)
        })
        .filter(|p| matches!(p, Picture::Histogram(h) if !h.panels.is_empty()))
        .collect()
}

/// Every subject's histogram under every load.
struct HistogramRows<'q, 'a> {
    question: &'q PictureQuestion<'a>,
    head: PictureHead,
    edges: Vec<f64>,
    /// (subject, load, series), subject by subject.
    all: Vec<(usize, usize, HistogramSeries)>,
}

impl<'q, 'a> HistogramRows<'q, 'a> {
    fn new(
        data: &PictureData<'a>,
        question: &'q PictureQuestion<'a>,
        subjects: &[&ShownSubject<'a>],
    ) -> HistogramRows<'q, 'a> {
        let mut x = axis::of_question(data, question);
        if question.quantity == Quantity::Jitter {
            x.label = "jitter, without its sign".into();
        }
        let edges = edges(&x);
        let mut all = Vec::new();
        for subject in subjects {
            for (place, load) in question.loads.iter().enumerate() {
                let merged = Merged::new(&question.records_for(subject, load), question.quantity);
                all.extend(merged.map(|m| (subject.style, place, series(&m, &edges, subject.label(load)))));
            }
        }
        let most = all.iter().flat_map(|(_, _, s)| &s.counts).max().copied().unwrap_or(1);
        let y = PictureAxis {
            // A bin with one sample must be seen.
            from: 0.5,
            to: most.max(2) as f64 * 1.5,
            ..PictureAxis::logarithmic("samples", "", std::iter::empty())
        };
        let head = PictureHead {
            id: String::new(),
            title: format!("samples over {}", question.title()),
            about: "How many samples (logarithmic) have which value; all seeds together. A mark on the axis is the \
                    largest sample. No sample is left out."
                .into(),
            x,
            y,
            limit: question.limit(data).map(|limit| limit.0 as f64 / 1_000.0),
        };
        HistogramRows {
            question,
            head,
            edges,
            all,
        }
    }

    /// A panel a subject, a series a load.
    fn by_subject(&self, subjects: &[&ShownSubject<'a>]) -> Picture {
        let panels = subjects.iter().flat_map(|subject| {
            let of_subject = self.all.iter().filter(|(style, _, _)| *style == subject.style);
            let series = of_subject.map(|(_, load, s)| {
                let mut s = s.clone();
                (s.of.label, s.of.style) = (s.of.load.clone(), *load);
                s
            });
            panels(&subject.label(""), series.collect())
        });
        self.picture(self.question.id("histogram"), panels.collect())
    }

    /// A panel a load, a series a subject.
    fn by_load(&self, subjects: &[&ShownSubject<'a>]) -> Picture {
        let panels = self.question.loads.iter().enumerate().flat_map(|(place, load)| {
            let of_load = self.all.iter().filter(|(_, at, _)| *at == place);
            let of = SeriesLabel {
                style: place,
                ..SeriesLabel::load(load)
            };
            panels(&of, of_load.map(|(_, _, s)| s.clone()).collect())
        });
        let mut picture = self.picture(self.question.id("against"), panels.collect());
        if let Picture::Histogram(h) = &mut picture {
            h.head.title += &format!("; {} subjects", subjects.len());
        }
        picture
    }

    fn picture(&self, id: String, panels: Vec<HistogramPanel>) -> Picture {
        Picture::Histogram(HistogramPicture {
            head: PictureHead {
                id,
                ..self.head.clone()
            },
            edges: self.edges.clone(),
            panels,
        })
    }
}

fn panels(of: &SeriesLabel, series: Vec<HistogramSeries>) -> Vec<HistogramPanel> {
    let groups = groups(&series).into_iter();
    groups.map(|series| HistogramPanel { of: of.clone(), series }).collect()
}

fn series(merged: &Merged, edges: &[f64], of: SeriesLabel) -> HistogramSeries {
    let mut counts = vec![0; edges.len() - 1];
    for (value, count) in merged.counts() {
        let above = edges.partition_point(|edge| *edge <= value);
        counts[above.saturating_sub(1).min(BINS - 1)] += count;
    }
    HistogramSeries {
        of,
        samples: counts.iter().sum(),
        counts,
        missed: merged.missed,
        max: merged.max as f64 / 1_000.0,
    }
}

/// Bin edges that are even on the axis, rounded to whole ns like the values.
fn edges(x: &PictureAxis) -> Vec<f64> {
    let at = |i: usize| {
        let share = i as f64 / BINS as f64;
        match x.log {
            true => x.from * (x.to / x.from).powf(share),
            false => x.from + (x.to - x.from) * share,
        }
    };
    (0..=BINS).map(at).collect()
}
