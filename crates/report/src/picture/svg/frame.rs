//! The surroundings of the data: panels with frames, ticks, titles and names of the axes, and the legend.

use super::canvas::{Anchor, Canvas, Font, TEXT, TITLE};
use super::legend::{Legend, LegendEntry};
use super::theme::Theme;
use super::ticks::{Tick, ticks};
use crate::picture::{PictureAxis, PictureHead};

/// Room at all sides.
pub(crate) const EDGE: f64 = 8.0;
/// Between panels beside each other.
pub(crate) const GAP: f64 = 16.0;
/// A line of text.
pub(crate) const LINE: f64 = 15.0;
/// A column of a paper.
pub(crate) const COLUMN: f64 = 420.0;
/// Panels beside each other need less width than a column each.
pub(crate) const MORE: f64 = 240.0;

/// The text above a panel.
pub struct Caption {
    /// The panel's title.
    pub title: String,
    /// Numbers to the right, left out if they do not fit.
    pub note: String,
    /// Its own legend, if there is none for all.
    pub(crate) legend: Vec<LegendEntry>,
}

/// A panel's place.
#[derive(Clone, Copy, Debug)]
pub struct PanelArea<'a> {
    /// Left edge.
    pub left: f64,
    /// Upper edge.
    pub top: f64,
    /// Its width.
    pub width: f64,
    /// Its height.
    pub height: f64,
    /// Its axes.
    pub(crate) head: &'a PictureHead,
}

impl PanelArea<'_> {
    /// The place at which a point is drawn.
    pub fn at(&self, x: f64, y: f64) -> (f64, f64) {
        (
            self.left + self.head.x.place(x) * self.width,
            self.top + (1.0 - self.head.y.place(y)) * self.height,
        )
    }

    /// The lower edge.
    pub(crate) fn bottom(&self) -> f64 {
        self.top + self.height
    }
}

/// The axis of the criterion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CriterionAxis {
    /// Values go to the right.
    X,
    /// Values go up.
    Y,
}

