//! The cost of a switch: a table of sizes, all values of each ring, and the mean as it was published beside them.

use super::fields::{figures, place, probe, units};
use crate::ReportView;
use crate::table::{ColumnKind, Table, TableField, field, name};
use serde::Serialize;
use worstcase_base::distinct;
use worstcase_base::format::{grouped, micros};
use worstcase_contract::bench::{Bench, Details, Placement, Switch, SwitchDetails, SwitchRepetition};
use worstcase_results::record::{Record, Venue};
use worstcase_results::stats::SeedValues;
use worstcase_results::stats::points::{self, PointName};

/// The cost of a switch; times in ns a hop.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SwitchPoint {
    /// The name of the point.
    pub place: PointName,
    /// The kind of ring.
    pub(crate) ring: Switch,
    /// Passing, touching and switching.
    pub raw: SeedValues,
    /// Passing and touching alone, always the same working set.
    pub hot: SeedValues,
    /// Passing and touching alone, each member's working set in turn.
    pub cold: SeedValues,
    /// `raw - hot` of each repetition: the switch, and filling the caches again.
    pub(crate) net: SeedValues,
    /// `raw - cold` of each repetition: the switch alone.
    pub(crate) net_cold: SeedValues,
    /// Like `net`, for the repetitions as they were first measured.
    pub(crate) net_first: SeedValues,
    /// The repetitions that were measured again.
    pub again: RepeatedPoints,
    /// Switches a hop because a member waited.
    pub voluntary: f64,
    /// Switches a hop because something else got the CPU.
    pub involuntary: f64,
    /// Moves to another CPU, of all repetitions, where the kernel tells.
    pub migrations: Option<u64>,
}

/// The repetitions that were measured again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct RepeatedPoints {
    /// Repetitions.
    pub values: u64,
    /// The number of tries, all together.
    pub tries: u64,
    /// Repetitions that were too far off the last time, too.
    pub still_off: u64,
}

/// The points of `switch`, in the order of the records.
pub(crate) fn points(records: &[Record]) -> Vec<SwitchPoint> {
    points::points(records, |place, bench, of| match bench {
        Bench::Switch(ring) => point(place, ring, of),
        _ => None,
    })
}

fn point(place: PointName, ring: Switch, records: &[&Record]) -> Option<SwitchPoint> {
    let of = |record: &&Record| match &record.details {
        Some(Details::Switch(d)) => Some(d.clone()),
        _ => None,
    };
    let seeds: Vec<_> = records.iter().filter_map(of).collect();
    let settled: Vec<Vec<SwitchRepetition>> = seeds.iter().map(SwitchDetails::settled).collect();
    let all = || settled.iter().flatten();
    let again = || seeds.iter().flat_map(|d| &d.again);
    let hops: u64 = seeds.iter().map(|d| d.hops * d.repetitions.len() as u64).sum();
    let values = |of: &[SwitchRepetition], hops: u64, time: fn(&SwitchRepetition) -> f64| {
        of.iter().map(|r| time(r) / hops as f64).collect::<Vec<f64>>()
    };
    let a_hop = |time| SeedValues::new(std::iter::zip(&seeds, &settled).map(|(d, of)| values(of, d.hops, time)));
    let net = |r: &SwitchRepetition| r.total.0 as f64 - r.hot.0 as f64;
    Some(SwitchPoint {
        place,
        ring,
        raw: a_hop(|r| r.total.0 as f64)?,
        hot: a_hop(|r| r.hot.0 as f64)?,
        cold: a_hop(|r| r.cold.0 as f64)?,
        net: a_hop(net)?,
        net_cold: a_hop(|r| r.total.0 as f64 - r.cold.0 as f64)?,
        net_first: SeedValues::new(seeds.iter().map(|d| values(&d.repetitions, d.hops, net)))?,
        again: RepeatedPoints {
            values: again().count() as u64,
            tries: again().map(|a| u64::from(a.tries)).sum(),
            still_off: again().filter(|a| a.still_off).count() as u64,
        },
        voluntary: all().map(|r| r.voluntary).sum::<u64>() as f64 / hops as f64,
        involuntary: all().map(|r| r.involuntary).sum::<u64>() as f64 / hops as f64,
        migrations: all().map(|r| r.migrations).sum(),
    })
}

