//! The lines of source code that a part of a window ran, if the lines are known.

use super::frames::{FrameMark, StackInterval, WindowWalk};
use super::lines::{SourceLine, SourceLines};
use super::spans::LineShare;
use super::stacks::{StackFrame, StackId};
use std::collections::BTreeMap;
use worstcase_contract::Nanos;
use worstcase_lab::execution::Execution;

const LISTED: usize = 5;
/// Lines with less than this part of the time are not listed.
const LEAST: f64 = 0.02;

/// Instructions by address.
type Weights = BTreeMap<u64, u64>;

/// Finds lines.
pub(crate) struct Sources<'a> {
    pub(crate) execution: &'a Execution,
    pub(crate) walk: &'a WindowWalk,
    pub(crate) lines: &'a dyn SourceLines,
}

impl Sources<'_> {
    /// The line of a frame at a mark: the innermost frame, or one `depth` callers further out.
    pub(crate) fn of_mark(&self, mark: &FrameMark, depth: usize) -> Option<SourceLine> {
        let address = match depth.checked_sub(1) {
            None => Some(mark.address),
            Some(calls) => self.walk.sites.called_at(mark.site).nth(calls).flatten(),
        };
        self.lines.source(address?)
    }

    /// The frames of a chain, outermost first, each with the line where most of its time went: its own line, or that
    /// of the call that took so long.
    pub(crate) fn chain(&self, chain: StackId, intervals: &[StackInterval]) -> Vec<StackFrame> {
        let stacks = &self.walk.stacks;
        let nodes: Vec<StackId> = stacks.upwards(chain).collect();
        let mut weights = vec![Weights::new(); nodes.len()];
        for interval in intervals {
            let Some(below) = stacks.upwards(interval.stack).position(|id| id == chain) else {
                continue;
            };
            let length = interval.end - interval.start;
            let calls: Vec<Option<u64>> = self.walk.sites.called_at(interval.site).collect();
            for (number, weights) in weights.iter_mut().enumerate() {
                match (below + number).checked_sub(1) {
                    None => self.add_own(interval, weights),
                    Some(call) => {
                        if let Some(address) = calls.get(call).copied().flatten() {
                            *weights.entry(address).or_default() += length;
                        }
                    }
                }
            }
        }
        let frames = nodes.iter().zip(&weights).map(|(id, weights)| StackFrame {
            source: self.by_line(weights).into_iter().next().map(|(source, _)| source),
            ..stacks.frame(*id).clone()
        });
        let mut frames: Vec<StackFrame> = frames.collect();
        frames.reverse();
        frames
    }

    /// The chain at one instruction.
    pub(crate) fn chain_at(&self, count: u64) -> Vec<StackFrame> {
        let at = self.walk.within(count, count + 1).next();
        at.map_or_else(Vec::new, |at| self.chain(at.stack, &[at]))
    }

    /// The lines that took most time in themselves.
    pub(crate) fn hottest(&self, intervals: &[StackInterval]) -> Vec<LineShare> {
        let mut by_function: BTreeMap<&str, Weights> = BTreeMap::new();
        let mut all = 0;
        for interval in intervals {
            all += interval.end - interval.start;
            let function = &self.walk.stacks.frame(interval.stack).function;
            self.add_own(interval, by_function.entry(function).or_default());
        }
        let lines = by_function.into_iter().flat_map(|(function, weights)| {
            let lines = self.by_line(&weights).into_iter();
            lines.map(move |(source, count)| (function, source, count))
        });
        let mut lines: Vec<_> = lines
            .filter(|(_, _, count)| *count as f64 >= LEAST * all as f64)
            .collect();
        lines.sort_by_key(|(_, _, count)| std::cmp::Reverse(*count));
        lines.truncate(LISTED);
        let share = |(function, source, count): (&str, SourceLine, u64)| LineShare {
            function: function.to_string(),
            source,
            self_ns: self.time_of(count),
        };
        lines.into_iter().map(share).collect()
    }

    fn time_of(&self, count: u64) -> Nanos {
        self.execution.time_of(count)
    }

    fn add_own(&self, interval: &StackInterval, weights: &mut Weights) {
        if self.lines.is_empty() {
            return;
        }
        self.execution
            .for_each_address(interval.start..interval.end, |address| {
                *weights.entry(address).or_default() += 1;
            });
    }

    /// The time of each line, the line of most time first.
    fn by_line(&self, weights: &Weights) -> Vec<(SourceLine, u64)> {
        let mut lines: BTreeMap<SourceLine, u64> = BTreeMap::new();
        for (address, count) in weights {
            if let Some(source) = self.lines.source(*address) {
                *lines.entry(source).or_default() += count;
            }
        }
        let mut lines: Vec<_> = lines.into_iter().collect();
        lines.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        lines
    }
}
