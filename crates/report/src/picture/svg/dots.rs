//! Draws samples over time.

use super::canvas::Canvas;
use super::frame::{Caption, CriterionAxis, PanelArea, picture};
use super::theme::{Marker, Theme};
use crate::picture::{Dots, DotsPanel};
use worstcase_base::format::grouped;

/// The picture.
pub fn draw(theme: Theme, dots: &Dots) -> String {
    let height = match dots.panels.len() {
        0..=1 => 190.0,
        2..=3 => 130.0,
        _ => 92.0,
    };
    let captions: Vec<Caption> = dots.panels.iter().map(caption).collect();
    picture(
        theme,
        &dots.head,
        CriterionAxis::Y,
        height,
        &captions,
        Vec::new(),
        |canvas, i, area| {
            panel(canvas, area, &dots.panels[i]);
        },
    )
}

/// The sample that is farthest from 0: of jitter it may be an early one.
fn extreme(panel: &DotsPanel) -> Option<[f64; 2]> {
    let points = panel.points.iter().copied();
    points.reduce(|a, b| if b[1].abs() > a[1].abs() { b } else { a })
}

fn caption(panel: &DotsPanel) -> Caption {
    let mut notes = Vec::new();
    if let Some([_, value]) = extreme(panel) {
        notes.push(format!("max {value}"));
    }
    if panel.missed > 0 {
        notes.push(format!("{} missed", grouped(panel.missed)));
    }
    notes.push(format!("{} samples", grouped(panel.samples)));
    Caption {
        title: panel.of.label.clone(),
        note: notes.join("; "),
        legend: Vec::new(),
    }
}

fn panel(canvas: &mut Canvas, area: &PanelArea<'_>, panel: &DotsPanel) {
    let colour = canvas.theme.colour(panel.of.style);
    for [from, to] in &panel.missed_at {
        let ((from, _), (to, _)) = (area.at(*from, 0.0), area.at(*to, 0.0));
        canvas.rect(
            from,
            area.bottom() - 5.0,
            (to - from).max(1.0),
            5.0,
            canvas.theme.limit(),
        );
    }
    canvas.dots(panel.points.iter().map(|[x, y]| area.at(*x, *y)), colour, 1.7);
    if let Some([x, y]) = extreme(panel) {
        canvas.marker(area.at(x, y), Marker::Ring, canvas.theme.ink(), true);
    }
}
