//! Two breakdowns side by side: which spans and which functions grew.

use super::spans::Breakdown;
use serde::Serialize;
use std::collections::BTreeMap;
use worstcase_contract::Nanos;

/// One line of a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BreakdownChange {
    /// A kind of span, or a function.
    pub name: String,
    /// Time in the one breakdown.
    pub left_ns: Nanos,
    /// Time in the other.
    pub right_ns: Nanos,
}

impl BreakdownChange {
    /// How much longer the span or function is in the right breakdown, in ns.
    pub fn grew(&self) -> i64 {
        self.right_ns.0 as i64 - self.left_ns.0 as i64
    }
}

/// Two breakdowns side by side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BreakdownComparison {
    /// The changes by kind of span. They add up to the difference of the latencies.
    pub spans: Vec<BreakdownChange>,
    /// The changes by function, as time in the function alone, for functions that the spans list.
    pub functions: Vec<BreakdownChange>,
}

/// Compares; the greatest change first.
pub fn compare(left: &Breakdown, right: &Breakdown) -> BreakdownComparison {
    let spans = |breakdown: &Breakdown| {
        let all = breakdown.spans().iter();
        all.map(|s| (s.what.name().title.to_string(), s.length_ns.0))
            .collect::<Vec<_>>()
    };
    let functions = |breakdown: &Breakdown| {
        let all = breakdown.spans().iter().flat_map(|s| &s.functions);
        all.map(|f| (f.function.clone(), f.self_ns.0)).collect::<Vec<_>>()
    };
    BreakdownComparison {
        spans: changes(spans(left), spans(right)),
        functions: changes(functions(left), functions(right)),
    }
}

/// What differs between two lists of names with times; the greatest change first.
pub fn changes(left: Vec<(String, u64)>, right: Vec<(String, u64)>) -> Vec<BreakdownChange> {
    let mut sums: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    left.into_iter()
        .for_each(|(name, ns)| sums.entry(name).or_default().0 += ns);
    right
        .into_iter()
        .for_each(|(name, ns)| sums.entry(name).or_default().1 += ns);
    let mut changes: Vec<BreakdownChange> = sums
        .into_iter()
        .map(|(name, (l, r))| BreakdownChange {
            name,
            left_ns: Nanos(l),
            right_ns: Nanos(r),
        })
        .collect();
    changes.sort_by_key(|c| std::cmp::Reverse(c.grew().unsigned_abs()));
    changes
}
