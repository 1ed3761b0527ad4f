//! Runs of this machine as tables: a row a CPU, and one of all CPUs together.

use super::table::{ColumnKind, Table, TableField, TableGroup, field, name};
use super::{ReportView, ensembles, foreign, noise, program};
use crate::labels::{row_label, row_name};
use hdrhistogram::Histogram;
use worstcase_base::distinct;
use worstcase_base::duration;
use worstcase_base::format::{grouped, micros, plain};
use worstcase_contract::Nanos;
use worstcase_results::record::{
    ISOLATED, LOAD_CPUS, Quantity, Record, SubjectMachine, Summary, TRACE_COST, TraceCost, title_of,
};
use worstcase_results::stats::Percentile;
use worstcase_results::stats::quantile::{MEDIAN, at_rank, rank};
use worstcase_results::verdict::PeriodsAbove;

/// If there are more CPUs than this, only the worst are listed.
const CPUS: usize = 16;
const PERCENTILES: [Percentile; 3] = [Percentile::P99, Percentile::P99_9, Percentile::P99_99];
const PARTS: [Quantity; 6] = [
    Quantity::IrqLatency,
    Quantity::Handler,
    Quantity::Scheduling,
    Quantity::Return,
    Quantity::Unexplained,
    Quantity::Latency,
];

/// The place and time of the measurement, and the tables of every probe and load.
pub fn groups(view: &ReportView) -> Vec<TableGroup> {
    let mut groups: Vec<TableGroup> = Vec::new();
    for probe in distinct(view.timed().map(|r| r.cell.probe.as_str())) {
        let of_probe = || view.records.iter().filter(move |r| r.cell.probe == probe);
        for load in distinct(of_probe().map(|r| r.cell.load.as_str())) {
            let of_load = || of_probe().filter(|r| r.cell.load == load);
            for subject in distinct(of_load().map(|r| r.subject.id())) {
                let records: Vec<&Record> = of_load().filter(|r| r.subject.id() == subject).collect();
                groups.push(of_subject(view, probe, load, &records));
            }
        }
    }
    groups
}

/// The tables of a probe and load; only other tools' files give several subjects.
fn of_subject(view: &ReportView, probe: &str, load: &str, records: &[&Record]) -> TableGroup {
    let mut tables: Vec<Table> = Vec::new();
    if records.iter().any(|r| r.accounting.gaps().is_some()) {
        tables.extend(noise::tables(records));
    } else {
        let quantities = view.quantities_of(probe).iter();
        tables.extend(quantities.map(|quantity| by_cpu(view, records, *quantity)));
        if records.iter().any(|r| r.summary.handler.is_some()) {
            tables.push(by_part(
                "parts of the latency, the highest of all CPUs (us)",
                &PARTS,
                records,
            ));
        }
        if records.iter().any(|r| r.followed.is_some()) {
            tables.push(by_part("parts of the response (us)", &program::PARTS, records));
        }
    }
    // A record of another tool's file may have none of a quantity's figures.
    tables.retain(|table| !table.rows.is_empty());
    TableGroup {
        heading: heading(probe, load, records),
        lines: work(records).into_iter().chain(cpus(records)).collect(),
        tables,
    }
}

/// Place and time in a line; the details are shown with a cell, and on the page.
pub(super) fn origin(records: &[Record]) -> Option<String> {
    let origins = || records.iter().filter_map(|r| r.origin.as_ref());
    let hosts = distinct(origins().map(|o| o.host.as_str()));
    let (began, ended) = (origins().map(|o| o.began).min()?, origins().map(|o| o.ended).max()?);
    let machine = records.first().map(|r| &r.subject.machine);
    let cpu = match machine {
        Some(SubjectMachine::Host(host)) => format!("{}, {} CPUs; ", host.cpu, host.cpus),
        _ => String::new(),
    };
    let kernels = distinct(records.iter().map(|r| row_label(&r.subject)));
    Some(plain(&format!(
        "on {}: {cpu}kernel {}; {began} to {ended}",
        hosts.join(", "),
        kernels.join(", ")
    )))
}

fn heading(probe: &str, load: &str, records: &[&Record]) -> String {
    if let Some(heading) = foreign::heading(probe, load, records).or_else(|| program::heading(load, records)) {
        return heading;
    }
    let observation_time = records.iter().map(|r| r.observation_time()).max().unwrap_or_default();
    let method = records.first().and_then(|r| r.cell.method.as_ref());
    let is_of_gaps = records.iter().any(|r| r.accounting.gaps().is_some());
    let refused = if records.iter().any(|r| r.is_refused_real_time()) {
        " (refused)"
    } else {
        ""
    };
    let how = method.map_or(String::new(), |m| match is_of_gaps {
        true => format!(", {}", m.policy),
        false => format!(", {}, {}{refused}", m.timer, m.policy),
    });
    let period = records.first().map_or(0, |r| r.cell.period_ns);
    let every = match is_of_gaps {
        true => String::new(),
        false => format!(", every {}", duration::show(Nanos(period))),
    };
    plain(&format!(
        "{probe} under {load}: {}{every}{how}",
        duration::about(observation_time)
    ))
}

