//! Two breakdowns side by side, as two tables.

use crate::compare::figures::signed_exact;
use crate::style::{WIDTH, wrapped};
use crate::table::terminal::figures;
use crate::table::{ColumnKind, Table, field, name};
use worstcase_analysis::breakdown::Breakdown;
use worstcase_analysis::breakdown::compare::{BreakdownChange, compare};

const SHOWN: usize = 15;

/// One side of a comparison: what it is, and a sentence about it.
type Side = (String, String);

/// Two breakdowns as two tables.
pub fn terminal(left: &Breakdown, right: &Breakdown) -> String {
    let comparison = compare(left, right);
    let side = |breakdown: &Breakdown| {
        let sample = breakdown.sample();
        (
            format!("{}, sample {}", sample.cell, sample.index),
            breakdown.cause().sentence.clone(),
        )
    };
    let shown = comparison.functions.len().min(SHOWN);
    let tables = [
        table("spans (us)", &comparison.spans),
        table("functions, in themselves (us)", &comparison.functions[..shown]),
    ];
    side_by_side([side(left), side(right)], &tables)
}

pub(crate) fn side_by_side([left, right]: [Side; 2], tables: &[Table]) -> String {
    let mut out = Vec::new();
    for (lead, (what, sentence)) in [("left:  ", left), ("right: ", right)] {
        out.push(format!("{lead}{what}"));
        out.extend(wrapped("       ", &sentence));
    }
    out.push(String::new());
    for table in tables {
        out.extend(figures(table, WIDTH));
        out.push(String::new());
    }
    out.join("\n")
}

pub(crate) fn table(title: &str, changes: &[BreakdownChange]) -> Table {
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