fn columns() -> Vec<TableField<SwitchPoint>> {
    let mut all = place(|p: &SwitchPoint| &p.place);
    all.extend([
        probe(|p: &SwitchPoint| Bench::Switch(p.ring).to_string()),
        name("processes", "processes", |p: &SwitchPoint| u64::from(p.ring.processes)),
        name("ring", "ring", |p: &SwitchPoint| ring(&p.ring)),
        name("size", "size", |p: &SwitchPoint| size(&p.ring)),
        field(ColumnKind::Count, "bytes", "bytes", |p: &SwitchPoint| {
            u64::from(p.ring.size)
        })
        .programs(),
    ]);
    let mean = |heading| [("trimmed_mean", heading)];
    let net = [
        ("trimmed_mean", "net"),
        ("median", "median"),
        ("min", "min"),
        ("max", "max"),
    ];
    let time = ColumnKind::Time;
    all.extend(figures("raw_ns", time, |p: &SwitchPoint| Some(&p.raw), &mean("raw")));
    all.extend(figures("hot_ns", time, |p: &SwitchPoint| Some(&p.hot), &mean("hot")));
    all.extend(figures("cold_ns", time, |p: &SwitchPoint| Some(&p.cold), &mean("cold")));
    all.extend(figures("net_ns", time, |p: &SwitchPoint| Some(&p.net), &net));
    all.extend(figures(
        "net_cold_ns",
        time,
        |p: &SwitchPoint| Some(&p.net_cold),
        &mean("less cold"),
    ));
    all.extend(figures("net_first_ns", time, |p: &SwitchPoint| Some(&p.net_first), &[]));
    all.extend([
        field(ColumnKind::Number(2), "voluntary_a_hop", "waits", |p: &SwitchPoint| {
            p.voluntary
        }),
        field(
            ColumnKind::Number(2),
            "involuntary_a_hop",
            "preempted",
            |p: &SwitchPoint| p.involuntary,
        ),
        field(ColumnKind::Count, "migrations", "moved", |p: &SwitchPoint| p.migrations),
        field(ColumnKind::Count, "again.values", "again", |p: &SwitchPoint| {
            p.again.values
        })
        .programs(),
        field(ColumnKind::Count, "again.tries", "tries", |p: &SwitchPoint| {
            p.again.tries
        })
        .programs(),
        field(ColumnKind::Count, "again.still_off", "still off", |p: &SwitchPoint| {
            p.again.still_off
        })
        .programs(),
    ]);
    all
}

/// The words for a ring, beside its number of processes.
fn ring(ring: &Switch) -> String {
    let mut words = vec![ring.via.word()];
    words.extend(ring.threads.then_some("threads"));
    words.push(match ring.placement {
        Placement::Same => "one CPU",
        other => other.word(),
    });
    let mut text = words.join(", ");
    if ring.spin.0 > 0 {
        text += &format!(", spin {} us", micros(ring.spin));
    }
    text
}

fn size(ring: &Switch) -> String {
    match ring.size {
        n if n >= 1024 && n.is_multiple_of(1024) => format!("{} KB", n / 1024),
        n => format!("{n} B"),
    }
}

const NAMES: [(&str, &str); 4] = [
    ("place.subject", "subject"),
    ("place.load", "load"),
    ("processes", "processes"),
    ("ring", "ring"),
];

pub fn tables(view: &ReportView) -> Vec<Table> {
    let points = points(view.records);
    let Some(first) = points.first() else {
        return Vec::new();
    };
    let units = units(view, points.iter().map(|p| &p.place));
    let about = "each point: raw, overhead hot and cold, net (raw - hot), raw - cold; switches a hop by waiting and by preemption; moves to another CPU";
    let all = Table::new("switch", about, &columns(), &points);
    let net = first.net.figures();
    let sizes = [
        ("size", "size"),
        ("net_ns.trimmed_mean", "net"),
        ("net_ns.interval", "median within"),
    ];
    let by_size = all
        .view(
            format!("switch: net cost of a switch ({units})"),
            &[&NAMES[..], &sizes].concat(),
        )
        .across("size");
    let by_size = by_size.with(
        vec![
            format!(
                "net: time of a hop less the same work by one process; {} values, seeds {}",
                net.count, net.seeds
            ),
            "Each seed has a mean, without its best and its worst tenth, and a median; net is the mean of the means,"
                .into(),
            "and the median of the medians lies within the interval.".into(),
        ],
        Vec::new(),
    );
    let mut figures = vec![
        ("probe", "ring"),
        ("net_ns.trimmed_mean", "trimmed"),
        ("net_ns.mean", "mean"),
        ("net_ns.min", "min"),
        ("net_ns.max", "max"),
        ("net_ns.count", "values"),
        ("again.values", "again"),
    ];
    if points.iter().any(|p| p.again.values > 0) {
        figures.extend([("net_first_ns.mean", "mean first"), ("net_first_ns.max", "max first")]);
    }
    let trimmed = all
        .view(
            format!(
                "net cost of a switch, trimmed as published (each seed without its best and its worst tenth) and of all values ({units})"
            ),
            &[&NAMES[..2], &figures].concat(),
        )
        .with(Vec::new(), vec![measured_again(view, &points)]);
    vec![by_size, all, trimmed]
}

fn measured_again(view: &ReportView, points: &[SwitchPoint]) -> String {
    if view.records.iter().all(|r| r.subject.venue() == Venue::Lab) {
        return "Measured again: none; the lab's values are exact: the same cell gives the same values.".into();
    }
    let bounds = distinct(points.iter().map(|p| p.ring.again).filter(|percent| *percent > 0));
    if bounds.is_empty() {
        return "Measured again: none; +again1 asks for lmbench's rule (values more than 1 % off).".into();
    }
    let sum = |count: fn(&RepeatedPoints) -> u64| points.iter().map(|p| count(&p.again)).sum::<u64>();
    let bounds: Vec<String> = bounds.iter().map(|percent| format!("{percent} %")).collect();
    format!(
        "Measured again: {} values more than {} off the median of their seed, {} times in all; still off: {}.",
        grouped(sum(|a| a.values)),
        bounds.join(" or "),
        grouped(sum(|a| a.tries)),
        grouped(sum(|a| a.still_off))
    )
}
