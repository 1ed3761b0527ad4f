//! Folded stacks, in virtual nanoseconds between due time and sample.

use super::build::Explanation;
use super::frames::WindowWalk;
use super::stacks::StackId;
use std::collections::BTreeMap;

/// One line for each call chain: `outer;inner 123`, sorted, for every tool that reads folded stacks.
pub fn folded(explanation: &Explanation) -> String {
    let mut times: BTreeMap<String, u64> = BTreeMap::new();
    for interval in explanation
        .walk
        .within(explanation.points.due, explanation.points.sample)
    {
        let chain = folded_chain(&explanation.walk, interval.stack);
        *times.entry(chain).or_default() += (interval.end - interval.start) << explanation.shift;
    }
    times.iter().map(|(chain, ns)| format!("{chain} {ns}\n")).collect()
}

/// A call chain in one word.
pub(crate) fn folded_chain(walk: &WindowWalk, stack: StackId) -> String {
    let frames = walk.stacks.chain(stack);
    let names: Vec<String> = frames.iter().map(|f| name(&f.function)).collect();
    names.join(";")
}

/// Semicolons and line ends separate frames and chains; task names may hold them.
fn name(function: &str) -> String {
    let separates = |c: char| c == ';' || c.is_control();
    function.chars().map(|c| if separates(c) { '_' } else { c }).collect()
}
