//! Ensembles: the values of all seeds of a subject, load, probe and quantity. One list of columns for all forms.

use super::ReportView;
use super::table::{ColumnKind, Table, TableField, TableValue, field, name};
use crate::labels::{observation_time, row_label, units};
use serde_json::json;
use worstcase_contract::Nanos;
use worstcase_contract::probe::ProbeInfo;
use worstcase_results::record::{Quantity, Record, Subject, title_of};
use worstcase_results::stats::{Ensemble, ensembles};
use worstcase_results::verdict::PeriodsAbove;

/// An ensemble with the facts about its subject.
struct EnsembleRow<'a> {
    ensemble: Ensemble,
    subject: Option<&'a Subject>,
    /// Its periods above the limit, if there is one.
    above: Option<PeriodsAbove>,
    /// With more than one clock in a table, each row names its own.
    with_unit: bool,
}

impl EnsembleRow<'_> {
    fn label(&self) -> String {
        match self.subject {
            Some(subject) if self.with_unit => format!("{} [{}]", row_label(subject), subject.time_unit()),
            Some(subject) => row_label(subject),
            None => self.ensemble.subject.to_string(),
        }
    }

    /// Lowest and highest maximum of a seed.
    fn of_seeds(&self) -> TableValue {
        match self.ensemble.seeds.len() {
            1 => TableValue::Absent("one seed"),
            _ => TableValue::Between(self.ensemble.least_max().0 as f64, self.ensemble.max().0 as f64, None),
        }
    }
}

fn columns<'a>() -> Vec<TableField<EnsembleRow<'a>>> {
    let mut columns = figures();
    columns.extend(above_columns(|row: &EnsembleRow| row.above));
    columns
}

fn figures<'a>() -> Vec<TableField<EnsembleRow<'a>>> {
    let time = |key: &str, heading: &str, time: fn(&Ensemble) -> Option<Nanos>| {
        field(ColumnKind::Time, key, heading, move |row: &EnsembleRow| {
            time(&row.ensemble)
        })
    };
    let count = |key: &str, heading: &str, count: fn(&Ensemble) -> Option<u64>| {
        field(ColumnKind::Count, key, heading, move |row: &EnsembleRow| {
            count(&row.ensemble)
        })
    };
    let subject = |key: &str, member: fn(&Subject) -> serde_json::Value| {
        field(ColumnKind::Text, key, key, move |row: &EnsembleRow| {
            row.subject.map(member)
        })
        .programs()
    };
    vec![
        name("subject", "subject", |row: &EnsembleRow| {
            row.ensemble.subject.to_string()
        })
        .programs(),
        name("label", "subject", |row: &EnsembleRow| row.label()),
        subject("kernel", |s| json!(s.kernel)),
        subject("preempt", |s| json!(s.preempt)),
        subject("machine", |s| json!(s.machine)),
        field(ColumnKind::Text, "time_unit", "unit", |row: &EnsembleRow| {
            row.subject.map(|s| s.time_unit().replacen("us", "ns", 1))
        })
        .programs(),
        name("load", "load", |row: &EnsembleRow| row.ensemble.load.clone()),
        name("probe", "probe", |row: &EnsembleRow| row.ensemble.probe.clone()).programs(),
        field(ColumnKind::Count, "cpu", "CPU", |row: &EnsembleRow| {
            row.ensemble.cpu.map(|cpu| cpu as u64)
        })
        .programs(),
        field(ColumnKind::Text, "quantity", "quantity", |row: &EnsembleRow| {
            row.ensemble.quantity.to_string()
        })
        .programs(),
        time("median_ns", "median", Ensemble::median),
        time("p99_ns", "p99", Ensemble::p99),
        time("max_ns", "max", |e| Some(e.max())),
        field(
            ColumnKind::Time,
            "max_of_seeds.range_ns",
            "of seeds",
            EnsembleRow::of_seeds,
        ),
        time("max_of_seeds.lowest_ns", "lowest", |e| Some(e.least_max())).programs(),
        time("max_of_seeds.median_ns", "median", |e| Some(e.median_max())).programs(),
        time("max_of_seeds.highest_ns", "highest", |e| Some(e.max())).programs(),
        field(
            ColumnKind::Text,
            "max_of_seeds.median_interval",
            "interval",
            |row: &EnsembleRow| json!(row.ensemble.median_max_interval()),
        )
        .programs(),
        count("max_seed", "seed of the max", |e| Some(e.worst().seed)).programs(),
        count("max_index", "sample of the max", |e| e.worst().max_index.map(u64::from)).programs(),
        count("seed_count", "seeds", |e| Some(e.seeds.len() as u64)).wide(),
        count("taken", "samples", |e| Some(e.taken())).wide(),
        field(
            ColumnKind::Duration,
            "observation_ns",
            "observed",
            |row: &EnsembleRow| row.ensemble.observation_time(),
        )
        .wide(),
        count("missed", "missed", Ensemble::missed).wide(),
        count("lost", "lost", |e| Some(e.lost())).wide(),
        field(ColumnKind::Text, "seeds", "seeds", seeds).programs(),
    ]
}

