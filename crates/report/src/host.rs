//! Runs of this machine as tables: a row a CPU, and one of all CPUs together.

use super::grid::{Grid, Group};
use super::terminal::{Style, distinct, row_label, width};
use super::{View, noise};
use hdrhistogram::Histogram;
use worstcase_base::duration;
use worstcase_base::format::{grouped, micros, plain};
use worstcase_probe::Nanos;
use worstcase_results::record::{ISOLATED, LOAD_CPUS, Machine, Quantity, Record, Summary};
use worstcase_results::stats::Percentile;

/// Widest line of a table.
const WIDTH: usize = 120;
/// More CPUs than this are not listed one by one: the worst of them are.
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

/// The tables of every probe and load.
pub fn tables(view: &View, style: Style) -> Vec<String> {
    let mut out: Vec<String> = origin(view.records).into_iter().collect();
    for probe in distinct(view.timed().map(|r| r.cell.probe.as_str())) {
        let of_probe = || view.records.iter().filter(move |r| r.cell.probe == probe);
        for load in distinct(of_probe().map(|r| r.cell.load.as_str())) {
            let records: Vec<&Record> = of_probe().filter(|r| r.cell.load == load).collect();
            out.push(String::new());
            out.push(style.bold(&heading(probe, load, &records)));
            out.push(work(&records));
            out.extend(cpus(&records));
            if probe == "noise" {
                out.extend(noise::tables(&records, style));
                continue;
            }
            for quantity in view.quantities_of(probe) {
                out.push(String::new());
                out.extend(by_cpu(&records, *quantity, style));
            }
            if records.iter().any(|r| r.summary.handler.is_some()) {
                out.push(String::new());
                out.extend(by_part(&records, style));
            }
        }
    }
    out
}

