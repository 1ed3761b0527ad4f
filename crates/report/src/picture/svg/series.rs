//! Draws panels with several series: histograms, percentile curves, lines with intervals.

use super::canvas::{Canvas, units};
use super::frame::{Caption, CriterionAxis, PanelArea, picture};
use super::legend::LegendEntry;
use super::theme::{Theme, dash, marker};
use crate::picture::{
    HistogramPicture, HistogramSeries, LinePoint, LinesPicture, MOST_SERIES, Percentiles, PictureLine, SeriesLabel,
};
use worstcase_base::format::grouped;

/// A histogram's picture.
pub fn histogram(theme: Theme, histogram: &HistogramPicture) -> String {
    let of = |series: &[HistogramSeries]| series.iter().map(|s| s.of.clone()).collect();
    let panels: Vec<(SeriesLabel, Vec<SeriesLabel>)> =
        histogram.panels.iter().map(|p| (p.of.clone(), of(&p.series))).collect();
    let (mut captions, legend) = captions(&panels, true);
    for (caption, panel) in captions.iter_mut().zip(&histogram.panels) {
        let samples: u64 = panel.series.iter().map(|s| s.samples).sum();
        let missed: u64 = panel.series.iter().map(|s| s.missed).sum();
        caption.note = format!("{} samples", grouped(samples));
        if missed > 0 {
            caption.note = format!("{} missed; {}", grouped(missed), caption.note);
        }
    }
    let height = height(panels.len());
    picture(
        theme,
        &histogram.head,
        CriterionAxis::X,
        height,
        &captions,
        legend,
        |canvas, i, area| {
            for series in &histogram.panels[i].series {
                steps(canvas, area, &histogram.edges, series);
            }
            for series in &histogram.panels[i].series {
                let (x, _) = area.at(series.max, area.head.y.from);
                let style = series.of.style;
                canvas.marker((x, area.bottom()), marker(style), canvas.theme.colour(style), false);
            }
        },
    )
}

/// The outline of a histogram; nothing where it has no samples.
fn steps(canvas: &mut Canvas, area: &PanelArea<'_>, edges: &[f64], series: &HistogramSeries) {
    let mut path = String::new();
    let mut open = false;
    for (bin, count) in series.counts.iter().enumerate() {
        let (left, y) = area.at(edges[bin], (*count as f64).max(area.head.y.from));
        let (right, _) = area.at(edges[bin + 1], area.head.y.from);
        if *count == 0 {
            open = false;
            continue;
        }
        if !open {
            path += &format!("M{} {}", units(left), units(area.bottom()));
        }
        path += &format!("V{}H{}", units(y), units(right));
        if series.counts.get(bin + 1).is_none_or(|next| *next == 0) {
            path += &format!("V{}", units(area.bottom()));
        }
        open = true;
    }
    let style = series.of.style;
    canvas.stroke(&path, canvas.theme.colour(style), 1.3, dash(style));
}

/// A picture of percentile curves.
pub(crate) fn percentiles(theme: Theme, percentiles: &Percentiles) -> String {
    let panels = percentiles.panels.iter();
    let panels: Vec<(SeriesLabel, Vec<SeriesLabel>)> = panels
        .map(|p| (p.of.clone(), p.series.iter().map(|s| s.of.clone()).collect()))
        .collect();
    let (captions, legend) = captions(&panels, true);
    let height = height(panels.len());
    picture(
        theme,
        &percentiles.head,
        CriterionAxis::Y,
        height,
        &captions,
        legend,
        |canvas, i, area| {
            for series in &percentiles.panels[i].series {
                let style = series.of.style;
                let places: Vec<(f64, f64)> = series.points.iter().map(|[x, y]| area.at(*x, *y)).collect();
                curve(canvas, &places, style);
                let [x, y] = series.max;
                canvas.marker(area.at(x, y), marker(style), canvas.theme.colour(style), true);
            }
        },
    )
}

/// A picture of lines.
pub fn lines(theme: Theme, lines: &LinesPicture) -> String {
    let panels = lines.panels.iter();
    let panels: Vec<(SeriesLabel, Vec<SeriesLabel>)> = panels
        .map(|p| (p.of.clone(), p.series.iter().map(|s| s.of.clone()).collect()))
        .collect();
    let (captions, legend) = captions(&panels, true);
    let height = height(panels.len());
    let styles = lines
        .panels
        .iter()
        .flat_map(|p| &p.series)
        .map(|s| s.of.style % MOST_SERIES);
    let middle = styles.max().unwrap_or(0) as f64 / 2.0;
    picture(
        theme,
        &lines.head,
        CriterionAxis::Y,
        height,
        &captions,
        legend,
        |canvas, i, area| {
            for line in &lines.panels[i].series {
                draw_line(canvas, area, line, middle);
            }
        },
    )
}

fn draw_line(canvas: &mut Canvas, area: &PanelArea<'_>, line: &PictureLine, middle: f64) {
    let style = line.of.style;
    let colour = canvas.theme.colour(style);
    // Intervals of several lines at one named place would lie over each other; a number's place is not moved.
    let aside = match area.head.x.names.is_empty() {
        true => 0.0,
        false => ((style % MOST_SERIES) as f64 - middle) * 1.8,
    };
    let place = |point: &LinePoint, y: f64| {
        let (x, y) = area.at(point.x, y);
        (x + aside, y)
    };
    for point in &line.points {
        if let Some([low, high]) = point.interval {
            let (low, high) = (place(point, low), place(point, high));
            canvas.line(low, high, colour, 0.9, "");
            for (x, y) in [low, high] {
                canvas.line((x - 2.2, y), (x + 2.2, y), colour, 0.9, "");
            }
        }
    }
    let places: Vec<(f64, f64)> = line.points.iter().map(|p| place(p, p.y)).collect();
    curve(canvas, &places, style);
    for place in places {
        canvas.marker(place, marker(style), colour, false);
    }
}

fn curve(canvas: &mut Canvas, places: &[(f64, f64)], style: usize) {
    let points: Vec<String> = places
        .iter()
        .map(|(x, y)| format!("{} {}", units(*x), units(*y)))
        .collect();
    if places.len() > 1 {
        canvas.stroke(
            &format!("M{}", points.join("L")),
            canvas.theme.colour(style),
            1.4,
            dash(style),
        );
    }
}

fn height(panels: usize) -> f64 {
    match panels {
        0..=1 => 230.0,
        2..=3 => 150.0,
        4..=6 => 105.0,
        _ => 120.0,
    }
}

/// Captions of the panels, and one legend for all if a style means the same everywhere.
fn captions(panels: &[(SeriesLabel, Vec<SeriesLabel>)], marked: bool) -> (Vec<Caption>, Vec<LegendEntry>) {
    let entry = |of: &SeriesLabel| LegendEntry::series(&of.label, of.style, marked);
    let mut all: Vec<&SeriesLabel> = Vec::new();
    for of in panels.iter().flat_map(|(_, series)| series) {
        if all.iter().all(|known| known.label != of.label) {
            all.push(of);
        }
    }
    all.sort_by_key(|of| of.style);
    let common = all.len() <= MOST_SERIES && all.windows(2).all(|w| w[0].style != w[1].style);
    let caption = |(of, series): &(SeriesLabel, Vec<SeriesLabel>)| Caption {
        title: of.label.clone(),
        note: String::new(),
        legend: if common {
            Vec::new()
        } else {
            series.iter().map(entry).collect()
        },
    };
    let legend = if common {
        all.into_iter().map(entry).collect()
    } else {
        Vec::new()
    };
    (panels.iter().map(caption).collect(), legend)
}
