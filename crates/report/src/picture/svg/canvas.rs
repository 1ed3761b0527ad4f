//! The few shapes that pictures are drawn with. Texts are escaped by the library that writes the document.

use super::theme::{Marker, Theme};
use std::fmt::Write;
use svg::Document;
use svg::node::Text;
use svg::node::element::Element;

/// Side that a text keeps to its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The text begins at its place.
    Start,
    /// The text is centred at its place.
    Middle,
    /// The text ends at its place.
    End,
}

/// The look of a text.
#[derive(Clone, Copy, Debug)]
pub struct Font {
    /// Height.
    pub size: f64,
    /// Colour.
    pub colour: &'static str,
    /// Heavy.
    pub(crate) bold: bool,
}

impl Font {
    /// Width of a text, estimated: a little more than any common sans serif takes.
    pub(crate) fn width(&self, text: &str) -> f64 {
        let wide = |c: char| match c {
            'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | ' ' | '\'' | '|' | 'I' | 'f' | 't' | 'r' => 0.38,
            'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.95,
            c if c.is_ascii_uppercase() => 0.72,
            c if c.is_ascii() => 0.6,
            _ => 1.0,
        };
        let em: f64 = text.chars().map(wide).sum();
        em * self.size * if self.bold { 1.08 } else { 1.0 }
    }

    /// The text, or its beginning and end if it is wider than that.
    pub(crate) fn fit(&self, text: &str, width: f64) -> String {
        if self.width(text) <= width {
            return text.to_string();
        }
        let chars: Vec<char> = text.chars().collect();
        let cut = |keep: usize| -> String {
            let (head, tail) = (keep.div_ceil(2), keep / 2);
            let ends = chars[..head]
                .iter()
                .chain(['\u{2026}'].iter())
                .chain(&chars[chars.len() - tail..]);
            ends.collect()
        };
        let keep = (1..chars.len()).rev().find(|keep| self.width(&cut(*keep)) <= width);
        keep.map_or("\u{2026}".into(), cut)
    }

    /// The text in lines that are no wider than that, broken at spaces; longer words are shortened.
    pub(crate) fn wrap(&self, text: &str, width: f64) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for word in text.split(' ') {
            let joined = lines.last().map(|line| format!("{line} {word}"));
            match joined.filter(|joined| self.width(joined) <= width) {
                Some(joined) => *lines.last_mut().expect("there is a line") = joined,
                None => lines.push(self.fit(word, width)),
            }
        }
        lines
    }
}

/// Height of titles.
pub const TITLE: f64 = 13.0;
/// Height of all other text.
pub const TEXT: f64 = 11.0;

/// The canvas of a picture, in units of which 420 are a column of a paper.
pub struct Canvas {
    /// Colours.
    pub(crate) theme: Theme,
    nodes: Vec<Element>,
}

impl Canvas {
    /// An empty one.
    pub fn new(theme: Theme) -> Canvas {
        Canvas {
            theme,
            nodes: Vec::new(),
        }
    }

    /// Ordinary text.
    pub(crate) fn font(&self) -> Font {
        Font {
            size: TEXT,
            colour: self.theme.ink(),
            bold: false,
        }
    }

    /// Draws a text whose middle is at height `y`.
    pub fn text(&mut self, x: f64, y: f64, anchor: Anchor, font: Font, text: &str) {
        self.turned(x, y, 0.0, anchor, font, text);
    }

    /// A text, turned around its place.
    pub(crate) fn turned(&mut self, x: f64, y: f64, degrees: f64, anchor: Anchor, font: Font, text: &str) {
        // Without `dominant-baseline`, which programs that set papers do not know.
        let mut node = element(
            "text",
            &[
                ("x", &units(x)),
                ("y", &units(y + font.size * 0.35)),
                ("fill", font.colour),
            ],
        );
        node.get_attributes_mut()
            .insert("font-size".into(), units(font.size).into());
        let anchor = match anchor {
            Anchor::Start => None,
            Anchor::Middle => Some("middle"),
            Anchor::End => Some("end"),
        };
        let turn = (degrees != 0.0).then(|| format!("rotate({} {} {})", units(degrees), units(x), units(y)));
        let set = [
            ("text-anchor", anchor.map(str::to_string)),
            ("font-weight", font.bold.then(|| "bold".to_string())),
            ("transform", turn),
        ];
        for (name, value) in set {
            if let Some(value) = value {
                node.get_attributes_mut().insert(name.into(), value.into());
            }
        }
        svg::Node::append(&mut node, Text::new(text));
        self.nodes.push(node);
    }