/// Where and when, in a line; details are shown of a cell, and on the page.
fn origin(records: &[Record]) -> Option<String> {
    let origins = || records.iter().filter_map(|r| r.origin.as_ref());
    let hosts = distinct(origins().map(|o| o.host.as_str()));
    let (began, ended) = (origins().map(|o| o.began).min()?, origins().map(|o| o.ended).max()?);
    let machine = records.first().map(|r| &r.subject.machine);
    let cpu = match machine {
        Some(Machine::Host(host)) => format!("{}, {} CPUs; ", host.cpu, host.cpus),
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
    let observation_time = records.iter().map(|r| r.observation_time()).max().unwrap_or_default();
    let method = records.first().and_then(|r| r.cell.method.as_ref());
    let how = method.map_or(String::new(), |m| match probe {
        "noise" => format!(", {}", m.policy),
        _ => format!(", {}, {}", m.timer, m.policy),
    });
    let period = records.first().map_or(0, |r| r.cell.period_ns);
    let every = match probe {
        "noise" => String::new(),
        _ => format!(", every {}", duration::show(Nanos(period))),
    };
    plain(&format!(
        "{probe} under {load}: {}{every}{how}",
        duration::about(observation_time)
    ))
}

/// What the load did a second.
fn work(records: &[&Record]) -> String {
    let Some(record) = records.first().filter(|r| !r.work.is_empty()) else {
        return "no load".to_string();
    };
    let seconds = record.observation_time().0 as f64 / 1e9;
    let rate = |w: &worstcase_results::record::Work| {
        format!("{} {} a second", grouped((w.count as f64 / seconds) as u64), w.unit)
    };
    plain(&format!(
        "load: {}",
        record.work.iter().map(rate).collect::<Vec<_>>().join(", ")
    ))
}

/// Where the load ran and what is isolated, if that is not as on every machine.
fn cpus(records: &[&Record]) -> Option<String> {
    let of = |key: &str| records.iter().find_map(|r| r.environment.get(key));
    let isolated = of(ISOLATED).map(|cpus| format!("isolated: CPUs {cpus}"));
    let has_load = records.iter().any(|r| !r.work.is_empty());
    let load = of(LOAD_CPUS)
        .filter(|_| has_load)
        .map(|cpus| format!("the load ran on CPUs {cpus}"));
    let said: Vec<String> = [isolated, load].into_iter().flatten().collect();
    (!said.is_empty()).then(|| plain(&said.join("; ")))
}

/// The name of a row: the CPU, and the seed where there are several.
pub(super) fn row_name(record: &Record, seeds: bool) -> String {
    let cpu = record.cell.cpu.map_or("-".to_string(), |cpu| format!("CPU {cpu}"));
    match seeds {
        true => format!("{cpu}, seed {}", record.cell.seed),
        false => cpu,
    }
}

fn by_cpu(records: &[&Record], quantity: Quantity, style: Style) -> Vec<String> {
    let seeds = distinct(records.iter().map(|r| r.cell.seed)).len() > 1;
    let mut rows: Vec<(&Record, &Summary)> = records
        .iter()
        .filter_map(|r| Some((*r, r.summary(quantity)?)))
        .collect();
    let all = together(&rows);
    let hidden = rows.len().saturating_sub(CPUS);
    if hidden > 0 {
        rows.sort_by_key(|(_, s)| std::cmp::Reverse(s.max_ns));
        rows.truncate(CPUS);
    }
    let mut labels: Vec<String> = rows.iter().map(|(r, _)| row_name(r, seeds)).collect();
    let mut cells: Vec<Vec<String>> = rows.iter().map(|(r, s)| numbers(r, s)).collect();
    if let Some(all) = all.filter(|_| records.len() > 1) {
        labels.push("all".into());
        cells.push(all);
    }
    let probe = records.first().map_or("", |r| r.cell.probe.as_str());
    let columns = [
        "min", "median", "p99", "p99.9", "p99.99", "max", "samples", "missed", "lost",
    ];
    let mut lines = vec![style.bold(&format!("{} (us)", quantity.title_of(probe)))];
    lines.extend(grid(labels, &columns, cells));
    if hidden > 0 {
        lines.push(format!("{hidden} further rows with lower maxima are not shown"));
    }
    lines
}

fn numbers(record: &Record, s: &Summary) -> Vec<String> {
    let us = |ns: u64| micros(Nanos(ns));
    let mut row = vec![us(s.min_ns), us(s.median_ns)];
    row.extend(PERCENTILES.map(|p| s.percentiles_ns.get(&p).map_or("-".into(), |ns| us(*ns))));
    let (missed, lost) = (record.accounting.missed(), record.accounting.lost());
    row.extend([us(s.max_ns), grouped(s.count), grouped(missed), grouped(lost)]);
    row
}

/// All rows as one distribution; its median and percentiles are those of the histograms, to three digits.
fn together(rows: &[(&Record, &Summary)]) -> Option<Vec<String>> {
    let mut all: Histogram<u64> = Histogram::new(3).ok()?;
    for (_, summary) in rows {
        all.add(summary.histogram()?).ok()?;
    }
    let us = |ns: u64| micros(Nanos(ns));
    let percentile = |p: Percentile| match p.borne_by(all.len()) {
        true => us(all.value_at_quantile(1.0 - 1.0 / p.one_in() as f64)),
        false => "-".into(),
    };
    let mut row = vec![
        us(rows.iter().map(|(_, s)| s.min_ns).min()?),
        us(all.value_at_quantile(0.5)),
    ];
    row.extend(PERCENTILES.map(percentile));
    row.push(us(rows.iter().map(|(_, s)| s.max_ns).max()?));
    row.push(grouped(all.len()));
    row.push(grouped(rows.iter().map(|(r, _)| r.accounting.missed()).sum()));
    row.push(grouped(rows.iter().map(|(r, _)| r.accounting.lost()).sum()));
    Some(row)
}

/// The parts of the latency: of all CPUs the medians' range and the maximum.
fn by_part(records: &[&Record], style: Style) -> Vec<String> {
    let us = |ns: u64| micros(Nanos(ns));
    let row = |quantity: &Quantity| -> Option<(String, Vec<String>)> {
        let of: Vec<&Summary> = records.iter().filter_map(|r| r.summary(*quantity)).collect();
        let worst = of.iter().max_by_key(|s| s.max_ns)?;
        let median = of.iter().map(|s| s.median_ns).max()?;
        let p99 = of.iter().filter_map(|s| s.percentiles_ns.get(&Percentile::P99)).max();
        let name = match quantity {
            Quantity::Latency => "latency: all of them",
            other => other.title(),
        };
        Some((
            name.to_string(),
            vec![us(median), p99.map_or("-".into(), |ns| us(*ns)), us(worst.max_ns)],
        ))
    };
    let (labels, cells) = PARTS.iter().filter_map(row).unzip();
    let mut lines = vec![style.bold("parts of the latency, the highest of all CPUs (us)")];
    lines.extend(grid(labels, &["median", "p99", "max"], cells));
    lines
}

pub(super) fn grid(labels: Vec<String>, columns: &[&str], cells: Vec<Vec<String>>) -> Vec<String> {
    let grid = Grid {
        heading: String::new(),
        labels,
        columns: columns.iter().map(|c| c.to_string()).collect(),
        groups: vec![Group {
            title: String::new(),
            cells,
        }],
    };
    // A single group needs no title.
    grid.render(width(WIDTH)).into_iter().skip(1).collect()
}
