//! A new process.

use super::fields::{place, probe, rounds, units};
use crate::ReportView;
use crate::table::{Table, TableField, name};
use worstcase_contract::bench::{Bench, Details, Spawn};
use worstcase_results::record::Record;
use worstcase_results::stats::points::{self, PointName, RoundFigures};

/// The cost of a new process.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SpawnPoint {
    /// The name of the point.
    pub place: PointName,
    /// The kind of new process.
    pub spawn: Spawn,
    /// The executed program.
    pub program: Option<String>,
    /// The number and the times of the rounds.
    pub rounds: RoundFigures,
}

pub(super) fn points(records: &[Record]) -> Vec<SpawnPoint> {
    points::points(records, |place, bench, of| match bench {
        Bench::Spawn(spawn) => Some(SpawnPoint {
            place,
            spawn,
            program: of.iter().find_map(|r| match &r.details {
                Some(Details::Spawn(d)) => d.program.clone(),
                _ => None,
            }),
            rounds: points::rounds(of)?,
        }),
        _ => None,
    })
}

fn columns() -> Vec<TableField<SpawnPoint>> {
    let mut all = place(|p: &SpawnPoint| &p.place);
    all.extend([
        probe(|p: &SpawnPoint| Bench::Spawn(p.spawn).to_string()),
        name("step", "step", |p: &SpawnPoint| p.spawn.step.word()),
        name("program", "program", |p: &SpawnPoint| p.program.clone()).optional(),
    ]);
    all.extend(rounds(|p: &SpawnPoint| &p.rounds, "processes"));
    all
}

pub fn tables(view: &ReportView) -> Vec<Table> {
    let points = points(view.records);
    if points.is_empty() {
        return Vec::new();
    }
    let title = format!(
        "spawn: time of a process, from fork to wait ({})",
        units(view, points.iter().map(|p| &p.place))
    );
    vec![Table::new("spawn", title, &columns(), &points)]
}
