//! What a switch costs: a table of sizes, all of each ring, and the mean as it was published beside all values.

use super::{figures, place, probe, units};
use crate::ReportView;
use crate::table::{ColumnKind, Table, TableField, field, name};
use worstcase_base::distinct;
use worstcase_base::format::{grouped, micros};
use worstcase_contract::bench::{Bench, Placement, Switch};
use worstcase_results::record::Venue;
use worstcase_results::stats::points::{self, RepeatedPoints, SwitchPoint};

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

/// What a ring is called beside its number of processes.
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
    let points = points::switches(view.records);
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