    /// A filled rectangle.
    pub(crate) fn rect(&mut self, x: f64, y: f64, width: f64, height: f64, fill: &str) {
        self.put(
            "rect",
            &[
                ("x", &units(x)),
                ("y", &units(y)),
                ("width", &units(width)),
                ("height", &units(height)),
                ("fill", fill),
            ],
        );
    }

    /// A stroke along a path.
    pub(crate) fn stroke(&mut self, path: &str, colour: &str, width: f64, dash: &str) {
        let width = units(width);
        let mut attributes = vec![
            ("d", path),
            ("fill", "none"),
            ("stroke", colour),
            ("stroke-width", &width),
        ];
        if !dash.is_empty() {
            attributes.push(("stroke-dasharray", dash));
        }
        self.put("path", &attributes);
    }

    /// Thick lines with round ends, as one path.
    pub(crate) fn thick(&mut self, path: &str, colour: &str, width: f64) {
        let width = units(width);
        let attributes = [
            ("d", path),
            ("fill", "none"),
            ("stroke", colour),
            ("stroke-width", &width),
            ("stroke-linecap", "round"),
        ];
        self.put("path", &attributes);
    }

    /// A filled rectangle with a text for the pointer; it shows as much of a text as fits into it.
    #[expect(clippy::too_many_arguments, reason = "a box, and what is in it")]
    pub(crate) fn labelled(
        &mut self,
        x: f64,
        y: f64,
        width: f64,
        height: f64,
        fill: &str,
        label: &str,
        inset: f64,
        told: &str,
    ) {
        let outer = std::mem::take(&mut self.nodes);
        self.rect(x, y, width, height, fill);
        let font = self.font();
        let room = width - 2.0 * inset;
        // Two letters of a name say nothing.
        if room >= font.width("ab\u{2026}") {
            self.text(x + inset, y + height / 2.0, Anchor::Start, font, &font.fit(label, room));
        }
        let shapes = std::mem::replace(&mut self.nodes, outer);
        let mut group = Element::new("g");
        let mut title = Element::new("title");
        svg::Node::append(&mut title, Text::new(told));
        svg::Node::append(&mut group, title);
        shapes
            .into_iter()
            .for_each(|shape| svg::Node::append(&mut group, shape));
        self.nodes.push(group);
    }