/// The load's work per second.
fn work(records: &[&Record]) -> Option<String> {
    let first = records
        .first()
        .filter(|r| r.foreign.is_none() && r.followed.is_none())?;
    let Some(record) = Some(first).filter(|r| !r.work.is_empty()) else {
        return Some("no load".to_string());
    };
    let seconds = record.observation_time().0 as f64 / 1e9;
    let rate = |w: &worstcase_results::record::WorkRecord| {
        let rate = w.count as f64 / seconds;
        let number = match rate < 10.0 {
            true => format!("{rate:.1}"),
            false => grouped(rate as u64),
        };
        format!("{number} {} a second", w.unit)
    };
    Some(plain(&format!(
        "load: {}",
        record.work.iter().map(rate).collect::<Vec<_>>().join(", ")
    )))
}

/// The load's CPUs and the isolated ones, unless they are as on every machine.
fn cpus(records: &[&Record]) -> Option<String> {
    let of = |key: &str| records.iter().find_map(|r| r.environment.get(key));
    let isolated = of(ISOLATED).map(|cpus| format!("isolated: CPUs {cpus}"));
    let has_load = records.iter().any(|r| !r.work.is_empty());
    let load = of(LOAD_CPUS)
        .filter(|_| has_load)
        .map(|cpus| format!("the load ran on CPUs {cpus}"));
    let told = |cost: String| format!("the trace beside it {cost}");
    let whole = records.iter().find_map(|r| TraceCost::kept(&r.environment));
    let median = || {
        Some(format!(
            "makes a wake-up {} us later",
            micros(Nanos(of(TRACE_COST)?.parse().ok()?))
        ))
    };
    let traced = whole.map(|cost| cost.to_string()).or_else(median).map(told);
    let said: Vec<String> = [isolated, load, traced].into_iter().flatten().collect();
    (!said.is_empty()).then(|| plain(&said.join("; ")))
}

/// The values of a CPU, or of all of them together.
#[derive(Default)]
struct CpuRow {
    label: String,
    subject: Option<String>,
    load: Option<String>,
    probe: Option<String>,
    min: Option<u64>,
    median: Option<u64>,
    percentiles: [Option<u64>; PERCENTILES.len()],
    max: u64,
    above: Option<PeriodsAbove>,
    samples: u64,
    missed: Option<u64>,
    lost: Option<u64>,
}

impl CpuRow {
    fn of(record: &Record, s: &Summary, label: String, above: Option<PeriodsAbove>) -> CpuRow {
        CpuRow {
            label,
            subject: Some(record.subject.id().to_string()),
            load: Some(record.cell.load.clone()),
            probe: Some(record.cell.probe.clone()),
            min: s.min_ns,
            median: s.median().map(|n| n.0),
            percentiles: PERCENTILES.map(|p| s.percentile(p).map(|n| n.0)),
            max: s.max_ns,
            above,
            samples: s.count,
            ..CpuRow::default()
        }
        .with_losses(&[record])
    }

    /// Missed periods and lost samples; another tool tells of no lost ones, and maybe of no missed ones.
    fn with_losses(mut self, records: &[&Record]) -> CpuRow {
        let is_foreign = records.iter().any(|r| r.foreign.is_some());
        let lost: u64 = records.iter().map(|r| r.accounting.lost()).sum();
        self.missed = records.iter().map(|r| r.missed()).sum();
        self.lost = Some(lost).filter(|_| !is_foreign);
        self
    }
}

fn columns() -> Vec<TableField<CpuRow>> {
    let time = |key: &str, heading: &str, time: fn(&CpuRow) -> Option<u64>| field(ColumnKind::Time, key, heading, time);
    let count = |key: &str, count: fn(&CpuRow) -> Option<u64>| field(ColumnKind::Count, key, key, count);
    let mut all = vec![
        name("cpu", "", |row: &CpuRow| row.label.clone()),
        name("subject", "subject", |row: &CpuRow| row.subject.clone()).programs(),
        name("load", "load", |row: &CpuRow| row.load.clone()).programs(),
        name("probe", "probe", |row: &CpuRow| row.probe.clone()).programs(),
        time("min_ns", "min", |row| row.min),
        time("median_ns", "median", |row| row.median),
    ];
    all.extend(PERCENTILES.into_iter().enumerate().map(|(nth, p)| {
        let key = format!("{}_ns", p.name());
        field(ColumnKind::Time, key, p.name(), move |row: &CpuRow| {
            row.percentiles[nth]
        })
    }));
    all.push(time("max_ns", "max", |row| Some(row.max)));
    all.extend(ensembles::above_columns(|row: &CpuRow| row.above));
    all.extend([
        count("samples", |row| Some(row.samples)),
        count("missed", |row| row.missed),
        count("lost", |row| row.lost),
    ]);
    all
}

