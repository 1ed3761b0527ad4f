//! Draws subjects by loads.

use super::canvas::{Anchor, Canvas, Font, TEXT};
use super::frame::title;
use super::theme::Theme;
use crate::picture::{Heat, HeatCell, PictureAxis};
use worstcase_base::format::micros;
use worstcase_contract::Nanos;
use worstcase_results::verdict::Outcome;

const EDGE: f64 = 8.0;
const ROW: f64 = 20.0;
/// Widest name of a subject.
const NAMES: f64 = 190.0;
/// A column of a paper.
const COLUMN: f64 = 420.0;

/// The picture.
pub fn draw(theme: Theme, heat: &Heat) -> String {
    let mut canvas = Canvas::new(theme);
    let font = canvas.font();
    let (rows, columns) = (&heat.head.y.names, &heat.head.x.names);
    let left = EDGE + rows.iter().map(|n| font.width(n)).fold(0.0, f64::max).min(NAMES) + 6.0;
    let texts = heat
        .rows
        .iter()
        .flat_map(|r| &r.cells)
        .flatten()
        .map(|c| font.width(&c.text));
    let least = texts.fold(34.0, f64::max) + 10.0;
    let verdicts = heat.rows.iter().any(|r| r.outcome.is_some());
    let right = if verdicts { 96.0 } else { 0.0 } + EDGE;
    let count = columns.len().max(1) as f64;
    let cell = ((COLUMN - left - right) / count).clamp(least, least.max(90.0));
    let width = (left + cell * count + right).max(COLUMN);
    let mut y = title(&mut canvas, &heat.head, width);
    y += names_above(&mut canvas, columns, left, y, cell);
    for (row, name) in heat.rows.iter().zip(rows) {
        let middle = y + ROW / 2.0;
        canvas.text(left - 5.0, middle, Anchor::End, font, &font.fit(name, NAMES));
        for (column, of) in row.cells.iter().enumerate() {
            field(&mut canvas, heat, of.as_ref(), (left + column as f64 * cell, y), cell);
        }
        if let Some(outcome) = row.outcome {
            verdict(&mut canvas, outcome, left + count * cell + 6.0, middle);
        }
        y += ROW;
    }
    y += 4.0;
    let faint = Font {
        colour: canvas.theme.faint(),
        ..font
    };
    let us = |value: f64| micros(Nanos((value * 1_000.0).round() as u64));
    let (least, most) = (us(heat.from), us(heat.to));
    let later = canvas.theme.later();
    let unit = format!(
        "{}; {later} is later: logarithm of the value, {least} to {most}",
        heat.unit
    );
    for line in faint.wrap(&unit, width - 2.0 * EDGE) {
        canvas.text(EDGE, y + 8.0, Anchor::Start, faint, &line);
        y += 15.0;
    }
    if let Some(limit) = heat.head.limit {
        // Drawn as the mark itself, not as a line.
        let colour = canvas.theme.limit();
        above(&mut canvas, EDGE, y + 4.0, colour);
        let text = format!("a sample is above the criterion: {limit} {}", heat.unit);
        canvas.text(
            EDGE + 14.0,
            y + 8.0,
            Anchor::Start,
            font,
            &font.fit(&text, width - 30.0),
        );
        y += 15.0;
    }
    canvas.finish(width, y + EDGE, &heat.head.title, &heat.head.about)
}

/// Draws the names of loads, slanting if they are too long. Returns their height.
fn names_above(canvas: &mut Canvas, names: &[String], left: f64, top: f64, cell: f64) -> f64 {
    let font = canvas.font();
    let longest = names.iter().map(|n| font.width(n)).fold(0.0, f64::max);
    let slanted = longest + 4.0 > cell;
    let height = if slanted {
        longest.min(120.0) * 0.71 + TEXT + 4.0
    } else {
        18.0
    };
    for (i, name) in names.iter().enumerate() {
        let middle = left + (i as f64 + 0.5) * cell;
        match slanted {
            true => {
                let text = font.fit(name, 120.0);
                canvas.turned(middle - 4.0, top + height - 6.0, -45.0, Anchor::Start, font, &text);
            }
            false => canvas.text(middle, top + height / 2.0, Anchor::Middle, font, name),
        }
    }
    height
}

fn field(canvas: &mut Canvas, heat: &Heat, cell: Option<&HeatCell>, (x, y): (f64, f64), width: f64) {
    let middle = (x + width / 2.0, y + ROW / 2.0);
    let font = canvas.font();
    let Some(cell) = cell else {
        let faint = Font {
            colour: canvas.theme.faint(),
            ..font
        };
        return canvas.text(middle.0, middle.1, Anchor::Middle, faint, "\u{2013}");
    };
    let scale = PictureAxis {
        log: true,
        from: heat.from.max(1e-3),
        to: heat.to.max(heat.from.max(1e-3) * 1.000_001),
        ..PictureAxis::default()
    };
    let (fill, ink) = match cell.value {
        Some(value) => canvas.theme.heat(scale.place(value)),
        None => (canvas.theme.limit().to_string(), canvas.theme.ground()),
    };
    canvas.rect(x + 0.5, y + 0.5, width - 1.0, ROW - 1.0, &fill);
    canvas.text(
        middle.0,
        middle.1,
        Anchor::Middle,
        Font { colour: ink, ..font },
        &cell.text,
    );
    if cell.above {
        above(canvas, x + width - 9.0, y + 2.0, ink);
    }
}

/// A triangle, 7 wide.
fn above(canvas: &mut Canvas, x: f64, y: f64, colour: &str) {
    canvas.polygon(&[(x, y + 6.0), (x + 7.0, y + 6.0), (x + 3.5, y)], colour);
}

fn verdict(canvas: &mut Canvas, outcome: Outcome, x: f64, y: f64) {
    let colour = match outcome {
        Outcome::Fail => canvas.theme.limit(),
        _ => canvas.theme.ink(),
    };
    let font = Font {
        colour,
        bold: true,
        ..canvas.font()
    };
    canvas.text(x, y, Anchor::Start, font, &outcome.to_string());
}
