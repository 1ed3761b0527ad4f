//! Flame graphs as SVG. Widths are virtual nanoseconds between due time and sample; the functions that a function called
//! stand upon it.
//!
//! No script: a box tells its function, its time and its share in a title that browsers show under the pointer. The graphs
//! of the page ([`crate::html`]) can be enlarged.

use super::boxes::Flame;
use crate::picture::svg::{Anchor, Canvas, Font, TEXT, TITLE, Theme};
use worstcase_analysis::breakdown::build::Explanation;
use worstcase_analysis::breakdown::folded::folded;
use worstcase_base::format::{grouped, micros};
use worstcase_contract::Nanos;

/// Pixels of the whole.
const WIDTH: f64 = 1_200.0;
const MARGIN: f64 = 10.0;
/// The height of a box, with a pixel that parts it from the next.
const ROW: f64 = 17.0;
/// The height of the text above the boxes.
const HEAD: f64 = 52.0;
/// The distance between a box's edge and its text.
const INSET: f64 = 3.0;
/// Warm and light, so that black text can be read on each.
const HUES: [&str; 6] = ["#F4C08A", "#F2D58F", "#EFB19A", "#F6CFA6", "#EBC57B", "#F0BBA0"];
/// The colours of functions that did not change, grew most, and shrank most.
const SAME: f64 = 0xec as f64;
const GREW: [f64; 3] = [0xe8 as f64, 0x5a as f64, 0x4f as f64];
const SHRANK: [f64; 3] = [0x5a as f64, 0xa5 as f64, 0xe8 as f64];

/// A flame graph.
pub fn svg(explanation: &Explanation) -> String {
    let sample = explanation.breakdown.sample();
    let title = format!("{}, sample {}", sample.cell, sample.index);
    draw(&title, &time(explanation), &folded(explanation), None)
}

/// A flame graph of folded stacks.
pub(crate) fn svg_of(title: &str, time: &str, folded: &str) -> String {
    draw(title, time, folded, None)
}

/// A flame graph of `after`, coloured by the change since `before`: red grew, blue shrank.
pub fn differential_svg(before: &Explanation, after: &Explanation) -> String {
    let title = format!(
        "{} (colour: against {}; red grew, blue shrank)",
        after.breakdown.sample().cell,
        before.breakdown.sample().cell
    );
    draw(&title, &time(after), &folded(after), Some(&folded(before)))
}

fn time(explanation: &Explanation) -> String {
    let sample = explanation.breakdown.sample();
    format!("{} {}", micros(sample.latency_ns), sample.unit)
}

/// The picture of folded stacks, and of the stacks that they are compared with.
fn draw(title: &str, time: &str, folded: &str, before: Option<&str>) -> String {
    let root = Flame::of(folded).thin();
    let before = before.map(Flame::of);
    let most = before.as_ref().map_or(0, |before| largest_change(&root, Some(before)));
    let rows = root.height() as f64;
    let mut graph = Graph {
        canvas: Canvas::new(Theme::Light),
        all: root.ns,
        bottom: HEAD + rows * ROW,
        most,
    };
    let fonts = [(TITLE + 3.0, 20.0, title), (TEXT + 1.0, 40.0, time)];
    for (size, y, text) in fonts {
        let font = Font {
            size,
            ..graph.canvas.font()
        };
        let text = font.fit(text, WIDTH - 2.0 * MARGIN);
        graph.canvas.text(WIDTH / 2.0, y, Anchor::Middle, font, &text);
    }
    let against = before.as_ref().map(Some);
    graph.add(&root, against, MARGIN, WIDTH - 2.0 * MARGIN, 0);
    let description = "A flame graph: the wider a box, the longer its function ran; above it is what it called.";
    graph
        .canvas
        .finish_in_pixels(WIDTH, HEAD + rows * ROW + MARGIN, title, description)
}

/// The largest growth or shrinkage of any box below `all`.
fn largest_change(now: &Flame, before: Option<&Flame>) -> u64 {
    let changes = now.called.iter().map(|called| {
        let old = before.and_then(|f| f.calls(&called.name));
        largest_change(called, old).max(called.ns.abs_diff(old.map_or(0, |f| f.ns)))
    });
    changes.max().unwrap_or(0)
}

struct Graph {
    canvas: Canvas,
    /// Time of the whole.
    all: u64,
    /// Lower edge of the lowest box.
    bottom: f64,
    /// The change that has the strongest colour.
    most: u64,
}

