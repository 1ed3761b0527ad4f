//! Runs of this machine as tables: a row a CPU, and one of all CPUs together.

use super::grid::{Grid, Group};
use super::terminal::{Style, distinct, row_label, width};
use super::{View, foreign, noise};
use hdrhistogram::Histogram;
use worstcase_base::duration;
use worstcase_base::format::{grouped, micros, plain};
use worstcase_contract::Nanos;
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
            let of_load = || of_probe().filter(|r| r.cell.load == load);
            for subject in distinct(of_load().map(|r| r.subject.id())) {
                let records: Vec<&Record> = of_load().filter(|r| r.subject.id() == subject).collect();
                out.extend(of_subject(view, probe, load, &records, style));
            }
        }
    }
    out
}

/// The tables of a probe and load; only other tools' files give several subjects.
fn of_subject(view: &View, probe: &str, load: &str, records: &[&Record], style: Style) -> Vec<String> {
    let mut out = vec![String::new(), style.bold(&heading(probe, load, records))];
    out.extend(work(records));
    out.extend(cpus(records));
    if probe == "noise" {
        out.extend(noise::tables(records, style));
        return out;
    }
    for quantity in view.quantities_of(probe) {
        out.push(String::new());
        out.extend(by_cpu(records, *quantity, style));
    }
    if records.iter().any(|r| r.summary.handler.is_some()) {
        out.push(String::new());
        out.extend(by_part(records, style));
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
    if let Some(heading) = foreign::heading(probe, load, records) {
        return heading;
    }
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
fn work(records: &[&Record]) -> Option<String> {
    let first = records.first().filter(|r| r.foreign.is_none())?;
    let Some(record) = Some(first).filter(|r| !r.work.is_empty()) else {
        return Some("no load".to_string());
    };
    let seconds = record.observation_time().0 as f64 / 1e9;
    let rate = |w: &worstcase_results::record::Work| {
        format!("{} {} a second", grouped((w.count as f64 / seconds) as u64), w.unit)
    };
    Some(plain(&format!(
        "load: {}",
        record.work.iter().map(rate).collect::<Vec<_>>().join(", ")
    )))
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
    let all = together(&rows, quantity);
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
    let told = |ns: Option<u64>| ns.map_or("-".into(), us);
    let mut row = vec![told(s.min_ns), told(s.median_ns)];
    row.extend(PERCENTILES.map(|p| told(s.percentiles_ns.get(&p).copied())));
    row.extend([us(s.max_ns), grouped(s.count)]);
    row.extend(losses(&[record]));
    row
}

/// Missed periods and lost samples; another tool tells of no lost ones, and maybe of no missed ones.
fn losses(records: &[&Record]) -> [String; 2] {
    let foreign = records.iter().any(|r| r.foreign.is_some());
    let missed: Option<u64> = records.iter().map(|r| r.missed()).sum();
    let lost: u64 = records.iter().map(|r| r.accounting.lost()).sum();
    let lost = Some(lost).filter(|_| !foreign);
    [missed, lost].map(|n| n.map_or("-".into(), grouped))
}

/// All rows as one distribution; its median and percentiles are those of the histograms, to three digits.
fn together(rows: &[(&Record, &Summary)], quantity: Quantity) -> Option<Vec<String>> {
    let all = merged(rows);
    let us = |ns: u64| micros(Nanos(ns));
    let count: u64 = rows.iter().map(|(_, s)| s.count).sum();
    let known_below = rows
        .iter()
        .filter_map(|(r, _)| r.foreign.as_ref()?.beyond.get(&quantity));
    let known_below = known_below.map(|beyond| beyond.from_ns).min().unwrap_or(u64::MAX);
    let at = |share: f64| -> Option<String> {
        let all = all.as_ref()?;
        // Of all samples, those too that are in no histogram: they are above all that is known.
        let value = all.value_at_quantile(share * count as f64 / all.len() as f64);
        let is_held = share * count as f64 <= all.len() as f64 && value < known_below;
        is_held.then(|| us(value))
    };
    let percentile = |p: Percentile| {
        let borne = p.borne_by(count).then(|| at(1.0 - 1.0 / p.one_in() as f64));
        borne.flatten().unwrap_or("-".into())
    };
    let median = at(0.5).unwrap_or("-".into());
    let min = rows.iter().filter_map(|(_, s)| s.min_ns).min();
    let mut row = vec![min.map_or("-".into(), us), median];
    row.extend(PERCENTILES.map(percentile));
    row.push(us(rows.iter().map(|(_, s)| s.max_ns).max()?));
    row.push(grouped(count));
    row.extend(losses(&rows.iter().map(|(r, _)| *r).collect::<Vec<_>>()));
    Some(row)
}

/// The histogram of all rows, of a foreign file of those that it holds; nothing if a row has none.
fn merged(rows: &[(&Record, &Summary)]) -> Option<Histogram<u64>> {
    let mut all: Histogram<u64> = Histogram::new(3).ok()?;
    for (_, summary) in rows {
        all.add(summary.held()?).ok()?;
    }
    Some(all)
}

/// The parts of the latency: of all CPUs the medians' range and the maximum.
fn by_part(records: &[&Record], style: Style) -> Vec<String> {
    let us = |ns: u64| micros(Nanos(ns));
    let row = |quantity: &Quantity| -> Option<(String, Vec<String>)> {
        let of: Vec<&Summary> = records.iter().filter_map(|r| r.summary(*quantity)).collect();
        let worst = of.iter().max_by_key(|s| s.max_ns)?;
        let median = of.iter().filter_map(|s| s.median_ns).max()?;
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
