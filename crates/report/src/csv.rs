//! `worstcase show --csv`: a line for each cell and quantity, for spreadsheets and data frames.
//!
//! The columns of a probe with parameters are those of its table, for this cell alone; they stand behind the common
//! ones.

use super::table::csv::text;
use super::table::{ColumnKind, Table, TableColumn, TableField, TableValue, field, name};
use super::{ReportView, probes};
use std::collections::BTreeMap;
use worstcase_contract::Nanos;
use worstcase_results::record::explanations::NOTHING_EXPLAINED;
use worstcase_results::record::{GapAccount, Periods, Quantity, Record, SubjectMachine, Summary};
use worstcase_results::stats::Percentile;

/// A cell and one of its quantities.
struct CellRow<'a> {
    record: &'a Record,
    quantity: Quantity,
    summary: &'a Summary,
}

/// The whole table; an absent value is an empty field.
pub fn run(view: &ReportView) -> Result<String, ::csv::Error> {
    text(&cells(view))
}

fn cells(view: &ReportView) -> Table {
    let quantities: &[Quantity] = match view.quantities {
        [] => &Quantity::ALL,
        chosen => chosen,
    };
    let rows: Vec<CellRow> = view
        .records
        .iter()
        .flat_map(|record| {
            quantities.iter().filter_map(move |quantity| {
                Some(CellRow {
                    record,
                    quantity: *quantity,
                    summary: record.summary(*quantity)?,
                })
            })
        })
        .collect();
    let mut table = Table::new("cells", "", &columns(), &rows);
    add_own_columns(view, &mut table, &rows);
    table
}

/// Columns that only the table of a probe has, empty for cells of other probes.
fn add_own_columns(view: &ReportView, table: &mut Table, rows: &[CellRow]) {
    let own: Vec<Vec<(TableColumn, TableValue)>> = rows.iter().map(|row| of_cell(view, row.record)).collect();
    let known: Vec<String> = table.columns.iter().map(|column| column.key.clone()).collect();
    let mut added: Vec<TableColumn> = Vec::new();
    for (column, _) in own.iter().flatten() {
        let is_known = known.contains(&column.key) || added.iter().any(|other| other.key == column.key);
        if !is_known && !column.key.starts_with("place.") {
            added.push(column.clone());
        }
    }
    for (row, own) in std::iter::zip(&mut table.rows, &own) {
        let values: BTreeMap<&str, &TableValue> = own.iter().map(|(c, value)| (c.key.as_str(), value)).collect();
        let value = |column: &TableColumn| {
            values
                .get(column.key.as_str())
                .map_or(TableValue::NONE, |v| (*v).clone())
        };
        row.extend(added.iter().map(value));
    }
    table.columns.extend(added);
}

/// The only row of the probe's tables if they are of one cell.
fn of_cell(view: &ReportView, record: &Record) -> Vec<(TableColumn, TableValue)> {
    if record.details.is_none() {
        return Vec::new();
    }
    let alone = ReportView {
        plan: view.plan,
        dir: view.dir,
        records: std::slice::from_ref(record),
        explanations: &NOTHING_EXPLAINED,
        quantities: &[],
        verdicts: None,
    };
    let tables = probes::tables(&alone).into_iter().filter(|table| !table.is_view);
    let of_table = |table: Table| {
        let row = table.rows.into_iter().next().unwrap_or_default();
        std::iter::zip(table.columns, row).collect::<Vec<_>>()
    };
    tables.flat_map(of_table).collect()
}

fn columns<'a>() -> Vec<TableField<CellRow<'a>>> {
    let word = |key: &str, word: fn(&Record) -> String| name(key, key, move |row: &CellRow| word(row.record));
    // Gaps have no periods, and samples are no gaps: a field without a meaning is empty.
    let periods = |key: &str, count: fn(&Periods) -> u64| {
        field(ColumnKind::Count, key, key, move |row: &CellRow| {
            row.record.accounting.periods().map(count)
        })
    };
    let gaps = |key: &str, count: fn(&GapAccount) -> u64| {
        field(ColumnKind::Count, key, key, move |row: &CellRow| {
            row.record.accounting.gaps().map(count)
        })
    };
    let time = |key: &str, ns: fn(&Summary) -> Option<u64>| {
        field(ColumnKind::Time, key, key, move |row: &CellRow| ns(row.summary))
    };
    let record = |key: &str, value: fn(&Record) -> Option<u64>| {
        field(ColumnKind::Count, key, key, move |row: &CellRow| value(row.record))
    };
    vec![
        word("id", |r| r.id.to_string()),
        word("kernel", |r| r.subject.kernel.name.clone()),
        word("release", |r| r.subject.kernel.release.clone()),
        word("preempt", |r| r.subject.preempt.in_force.clone()),
        word("venue", |r| venue(r).to_string()),
        record("mips", |r| match &r.subject.machine {
            SubjectMachine::Lab(lab) => Some(lab.machine.mips.into()),
            SubjectMachine::Host(_) | SubjectMachine::Foreign(_) => None,
        }),
        word("load", |r| r.cell.load.clone()),
        word("probe", |r| r.cell.probe.clone()),
        name("quantity", "quantity", |row: &CellRow| row.quantity.to_string()),
        record("seed", |r| Some(r.cell.seed)),
        periods("expected", |p| p.expected),
        periods("taken", |p| p.taken),
        record("missed", |r| r.accounting.periods().and_then(|_| r.missed())),
        record("lost", |r| Some(r.accounting.lost())),
        time("min_ns", |s| s.min_ns),
        time("mean_ns", |s| s.mean_ns),
        time("median_ns", |s| s.median().map(|n| n.0)),
        time("p99_ns", |s| s.percentile(Percentile::P99).map(|n| n.0)),
        time("samples_median_ns", |s| s.median_ns),
        time("samples_p99_ns", |s| s.percentiles_ns.get(&Percentile::P99).copied()),
        time("max_ns", |s| Some(s.max_ns)),
        time("max_index", |s| s.max_index.map(u64::from)),
        field(ColumnKind::Duration, "observation_ns", "observed", |row: &CellRow| {
            let is_known = |time: &Nanos| time.0 > 0 || row.record.foreign.is_none();
            Some(row.record.observation_time()).filter(is_known)
        }),
        gaps("gaps", |g| g.gaps),
        gaps("noise_ns", |g| g.noise_ns),
    ]
}

fn venue(record: &Record) -> &'static str {
    match &record.subject.machine {
        SubjectMachine::Lab(_) => "lab",
        SubjectMachine::Host(_) => "host",
        SubjectMachine::Foreign(_) => "foreign",
    }
}