    /// A straight stroke.
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), colour: &str, width: f64, dash: &str) {
        let path = format!("M{} {}L{} {}", units(from.0), units(from.1), units(to.0), units(to.1));
        self.stroke(&path, colour, width, dash);
    }

    /// Many round dots as one path, a twelfth of the size of a circle for each.
    pub(crate) fn dots(&mut self, places: impl Iterator<Item = (f64, f64)>, colour: &str, size: f64) {
        let mut path = String::new();
        for (x, y) in places {
            let _ = write!(path, "M{} {}h.01", units(x), units(y));
        }
        if path.is_empty() {
            return;
        }
        let size = units(size);
        let attributes = [
            ("d", path.as_str()),
            ("fill", "none"),
            ("stroke", colour),
            ("stroke-width", &size),
            ("stroke-linecap", "round"),
            ("stroke-opacity", "0.7"),
        ];
        self.put("path", &attributes);
    }

    /// A marker.
    pub fn marker(&mut self, (x, y): (f64, f64), marker: Marker, colour: &str, hollow: bool) {
        const R: f64 = 2.6;
        let polygon = |corners: &[(f64, f64)]| {
            let corners: Vec<String> = corners
                .iter()
                .map(|(dx, dy)| format!("{} {}", units(x + dx * R), units(y + dy * R)))
                .collect();
            format!("M{}Z", corners.join("L"))
        };
        let circle = format!(
            "M{} {}a{R} {R} 0 1 0 {} 0a{R} {R} 0 1 0 -{} 0Z",
            units(x - R),
            units(y),
            2.0 * R,
            2.0 * R
        );
        let stroke = |dx: f64, dy: f64| {
            let (x0, y0) = (units(x - dx * R), units(y - dy * R));
            format!("M{x0} {y0}L{} {}", units(x + dx * R), units(y + dy * R))
        };
        let (path, filled) = match marker {
            Marker::Disc => (circle, true),
            Marker::Ring => (circle, false),
            Marker::Square => (polygon(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]), true),
            Marker::Up => (polygon(&[(0.0, -1.2), (1.1, 0.9), (-1.1, 0.9)]), true),
            Marker::Down => (polygon(&[(0.0, 1.2), (1.1, -0.9), (-1.1, -0.9)]), true),
            Marker::Diamond => (polygon(&[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)]), true),
            Marker::Plus => (stroke(1.2, 0.0) + &stroke(0.0, 1.2), false),
            Marker::Cross => (stroke(1.0, 1.0) + &stroke(1.0, -1.0), false),
        };
        let fill = match (filled, hollow) {
            (true, false) => colour,
            (true, true) => self.theme.ground(),
            (false, _) => "none",
        };
        self.put(
            "path",
            &[
                ("d", &path),
                ("fill", fill),
                ("stroke", colour),
                ("stroke-width", "1.1"),
            ],
        );
    }

    /// A filled shape.
    pub(crate) fn polygon(&mut self, corners: &[(f64, f64)], fill: &str) {
        let corners: Vec<String> = corners
            .iter()
            .map(|(x, y)| format!("{} {}", units(*x), units(*y)))
            .collect();
        self.put("path", &[("d", &format!("M{}Z", corners.join("L"))), ("fill", fill)]);
    }

    /// The document: so wide that 420 units are 88 mm, a column of a paper.
    pub fn finish(self, width: f64, height: f64, title: &str, description: &str) -> String {
        let mm = |units: f64| format!("{:.1}mm", units * 88.0 / 420.0);
        self.sized(width, height, mm, title, description)
    }

    /// The document, for a screen: a unit is a pixel.
    pub(crate) fn finish_in_pixels(self, width: f64, height: f64, title: &str, description: &str) -> String {
        self.sized(width, height, units, title, description)
    }

    fn sized(self, width: f64, height: f64, size: impl Fn(f64) -> String, title: &str, description: &str) -> String {
        let mut document = Document::new()
            .set("width", size(width))
            .set("height", size(height))
            .set("viewBox", format!("0 0 {} {}", units(width), units(height)))
            .set("font-family", "Helvetica, Arial, sans-serif")
            .set("role", "img");
        for (name, text) in [("title", title), ("desc", description)] {
            let mut node = Element::new(name);
            svg::Node::append(&mut node, Text::new(text));
            document = document.add(node);
        }
        let size = [("width", units(width)), ("height", units(height))];
        let mut ground = element("rect", &[("fill", self.theme.ground())]);
        for (name, value) in size {
            ground.get_attributes_mut().insert(name.into(), value.into());
        }
        document = document.add(ground);
        for node in self.nodes {
            document = document.add(node);
        }
        document.to_string() + "\n"
    }

    fn put(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.nodes.push(element(name, attributes));
    }
}

fn element(name: &str, attributes: &[(&str, &str)]) -> Element {
    let mut element = Element::new(name);
    for (name, value) in attributes {
        element.get_attributes_mut().insert((*name).into(), (*value).into());
    }
    element
}

/// A length to a hundredth, with as few letters as possible.
pub fn units(value: f64) -> String {
    // Adding 0 turns -0 into 0.
    let rounded = (value * 100.0).round() / 100.0 + 0.0;
    rounded.to_string()
}
