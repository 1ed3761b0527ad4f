//! Small pictures side by side over time: a row for each line of a history.

use super::canvas::{Anchor, Canvas, Font};
use super::theme::{Marker, Theme, dash};
use super::ticks::ticks;
use crate::picture::PictureAxis;

/// The picture.
#[derive(Clone, Debug)]
pub struct OverTime {
    /// Below each other.
    pub rows: Vec<HistoryRow>,
}

/// A line of the history.
#[derive(Clone, Debug)]
pub struct HistoryRow {
    /// Its name.
    pub title: String,
    /// Side by side.
    pub(crate) panels: Vec<Panel>,
    /// Kernels with their numbers.
    pub kernels: Vec<String>,
    /// The points at which the kernel changed.
    pub(crate) marks: Vec<KernelMark>,
    /// The texts below the first and the last point.
    pub ends: [String; 2],
}

/// Another kernel.
#[derive(Clone, Debug)]
pub(crate) struct KernelMark {
    /// The place, from 0 to 1.
    pub x: f64,
    /// Its number.
    pub number: usize,
}

/// One measure.
#[derive(Clone, Debug)]
pub(crate) struct Panel {
    /// The title.
    pub title: String,
    /// Its values.
    pub y: PictureAxis,
    /// Points, joined where there is no gap.
    pub(crate) stretches: Vec<JoinedPoints>,
    /// Medians: from, to, value.
    pub(crate) levels: Vec<(f64, f64, f64)>,
    /// The places at which the measure changed.
    pub changes: Vec<f64>,
}

/// Points that are joined.
#[derive(Clone, Debug)]
pub(crate) struct JoinedPoints {
    /// The first series or the second.
    pub style: usize,
    /// Place from 0 to 1, and value.
    pub points: Vec<(f64, f64)>,
}

const WIDTH: f64 = 840.0;
const MARGIN: f64 = 10.0;
const LEFT: f64 = 48.0;
const ROOM: f64 = 14.0;
const HEIGHT: f64 = 110.0;
const TITLE: f64 = 44.0;
const LINE: f64 = 14.0;
/// With more points only the line is drawn, without markers.
const MARKED: usize = 80;

/// The whole file.
pub fn draw(theme: Theme, picture: &OverTime) -> String {
    let mut canvas = Canvas::new(theme);
    let mut y = MARGIN;
    for row in &picture.rows {
        y = draw_row(&mut canvas, row, y);
    }
    canvas.finish(
        WIDTH,
        y,
        "history",
        "Each row is what was measured alike. Dotted upright lines: another kernel. Red lines: a change that is shown, with \
         the medians before and since.",
    )
}

/// Draws the row, and returns the place of the next.
fn draw_row(canvas: &mut Canvas, row: &HistoryRow, top: f64) -> f64 {
    let faint = Font {
        colour: canvas.theme.faint(),
        ..canvas.font()
    };
    let bold = Font {
        bold: true,
        ..canvas.font()
    };
    canvas.text(
        MARGIN,
        top + 8.0,
        Anchor::Start,
        bold,
        &bold.fit(&row.title, WIDTH - 2.0 * MARGIN),
    );
    let width = (WIDTH - 2.0 * MARGIN) / row.panels.len().max(1) as f64;
    let (from, to) = (top + TITLE, top + TITLE + HEIGHT);
    for (nth, panel) in row.panels.iter().enumerate() {
        let left = MARGIN + width * nth as f64 + LEFT;
        let area = HistoryArea {
            left,
            right: MARGIN + width * (nth + 1) as f64 - ROOM,
            top: from,
            bottom: to,
        };
        canvas.text(left, top + 24.0, Anchor::Start, canvas.font(), &panel.title);
        draw_panel(canvas, panel, row, &area);
        for (x, anchor, text) in [
            (area.left, Anchor::Start, &row.ends[0]),
            (area.right, Anchor::End, &row.ends[1]),
        ] {
            canvas.text(
                x,
                to + 10.0,
                anchor,
                faint,
                &faint.fit(text, (area.right - area.left) / 2.0),
            );
        }
    }
    let mut y = to + 26.0;
    let kernels = format!("kernels: {}", row.kernels.join(" · "));
    for line in faint.wrap(&kernels, WIDTH - 2.0 * MARGIN - LEFT) {
        canvas.text(MARGIN + LEFT, y, Anchor::Start, faint, &line);
        y += LINE;
    }
    y + LINE
}

/// The area of a panel's values.
struct HistoryArea {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl HistoryArea {
    /// A little room on both sides, so that the first and the last point are seen.
    fn x(&self, share: f64) -> f64 {
        self.left + 5.0 + (self.right - self.left - 10.0) * share
    }

    fn y(&self, axis: &PictureAxis, value: f64) -> f64 {
        self.bottom - (self.bottom - self.top) * axis.place(value)
    }
}

fn draw_panel(canvas: &mut Canvas, panel: &Panel, row: &HistoryRow, area: &HistoryArea) {
    let theme = canvas.theme;
    let faint = Font {
        colour: theme.faint(),
        ..canvas.font()
    };
    for tick in ticks(&panel.y, 4) {
        let y = area.y(&panel.y, tick.at);
        canvas.line((area.left, y), (area.right, y), theme.grid(), 0.7, "");
        canvas.text(area.left - 5.0, y, Anchor::End, faint, &tick.text);
    }
    for mark in &row.marks {
        let x = area.x(mark.x);
        canvas.line((x, area.top), (x, area.bottom), theme.faint(), 0.8, "1 3");
        canvas.text(x, area.top - 6.0, Anchor::Middle, faint, &mark.number.to_string());
    }
    let frame = [
        (area.left, area.top),
        (area.left, area.bottom),
        (area.right, area.bottom),
    ];
    canvas.line(frame[0], frame[1], theme.ink(), 0.8, "");
    canvas.line(frame[1], frame[2], theme.ink(), 0.8, "");
    let count: usize = panel.stretches.iter().map(|s| s.points.len()).sum();
    for stretch in &panel.stretches {
        let colour = theme.colour(stretch.style);
        let places = stretch.points.iter().map(|(x, y)| (area.x(*x), area.y(&panel.y, *y)));
        let places: Vec<(f64, f64)> = places.collect();
        for pair in places.windows(2) {
            canvas.line(pair[0], pair[1], colour, 1.0, dash(stretch.style));
        }
        if count <= MARKED || places.len() == 1 {
            places
                .iter()
                .for_each(|p| canvas.marker(*p, Marker::Disc, colour, stretch.style > 0));
        }
    }
    for (from, to, value) in &panel.levels {
        let y = area.y(&panel.y, *value);
        canvas.line((area.x(*from), y), (area.x(*to), y), theme.limit(), 1.6, "");
    }
    for x in &panel.changes {
        canvas.line(
            (area.x(*x), area.top),
            (area.x(*x), area.bottom),
            theme.limit(),
            1.2,
            "4 2",
        );
    }
}
