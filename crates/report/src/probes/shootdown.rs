//! Unmapping beside threads on other CPUs.

use super::fields::{place, probe, rounds, units};
use crate::ReportView;
use crate::table::{ColumnKind, Table, TableField, field, name};
use worstcase_contract::bench::{Bench, Details, Shootdown};
use worstcase_results::record::Record;
use worstcase_results::stats::points::{self, PointName, RoundFigures};

/// The duration of unmapping.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ShootdownPoint {
    /// The name of the point.
    pub place: PointName,
    /// The size of the mapping, and the number of threads beside.
    pub(crate) shootdown: Shootdown,
    /// The number and the times of the rounds.
    pub rounds: RoundFigures,
    /// Rounds in which every other thread was seen running right before.
    pub all_ran: u64,
}

pub(super) fn points(records: &[Record]) -> Vec<ShootdownPoint> {
    points::points(records, |place, bench, of| match bench {
        Bench::Shootdown(what) => point(place, what, of),
        _ => None,
    })
}

fn point(place: PointName, shootdown: Shootdown, records: &[&Record]) -> Option<ShootdownPoint> {
    let ran = records.iter().filter_map(|r| match &r.details {
        Some(Details::Shootdown(d)) => Some(u64::from(d.all_ran)),
        _ => None,
    });
    Some(ShootdownPoint {
        place,
        shootdown,
        rounds: points::rounds(records)?,
        all_ran: ran.sum(),
    })
}

fn columns() -> Vec<TableField<ShootdownPoint>> {
    let mut all = place(|p: &ShootdownPoint| &p.place);
    all.extend([
        probe(|p: &ShootdownPoint| Bench::Shootdown(p.shootdown).to_string()),
        name("threads", "other threads", |p: &ShootdownPoint| {
            u64::from(p.shootdown.threads)
        }),
        name("pages", "pages", |p: &ShootdownPoint| u64::from(p.shootdown.pages)),
    ]);
    all.extend(rounds(|p: &ShootdownPoint| &p.rounds, "rounds"));
    all.push(field(ColumnKind::Count, "all_ran", "all ran", |p: &ShootdownPoint| {
        p.all_ran
    }));
    all
}

pub fn tables(view: &ReportView) -> Vec<Table> {
    let points = points(view.records);
    if points.is_empty() {
        return Vec::new();
    }
    let title = format!(
        "shootdown: time of a munmap ({}); rounds in which all threads ran on the other CPUs",
        units(view, points.iter().map(|p| &p.place))
    );
    vec![Table::new("shootdown", title, &columns(), &points)]
}