fn by_cpu(view: &ReportView, records: &[&Record], quantity: Quantity) -> Table {
    let limit = view.verdicts.as_ref().map(|(criterion, _)| criterion.limit);
    let limit = limit.filter(|_| quantity == Quantity::Latency);
    let above = |records: &[&Record]| PeriodsAbove::of(records.iter().copied(), quantity, limit?);
    let seeds = distinct(records.iter().map(|r| r.cell.seed)).len() > 1;
    let mut found: Vec<(&Record, &Summary)> = records
        .iter()
        .filter_map(|r| Some((*r, r.summary(quantity)?)))
        .collect();
    let all = together(&found, quantity, above(records)).filter(|_| records.len() > 1);
    let hidden = found.len().saturating_sub(CPUS);
    if hidden > 0 {
        found.sort_by_key(|(_, s)| std::cmp::Reverse(s.max_ns));
    }
    let row = |(r, s): &(&Record, &Summary)| CpuRow::of(r, s, row_name(r, seeds), above(&[*r]));
    let rows: Vec<CpuRow> = found.iter().map(row).chain(all).collect();
    let probe = records.first().map_or("", |r| r.cell.probe.as_str());
    let mut table = Table::new("cpus", format!("{} (us)", title_of(quantity, probe)), &columns(), &rows);
    if hidden > 0 {
        table.terminal_rows = Some(CPUS);
        let left_out = format!("a terminal shows no rows of {hidden} CPUs with lower maxima");
        table.notes.push(left_out);
    }
    table
}

/// All rows as one distribution; median and percentiles are those of the merged histograms, to three digits.
fn together(rows: &[(&Record, &Summary)], quantity: Quantity, above: Option<PeriodsAbove>) -> Option<CpuRow> {
    let all = merged(rows);
    let count: u64 = rows.iter().map(|(_, s)| s.period_count()).sum();
    let known_below = rows
        .iter()
        .filter_map(|(r, _)| r.foreign.as_ref()?.beyond.get(&quantity));
    let known_below = known_below.map(|beyond| beyond.from_ns).min().unwrap_or(u64::MAX);
    // Counts all samples, also those outside the histogram: they are above all known ones.
    let at = |one_in: f64| -> Option<u64> {
        let bins = all.as_ref()?.iter_recorded();
        let counted = bins.map(|bin| (bin.value_iterated_to(), bin.count_at_value()));
        at_rank(counted, rank(count, one_in)).filter(|value| *value < known_below)
    };
    let percentile = |p: Percentile| p.borne_by(count).then(|| at(p.one_in() as f64)).flatten();
    let row = CpuRow {
        label: "all".into(),
        min: rows.iter().filter_map(|(_, s)| s.min_ns).min(),
        median: at(MEDIAN),
        percentiles: PERCENTILES.map(percentile),
        max: rows.iter().map(|(_, s)| s.max_ns).max()?,
        above,
        samples: rows.iter().map(|(_, s)| s.count).sum(),
        ..CpuRow::default()
    };
    Some(row.with_losses(&rows.iter().map(|(r, _)| *r).collect::<Vec<_>>()))
}

/// The histogram of all rows, for a foreign file of the samples in its histogram; nothing if a row has none.
fn merged(rows: &[(&Record, &Summary)]) -> Option<Histogram<u64>> {
    let mut all: Histogram<u64> = Histogram::new(3).ok()?;
    for (_, summary) in rows {
        all.add(summary.held()?).ok()?;
    }
    Some(all)
}

/// A part of the latency: the highest of all CPUs.
struct PartRow {
    quantity: Quantity,
    median: u64,
    p99: Option<u64>,
    max: u64,
}

fn by_part(title: &str, parts: &[Quantity], records: &[&Record]) -> Table {
    let row = |quantity: &Quantity| {
        let of_it: Vec<&Summary> = records.iter().filter_map(|r| r.summary(*quantity)).collect();
        let p99s = of_it.iter().filter_map(|s| s.percentile(Percentile::P99));
        Some(PartRow {
            quantity: *quantity,
            median: of_it.iter().filter_map(|s| s.median()).max()?.0,
            p99: p99s.max().map(|n| n.0),
            max: of_it.iter().map(|s| s.max_ns).max()?,
        })
    };
    let rows: Vec<PartRow> = parts.iter().filter_map(row).collect();
    let is_program = records.iter().any(|r| r.followed.is_some());
    let fields = [
        name("quantity", "", move |row: &PartRow| match (row.quantity, is_program) {
            (Quantity::Latency, true) => "response: all of them",
            (Quantity::Latency, false) => "latency: all of them",
            (other, _) => other.title(),
        }),
        field(ColumnKind::Time, "median_ns", "median", |row: &PartRow| row.median),
        field(ColumnKind::Time, "p99_ns", "p99", |row: &PartRow| row.p99),
        field(ColumnKind::Time, "max_ns", "max", |row: &PartRow| row.max),
    ];
    Table::new("parts", title, &fields, &rows)
}
