//! Draws bars, a row a subject, with scales beside each other.

use super::canvas::{Anchor, Canvas, Font};
use super::frame::{COLUMN, EDGE, GAP, LINE, MORE, title};
use super::theme::{Marker, Theme};
use crate::picture::{BarScale, Bars, BarsPanel};

/// Least height of a row.
const ROW: f64 = 20.0;
/// A line of a name that takes several.
const NAME_LINE: f64 = 12.0;
/// The thickness of a bar.
const THICK: f64 = 10.0;
/// The names' part of a panel, at most.
const NAMES: f64 = 0.34;

/// The picture.
pub fn draw(theme: Theme, bars: &Bars) -> String {
    let mut canvas = Canvas::new(theme);
    let columns = match bars.panels.len() {
        0..=6 => 1,
        7..=12 => 2,
        _ => 3,
    };
    let width = COLUMN + (columns - 1) as f64 * MORE;
    let mut y = title(&mut canvas, &bars.head, width);
    let gaps = GAP * (columns - 1) as f64;
    let panel_width = (width - 2.0 * EDGE - gaps) / columns as f64;
    let font = canvas.font();
    // A name breaks between its settings.
    let names = || bars.panels.iter().flat_map(|p| &p.rows).map(|r| words(&r.of.label));
    let words_width = |text: String| text.split('\n').map(|w| font.width(w)).fold(0.0, f64::max);
    let widest = names().map(words_width).fold(0.0, f64::max);
    let names = widest.min(panel_width * NAMES);
    for row in bars.panels.chunks(columns) {
        let heights = row.iter().enumerate().map(|(column, panel)| {
            let left = EDGE + column as f64 * (panel_width + GAP);
            draw_panel(&mut canvas, panel, (left, y), panel_width, names)
        });
        y += heights.fold(0.0, f64::max) + 6.0;
    }
    let faint = Font {
        colour: canvas.theme.faint(),
        ..font
    };
    let said = "bar: median over the seeds; ring: a seed; number: the median, of max latency the largest of all seeds";
    for line in faint.wrap(said, width - 2.0 * EDGE) {
        canvas.text(EDGE, y + LINE / 2.0, Anchor::Start, faint, &line);
        y += LINE;
    }
    canvas.finish(width, y + EDGE, &bars.head.title, &bars.head.about)
}

/// A name in the lines that it may have: `bfq{a=1,b=2}` as `bfq`, `a=1`, `b=2`.
fn words(name: &str) -> String {
    match name.split_once('{') {
        Some((first, rest)) => format!("{first}\n{}", rest.trim_end_matches('}').replace(',', "\n")),
        None => name.replace(", ", "\n"),
    }
}

/// Draws a panel; returns its height.
fn draw_panel(canvas: &mut Canvas, panel: &BarsPanel, (left, top): (f64, f64), width: f64, names: f64) -> f64 {
    let font = canvas.font();
    let bold = Font { bold: true, ..font };
    canvas.text(
        left,
        top + LINE / 2.0,
        Anchor::Start,
        bold,
        &bold.fit(&panel.of.label, width),
    );
    let mut y = top + LINE;
    let begin = left + names + 6.0;
    let count = panel.scales.len().max(1) as f64;
    let scale_width = (left + width - begin - GAP * (count - 1.0)) / count;
    let starts: Vec<f64> = (0..panel.scales.len())
        .map(|i| begin + i as f64 * (scale_width + GAP))
        .collect();
    let faint = Font {
        colour: canvas.theme.faint(),
        ..font
    };
    let heads: Vec<Vec<String>> = panel.scales.iter().map(|s| heading(&faint, s, scale_width)).collect();
    let lines = heads.iter().map(Vec::len).max().unwrap_or(0);
    for (x, head) in starts.iter().zip(&heads) {
        for (i, line) in head.iter().enumerate() {
            let middle = y + (i as f64 + 0.5) * (LINE - 1.0);
            canvas.text(*x, middle, Anchor::Start, faint, line);
        }
    }
    y += lines as f64 * (LINE - 1.0) + 2.0;
    let rows = y;
    for row in &panel.rows {
        let name = words(&row.of.label);
        let name: Vec<String> = name.split('\n').map(|line| font.fit(line, names)).collect();
        let height = ROW.max(name.len() as f64 * NAME_LINE + 6.0);
        let middle = y + height / 2.0;
        for (i, line) in name.iter().enumerate() {
            let at = middle + (i as f64 - (name.len() - 1) as f64 / 2.0) * NAME_LINE;
            canvas.text(begin - 5.0, at, Anchor::End, font, line);
        }
        let colour = canvas.theme.colour(row.of.style);
        for (i, (bar, scale)) in row.bars.iter().zip(&panel.scales).enumerate() {
            let Some(bar) = bar else {
                canvas.text(starts[i] + 4.0, middle, Anchor::Start, faint, "\u{2013}");
                continue;
            };
            let length = (scale_width - room(&font, panel, i)) / scale.to;
            let end = |value: f64| starts[i] + value * length;
            canvas.rect(
                starts[i],
                middle - THICK / 2.0,
                (bar.value * length).max(0.5),
                THICK,
                colour,
            );
            let several = bar.seeds.len() > 1;
            let mut last = end(bar.value);
            for seed in bar.seeds.iter().filter(|_| several) {
                canvas.marker((end(*seed), middle), Marker::Disc, canvas.theme.ink(), true);
                last = last.max(end(*seed) + 3.0);
            }
            canvas.text(last + 4.0, middle, Anchor::Start, font, &bar.text);
        }
        y += height;
    }
    for x in starts {
        canvas.line((x, rows), (x, y), canvas.theme.ink(), 0.8, "");
    }
    y - top + 4.0
}

/// Room for a ring and a number at the end of a scale.
fn room(font: &Font, panel: &BarsPanel, scale: usize) -> f64 {
    let texts = panel.rows.iter().filter_map(|row| row.bars[scale].as_ref());
    texts.map(|bar| font.width(&bar.text)).fold(0.0, f64::max) + 9.0
}

/// `throughput (MB/s), more is better`, in as many lines as it takes.
fn heading(font: &Font, scale: &BarScale, width: f64) -> Vec<String> {
    let unit = match scale.unit.is_empty() {
        true => scale.label.clone(),
        false => format!("{} ({})", scale.label, scale.unit),
    };
    let mut lines = font.wrap(&format!("{unit},"), width);
    lines.extend(font.wrap(&scale.better, width));
    lines
}
