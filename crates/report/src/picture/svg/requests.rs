//! Draws where on a disk requests were, over time.

use super::canvas::{Canvas, units};
use super::frame::{Caption, CriterionAxis, PanelArea, picture};
use super::legend::LegendEntry;
use super::theme::Theme;
use crate::picture::{Requests, RequestsPanel};
use std::fmt::Write;

/// With more requests than this in a panel, the waits are not drawn.
const MOST_WAITS: usize = 300;

/// The picture.
pub fn draw(theme: Theme, requests: &Requests) -> String {
    let height = match requests.panels.len() {
        0..=1 => 230.0,
        2..=3 => 150.0,
        4..=6 => 110.0,
        _ => 120.0,
    };
    let caption = |panel: &RequestsPanel| {
        let said = match panel.longest {
            Some(_) => panel.said.clone(),
            None => format!("{} (not here)", panel.said),
        };
        Caption {
            title: panel.of.label.clone(),
            note: format!("{said}; seed {}", panel.seed),
            legend: Vec::new(),
        }
    };
    let captions: Vec<Caption> = requests.panels.iter().map(caption).collect();
    picture(
        theme,
        &requests.head,
        CriterionAxis::Y,
        height,
        &captions,
        legend(requests),
        |canvas, i, area| {
            panel(canvas, area, &requests.panels[i]);
        },
    )
}

fn legend(requests: &Requests) -> Vec<LegendEntry> {
    let mut series: Vec<_> = requests.panels.iter().flat_map(|p| &p.series).map(|s| &s.of).collect();
    series.sort_by_key(|of| of.style);
    series.dedup_by_key(|of| of.style);
    let first = series.first().map_or(0, |of| of.style);
    let mut entries: Vec<LegendEntry> = series
        .into_iter()
        .map(|of| LegendEntry::request(&of.label, of.style))
        .collect();
    if requests.panels.iter().any(waits) {
        entries.push(LegendEntry::waiting("it waits", first));
    }
    if requests.panels.iter().any(|p| !p.moves.is_empty()) {
        entries.push(LegendEntry::moving("the arm moves"));
    }
    if requests.panels.iter().any(|p| p.longest.is_some()) {
        entries.push(LegendEntry::shaded("longest operation"));
    }
    entries
}

/// Whether a panel shows for how long requests waited.
fn waits(panel: &RequestsPanel) -> bool {
    panel.series.iter().map(|s| s.requests.len()).sum::<usize>() <= MOST_WAITS
}

fn panel(canvas: &mut Canvas, area: &PanelArea<'_>, panel: &RequestsPanel) {
    if let Some([from, to]) = panel.longest {
        let ((from, _), (to, _)) = (area.at(from, 0.0), area.at(to, 0.0));
        let fill = canvas.theme.shade();
        canvas.rect(from, area.top, (to - from).max(1.0), area.height, fill);
    }
    let point = |path: &mut String, letter: char, (x, y): (f64, f64)| {
        let _ = write!(path, "{letter}{} {}", units(x), units(y));
    };
    let mut path = String::new();
    for [x0, y0, x1, y1] in &panel.moves {
        point(&mut path, 'M', area.at(*x0, *y0));
        point(&mut path, 'L', area.at(*x1, *y1));
    }
    if !path.is_empty() {
        canvas.stroke(&path, canvas.theme.faint(), 0.6, "");
    }
    for series in &panel.series {
        let colour = canvas.theme.colour(series.of.style);
        if waits(panel) {
            let mut path = String::new();
            for [arrived, there, _, low, _] in &series.requests {
                point(&mut path, 'M', area.at(*arrived, *low));
                point(&mut path, 'L', area.at(*there, *low));
            }
            canvas.stroke(&path, colour, 0.5, "");
        }
        let mut path = String::new();
        for [_, there, ended, low, high] in &series.requests {
            let (from, to) = (area.at(*there, *low), area.at(*ended, *high));
            point(&mut path, 'M', from);
            // A line without a length is no dot: it gets a little length.
            point(&mut path, 'L', (to.0.max(from.0 + 0.01), to.1));
        }
        let thick = if waits(panel) { 2.4 } else { 1.7 };
        canvas.thick(&path, colour, thick);
    }
}
