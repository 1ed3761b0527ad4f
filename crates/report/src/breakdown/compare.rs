//! Two breakdowns side by side, as two tables.

use worstcase_analysis::breakdown::Breakdown;
use worstcase_analysis::breakdown::compare::{Change, compare};
use worstcase_base::format::micros_exact;
use worstcase_contract::Nanos;

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