/// Draws frame and legend; `draw` gets the panel's number and place and draws the data.
pub fn picture(
    theme: Theme,
    head: &PictureHead,
    measured: CriterionAxis,
    panel_height: f64,
    captions: &[Caption],
    legend: Vec<LegendEntry>,
    mut draw: impl FnMut(&mut Canvas, usize, &PanelArea<'_>),
) -> String {
    let mut canvas = Canvas::new(theme);
    let columns = match captions.len() {
        0..=6 => 1,
        7..=12 => 2,
        _ => 3,
    };
    let width = COLUMN + (columns - 1) as f64 * MORE;
    let mut y = title(&mut canvas, head, width);
    let y_ticks = ticks(&head.y, (panel_height / if head.y.log { 17.0 } else { 28.0 }) as usize);
    let font = canvas.font();
    let widest = y_ticks.iter().map(|t| font.width(&t.text)).fold(0.0, f64::max);
    let left = EDGE + LINE + widest + 5.0;
    let right = 14.0;
    let panel_width = (width - left - right - GAP * (columns - 1) as f64) / columns as f64;
    let x_ticks = ticks(&head.x, (panel_width / 52.0) as usize);
    let names = AxisNames::new(&font, &head.x, &x_ticks, panel_width);
    let top = y;
    let last_row = (captions.len().max(1) - 1) / columns;
    for row in 0..=last_row {
        let in_row = || {
            (0..columns)
                .map(move |c| (c, row * columns + c))
                .filter(|(_, i)| *i < captions.len())
        };
        let own: Vec<Legend> = in_row()
            .map(|(_, i)| Legend::new(&canvas, captions[i].legend.clone(), panel_width))
            .collect();
        let header = LINE + own.iter().map(Legend::height).fold(0.0, f64::max);
        let mut ends_here = false;
        for ((column, i), own) in in_row().zip(&own) {
            let area = PanelArea {
                left: left + column as f64 * (panel_width + GAP),
                top: y + header,
                width: panel_width,
                height: panel_height,
                head,
            };
            caption(&mut canvas, &area, y, &captions[i]);
            own.draw(&mut canvas, area.left, y + LINE);
            grid(&mut canvas, &area, &x_ticks, &y_ticks);
            draw(&mut canvas, i, &area);
            limit(&mut canvas, &area, measured);
            frame(&mut canvas, &area);
            if column == 0 {
                numbers_of_y(&mut canvas, &area, &y_ticks);
            }
            if i + columns >= captions.len() {
                names.draw(&mut canvas, &area, &x_ticks);
                ends_here = true;
            }
        }
        y += header + panel_height + if ends_here { names.height } else { 2.0 };
    }
    canvas.turned(
        EDGE + 4.0,
        (top + y) / 2.0,
        -90.0,
        Anchor::Middle,
        font,
        &font.fit(&axis_name(&head.y), y - top),
    );
    canvas.text(
        left + (width - left - right) / 2.0,
        y + 6.0,
        Anchor::Middle,
        font,
        &axis_name(&head.x),
    );
    y += LINE + 4.0;
    let mut entries = legend;
    if let Some(limit) = head.limit {
        let unit = if measured == CriterionAxis::X {
            &head.x.unit
        } else {
            &head.y.unit
        };
        entries.push(LegendEntry::limit(format!("criterion: {limit} {unit}")));
    }
    let legend = Legend::new(&canvas, entries, width - 2.0 * EDGE);
    legend.draw(&mut canvas, EDGE, y);
    y += legend.height() + EDGE;
    canvas.finish(width, y, &head.title, &head.about)
}

/// The title of the picture; returns where it ends.
pub fn title(canvas: &mut Canvas, head: &PictureHead, width: f64) -> f64 {
    let font = Font {
        size: TITLE,
        bold: true,
        ..canvas.font()
    };
    let mut y = EDGE;
    for line in font.wrap(&head.title, width - 2.0 * EDGE) {
        canvas.text(EDGE, y + LINE / 2.0, Anchor::Start, font, &line);
        y += LINE + 1.0;
    }
    y + 2.0
}

/// `latency (us)`.
pub(crate) fn axis_name(axis: &PictureAxis) -> String {
    match axis.unit.is_empty() {
        true => axis.label.clone(),
        false => format!("{} ({})", axis.label, axis.unit),
    }
}

fn caption(canvas: &mut Canvas, area: &PanelArea<'_>, top: f64, caption: &Caption) {
    let bold = Font {
        bold: true,
        ..canvas.font()
    };
    let faint = Font {
        colour: canvas.theme.faint(),
        ..canvas.font()
    };
    let y = top + LINE / 2.0;
    let title = bold.fit(&caption.title, area.width);
    canvas.text(area.left, y, Anchor::Start, bold, &title);
    let room = area.width - bold.width(&title) - TEXT;
    // Rather fewer numbers than none, rather none than half of one.
    let parts: Vec<&str> = caption.note.split("; ").collect();
    let notes = (1..=parts.len()).rev().map(|n| parts[..n].join("; "));
    if let Some(note) = notes.into_iter().find(|note| faint.width(note) <= room) {
        canvas.text(area.left + area.width, y, Anchor::End, faint, &note);
    }
}

fn grid(canvas: &mut Canvas, area: &PanelArea<'_>, x_ticks: &[Tick], y_ticks: &[Tick]) {
    let colour = canvas.theme.grid();
    for tick in x_ticks {
        let (x, _) = area.at(tick.at, area.head.y.from);
        canvas.line((x, area.top), (x, area.bottom()), colour, 0.6, "");
    }
    for tick in y_ticks {
        let (_, y) = area.at(area.head.x.from, tick.at);
        canvas.line((area.left, y), (area.left + area.width, y), colour, 0.6, "");
    }
}

fn limit(canvas: &mut Canvas, area: &PanelArea<'_>, measured: CriterionAxis) {
    let Some(limit) = area.head.limit else { return };
    let (from, to) = match measured {
        CriterionAxis::X => {
            let (x, _) = area.at(limit, area.head.y.from);
            ((x, area.top), (x, area.bottom()))
        }
        CriterionAxis::Y => {
            let (_, y) = area.at(area.head.x.from, limit);
            ((area.left, y), (area.left + area.width, y))
        }
    };
    canvas.line(from, to, canvas.theme.limit(), 1.2, "5 3");
}

fn frame(canvas: &mut Canvas, area: &PanelArea<'_>) {
    let (l, t, r, b) = (area.left, area.top, area.left + area.width, area.bottom());
    let colour = canvas.theme.ink();
    canvas.line((l, t), (l, b), colour, 0.8, "");
    canvas.line((l, b), (r, b), colour, 0.8, "");
}

fn numbers_of_y(canvas: &mut Canvas, area: &PanelArea<'_>, ticks: &[Tick]) {
    let font = canvas.font();
    let mut free = f64::INFINITY;
    for tick in ticks {
        let (_, y) = area.at(area.head.x.from, tick.at);
        if y + TEXT / 2.0 <= free {
            canvas.text(area.left - 4.0, y, Anchor::End, font, &tick.text);
            free = y - TEXT / 2.0;
        }
    }
}

/// The numbers or names below an axis.
struct AxisNames {
    height: f64,
    slanted: bool,
    longest: f64,
}

impl AxisNames {
    fn new(font: &Font, axis: &PictureAxis, ticks: &[Tick], width: f64) -> AxisNames {
        let longest = ticks.iter().map(|t| font.width(&t.text)).fold(0.0, f64::max).min(110.0);
        let slanted = !axis.names.is_empty() && longest + 6.0 > width / axis.names.len() as f64;
        AxisNames {
            height: if slanted { longest * 0.71 + TEXT } else { LINE },
            slanted,
            longest,
        }
    }

    fn draw(&self, canvas: &mut Canvas, area: &PanelArea<'_>, ticks: &[Tick]) {
        let font = canvas.font();
        let mut free = f64::NEG_INFINITY;
        for tick in ticks {
            let (x, _) = area.at(tick.at, area.head.y.from);
            let y = area.bottom() + 9.0;
            if self.slanted {
                if x - free >= TEXT {
                    let text = font.fit(&tick.text, self.longest);
                    canvas.turned(x + 3.0, y, -45.0, Anchor::End, font, &text);
                    free = x;
                }
                continue;
            }
            let half = font.width(&tick.text) / 2.0;
            let x = x.clamp(area.left, (area.left + area.width + GAP / 2.0 - half).max(area.left));
            if x - half >= free {
                canvas.text(x, y, Anchor::Middle, font, &tick.text);
                free = x + half + 4.0;
            }
        }
    }
}
