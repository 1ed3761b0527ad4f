//! The results of `noise`, in the words of rtla's osnoise: noise, max single noise, CPU available, and the causes.

use super::ReportView;
use super::table::{ColumnKind, Table, TableField, TableValue, field, name, text};
use crate::labels::{row_label, row_name, units};
use serde_json::json;
use worstcase_analysis::explain::is_worth_explaining;
use worstcase_base::distinct;
use worstcase_base::format::shell;
use worstcase_contract::Nanos;
use worstcase_results::record::{GapAccount, Record};

/// A row's gaps.
struct GapsRow<'a> {
    subject: String,
    label: String,
    load: String,
    gaps: GapAccount,
    /// Whether each gap was counted: another tool does not count its gaps.
    is_counted: bool,
    /// The only record of the row.
    record: Option<&'a Record>,
}

impl GapsRow<'_> {
    /// The noise; if gaps were lost, a lower bound.
    fn noise(&self) -> TableValue {
        match self.gaps.lost {
            0 => TableValue::Whole(self.gaps.noise_ns),
            _ => TableValue::AtLeast(self.gaps.noise_ns as f64),
        }
    }
}

fn share_available(gaps: &GapAccount) -> TableValue {
    match gaps.lost {
        0 => TableValue::Real(gaps.available()),
        _ => TableValue::AtMost(gaps.available()),
    }
}

/// `99.9873 %`.
pub(super) fn available(gaps: &GapAccount) -> String {
    text(AVAILABLE, &share_available(gaps))
}

const AVAILABLE: ColumnKind = ColumnKind::Percent(4);

fn columns<'a>() -> Vec<TableField<GapsRow<'a>>> {
    let counted = |key: &str, count: fn(&GapAccount) -> u64| {
        field(ColumnKind::Count, key, key, move |row: &GapsRow| {
            row.is_counted.then(|| count(&row.gaps))
        })
    };
    vec![
        field(ColumnKind::Duration, "observed_ns", "observed", |row: &GapsRow| {
            Nanos(row.gaps.observed_ns)
        }),
        field(ColumnKind::Time, "noise_ns", "noise", GapsRow::noise),
        field(AVAILABLE, "cpu_available", "CPU available", |row: &GapsRow| {
            share_available(&row.gaps)
        }),
        field(ColumnKind::Time, "max_single_ns", "max single", |row: &GapsRow| {
            Nanos(row.gaps.max_single_ns)
        }),
        counted("gaps", |gaps| gaps.gaps),
        counted("lost", |gaps| gaps.lost),
    ]
}

/// The table for programs: each record of `noise`.
pub(super) fn all(records: &[Record]) -> Table {
    let of_record = |key: &str, value: fn(&Record) -> TableValue| {
        field(ColumnKind::Text, key, key, move |row: &GapsRow| {
            row.record.map_or(TableValue::NONE, value)
        })
    };
    let mut fields = vec![
        of_record("id", |r| r.id.to_string().into()),
        of_record("subject", |r| r.subject.id().to_string().into()),
        of_record("load", |r| r.cell.load.clone().into()),
        of_record("probe", |r| r.cell.probe.clone().into()),
        of_record("cpu", |r| json!(r.cell.cpu).into()),
        of_record("seed", |r| r.cell.seed.into()),
        of_record("threshold_ns", |r| {
            json!(r.cell.method.as_ref().and_then(|m| m.threshold_ns)).into()
        }),
    ];
    fields.extend(columns());
    fields.push(of_record("causes", |r| json!(r.causes).into()));
    let row = |record| {
        let record: &Record = record;
        Some(GapsRow {
            subject: String::new(),
            label: String::new(),
            load: String::new(),
            gaps: *record.accounting.gaps()?,
            is_counted: true,
            record: Some(record),
        })
    };
    let rows: Vec<GapsRow> = records.iter().filter_map(row).collect();
    Table::new("noise", "", &fields, &rows)
}

/// The tables: a row for each CPU, one of all together, and the causes that took the CPU away.
pub(super) fn tables(records: &[&Record]) -> Vec<Table> {
    let all = together(records.iter().filter_map(|r| r.accounting.gaps().copied()));
    let mut tables = vec![by_cpu(records, &all)];
    if records.iter().all(|r| r.foreign.is_none()) {
        tables.push(by_cause(records, &all));
    }
    tables
}