/// The columns of the periods above the limit, of a run that has one.
pub(super) fn above_columns<S>(above: impl Fn(&S) -> Option<PeriodsAbove> + Copy + 'static) -> Vec<TableField<S>> {
    let part = |key: &str, part: fn(PeriodsAbove) -> u64| {
        field(ColumnKind::Count, key, key, move |row: &S| above(row).map(part)).programs()
    };
    let shown = |periods: PeriodsAbove| TableValue::in_words(periods.short(), periods.count());
    vec![
        field(ColumnKind::Words, "above.periods", "above limit", move |row: &S| {
            above(row).map(shown)
        })
        .optional(),
        part("above.late", |periods| periods.late),
        part("above.missed", |periods| periods.missed),
        part("above.of", |periods| periods.of),
    ]
}

fn seeds(row: &EnsembleRow) -> serde_json::Value {
    let one = |s: &worstcase_results::stats::SeedStats| {
        json!({
            "seed": s.seed,
            "taken": s.taken,
            "missed": s.missed,
            "lost": s.lost,
            "median_ns": s.median,
            "p99_ns": s.p99,
            "max_ns": s.max,
            "max_index": s.max_index,
        })
    };
    json!(row.ensemble.seeds.iter().map(one).collect::<Vec<_>>())
}

fn table_of(view: &ReportView, title: String, all: Vec<Ensemble>, with_unit: bool) -> Table {
    let row = |ensemble: Ensemble| EnsembleRow {
        subject: view
            .records
            .iter()
            .map(|r| &r.subject)
            .find(|s| s.id() == ensemble.subject),
        above: above(view, &ensemble),
        ensemble,
        with_unit,
    };
    let rows: Vec<EnsembleRow> = all.into_iter().map(row).collect();
    Table::new("ensembles", title, &columns(), &rows)
}

fn above(view: &ReportView, of: &Ensemble) -> Option<PeriodsAbove> {
    let (criterion, _) = view.verdicts.as_ref().filter(|_| of.quantity == Quantity::Latency)?;
    let same = |r: &&Record| {
        let cell = &r.cell;
        (&cell.load, &cell.probe, cell.cpu) == (&of.load, &of.probe, of.cpu) && r.subject.id() == of.subject
    };
    PeriodsAbove::of(view.records.iter().filter(same), of.quantity, criterion.limit)
}

/// The table for people, of one probe and quantity; nothing if no record has it.
pub(super) fn table(view: &ReportView, probe: &str, quantity: Quantity) -> Option<Table> {
    let all: Vec<Ensemble> = ensembles(view.records, quantity)
        .into_iter()
        .filter(|e| e.probe == probe)
        .collect();
    let of_it = |s: &&Subject| all.iter().any(|e| e.subject == s.id());
    let units = units(view.records.iter().map(|r| &r.subject).filter(of_it));
    if all.is_empty() {
        return None;
    }
    let about = observation_time(&all);
    let title = format!("{probe}, {} ({})", title_of(quantity, probe), units.join(", "));
    let table = table_of(view, title, all, units.len() > 1);
    Some(table.across("load").with(vec![about], Vec::new()))
}

/// The table for programs, of all probes but those that count gaps, which have a list of their own.
pub(super) fn all(view: &ReportView) -> Table {
    let quantities: &[Quantity] = match view.quantities {
        [] => &Quantity::ALL,
        chosen => chosen,
    };
    let of_all = quantities
        .iter()
        .flat_map(|quantity| ensembles(view.records, *quantity));
    let all: Vec<Ensemble> = of_all
        .filter(|e| !ProbeInfo::of_word(&e.probe).is_some_and(|info| info.counts_gaps))
        .collect();
    table_of(view, String::new(), all, false)
}
