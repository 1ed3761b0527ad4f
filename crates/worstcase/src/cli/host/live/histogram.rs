//! The number of samples by latency: latency to the right, number upwards, both axes logarithmic.

use super::looks::{BOLD, TerminalLooks};
use super::model::LiveModel;
use crate::cli::host::words;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::Widget;
use std::ops::Range;
use worstcase_base::duration;
use worstcase_contract::Nanos;
use worstcase_host::message::bucket;

/// Columns left of the bars.
const GUTTER: u16 = 6;
/// Buckets of a power of two, and how many powers are shown at least.
const OCTAVE: usize = 4;
const OCTAVES: usize = 6;
/// Parts of a row.
const EIGHTHS: usize = 8;
const BLOCKS: [&str; EIGHTHS] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/// Draws it.
pub fn draw(model: &LiveModel, looks: TerminalLooks, area: Rect, buffer: &mut Buffer) {
    let all = model.all();
    let limit = model.criterion.map(|limit| bucket(limit.0));
    Line::styled(title(model, looks), BOLD).render(Rect { height: 1, ..area }, buffer);
    let Some(buckets) = shown(&all.histogram, limit) else {
        return;
    };
    let plot = Rect {
        x: area.x + GUTTER.min(area.width),
        y: area.y + 1,
        width: area.width.saturating_sub(GUTTER),
        height: area.height.saturating_sub(2),
    };
    if plot.width < 8 || plot.height == 0 {
        return;
    }
    let axis = LatencyAxis::new(buckets, usize::from(plot.width));
    let rows = usize::from(plot.height);
    let scale = HistogramCounts::new(all.histogram.iter().copied().max().unwrap_or(0), rows);
    for (row, text) in scale.labels() {
        let at = (area.x, plot.y + (rows - 1 - row) as u16);
        buffer.set_stringn(at.0, at.1, format!("{text:>5}"), usize::from(GUTTER), Style::new());
    }
    let mark = limit.map(|limit| axis.column(limit));
    for column in 0..usize::from(plot.width) {
        let of = axis.buckets(column);
        let count = of
            .clone()
            .filter_map(|b| all.histogram.get(b))
            .fold(0_u64, |sum, n| sum.saturating_add(*n));
        let style = match limit {
            Some(limit) if of.start > limit => looks.above(),
            _ => looks.bar(),
        };
        let height = scale.height(count);
        for row in 0..rows {
            let symbol = match height.saturating_sub(row * EIGHTHS) {
                0 if mark == Some(column) => {
                    if looks.unicode {
                        "┊"
                    } else {
                        ":"
                    }
                }
                0 => continue,
                part if looks.unicode => BLOCKS[part.min(EIGHTHS) - 1],
                _ => "#",
            };
            buffer.set_stringn(
                plot.x + column as u16,
                plot.y + (rows - 1 - row) as u16,
                symbol,
                1,
                style,
            );
        }
    }
    let labels = axis.labels(usize::from(plot.width));
    buffer.set_stringn(
        plot.x,
        plot.y + plot.height,
        labels,
        usize::from(plot.width),
        Style::new(),
    );
}

fn title(model: &LiveModel, looks: TerminalLooks) -> String {
    let what = if model.is_noise() {
        "gaps by length"
    } else {
        "samples by latency"
    };
    let cpus = if model.cpus.len() > 1 { ", all CPUs" } else { "" };
    let mark = if looks.unicode { "┊" } else { ":" };
    let limit = model
        .criterion
        .map_or(String::new(), |limit| format!(", {mark} {}", duration::show(limit)));
    format!("{what}{cpus}{limit}")
}

/// The buckets to show: whole octaves, so that the axis seldom changes.
fn shown(histogram: &[u64], limit: Option<usize>) -> Option<Range<usize>> {
    let first = histogram.iter().position(|n| *n > 0)?;
    let last = histogram.iter().rposition(|n| *n > 0)?;
    let (first, last) = (first.min(limit.unwrap_or(first)), last.max(limit.unwrap_or(last)));
    let start = first / OCTAVE * OCTAVE;
    Some(start..(last / OCTAVE + 1).max(start / OCTAVE + OCTAVES) * OCTAVE)
}

