//! What the probes with parameters gave, as tables.

use super::grid::{Grid, Group};
use super::terminal::{Style, distinct, width};
use super::trimmed;
use super::{View, io};
use worstcase_base::format::{grouped, micros, plain};
use worstcase_contract::Nanos;
use worstcase_contract::bench::{Switch, Transport};
use worstcase_results::record::{Record, SubjectId};
use worstcase_results::stats::io::ios;
use worstcase_results::stats::points::{
    self, HackbenchPoint, InversionPoint, PickPoint, PointName, RemotePoint, Rounds, ShootdownPoint, SpawnPoint,
    SwitchPoint, quantile,
};
use worstcase_results::stats::{Figures, Values};

/// Widest line of a table.
const WIDTH: usize = 120;

/// All tables.
pub fn tables(view: &View, style: Style) -> Vec<String> {
    let mut out = Vec::new();
    let switches = points::switches(view.records);
    for (subject, load) in distinct(switches.iter().map(|p| (&p.place.subject, &p.place.load))) {
        let of: Vec<&SwitchPoint> = switches
            .iter()
            .filter(|p| (&p.place.subject, &p.place.load) == (subject, load))
            .collect();
        out.push(String::new());
        out.extend(switch_grid(view, subject, load, &of, style));
        out.push(String::new());
        out.extend(switch_list(&of, style));
    }
    if !switches.is_empty() {
        out.push(String::new());
        out.extend(trimmed::lines(view, style));
    }
    let hackbenches = points::hackbenches(view.records);
    if !hackbenches.is_empty() {
        out.push(String::new());
        out.extend(hackbench_list(view, &hackbenches, style));
    }
    let inversions = points::inversions(view.records);
    if !inversions.is_empty() {
        out.push(String::new());
        out.extend(inversion_list(view, &inversions, style));
    }
    let remotes = points::remotes(view.records);
    if !remotes.is_empty() {
        out.push(String::new());
        out.extend(remote_list(view, &remotes, style));
    }
    let irqs = points::irqs(view.records);
    if !irqs.is_empty() {
        out.push(String::new());
        out.extend(irq_list(view, &irqs, style));
    }
    let picks = points::picks(view.records);
    if !picks.is_empty() {
        out.push(String::new());
        out.extend(pick_list(view, &picks, style));
    }
    let spawns = points::spawns(view.records);
    if !spawns.is_empty() {
        out.push(String::new());
        out.extend(spawn_list(view, &spawns, style));
    }
    let ios = ios(view.records);
    if !ios.is_empty() {
        out.push(String::new());
        out.extend(io::lines(view, &ios, style));
    }
    let shootdowns = points::shootdowns(view.records);
    if !shootdowns.is_empty() {
        out.push(String::new());
        out.extend(shootdown_list(view, &shootdowns, style));
    }
    out
}

