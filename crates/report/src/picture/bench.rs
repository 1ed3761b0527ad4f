//! Costs of switches, message passing and locks, over the number of processes or threads.

use super::data::{PictureData, ShownSubject};
use super::lines::PanelGrid;
use super::spread::over_seeds;
use super::{LinePoint, LinesPicture, Picture, PictureAxis, PictureHead, SeriesLabel};
use std::collections::BTreeMap;
use worstcase_base::format::plain;
use worstcase_contract::Nanos;
use worstcase_contract::bench::{Bench, Details, Hackbench, Inversion, Switch, SwitchRepetition};
use worstcase_contract::names;
use worstcase_results::record::{Quantity, Record, Summary};
use worstcase_results::stats::median;

/// All pictures for the measured probes.
pub fn pictures(data: &PictureData<'_>) -> Vec<Picture> {
    let hot = switch(
        data,
        "switch-hot",
        "one working set, always the same (as lmbench does)",
        hot,
    );
    let cold = switch(data, "switch-cold", "every member's working set in turn", cold);
    [hot, cold, hackbench(data), pick(data), inversion(data)]
        .into_iter()
        .flatten()
        .collect()
}

/// The overhead that is subtracted from a repetition, in ns.
pub(crate) type Overhead = fn(&SwitchRepetition) -> u64;

/// The same passing and touching, with warm caches.
pub fn hot(repetition: &SwitchRepetition) -> u64 {
    repetition.hot.0
}

fn cold(repetition: &SwitchRepetition) -> u64 {
    repetition.cold.0
}

/// A record of a probe that has details, with its parameters.
pub struct BenchRecord<'a> {
    /// Its parameters.
    pub(crate) bench: Bench,
    /// The probe's details.
    pub details: &'a Details,
    /// The record that holds them.
    pub record: &'a Record,
}

/// The records of a run with details of this kind, all seeds of a subject, load and probe together.
pub fn measured<'a>(data: &PictureData<'a>) -> Vec<Vec<BenchRecord<'a>>> {
    let mut cells: BTreeMap<(usize, &str, Bench), Vec<BenchRecord<'a>>> = BTreeMap::new();
    for record in data.records {
        let (Ok(bench), Some(details)) = (names::parse(&record.cell.probe), &record.details) else {
            continue;
        };
        let key = (data.subject(record).style, record.cell.load.as_str(), bench);
        cells
            .entry(key)
            .or_default()
            .push(BenchRecord { bench, details, record });
    }
    cells.into_values().collect()
}

