//! Folded stacks, in virtual nanoseconds between due time and sample.

use super::build::Explanation;
use std::collections::BTreeMap;

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
