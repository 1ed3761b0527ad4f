//! The legend of a picture, below it.

use super::canvas::{Anchor, Canvas, TEXT};
use super::theme::{dash, marker};

/// Height of a row.
pub(crate) const ROW: f64 = 15.0;
/// Room for the sample of a line.
const SAMPLE: f64 = 26.0;
const GAP: f64 = 12.0;

/// An entry.
#[derive(Clone, Debug, PartialEq)]
pub struct LegendEntry {
    text: String,
    sign: Sign,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Series { style: usize, marked: bool },
    Limit,
    Request { style: usize },
    Waiting { style: usize },
    Moving,
    Shaded,
}

impl LegendEntry {
    /// A line, with markers or without.
    pub(crate) fn series(label: &str, style: usize, marked: bool) -> LegendEntry {
        LegendEntry {
            text: label.to_string(),
            sign: Sign::Series { style, marked },
        }
    }

    /// A request of a disk.
    pub(crate) fn request(label: &str, style: usize) -> LegendEntry {
        LegendEntry::of(label, Sign::Request { style })
    }

    /// A request that waits.
    pub(crate) fn waiting(label: &str, style: usize) -> LegendEntry {
        LegendEntry::of(label, Sign::Waiting { style })
    }

    /// Its arm.
    pub(crate) fn moving(label: &str) -> LegendEntry {
        LegendEntry::of(label, Sign::Moving)
    }

    /// A stretch of time.
    pub(crate) fn shaded(label: &str) -> LegendEntry {
        LegendEntry::of(label, Sign::Shaded)
    }

    fn of(label: &str, sign: Sign) -> LegendEntry {
        LegendEntry {
            text: label.to_string(),
            sign,
        }
    }

    /// The criterion.
    pub(crate) fn limit(text: String) -> LegendEntry {
        LegendEntry {
            text,
            sign: Sign::Limit,
        }
    }
}

/// Entries in rows that fit a width.
pub(crate) struct Legend {
    rows: Vec<Vec<(f64, LegendEntry)>>,
}

impl Legend {
    /// The legend of these entries.
    pub fn new(canvas: &Canvas, entries: Vec<LegendEntry>, width: f64) -> Legend {
        let font = canvas.font();
        let mut rows: Vec<Vec<(f64, LegendEntry)>> = Vec::new();
        let mut x = f64::INFINITY;
        for mut entry in entries {
            entry.text = font.fit(&entry.text, width - SAMPLE);
            let needed = SAMPLE + font.width(&entry.text);
            if x + needed > width {
                rows.push(Vec::new());
                x = 0.0;
            }
            let row = rows.last_mut().expect("the first entry begins a row");
            row.push((x, entry));
            x += needed + GAP;
        }
        Legend { rows }
    }

    /// Its height.
    pub fn height(&self) -> f64 {
        self.rows.len() as f64 * ROW
    }

    /// Draws it from there down.
    pub fn draw(&self, canvas: &mut Canvas, left: f64, top: f64) {
        let font = canvas.font();
        for (i, row) in self.rows.iter().enumerate() {
            let y = top + (i as f64 + 0.5) * ROW;
            for (x, entry) in row {
                let (from, to) = ((left + x, y), (left + x + SAMPLE - TEXT / 2.0, y));
                match entry.sign {
                    Sign::Limit => canvas.line(from, to, canvas.theme.limit(), 1.2, "5 3"),
                    Sign::Request { style } => {
                        let colour = canvas.theme.colour(style);
                        canvas.line((from.0 + 4.0, y), (to.0 - 4.0, y), colour, 2.4, "");
                    }
                    Sign::Waiting { style } => canvas.line(from, to, canvas.theme.colour(style), 0.5, ""),
                    Sign::Moving => canvas.line((from.0, y + 4.0), (to.0, y - 4.0), canvas.theme.faint(), 0.6, ""),
                    Sign::Shaded => canvas.rect(from.0, y - 5.0, to.0 - from.0, 10.0, canvas.theme.shade()),
                    Sign::Series { style, marked } => {
                        let colour = canvas.theme.colour(style);
                        canvas.line(from, to, colour, 1.5, dash(style));
                        if marked {
                            canvas.marker(((from.0 + to.0) / 2.0, y), marker(style), colour, false);
                        }
                    }
                }
                canvas.text(left + x + SAMPLE, y, Anchor::Start, font, &entry.text);
            }
        }
    }
}