/// Cost of a switch in us: the mean over the seeds of each seed's repetitions, trimmed.
pub(crate) fn switch_cost(seeds: &[BenchRecord<'_>], overhead: Overhead) -> Option<(f64, Option<[f64; 2]>)> {
    over_seeds(seeds.iter().map(|seed| costs(seed, overhead)))
}

/// Cost of a switch in us, of each repetition.
pub(crate) fn costs(seed: &BenchRecord<'_>, overhead: Overhead) -> Vec<f64> {
    let Details::Switch(details) = seed.details else {
        return Vec::new();
    };
    let hops = details.hops.max(1) as f64;
    // A result below 0 is a result: it says how far below the noise the cost is.
    let cost = |r: &SwitchRepetition| (r.total.0 as f64 - overhead(r) as f64) / hops / 1_000.0;
    details.settled().iter().map(cost).collect()
}

/// The name of a working set.
pub fn size(bytes: u32) -> String {
    match bytes {
        n if n >= 1 << 20 => format!("{} MB", f64::from(n) / f64::from(1 << 20)),
        n if n >= 1 << 10 => format!("{} KB", f64::from(n) / 1_024.0),
        n => format!("{n} B"),
    }
}

/// The label of a subject, with those of the probe's parameters and load that are not on an axis.
fn panel(subject: &ShownSubject<'_>, load: &str, rest: &str) -> SeriesLabel {
    let mut of = subject.label(load);
    if load != "idle" {
        of.label += &format!(", load {}", plain(load));
    }
    if !rest.is_empty() {
        of.label += &format!(", {}", rest.replace('+', ", "));
    }
    of
}

/// The options in a probe's name.
fn options(name: &str) -> &str {
    name.split_once('+').map_or("", |(_, options)| options)
}

fn switch(data: &PictureData<'_>, id: &str, less: &str, overhead: Overhead) -> Option<Picture> {
    let mut grid = PanelGrid::default();
    for seeds in measured(data) {
        let (
            Bench::Switch(
                what @ Switch {
                    processes, size: bytes, ..
                },
            ),
            record,
        ) = (seeds[0].bench, seeds[0].record)
        else {
            continue;
        };
        let point = switch_cost(&seeds, overhead).map(|(y, interval)| LinePoint {
            x: f64::from(processes),
            y,
            interval,
        });
        let panel = panel(data.subject(record), &record.cell.load, options(&what.to_string()));
        grid.add(panel, SeriesLabel::label(&size(bytes)), point);
    }
    let about = format!(
        "Cost of passing the token on once in a ring of processes, each touching its working set before: a line a size. \
         Passing and touching by one process alone is subtracted: {less}. Mean over the seeds of each seed's \
         repetitions without the best and the worst tenth, with its 95 % interval over the seeds."
    );
    picture(
        id,
        &format!(
            "cost of a context switch over processes, less the {} overhead",
            id.trim_start_matches("switch-")
        ),
        about,
        "processes",
        ("cost of a switch", &data.micros),
        grid,
    )
}

fn hackbench(data: &PictureData<'_>) -> Option<Picture> {
    let mut grid = PanelGrid::default();
    let unit = data.micros.replacen("us", "ms", 1);
    for seeds in measured(data) {
        let (Bench::Hackbench(what), Details::Hackbench(details)) = (seeds[0].bench, seeds[0].details) else {
            continue;
        };
        let runs = seeds.iter().map(|m| match m.details {
            Details::Hackbench(d) => d.runs.iter().map(|r| r.total.as_micros_f64() / 1_000.0).collect(),
            _ => Vec::new(),
        });
        let point = over_seeds(runs).map(|(y, interval)| LinePoint {
            x: f64::from(details.processes),
            y,
            interval,
        });
        let record = seeds[0].record;
        let subject = data.subject(record);
        let line = SeriesLabel {
            label: format!("{}, {}", subject.label, options(&what.to_string()).replace('+', ", ")),
            ..subject.label("")
        };
        grid.add(SeriesLabel::load(&messages(&what, &record.cell.load)), line, point);
    }
    let about =
        "Time until every receiver of every group had all its messages: a line a subject and transport. Mean over the \
                 seeds of each seed's runs (of ten and more without the best and the worst tenth), with its 95 % interval over \
                 the seeds."
            .to_string();
    picture(
        "hackbench",
        "message passing over processes",
        about,
        "senders and receivers",
        ("time of a run", &unit),
        grid,
    )
}

fn messages(what: &Hackbench, load: &str) -> String {
    format!(
        "load {load}, {} messages of {} to each of {}",
        what.messages,
        size(what.size),
        what.pairs
    )
}

fn pick(data: &PictureData<'_>) -> Option<Picture> {
    let mut grid = PanelGrid::default();
    for seeds in measured(data) {
        let (Bench::Pick(what), record) = (seeds[0].bench, seeds[0].record) else {
            continue;
        };
        let subject = data.subject(record);
        let point = over_median(&seeds, |summary| summary.median_ns).map(|(y, interval)| LinePoint {
            x: f64::from(what.tasks),
            y,
            interval,
        });
        let load = format!("load {}", plain(&record.cell.load));
        grid.add(SeriesLabel::load(&load), subject.label(""), point);
    }
    let about = "Time of a choice of the scheduler among so many tasks that can run, all on one CPU: a line a subject, both axes \
                 logarithmic. Median over the seeds of each seed's median, with its interval."
        .to_string();
    scaled(
        "pick",
        "cost of a choice over tasks that can run",
        about,
        "tasks that can run",
        ("a choice", &data.micros),
        (grid, |label, unit, values| {
            PictureAxis::logarithmic(label, unit, values.into_iter())
        }),
    )
}

/// A value of each seed in us: the median of the seeds, with its interval.
fn over_median(seeds: &[BenchRecord<'_>], of: fn(&Summary) -> Option<u64>) -> Option<(f64, Option<[f64; 2]>)> {
    let summaries = seeds.iter().filter_map(|m| m.record.summary(Quantity::Latency));
    let mut values: Vec<Nanos> = summaries.filter_map(of).map(Nanos).collect();
    values.sort_unstable();
    let interval = worstcase_results::stats::interval::of_median(&values);
    Some((
        median::of_sorted(&values)?.as_micros_f64(),
        interval.map(|i| [i.low.as_micros_f64(), i.high.as_micros_f64()]),
    ))
}

fn inversion(data: &PictureData<'_>) -> Option<Picture> {
    let mut grid = PanelGrid::default();
    for seeds in measured(data) {
        let (Bench::Inversion(what @ Inversion { depth, protocol, .. }), record) = (seeds[0].bench, seeds[0].record)
        else {
            continue;
        };
        let point = over_median(&seeds, |summary| Some(summary.max_ns)).map(|(y, interval)| LinePoint {
            x: f64::from(depth),
            y,
            interval,
        });
        let name = what.to_string();
        let rest = options(&name)
            .strip_prefix(protocol.word())
            .unwrap_or("")
            .trim_start_matches('+');
        grid.add(
            panel(data.subject(record), &record.cell.load, rest),
            SeriesLabel::label(protocol.word()),
            point,
        );
    }
    let about = "How long the most urgent thread waited for a mutex, at worst: a line a protocol. Median over the seeds of each \
                 seed's maximum, with its interval."
        .to_string();
    picture(
        "inversion",
        "waiting for a mutex over the depth of the chain",
        about,
        "mutexes in the chain",
        ("longest wait", &data.micros),
        grid,
    )
}

fn picture(id: &str, title: &str, about: String, x: &str, y: (&str, &str), grid: PanelGrid) -> Option<Picture> {
    let linear: AxisMaker = |label, unit, values| PictureAxis::linear(label, unit, values.into_iter());
    scaled(id, title, about, x, y, (grid, linear))
}

/// An axis of this label and unit that holds the values.
type AxisMaker = fn(&str, &str, Vec<f64>) -> PictureAxis;

fn scaled(
    id: &str,
    title: &str,
    about: String,
    x: &str,
    (y, unit): (&str, &str),
    (grid, scale): (PanelGrid, AxisMaker),
) -> Option<Picture> {
    let values: Vec<f64> = grid.values().collect();
    let panels = grid.panels();
    let points = panels.iter().flat_map(|p| &p.series).flat_map(|s| &s.points);
    let x = scale(x, "", points.map(|p| p.x).collect());
    (!values.is_empty()).then(|| {
        Picture::Lines(LinesPicture {
            head: PictureHead {
                id: id.into(),
                title: title.into(),
                about,
                x,
                y: scale(y, unit, values),
                limit: None,
            },
            panels,
        })
    })
}
