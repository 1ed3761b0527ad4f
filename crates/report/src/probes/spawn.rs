//! A new process.

use super::{place, probe, rounds, units};
use crate::ReportView;
use crate::table::{Table, TableField, name};
use worstcase_contract::bench::Bench;
use worstcase_results::stats::points::{self, SpawnPoint};

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
    let points = points::spawns(view.records);
    if points.is_empty() {
        return Vec::new();
    }
    let title = format!(
        "spawn: time of a process, from fork to wait ({})",
        units(view, points.iter().map(|p| &p.place))
    );
    vec![Table::new("spawn", title, &columns(), &points)]
}