/// What a row of a ring is called beside its number of processes.
fn variant(ring: &Switch) -> String {
    let mut words = vec![ring.via.word()];
    words.extend(ring.threads.then_some("threads"));
    words.push(match ring.placement {
        worstcase_contract::bench::Placement::Same => "one CPU",
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

/// Nanoseconds that may be negative, as microseconds.
pub(super) fn us(ns: f64) -> String {
    let size = micros(Nanos(ns.abs().round() as u64));
    if ns < 0.0 && size != "0" {
        format!("-{size}")
    } else {
        size
    }
}

fn interval(f: &Figures) -> String {
    f.interval
        .map_or("one seed".into(), |(low, high, _)| format!("{}..{}", us(low), us(high)))
}

/// Net cost: a row a number of processes, a group of columns a size.
fn switch_grid(view: &View, subject: &SubjectId, load: &str, points: &[&SwitchPoint], style: Style) -> Vec<String> {
    let rows = distinct(points.iter().map(|p| (variant(&p.ring), p.ring.processes)));
    let variants = distinct(rows.iter().map(|(variant, _)| variant)).len();
    let sizes = distinct(points.iter().map(|p| size(&p.ring)));
    let cell = |row: &(String, u16), of: &String| {
        let found = points
            .iter()
            .find(|p| (variant(&p.ring), p.ring.processes) == *row && size(&p.ring) == *of);
        found.map_or_else(
            || vec!["-".to_string(); 2],
            |p| {
                let f = p.net.figures();
                vec![us(f.trimmed_mean), interval(&f)]
            },
        )
    };
    let grid = Grid {
        heading: "processes".into(),
        labels: rows
            .iter()
            .map(|(variant, n)| match variants {
                1 => n.to_string(),
                _ => format!("{n}, {variant}"),
            })
            .collect(),
        columns: ["net", "median within"].map(String::from).to_vec(),
        groups: sizes
            .iter()
            .map(|of| Group {
                title: of.clone(),
                cells: rows.iter().map(|row| cell(row, of)).collect(),
            })
            .collect(),
    };
    let first = points.first();
    let how = first
        .filter(|_| variants == 1)
        .map_or(String::new(), |p| format!(", {}", variant(&p.ring)));
    let (values, seeds) = first.map_or((0, 0), |p| (p.net.figures().count, p.net.figures().seeds));
    let mut lines = vec![
        style.bold(&plain(&format!(
            "switch under {load}, {subject}{how}: net cost of a switch ({})",
            unit(view, subject)
        ))),
        format!("net: time of a hop less the same work by one process; {values} values, seeds {seeds}"),
        "Each seed has a mean, without its best and its worst tenth, and a median; net is the mean of the means,"
            .to_string(),
        "and the median of the medians lies within the interval.".to_string(),
        String::new(),
    ];
    lines.extend(grid.render(width(WIDTH)));
    lines
}

/// Everything of each point.
fn switch_list(points: &[&SwitchPoint], style: Style) -> Vec<String> {
    let mean = |v: &Values| us(v.figures().trimmed_mean);
    let row = |p: &&SwitchPoint| {
        let net = p.net.figures();
        vec![
            mean(&p.raw),
            mean(&p.hot),
            mean(&p.cold),
            us(net.trimmed_mean),
            us(net.median),
            format!("{}..{}", us(net.min), us(net.max)),
            mean(&p.net_cold),
            format!("{:.2}", p.voluntary),
            format!("{:.2}", p.involuntary),
            p.migrations.map_or("?".into(), grouped),
        ]
    };
    let columns = [
        "raw",
        "hot",
        "cold",
        "net",
        "median",
        "min..max",
        "less cold",
        "waits",
        "preempted",
        "moved",
    ];
    let labels = points
        .iter()
        .map(|p| format!("{} x {}, {}", p.ring.processes, size(&p.ring), variant(&p.ring)));
    let mut lines = vec![style.bold(
        "each point: raw, overhead hot and cold, net (raw - hot), raw - cold; switches a hop by waiting and by preemption; moves to another CPU",
    )];
    lines.extend(list(
        "ring",
        labels.collect(),
        &columns,
        points.iter().map(row).collect(),
    ));
    lines
}

fn hackbench_list(view: &View, points: &[HackbenchPoint], style: Style) -> Vec<String> {
    let seconds = |ns: f64| format!("{:.3}", ns / 1e9);
    let row = |p: &HackbenchPoint| {
        let f = p.total.figures();
        let latency = |share: f64| {
            p.latency
                .as_ref()
                .map_or("-".into(), |l| micros(Nanos(quantile(l, share))))
        };
        vec![
            p.processes.to_string(),
            seconds(f.mean),
            format!("{}..{}", seconds(f.min), seconds(f.max)),
            f.count.to_string(),
            seconds(p.cpu.figures().mean),
            format!("{:.3}", p.switches),
            p.moves.map_or("?".into(), |moves| grouped(moves.round() as u64)),
            latency(0.5),
            latency(0.99),
            latency(1.0),
        ]
    };
    let columns = [
        "processes",
        "mean s",
        "min..max",
        "runs",
        "CPU s",
        "switches",
        "moves",
        "median",
        "p99",
        "max",
    ];
    let mut lines = Vec::new();
    for transport in [Transport::Sockets, Transport::Pipes] {
        let of: Vec<&HackbenchPoint> = points.iter().filter(|p| p.work.transport == transport).collect();
        if of.is_empty() {
            continue;
        }
        if !lines.is_empty() {
            lines.push(String::new());
        }
        let units = units(view, of.iter().map(|p| &p.place));
        lines.push(style.bold(&format!(
            "hackbench over {}: time of a run; switches a message; moves to another CPU a run; latency of a message ({units})",
            transport.word()
        )));
        let label = |p: &&HackbenchPoint| {
            let text = worstcase_contract::bench::Bench::Hackbench(p.work).to_string();
            let what = text
                .trim_start_matches("hackbench:")
                .replace(&format!("+{}", transport.word()), "");
            plain(&format!("{} {}: {what}", p.place.subject, p.place.load))
        };
        lines.extend(list(
            "subject, load, groups x senders x messages x bytes",
            of.iter().map(label).collect(),
            &columns,
            of.iter().map(|p| row(p)).collect(),
        ));
    }
    lines
}

fn inversion_list(view: &View, points: &[InversionPoint], style: Style) -> Vec<String> {
    let row = |p: &InversionPoint| with_rounds(&p.rounds, [grouped(p.contended), grouped(p.inverted)]);
    let columns = ["min", "median", "p99", "max", "rounds", "contended", "inverted"];
    let label = |p: &InversionPoint| {
        let chain = p.chain;
        plain(&format!(
            "{} {}: depth {}, {}, owner {} us, middle {} us",
            p.place.subject,
            p.place.load,
            chain.depth,
            chain.protocol.word(),
            micros(chain.section),
            micros(chain.middle)
        ))
    };
    let units = units(view, points.iter().map(|p| &p.place));
    let mut lines = vec![style.bold(&format!(
        "inversion: made ready to mutex owned ({units}); rounds in which the middle thread ran meanwhile"
    ))];
    lines.extend(list(
        "subject, load, chain",
        points.iter().map(label).collect(),
        &columns,
        points.iter().map(row).collect(),
    ));
    lines
}

const WOKEN: [&str; 9] = [
    "min", "median", "p99", "max", "rounds", "send min", "median", "max", "awake",
];

fn woken(p: &RemotePoint) -> Vec<String> {
    let send = [p.send.min, p.send.median, p.send.max].map(micros);
    with_rounds(&p.rounds, send.into_iter().chain([grouped(p.awake)]))
}

fn remote_list(view: &View, points: &[RemotePoint], style: Style) -> Vec<String> {
    let units = units(view, points.iter().map(|p| &p.place));
    let mut lines = vec![style.bold(&format!(
        "woken from another CPU until it runs ({units}); what the call cost that woke it; rounds in which it did not sleep"
    ))];
    let label = |p: &RemotePoint| {
        let way = p.bench.to_string();
        let way = way.trim_start_matches("remote+");
        plain(&format!("{} {}: {way}", p.place.subject, p.place.load))
    };
    lines.extend(list(
        "subject, load, woken by",
        points.iter().map(label).collect(),
        &WOKEN,
        points.iter().map(woken).collect(),
    ));
    lines
}

fn irq_list(view: &View, points: &[RemotePoint], style: Style) -> Vec<String> {
    let is_seen = points.iter().any(|p| p.seen.is_some());
    let row = |p: &RemotePoint| {
        let seen = p.seen.map_or("-".into(), |seen| micros(seen.median));
        woken(p).into_iter().chain(is_seen.then_some(seen)).collect()
    };
    let columns: Vec<&str> = WOKEN.into_iter().chain(is_seen.then_some("seen")).collect();
    let units = units(view, points.iter().map(|p| &p.place));
    let mut lines = vec![style.bold(&format!(
        "irq: from an interrupt's cause to the process's answer ({units})"
    ))];
    let seen = match is_seen {
        true => "; seen: from the edge to the kernel's time of it",
        false => "",
    };
    lines.push(format!(
        "send: what the edge cost, of irq+hpet a look at the counter; awake: rounds in which it did not sleep{seen}"
    ));
    let label = |p: &RemotePoint| plain(&format!("{} {}: {}", p.place.subject, p.place.load, p.bench));
    lines.extend(list(
        "subject, load, line",
        points.iter().map(label).collect(),
        &columns,
        points.iter().map(row).collect(),
    ));
    lines
}

fn pick_list(view: &View, points: &[PickPoint], style: Style) -> Vec<String> {
    let row = |p: &PickPoint| {
        let share = 100.0 * p.same as f64 / p.rounds.count.max(1) as f64;
        with_rounds(
            &p.rounds,
            [
                format!("{share:.0} %"),
                format!("{}..{}", grouped(p.turns.0), grouped(p.turns.1)),
            ],
        )
    };
    let units = units(view, points.iter().map(|p| &p.place));
    let mut lines = vec![style.bold(&format!(
        "pick: time of a choice among tasks that can run ({units}); choices of the same task again; turns of a task"
    ))];
    let label = |p: &PickPoint| plain(&format!("{} {}: {}", p.place.subject, p.place.load, p.pick.tasks));
    lines.extend(list(
        "subject, load, tasks",
        points.iter().map(label).collect(),
        &["min", "median", "p99", "max", "choices", "same", "turns"],
        points.iter().map(row).collect(),
    ));
    lines
}

fn spawn_list(view: &View, points: &[SpawnPoint], style: Style) -> Vec<String> {
    let row = |p: &SpawnPoint| with_rounds(&p.rounds, []);
    let units = units(view, points.iter().map(|p| &p.place));
    let mut lines = vec![style.bold(&format!("spawn: time of a process, from fork to wait ({units})"))];
    let label = |p: &SpawnPoint| {
        let program = p
            .program
            .as_ref()
            .map_or(String::new(), |program| format!(" of {program}"));
        plain(&format!(
            "{} {}: {}{program}",
            p.place.subject,
            p.place.load,
            p.spawn.step.word()
        ))
    };
    lines.extend(list(
        "subject, load, step",
        points.iter().map(label).collect(),
        &["min", "median", "p99", "max", "processes"],
        points.iter().map(row).collect(),
    ));
    lines
}

fn shootdown_list(view: &View, points: &[ShootdownPoint], style: Style) -> Vec<String> {
    let row = |p: &ShootdownPoint| with_rounds(&p.rounds, [grouped(p.all_ran)]);
    let columns = ["min", "median", "p99", "max", "rounds", "all ran"];
    let units = units(view, points.iter().map(|p| &p.place));
    let mut lines = vec![style.bold(&format!(
        "shootdown: time of a munmap ({units}); rounds in which all threads ran on the other CPUs"
    ))];
    let label = |p: &ShootdownPoint| {
        let (threads, pages) = (p.shootdown.threads, p.shootdown.pages);
        plain(&format!(
            "{} {}: threads {threads}, pages {pages}",
            p.place.subject, p.place.load
        ))
    };
    lines.extend(list(
        "subject, load, other threads, pages",
        points.iter().map(label).collect(),
        &columns,
        points.iter().map(row).collect(),
    ));
    lines
}

/// The cells of min, median, p99, max and rounds, and those that a probe adds.
pub(super) fn with_rounds(rounds: &Rounds, more: impl IntoIterator<Item = String>) -> Vec<String> {
    let first = [rounds.min, rounds.median, rounds.p99, rounds.max].map(|time| time.map_or("-".into(), micros));
    let count = grouped(rounds.count);
    first.into_iter().chain([count]).chain(more).collect()
}

pub(super) fn units<'a>(view: &View, places: impl Iterator<Item = &'a PointName>) -> String {
    distinct(places.map(|place| unit(view, &place.subject))).join(", ")
}

fn unit(view: &View, subject: &SubjectId) -> String {
    let of = |r: &&Record| r.subject.id() == *subject;
    view.records
        .iter()
        .find(of)
        .map_or(String::new(), |r| r.subject.time_unit())
}

pub(super) fn list(heading: &str, labels: Vec<String>, columns: &[&str], cells: Vec<Vec<String>>) -> Vec<String> {
    let grid = Grid {
        heading: heading.into(),
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
