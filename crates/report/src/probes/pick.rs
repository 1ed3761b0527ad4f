//! A choice among tasks that can run.

use super::fields::{place, probe, rounds, units};
use crate::ReportView;
use crate::table::{ColumnKind, Table, TableField, field, name};
use worstcase_contract::bench::{Bench, Details, Pick};
use worstcase_results::record::Record;
use worstcase_results::stats::points::{self, PointName, RoundFigures};

/// The cost of a choice.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PickPoint {
    /// The name of the point.
    pub place: PointName,
    /// Among how many.
    pub(crate) pick: Pick,
    /// The number and the times of the rounds.
    pub rounds: RoundFigures,
    /// Choices of the task that had just given the CPU away.
    pub(crate) same: u64,
    /// The turns of the task with the fewest and of the task with the most, over all seeds.
    pub turns: (u64, u64),
}

pub(super) fn points(records: &[Record]) -> Vec<PickPoint> {
    points::points(records, |place, bench, of| match bench {
        Bench::Pick(pick) => {
            let details = || {
                of.iter().filter_map(|record| match &record.details {
                    Some(Details::Pick(details)) => Some(details),
                    _ => None,
                })
            };
            Some(PickPoint {
                place,
                pick,
                rounds: points::rounds(of)?,
                same: details().map(|d| d.same).sum(),
                turns: (details().map(|d| d.fewest).min()?, details().map(|d| d.most).max()?),
            })
        }
        _ => None,
    })
}

fn columns() -> Vec<TableField<PickPoint>> {
    let mut all = place(|p: &PickPoint| &p.place);
    all.extend([
        probe(|p: &PickPoint| Bench::Pick(p.pick).to_string()),
        name("tasks", "tasks", |p: &PickPoint| u64::from(p.pick.tasks)),
    ]);
    all.extend(rounds(|p: &PickPoint| &p.rounds, "choices"));
    all.extend([
        field(ColumnKind::Count, "same", "same", |p: &PickPoint| p.same).programs(),
        field(ColumnKind::Percent(0), "same_share", "same", |p: &PickPoint| {
            p.same as f64 / p.rounds.count.max(1) as f64
        }),
        field(ColumnKind::Count, "fewest_turns", "fewest turns", |p: &PickPoint| {
            p.turns.0
        }),
        field(ColumnKind::Count, "most_turns", "most turns", |p: &PickPoint| p.turns.1),
    ]);
    all
}

pub fn tables(view: &ReportView) -> Vec<Table> {
    let points = points(view.records);
    if points.is_empty() {
        return Vec::new();
    }
    let title = format!(
        "pick: time of a choice among tasks that can run ({}); choices of the same task again; turns of a task",
        units(view, points.iter().map(|p| &p.place))
    );
    vec![Table::new("pick", title, &columns(), &points)]
}
