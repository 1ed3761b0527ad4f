//! Folded stacks and flame graphs. Widths are virtual nanoseconds between due time and sample.

use inferno::{differential, flamegraph};
use std::collections::BTreeMap;
use worstcase_analysis::breakdown::build::Explanation;
use worstcase_base::format::micros;

/// One line for each call chain: `outer;inner 123`, sorted, for every tool that reads folded stacks.
pub fn folded(explanation: &Explanation) -> String {
    let mut times: BTreeMap<String, u64> = BTreeMap::new();
    for interval in explanation
        .walk
        .within(explanation.points.due, explanation.points.sample)
    {
        let frames = explanation.walk.stacks.chain(interval.stack);
        let names: Vec<String> = frames.iter().map(|f| name(&f.function)).collect();
        *times.entry(names.join(";")).or_default() += (interval.end - interval.start) << explanation.shift;
    }
    times.iter().map(|(chain, ns)| format!("{chain} {ns}\n")).collect()
}

/// Semicolons and line ends separate frames and chains; task names may hold them.
fn name(function: &str) -> String {
    let separates = |c: char| c == ';' || c.is_control();
    function.chars().map(|c| if separates(c) { '_' } else { c }).collect()
}

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
