//! The cells of a gate, and the measures that it judged: one list of columns for all forms.

use super::why;
use crate::compare::table::{figures, p_corrected};
use crate::table::json::rows;
use crate::table::{ColumnKind, Table, TableValue, field, name};
use serde_json::json;
use worstcase_results::compare::gate::GateCell;
use worstcase_results::compare::judged::{GateLimits, JudgedMeasure};

/// A cell as people call it.
pub(crate) fn name_of(cell: &GateCell) -> String {
    format!("{}: {}", cell.subject, cell.how.name())
}

/// Every cell with its outcome and the reasons for it.
pub(crate) fn of_cells(cells: &[GateCell], limits: GateLimits) -> Table {
    let mut fields = vec![
        field(ColumnKind::Outcome, "outcome", "", |cell: &GateCell| cell.outcome),
        name("cell", "cell", name_of),
        field(ColumnKind::Text, "why", "why", move |cell: &GateCell| {
            TableValue::Lines(why(cell, &limits))
        }),
    ];
    let programs = |key: &str, value: fn(&GateCell) -> TableValue| field(ColumnKind::Text, key, key, value).programs();
    fields.extend([
        programs("baseline", |cell| cell.baseline.to_string().into()),
        programs("subject", |cell| cell.subject.to_string().into()),
        programs("load", |cell| cell.how.load.clone().into()),
        programs("probe", |cell| cell.how.probe.clone().into()),
        programs("cpu", |cell| cell.how.cpu.into()),
        programs("period_ns", |cell| cell.how.period.into()),
        programs("periods", |cell| cell.how.periods.into()),
        programs("warmup_ns", |cell| cell.how.warmup.into()),
        programs("priority", |cell| u32::from(cell.how.priority).into()),
        programs("method", |cell| json!(cell.how.method).into()),
        programs("unit", |cell| cell.unit.clone().into()),
        programs("reasons", |cell| TableValue::Lines(cell.reasons.clone())),
        programs("measures", |cell| rows(&of_measures(&cell.measures)).into()),
    ]);
    Table::new("cells", "", &fields, cells)
}

/// The judged measures of a cell.
pub(super) fn of_measures(measures: &[JudgedMeasure]) -> Table {
    let mut fields = vec![
        name("name", "measure", |m: &JudgedMeasure| m.name.clone()),
        name("measure", "measure", |m: &JudgedMeasure| {
            TableValue::key_of(&m.change.measure)
        })
        .programs(),
    ];
    fields.extend(
        figures()
            .into_iter()
            .map(|figure| figure.on(|m: &JudgedMeasure| &m.change)),
    );
    let worst = |key: &str, value: fn(&JudgedMeasure) -> TableValue| {
        field(ColumnKind::Count, format!("worst_seed.{key}"), key, value).programs()
    };
    fields.extend([
        p_corrected(|m: &JudgedMeasure| m.p_corrected),
        field(ColumnKind::Text, "beyond", "beyond", |m: &JudgedMeasure| m.beyond).programs(),
        field(ColumnKind::Text, "regression", "worse", |m: &JudgedMeasure| {
            m.regression
        })
        .programs(),
        worst("seed", |m| m.worst_seed.seed.into()),
        worst("baseline", |m| m.worst_seed.baseline.into()),
        worst("run", |m| m.worst_seed.run.into()),
        worst("ratio", |m| m.worst_seed.ratio.into()),
        worst("second", |m| m.worst_seed.second.into()),
        worst("beyond", |m| m.worst_seed.beyond.into()),
    ]);
    Table::new("measures", "", &fields, measures)
}
