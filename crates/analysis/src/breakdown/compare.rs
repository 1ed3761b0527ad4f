//! Two breakdowns side by side: which spans and which functions grew.

use super::spans::Breakdown;
use serde::Serialize;
use std::collections::BTreeMap;
use worstcase_base::format::micros_exact;
use worstcase_probe::Nanos;

/// One line of a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// A kind of span, or a function.
    pub name: String,
    /// Time in the one breakdown.
    pub left_ns: Nanos,
    /// Time in the other.
    pub right_ns: Nanos,
}

impl Change {
    /// How much the right breakdown has more, in ns.
    pub fn grew(&self) -> i64 {
        self.right_ns.0 as i64 - self.left_ns.0 as i64
    }
}

/// Two breakdowns side by side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// By kind of span; the changes add up to the difference of the latencies.
    pub spans: Vec<Change>,
    /// By function, time in itself alone, of those that the spans list.
    pub functions: Vec<Change>,
}

/// Compares; the greatest change first.
pub fn compare(left: &Breakdown, right: &Breakdown) -> Comparison {
    let spans = |breakdown: &Breakdown| {
        let all = breakdown.spans().iter();
        all.map(|s| (s.what.name().title.to_string(), s.length_ns.0))
            .collect::<Vec<_>>()
    };
    let functions = |breakdown: &Breakdown| {
        let all = breakdown.spans().iter().flat_map(|s| &s.functions);
        all.map(|f| (f.function.clone(), f.self_ns.0)).collect::<Vec<_>>()
    };
    Comparison {
        spans: changes(spans(left), spans(right)),
        functions: changes(functions(left), functions(right)),
    }
}

fn changes(left: Vec<(String, u64)>, right: Vec<(String, u64)>) -> Vec<Change> {
    let mut sums: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    left.into_iter()
        .for_each(|(name, ns)| sums.entry(name).or_default().0 += ns);
    right
        .into_iter()
        .for_each(|(name, ns)| sums.entry(name).or_default().1 += ns);
    let mut changes: Vec<Change> = sums
        .into_iter()
        .map(|(name, (l, r))| Change {
            name,
            left_ns: Nanos(l),
            right_ns: Nanos(r),
        })
        .collect();
    changes.sort_by_key(|c| std::cmp::Reverse(c.grew().unsigned_abs()));
    changes
}

/// Functions that are shown.
const SHOWN: usize = 15;

/// As two tables.
pub fn terminal(left: &Breakdown, right: &Breakdown) -> String {
    let comparison = compare(left, right);
    let mut out = vec![
        format!("left:  {}, sample {}", left.sample().cell, left.sample().index),
        format!("       {}", left.cause().sentence),
        format!("right: {}, sample {}", right.sample().cell, right.sample().index),
        format!("       {}", right.cause().sentence),
        String::new(),
    ];
    let mut table = |title: &str, changes: &[Change]| {
        out.push(format!("{title:<36} {:>12} {:>12} {:>13}", "left", "right", "grew"));
        for c in changes {
            let sign = if c.grew() < 0 { "-" } else { "+" };
            let grew = format!("{sign}{}", micros_exact(Nanos(c.grew().unsigned_abs())));
            let (l, r) = (micros_exact(c.left_ns), micros_exact(c.right_ns));
            out.push(format!("{:<36} {l:>12} {r:>12} {grew:>13}", c.name));
        }
        out.push(String::new());
    };
    table("spans (us)", &comparison.spans);
    let n = comparison.functions.len().min(SHOWN);
    table("functions, in themselves (us)", &comparison.functions[..n]);
    out.join("\n")
}