/// Latency to the right.
struct LatencyAxis {
    shown: Range<usize>,
    /// Columns of a bucket; 0: several buckets in a column.
    columns: usize,
    /// Buckets of a column.
    together: usize,
}

impl LatencyAxis {
    fn new(shown: Range<usize>, width: usize) -> LatencyAxis {
        LatencyAxis {
            columns: width / shown.len(),
            together: shown.len().div_ceil(width),
            shown,
        }
    }

    fn buckets(&self, column: usize) -> Range<usize> {
        let first = match self.columns {
            0 => column * self.together,
            columns => column / columns,
        };
        let bucket = |n: usize| (self.shown.start + n).min(self.shown.end);
        bucket(first)..bucket(first + self.together)
    }

    fn column(&self, bucket: usize) -> usize {
        let nth = bucket.saturating_sub(self.shown.start);
        match self.columns {
            0 => nth / self.together,
            columns => nth * columns,
        }
    }

    /// Powers of ten, each where its bucket begins; between them 2 and 5 where there is room.
    fn labels(&self, width: usize) -> String {
        let mut line = vec![' '; width];
        for factor in [1, 2, 5] {
            for exponent in 0..=12 {
                let number = factor * 10_u64.pow(exponent);
                let label = format!("'{}", duration::show(Nanos(number)));
                let column = self.column(bucket(number));
                let end = column + label.len();
                // A blank on either side.
                let around = column.saturating_sub(1)..(end + 1).min(width);
                if self.shown.contains(&bucket(number)) && end <= width && line[around].iter().all(|c| *c == ' ') {
                    line.splice(column..end, label.chars());
                }
            }
        }
        line.into_iter().collect()
    }
}

/// Numbers upwards: one sample is a decade above the ground.
struct HistogramCounts {
    decades: u32,
    rows: usize,
}

impl HistogramCounts {
    fn new(max: u64, rows: usize) -> HistogramCounts {
        let decades = max.saturating_sub(1).checked_ilog10().map_or(1, |d| d + 1);
        HistogramCounts { decades, rows }
    }

    /// The height in parts of a row.
    fn height(&self, count: u64) -> usize {
        match count {
            0 => 0,
            _ => {
                let share = (1.0 + (count as f64).log10()) / f64::from(1 + self.decades);
                ((share * (self.rows * EIGHTHS) as f64).round() as usize).clamp(1, self.rows * EIGHTHS)
            }
        }
    }

    /// Rows from below, with the number that reaches into them.
    fn labels(&self) -> Vec<(usize, String)> {
        let mut labels: Vec<(usize, String)> = Vec::new();
        for decade in (0..=self.decades).rev() {
            let height = self.height(10_u64.saturating_pow(decade));
            let row = (height - 1) / EIGHTHS;
            if labels.last().is_none_or(|(used, _)| *used != row) {
                labels.push((row, words::power(decade)));
            }
        }
        labels
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_grow_by_decades() {
        let counts = HistogramCounts::new(1_000, 4);
        assert_eq!([0, 1, 10, 100, 1_000].map(|n| counts.height(n)), [0, 8, 16, 24, 32]);
        let labels: Vec<String> = counts.labels().into_iter().map(|(_, text)| text).collect();
        assert_eq!(labels, ["1k", "100", "10", "1"]);
    }

    #[test]
    fn every_bucket_has_its_column() {
        for (buckets, width) in [(24, 80), (24, 24), (60, 34), (252, 8)] {
            let axis = LatencyAxis::new(8..8 + buckets, width);
            for bucket in 8..8 + buckets {
                let column = axis.column(bucket);
                assert!(
                    column < width && axis.buckets(column).contains(&bucket),
                    "{bucket} of {buckets}"
                );
            }
            let drawn: Vec<usize> = (0..width).flat_map(|column| axis.buckets(column)).collect();
            assert!(drawn.iter().all(|bucket| axis.shown.contains(bucket)));
        }
    }
}
