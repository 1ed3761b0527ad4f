//! Colours, dashes and markers that are told apart on screen and paper, by readers of every kind of colour vision, and without colour.

/// A theme, for light or dark ground.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// Dark ink on white: for paper.
    Light,
    /// Light ink on black: for slides and screens.
    Dark,
}

/// Okabe and Ito's palette, black for the last: their yellow is not seen on white, grey takes its place.
const LIGHT: [&str; 8] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#808080",
];
/// The same, as bright as they must be on black, with yellow.
const DARK: [&str; 8] = [
    "#56b4e9", "#ff8c42", "#2bc49a", "#e3a5c6", "#e69f00", "#f0e442", "#ffffff", "#a0a0a0",
];
const DASHES: [&str; 8] = ["", "6 2", "2 2", "7 2 2 2", "4 4", "10 3", "1 3", "7 2 2 2 2 2"];
/// Cividis (Nuñez, Anderton, Renslow 2018), from its bright to its dark end.
const HEAT: [[u8; 3]; 6] = [
    [0xfe, 0xe8, 0x38],
    [0xd3, 0xc1, 0x64],
    [0xa5, 0x9c, 0x74],
    [0x7d, 0x7c, 0x78],
    [0x4a, 0x5a, 0x6b],
    [0x00, 0x22, 0x4e],
];

/// Shapes of markers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marker {
    /// A disc.
    Disc,
    /// A square.
    Square,
    /// A triangle on its base.
    Up,
    /// A diamond.
    Diamond,
    /// A triangle on its tip.
    Down,
    /// Two strokes, upright.
    Plus,
    /// Two strokes, slanting.
    Cross,
    /// A ring.
    Ring,
}

const MARKERS: [Marker; 8] = [
    Marker::Disc,
    Marker::Square,
    Marker::Up,
    Marker::Diamond,
    Marker::Down,
    Marker::Plus,
    Marker::Cross,
    Marker::Ring,
];

impl Theme {
    /// Text and frames.
    pub(crate) fn ink(self) -> &'static str {
        self.choose("#1a1a1a", "#e6e6e6")
    }

    /// Text of less weight.
    pub(crate) fn faint(self) -> &'static str {
        self.choose("#595959", "#a8a8a8")
    }

    /// Lines of the grid.
    pub(crate) fn grid(self) -> &'static str {
        self.choose("#e0e0e0", "#333333")
    }

    /// The shade of a marked stretch of time.
    pub(crate) fn shade(self) -> &'static str {
        self.choose("#f3ecd2", "#3a3418")
    }

    /// The ground.
    pub(crate) fn ground(self) -> &'static str {
        self.choose("#ffffff", "#121212")
    }

    /// The colour of the criterion, and of values above it.
    pub fn limit(self) -> &'static str {
        self.choose("#b00020", "#ff6b7a")
    }

    /// The colour of a series.
    pub(crate) fn colour(self, style: usize) -> &'static str {
        match self {
            Theme::Light => LIGHT[style % LIGHT.len()],
            Theme::Dark => DARK[style % DARK.len()],
        }
    }

    /// The colour of a field that is later than others: far from the ground.
    pub(crate) fn later(self) -> &'static str {
        self.choose("darker", "brighter")
    }

    /// The colour of a field, for a share from 0 to 1, and that of the text on it.
    pub(crate) fn heat(self, share: f64) -> (String, &'static str) {
        let share = match self {
            Theme::Light => share,
            Theme::Dark => 1.0 - share,
        };
        let at = share.clamp(0.0, 1.0) * (HEAT.len() - 1) as f64;
        let low = (at as usize).min(HEAT.len() - 2);
        let mix = |i: usize| {
            let (a, b) = (f64::from(HEAT[low][i]), f64::from(HEAT[low + 1][i]));
            a + (b - a) * (at - low as f64)
        };
        let [r, g, b] = [mix(0), mix(1), mix(2)];
        let bright = 0.299 * r + 0.587 * g + 0.114 * b > 130.0;
        let ink = if bright { "#000000" } else { "#ffffff" };
        (format!("#{:02x}{:02x}{:02x}", r as u8, g as u8, b as u8), ink)
    }

    fn choose(self, light: &'static str, dark: &'static str) -> &'static str {
        match self {
            Theme::Light => light,
            Theme::Dark => dark,
        }
    }
}

/// The dash of a series' line. The ninth has the colour of the first, but another dash.
pub(crate) fn dash(style: usize) -> &'static str {
    DASHES[(style + style / DASHES.len()) % DASHES.len()]
}

/// The marker of a series' points.
pub fn marker(style: usize) -> Marker {
    MARKERS[(style + style / MARKERS.len()) % MARKERS.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_field_stands_out_from_the_ground() {
        let bright = |colour: &str| {
            let part = |at: usize| u32::from_str_radix(&colour[at..at + 2], 16).unwrap();
            part(1) + part(3) + part(5)
        };
        for theme in [Theme::Light, Theme::Dark] {
            let ground = bright(theme.ground());
            let distance = |share| bright(&theme.heat(share).0).abs_diff(ground);
            assert!(
                distance(1.0) > distance(0.5) && distance(0.5) > distance(0.0),
                "{theme:?}"
            );
        }
    }
}
