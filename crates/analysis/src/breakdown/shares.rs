//! The functions that took a stretch of a window: the chain common to most of the stretch, and the functions below.

use super::frames::{StackInterval, WindowWalk};
use super::spans::{CodePlace, FunctionShare};
use super::stacks::{FrameKind, StackId};
use std::collections::BTreeMap;

/// A chain is common if at least this part of the time is in it.
const COMMON: f64 = 0.9;
/// A function holds most of a stretch from this part of the time on.
const MOST: f64 = 0.5;
const LISTED: usize = 6;
/// Functions with less than this part of the time are not listed.
const LEAST: f64 = 0.03;

/// Instructions by call chain.
pub(crate) struct CallChainShares<'a> {
    walk: &'a WindowWalk,
    /// Instructions in the chain and below it.
    total: BTreeMap<StackId, u64>,
    alone: BTreeMap<StackId, u64>,
    all: u64,
}

impl<'a> CallChainShares<'a> {
    /// The shares of these intervals.
    pub(crate) fn of(walk: &'a WindowWalk, intervals: &[StackInterval]) -> CallChainShares<'a> {
        let mut shares = CallChainShares {
            walk,
            total: BTreeMap::new(),
            alone: BTreeMap::new(),
            all: 0,
        };
        for interval in intervals {
            let length = interval.end - interval.start;
            shares.all += length;
            *shares.alone.entry(interval.stack).or_default() += length;
            for id in walk.stacks.upwards(interval.stack) {
                *shares.total.entry(id).or_default() += length;
            }
        }
        shares
    }

    /// The innermost chain that holds most of the time.
    pub(crate) fn common(&self) -> Option<StackId> {
        self.innermost(COMMON)
    }

    fn innermost(&self, part: f64) -> Option<StackId> {
        let enough = |n: u64| n as f64 >= part * self.all as f64;
        let depth = |id: StackId| self.walk.stacks.upwards(id).count();
        let common = self.total.iter().filter(|(_, n)| enough(**n)).map(|(id, _)| *id);
        common.max_by_key(|id| depth(*id))
    }

    /// The innermost function that holds more than half of the time.
    pub(crate) fn most(&self, time_of: impl Fn(u64) -> worstcase_contract::Nanos) -> Option<FunctionShare> {
        let stacks = &self.walk.stacks;
        let id = self
            .innermost(MOST)
            .filter(|id| stacks.frame(*id).kind != FrameKind::Unknown)?;
        Some(FunctionShare {
            function: stacks.frame(id).function.clone(),
            caller: stacks.caller(id).map(|c| stacks.frame(c).function.clone()),
            total_ns: time_of(self.total[&id]),
            self_ns: time_of(self.alone.get(&id).copied().unwrap_or(0)),
        })
    }

    /// The functions that took most time, each with its most frequent caller.
    pub(crate) fn functions(&self, time_of: impl Fn(u64) -> worstcase_contract::Nanos) -> Vec<FunctionShare> {
        let mut by_name: BTreeMap<(&str, Option<&str>), (u64, u64)> = BTreeMap::new();
        let stacks = &self.walk.stacks;
        for (id, total) in &self.total {
            let frame = stacks.frame(*id);
            let caller = stacks.caller(*id);
            let same = |n: StackId| stacks.frame(n).function == frame.function;
            // A function that calls itself counts once.
            let counted = caller.is_some_and(|c| stacks.upwards(c).any(same));
            let key = (
                frame.function.as_str(),
                caller.map(|c| stacks.frame(c).function.as_str()),
            );
            let sums = by_name.entry(key).or_default();
            sums.0 += if counted { 0 } else { *total };
            sums.1 += self.alone.get(id).copied().unwrap_or(0);
        }
        let mut shares: Vec<_> = by_name
            .into_iter()
            .filter(|(_, (_, alone))| *alone as f64 >= LEAST * self.all as f64)
            .collect();
        shares.sort_by_key(|(_, (_, alone))| std::cmp::Reverse(*alone));
        shares.truncate(LISTED);
        let share = |((function, caller), (total, alone)): ((&str, Option<&str>), (u64, u64))| FunctionShare {
            function: function.to_string(),
            caller: caller.map(str::to_string),
            total_ns: time_of(total),
            self_ns: time_of(alone),
        };
        shares.into_iter().map(share).collect()
    }
}

/// A call chain as a place: its innermost frame that is no helper, and that frame's caller. Also the number of callers
/// from the innermost frame of all to that frame.
pub(crate) fn place(walk: &WindowWalk, stack: StackId, is_helper: fn(&str) -> bool) -> (CodePlace, usize) {
    let stacks = &walk.stacks;
    let mut frames = stacks.upwards(stack).enumerate().filter(|(_, id)| {
        let frame = stacks.frame(*id);
        !is_helper(&frame.function) && frame.kind != FrameKind::Unknown
    });
    let name = |id: StackId| stacks.frame(id).function.clone();
    let (depth, innermost) = frames.next().unwrap_or((0, stack));
    let place = CodePlace {
        function: name(innermost),
        caller: frames.next().map(|(_, id)| name(id)),
        ..CodePlace::default()
    };
    (place, depth)
}
