//! Flame graphs. Widths are virtual nanoseconds between due time and sample.

use inferno::{differential, flamegraph};
use worstcase_analysis::breakdown::build::Explanation;
use worstcase_analysis::breakdown::folded::folded;
use worstcase_base::format::micros;

/// Why no picture could be drawn.
#[derive(Debug, thiserror::Error)]
#[error("cannot draw the flame graph: {0}")]
pub struct FlameError(String);

/// A flame graph.
pub fn svg(explanation: &Explanation) -> Result<Vec<u8>, FlameError> {
    let sample = explanation.breakdown.sample();
    let title = format!("{}, sample {}", sample.cell, sample.index);
    draw(&folded(explanation), &title, explanation, false)
}

/// A flame graph of `after`, coloured by what grew against `before`: red grew, blue shrank.
pub fn differential_svg(before: &Explanation, after: &Explanation) -> Result<Vec<u8>, FlameError> {
    let mut both = Vec::new();
    let (old, new) = (folded(before), folded(after));
    differential::from_readers(
        differential::Options::default(),
        old.as_bytes(),
        new.as_bytes(),
        &mut both,
    )
    .map_err(|e| FlameError(e.to_string()))?;
    let title = format!(
        "{} (colour: against {})",
        after.breakdown.sample().cell,
        before.breakdown.sample().cell
    );
    draw(&String::from_utf8_lossy(&both), &title, after, true)
}

/// Frames with less than this part of the time, in per cent, are left out: spires of a pixel's width hide the rest.
pub const NARROWEST: f64 = 0.25;

fn draw(folded: &str, title: &str, explanation: &Explanation, is_difference: bool) -> Result<Vec<u8>, FlameError> {
    let mut options = flamegraph::Options::default();
    options.title = title.to_string();
    let sample = explanation.breakdown.sample();
    options.subtitle = Some(format!("{} {}", micros(sample.latency_ns), sample.unit));
    options.count_name = "ns".to_string();
    options.hash = !is_difference;
    options.deterministic = true;
    options.min_width = NARROWEST;
    let mut svg = Vec::new();
    flamegraph::from_lines(&mut options, folded.lines(), &mut svg).map_err(|e| FlameError(e.to_string()))?;
    Ok(svg)
}
