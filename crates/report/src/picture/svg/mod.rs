//! Pictures as SVG: for papers. Vector, as wide as a column, fonts by generic family, no script, nothing loaded.
//!
//! [`canvas`] has the shapes, [`theme`] colours, dashes and markers, [`frame`] panels and axes ([`ticks`]), [`legend`] the
//! legend; the other modules draw the data. The library `svg` writes the document and escapes foreign text. Ticks and frames are
//! ours: plotting libraries draw dashes as separate strokes, a dot as a shape of its own, on whole pixels.

mod bars;
mod canvas;
mod dots;
mod frame;
mod heat;
mod legend;
pub(crate) mod over_time;
mod requests;
mod series;
mod theme;
mod ticks;

pub(crate) use canvas::{Anchor, Canvas, Font, TEXT, TITLE};
pub use theme::Theme;

use super::Picture;

/// The whole file.
pub fn draw(picture: &Picture, theme: Theme) -> String {
    match picture {
        Picture::Dots(p) => dots::draw(theme, p),
        Picture::Histogram(p) => series::histogram(theme, p),
        Picture::Percentiles(p) => series::percentiles(theme, p),
        Picture::Heat(p) => heat::draw(theme, p),
        Picture::Lines(p) => series::lines(theme, p),
        Picture::Bars(p) => bars::draw(theme, p),
        Picture::Requests(p) => requests::draw(theme, p),
    }
}