/// The lab's: subjects as rows, loads as groups of columns; of all seeds together.
pub(super) fn lab_table(view: &ReportView) -> Table {
    let records = || view.records.iter().filter(|r| r.accounting.gaps().is_some());
    let places = distinct(records().map(|r| (r.subject.id(), r.cell.load.clone())));
    let row = |(subject, load): (worstcase_results::record::SubjectId, String)| {
        let of_it = records().filter(|r| r.cell.load == load && r.subject.id() == subject);
        GapsRow {
            subject: subject.to_string(),
            label: of_it.clone().next().map_or(String::new(), |r| row_label(&r.subject)),
            gaps: together(of_it.filter_map(|r| r.accounting.gaps().copied())),
            is_counted: true,
            record: None,
            load,
        }
    };
    let a_second = |row: &GapsRow| row.gaps.gaps as f64 * 1e9 / row.gaps.observed_ns.max(1) as f64;
    let fields = [
        name("subject", "subject", |row: &GapsRow| row.subject.clone()).programs(),
        name("label", "subject", |row: &GapsRow| row.label.clone()),
        name("load", "load", |row: &GapsRow| row.load.clone()),
        field(ColumnKind::Number(0), "gaps_a_second", "gaps", a_second),
        field(ColumnKind::Time, "noise_ns_a_second", "noise", |row: &GapsRow| {
            Nanos(row.gaps.noise_ns_a_second())
        }),
        field(ColumnKind::Time, "max_single_ns", "max single", |row: &GapsRow| {
            Nanos(row.gaps.max_single_ns)
        }),
    ];
    let rows: Vec<GapsRow> = places.into_iter().map(row).collect();
    let units = units(records().map(|r| &r.subject)).join(", ");
    let title = format!("noise: gaps in a thread that never sleeps, and their time, a second; the longest ({units})");
    let has_gaps = |r: &Record| r.accounting.gaps().is_some_and(|gaps| gaps.gaps > 0) && is_worth_explaining(r);
    let notes = match view.records.iter().any(has_gaps) {
        true => vec![
            String::new(),
            format!("What came in them, and who sent it: {}", shell(&view.about("explain"))),
        ],
        false => Vec::new(),
    };
    Table::new("noise_a_second", title, &fields, &rows)
        .across("load")
        .with(Vec::new(), notes)
}

fn together(several: impl Iterator<Item = GapAccount>) -> GapAccount {
    several.fold(GapAccount::default(), GapAccount::and)
}

fn by_cpu(records: &[&Record], all: &GapAccount) -> Table {
    let seeds = distinct(records.iter().map(|r| r.cell.seed)).len() > 1;
    let row = |label: String, gaps: GapAccount, is_counted: bool| GapsRow {
        subject: String::new(),
        label,
        load: String::new(),
        gaps,
        is_counted,
        record: None,
    };
    let mut rows: Vec<GapsRow> = records
        .iter()
        .filter_map(|r| Some(row(row_name(r, seeds), *r.accounting.gaps()?, r.foreign.is_none())))
        .collect();
    if rows.len() > 1 {
        rows.push(row("all".into(), *all, records.iter().all(|r| r.foreign.is_none())));
    }
    let mut fields = vec![name("cpu", "", |row: &GapsRow| row.label.clone())];
    fields.extend(columns());
    Table::new(
        "noise",
        "noise: time taken from a thread that never sleeps (us)",
        &fields,
        &rows,
    )
}

/// A cause that took the CPU away, how often and for how long.
struct CauseRow {
    name: String,
    count: u64,
    total_ns: u64,
    max_ns: u64,
}

fn by_cause(records: &[&Record], all: &GapAccount) -> Table {
    let mut causes: Vec<CauseRow> = Vec::new();
    for cause in records.iter().flat_map(|r| &r.causes) {
        match causes.iter_mut().find(|c| c.name == cause.name) {
            Some(c) => {
                c.count += cause.count;
                c.total_ns += cause.total_ns;
                c.max_ns = c.max_ns.max(cause.max_ns);
            }
            None => causes.push(CauseRow {
                name: cause.name.clone(),
                count: cause.count,
                total_ns: cause.total_ns,
                max_ns: cause.max_ns,
            }),
        }
    }
    causes.sort_by_key(|c| std::cmp::Reverse(c.total_ns));
    causes.push(CauseRow {
        name: "all gaps".into(),
        count: all.gaps,
        total_ns: all.noise_ns,
        max_ns: all.max_single_ns,
    });
    let observed = all.observed_ns.max(1) as f64;
    let fields = [
        name("name", "", |c: &CauseRow| c.name.clone()),
        field(ColumnKind::Count, "count", "count", |c: &CauseRow| c.count),
        field(ColumnKind::Time, "total_ns", "noise", |c: &CauseRow| Nanos(c.total_ns)),
        field(ColumnKind::Percent(4), "share", "share", move |c: &CauseRow| {
            c.total_ns as f64 / observed
        }),
        field(ColumnKind::Time, "max_ns", "max single", |c: &CauseRow| Nanos(c.max_ns)),
    ];
    let title = "what took the CPU away (us, and share of the observation time)";
    Table::new("noise_causes", title, &fields, &causes)
}
