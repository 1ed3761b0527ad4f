//! Two breakdowns side by side, as two tables.

use crate::compare::figures::signed_exact;
use crate::style::WIDTH;
use crate::table::terminal::figures;
use crate::table::{ColumnKind, Table, field, name};
use worstcase_analysis::breakdown::Breakdown;
use worstcase_analysis::breakdown::compare::{BreakdownChange, compare};

const SHOWN: usize = 15;

/// Two breakdowns as two tables.
pub fn terminal(left: &Breakdown, right: &Breakdown) -> String {
    let comparison = compare(left, right);
    let mut out = vec![
        format!("left:  {}, sample {}", left.sample().cell, left.sample().index),
        format!("       {}", left.cause().sentence),
        format!("right: {}, sample {}", right.sample().cell, right.sample().index),
        format!("       {}", right.cause().sentence),
        String::new(),
    ];
    let shown = comparison.functions.len().min(SHOWN);
    let tables = [
        table("spans (us)", &comparison.spans),
        table("functions, in themselves (us)", &comparison.functions[..shown]),
    ];
    for table in tables {
        out.extend(figures(&table, WIDTH));
        out.push(String::new());
    }
    out.join("\n")
}

fn table(title: &str, changes: &[BreakdownChange]) -> Table {
    let fields = [
        name("name", title, |c: &BreakdownChange| c.name.clone()),
        field(ColumnKind::ExactTime, "left_ns", "left", |c: &BreakdownChange| {
            c.left_ns
        }),
        field(ColumnKind::ExactTime, "right_ns", "right", |c: &BreakdownChange| {
            c.right_ns
        }),
        field(ColumnKind::Words, "grew", "grew", |c: &BreakdownChange| {
            signed_exact(c.grew())
        }),
    ];
    Table::new("changes", "", &fields, changes)
}
