//! Priority inversion.

use super::fields::{place, probe, rounds, units};
use crate::ReportView;
use crate::table::{ColumnKind, Table, TableField, field, name};
use worstcase_contract::bench::{Bench, Details, Inversion};
use worstcase_results::record::Record;
use worstcase_results::stats::points::{self, PointName, RoundFigures};

/// The waiting time of the most urgent thread.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct InversionPoint {
    /// The name of the point.
    pub place: PointName,
    /// Between whom.
    pub chain: Inversion,
    /// The number and the times of the rounds.
    pub rounds: RoundFigures,
    /// Rounds in which the mutex was owned when the most urgent thread was made ready.
    pub contended: u64,
    /// Rounds in which the middle thread ran meanwhile.
    pub inverted: u64,
}

pub(super) fn points(records: &[Record]) -> Vec<InversionPoint> {
    points::points(records, |place, bench, of| match bench {
        Bench::Inversion(chain) => point(place, chain, of),
        _ => None,
    })
}

fn point(place: PointName, chain: Inversion, records: &[&Record]) -> Option<InversionPoint> {
    let counts = records.iter().filter_map(|r| match &r.details {
        Some(Details::Inversion(d)) => Some((u64::from(d.contended), u64::from(d.inverted))),
        _ => None,
    });
    let (contended, inverted) = counts.fold((0, 0), |sum, n| (sum.0 + n.0, sum.1 + n.1));
    Some(InversionPoint {
        place,
        chain,
        rounds: points::rounds(records)?,
        contended,
        inverted,
    })
}

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
    let points = points(view.records);
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