impl Graph {
    /// Draws a box with all boxes upon it. In a picture of a difference, `before` is the box in the other picture,
    /// if it has one.
    fn add(&mut self, flame: &Flame, before: Option<Option<&Flame>>, left: f64, width: f64, level: usize) {
        let percent = 100.0 * flame.ns as f64 / self.all.max(1) as f64;
        let mut told = format!("{} ({} ns, {percent:.2} %)", flame.name, grouped(flame.ns));
        let change = before.map(|old| flame.ns as i64 - old.map_or(0, |f| f.ns as i64));
        if let Some(change) = change {
            let sign = if change < 0 { "-" } else { "+" };
            told += &format!("; {sign}{} ns", grouped(change.unsigned_abs()));
        }
        let fill = match change {
            Some(_) if level == 0 => changed(0, self.most),
            Some(change) => changed(change, self.most),
            None => hue(&flame.name).to_string(),
        };
        let label = match level {
            0 => format!("{}: {} us", flame.name, micros(Nanos(flame.ns))),
            _ => flame.name.clone(),
        };
        let top = self.bottom - (level + 1) as f64 * ROW;
        // A hair of the ground separates the box from its neighbour, if there is room.
        let shown = if width > 2.0 { width - 0.5 } else { width };
        self.canvas
            .labelled(left, top, shown, ROW - 1.0, &fill, &label, INSET, &told);
        let mut at = left;
        for called in &flame.called {
            let part = width * called.ns as f64 / flame.ns as f64;
            let old = before.map(|old| old.and_then(|f| f.calls(&called.name)));
            self.add(called, old, at, part, level + 1);
            at += part;
        }
    }
}

/// The same for a function in every picture.
fn hue(name: &str) -> &'static str {
    let sum = name
        .chars()
        .fold(7_u32, |sum, c| sum.wrapping_mul(31).wrapping_add(c as u32));
    HUES[sum as usize % HUES.len()]
}

/// Light grey for no change.
fn changed(change: i64, most: u64) -> String {
    let strength = change.unsigned_abs() as f64 / most.max(1) as f64;
    let full = if change < 0 { SHRANK } else { GREW };
    let [r, g, b] = full.map(|part| (SAME + (part - SAME) * strength.min(1.0)).round() as u8);
    format!("#{r:02x}{g:02x}{b:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For each box, by its title: left edge, width, colour and text.
    fn boxes(svg: &str) -> Vec<(String, f64, f64, String, String)> {
        let between = |text: &str, from: &str, to: &str| {
            let rest = text.split_once(from).map(|(_, rest)| rest).unwrap_or_default();
            rest.split(to).next().unwrap_or_default().trim().to_string()
        };
        let number = |text: String| text.parse::<f64>().unwrap();
        let groups = svg
            .split("<g>")
            .skip(1)
            .map(|group| group.split("</g>").next().unwrap());
        let read = |group: &str| {
            let rect = between(group, "<rect", "/>");
            let attribute = |name: &str| between(&rect, &format!("{name}=\""), "\"");
            let title = between(group, "<title>", "</title>");
            let text = between(&between(group, "<text", "</g>"), ">", "</text>");
            (
                title,
                number(attribute(" x")),
                number(attribute("width")),
                attribute("fill"),
                text,
            )
        };
        groups.map(read).collect()
    }

    #[test]
    fn each_box_is_as_wide_as_its_time_and_tells_it() {
        let svg = draw("a cell", "1.000 us", "a;b 600\na;c<d> 300\ne 99\nspire 1\n", None);
        let drawn = boxes(&svg);
        let titles: Vec<&str> = drawn.iter().map(|b| b.0.as_str()).collect();
        let expected = [
            "all (1 000 ns, 100.00 %)",
            "a (900 ns, 90.00 %)",
            "b (600 ns, 60.00 %)",
            "c&lt;d&gt; (300 ns, 30.00 %)",
            "e (99 ns, 9.90 %)",
        ];
        assert_eq!(titles, expected);
        let edges: Vec<(f64, f64)> = drawn.iter().map(|b| (b.1, b.1 + b.2 + 0.5)).collect();
        assert_eq!(
            edges[..4],
            [(10.0, 1190.0), (10.0, 1072.0), (10.0, 718.0), (718.0, 1072.0)]
        );
        assert_eq!(drawn[0].4, "all: 1.00 us");
        assert_eq!(drawn[3].4, "c&lt;d&gt;");
        // A function has its colour in every picture.
        let other = boxes(&draw("another", "1.000 us", "z;b 5\n", None));
        assert_eq!(other[2].3, drawn[2].3);
    }

    #[test]
    fn what_grew_is_red_and_what_shrank_is_blue() {
        let svg = draw(
            "x",
            "1 us",
            "a;b 600\na;c 400\nd 10\n",
            Some("a;b 100\na;c 500\nd 10\ngone 5\n"),
        );
        let all = boxes(&svg);
        let of = |name: &str| all.iter().find(|b| b.0.starts_with(name)).unwrap();
        assert_eq!(of("b ").3, "#e85a4f");
        assert_eq!(of("c ").3, changed(-100, 500));
        assert_eq!((of("d ").3.as_str(), of("all").3.as_str()), ("#ececec", "#ececec"));
        assert_eq!(of("b ").0, "b (600 ns, 59.41 %); +500 ns");
        assert_eq!(of("c ").0, "c (400 ns, 39.60 %); -100 ns");
    }

    #[test]
    fn a_sample_without_time_is_a_picture_too() {
        assert!(draw("x", "0 us", "", Some("")).contains("all (0 ns, 0.00 %); +0 ns"));
    }
}
