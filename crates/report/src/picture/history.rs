//! The worst case over kernel versions: a line for each preemption model.

use super::data::{PictureData, PictureQuestion, ShownSubject, distinct};
use super::lines::PanelGrid;
use super::{LinePoint, LinesPicture, Picture, PictureAxis, PictureHead, SeriesLabel};
use worstcase_base::format::plain;
use worstcase_kernels::version;
use worstcase_results::stats::Ensemble;

/// Fewer versions are no history.
const VERSIONS: usize = 3;

/// A picture for each question that was asked of several kernel versions.
pub fn pictures(data: &PictureData<'_>) -> Vec<Picture> {
    data.questions().iter().filter_map(|q| picture(data, q)).collect()
}

fn picture(data: &PictureData<'_>, question: &PictureQuestion<'_>) -> Option<Picture> {
    let subjects = question.subjects(data);
    let of_subjects = versions(&subjects);
    let mut ordered = distinct(of_subjects.iter().cloned());
    ordered.sort_by(|a, b| version::compare(a, b));
    if ordered.len() < VERSIONS {
        return None;
    }
    let mut grid = PanelGrid::default();
    for (subject, version) in subjects.iter().zip(&of_subjects) {
        let at = ordered.iter().position(|v| v == version)? as f64;
        let of_subject = || question.ensembles.iter().filter(|e| e.subject == subject.id);
        if question.loads.len() > 1 {
            let worst = of_subject().max_by_key(|e| e.worst_case());
            grid.add(
                SeriesLabel::label("worst of all loads"),
                SeriesLabel::label(&subject.line),
                worst.map(point(at)),
            );
        }
        for load in &question.loads {
            // The worst of a host's CPUs.
            let of_load = of_subject().filter(|e| e.load == *load).max_by_key(|e| e.worst_case());
            grid.add(
                SeriesLabel::load(load),
                SeriesLabel::label(&subject.line),
                of_load.map(point(at)),
            );
        }
    }
    let x = PictureAxis::named("kernel", ordered.iter().map(|v| plain(v)).collect());
    let limit = question.limit(data).map(|l| l.as_micros_f64());
    let values: Vec<f64> = grid.values().chain(limit).collect();
    Some(Picture::Lines(LinesPicture {
        head: PictureHead {
            id: question.id("history"),
            title: format!("largest {} over kernel versions", question.title()),
            about: "Kernel versions from the oldest to the newest. A point is the median over the seeds of each seed's maximum, its bar the \
                    interval of that median; on a host it is the maximum of all CPUs. In `worst of all loads` it is that of the load which is worst for the kernel."
                .into(),
            x,
            y: PictureAxis::logarithmic(&format!("maximum: {}", question.name()), &data.micros, values.into_iter()),
            limit,
        },
        panels: grid.panels(),
    }))
}

fn point(x: f64) -> impl Fn(&Ensemble) -> LinePoint {
    move |ensemble| {
        let interval = ensemble.worst_case_interval();
        LinePoint {
            x,
            y: ensemble.worst_case().as_micros_f64(),
            interval: interval.map(|i| [i.low.as_micros_f64(), i.high.as_micros_f64()]),
        }
    }
}

/// The series that kernels are of; their releases without flavour where two are of one series.
fn versions(subjects: &[&ShownSubject<'_>]) -> Vec<String> {
    let release = |a: &ShownSubject| {
        let release = &a.subject.kernel.release;
        let base = release.strip_suffix("-amd64").unwrap_or(release);
        let base = base.strip_suffix("-rt").or(base.strip_suffix("-cloud")).unwrap_or(base);
        base.to_string()
    };
    let series = |a: &ShownSubject| version::series(&a.subject.kernel.release).unwrap_or_else(|| release(a));
    let count = |of: &dyn Fn(&ShownSubject) -> String| distinct(subjects.iter().map(|a| of(a))).len();
    let one_each = count(&series) == count(&release);
    subjects
        .iter()
        .map(|a| if one_each { series(a) } else { release(a) })
        .collect()
}
