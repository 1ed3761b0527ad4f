//! Points gathered into lines, and lines into panels.

use super::data::{distinct, groups};
use super::{LinePoint, LinesPanel, PictureLine, SeriesLabel};

/// Panels with their lines, each at the place of its first name.
#[derive(Debug, Default)]
pub(crate) struct PanelGrid {
    panels: Vec<LinesPanel>,
}

impl PanelGrid {
    /// Adds a point, if there is one, to a line of a panel; both are told by their labels.
    pub fn add(&mut self, panel: SeriesLabel, line: SeriesLabel, point: Option<LinePoint>) {
        let Some(point) = point else { return };
        let panel = match self.panels.iter().position(|p| p.of.label == panel.label) {
            Some(at) => &mut self.panels[at],
            None => {
                self.panels.push(LinesPanel {
                    of: panel,
                    series: Vec::new(),
                });
                self.panels.last_mut().expect("one was pushed")
            }
        };
        match panel.series.iter_mut().find(|s| s.of.label == line.label) {
            Some(known) => known.points.push(point),
            None => panel.series.push(PictureLine {
                of: line,
                points: vec![point],
            }),
        }
    }

    /// Everything that the y axis has to hold.
    pub fn values(&self) -> impl Iterator<Item = f64> {
        let points = self.panels.iter().flat_map(|p| &p.series).flat_map(|s| &s.points);
        points.flat_map(|p| std::iter::once(p.y).chain(p.interval.into_iter().flatten()))
    }

    /// The panels: points in order of x, a line of the same label with the same style everywhere, no panel with too many lines.
    pub(crate) fn panels(mut self) -> Vec<LinesPanel> {
        let labels = self.panels.iter().flat_map(|p| &p.series).map(|s| s.of.label.clone());
        let labels = distinct(labels);
        for line in self.panels.iter_mut().flat_map(|p| &mut p.series) {
            line.points.sort_by(|a, b| a.x.total_cmp(&b.x));
            let place = labels.iter().position(|l| *l == line.of.label);
            line.of.style = place.unwrap_or(0);
        }
        let split = |panel: LinesPanel| {
            let parts = groups(&panel.series).into_iter();
            let of = panel.of;
            parts.map(move |series| LinesPanel { of: of.clone(), series })
        };
        self.panels.into_iter().flat_map(split).collect()
    }
}
