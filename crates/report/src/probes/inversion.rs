//! Priority inversion.

use super::{place, probe, rounds, units};
use crate::ReportView;
use crate::table::{ColumnKind, Table, TableField, field, name};
use worstcase_contract::bench::Bench;
use worstcase_results::stats::points::{self, InversionPoint};

fn columns() -> Vec<TableField<InversionPoint>> {
    let mut all = place(|p: &InversionPoint| &p.place);
    all.extend([
        probe(|p: &InversionPoint| Bench::Inversion(p.chain).to_string()),
        name("protocol", "protocol", |p: &InversionPoint| p.chain.protocol.word()),
        field(ColumnKind::Count, "depth", "depth", |p: &InversionPoint| {
            u64::from(p.chain.depth)
        }),
        field(ColumnKind::Time, "section_ns", "owner", |p: &InversionPoint| {
            p.chain.section
        }),
        field(ColumnKind::Time, "middle_ns", "middle", |p: &InversionPoint| {
            p.chain.middle
        }),
    ]);
    all.extend(rounds(|p: &InversionPoint| &p.rounds, "rounds"));
    all.extend([
        field(ColumnKind::Count, "contended", "contended", |p: &InversionPoint| {
            p.contended
        }),
        field(ColumnKind::Count, "inverted", "inverted", |p: &InversionPoint| {
            p.inverted
        }),
    ]);
    all
}

pub fn tables(view: &ReportView) -> Vec<Table> {
    let points = points::inversions(view.records);
    if points.is_empty() {
        return Vec::new();
    }
    let title = format!(
        "inversion: made ready to mutex owned ({}); rounds in which the middle thread ran meanwhile",
        units(view, points.iter().map(|p| &p.place))
    );
    let about = "owner, middle: for how long the owner and the middle thread keep the CPU".to_string();
    vec![Table::new("inversion", title, &columns(), &points).with(vec![about], Vec::new())]
}
