//! The places on the disk of the requests, over time: all of a measurement, and around its longest operation.

use super::data::{PictureData, ShownSubject, distinct, slug};
use super::io::{details, three};
use super::{Picture, PictureAxis, PictureHead, PictureOptions, RequestSeries, Requests, RequestsPanel, SeriesLabel};
use worstcase_base::format::{grouped, plain};
use worstcase_contract::bench::{DiskAction, DiskDetails, DiskRequest};
use worstcase_results::record::{Quantity, Record};

const SECTOR: f64 = 512.0;
/// More movements than this in a panel hide the places of the requests.
const MOST_MOVES: usize = 400;
/// The part of the longest operation's time that is drawn before and after it.
const AROUND: f64 = 0.15;
/// At most so many percent of the requests are drawn at the edges...
const FAR: usize = 30;
/// ...if all others then have this many times the room.
const NARROWER: f64 = 4.0;
/// Below the places: where a flush is drawn.
const BELOW: f64 = 0.07;
/// The actions, in the order of their styles.
const ACTIONS: [(DiskAction, &str); 4] = [
    (DiskAction::Read, "read"),
    (DiskAction::Write, "write"),
    (DiskAction::Flush, "flush"),
    (DiskAction::Discard, "discard"),
];

/// The drawn part of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DrawnOperations {
    /// Its first requests.
    First,
    /// The requests around its longest operation.
    Longest,
}

/// The record of a subject with its longest operation.
struct WorstOperation<'a, 's> {
    subject: &'s ShownSubject<'a>,
    record: &'a Record,
    disk: &'a DiskDetails,
    /// When it began and ended, in ns.
    longest: (u64, u64),
}

/// Two pictures for each test whose disk told its requests.
pub fn pictures(data: &PictureData<'_>, options: PictureOptions) -> Vec<Picture> {
    let with_disk = |r: &&Record| details(r).is_some_and(|(_, d)| d.disk.is_some());
    let records: Vec<&Record> = data.records.iter().filter(with_disk).collect();
    let tests = distinct(records.iter().map(|r| (r.cell.probe.as_str(), r.cell.load.as_str())));
    let mut drawings = Vec::new();
    for (probe, load) in tests {
        let of = |subject| longest(data.records, subject, probe, load);
        let of: Vec<WorstOperation<'_, '_>> = data.subjects.iter().filter_map(of).collect();
        drawings.push((probe, load, of));
    }
    let panels: usize = drawings.iter().map(|(_, _, of)| 2 * of.len()).sum();
    let budget = (options.dots / panels.max(1)).clamp(100, options.panel_dots.max(100));
    let draw = |(probe, load, of): &(&str, &str, Vec<WorstOperation<'_, '_>>)| {
        [DrawnOperations::First, DrawnOperations::Longest].map(|part| picture(data, (probe, load), of, part, budget))
    };
    drawings.iter().flat_map(draw).flatten().collect()
}

fn longest<'a, 's>(
    records: &'a [Record],
    subject: &'s ShownSubject<'a>,
    probe: &str,
    load: &str,
) -> Option<WorstOperation<'a, 's>> {
    let own = records
        .iter()
        .filter(|r| r.cell.probe == probe && r.cell.load == load && r.subject.id() == subject.id);
    let of = |record: &'a Record| {
        let (_, io) = details(record)?;
        let from = io.longest_from.0;
        Some(WorstOperation {
            subject,
            record,
            disk: io.disk.as_deref()?,
            longest: (from, from + record.summary(Quantity::Latency)?.max_ns),
        })
    };
    // Of equally long ones the first wins.
    own.filter_map(of).reduce(|a, b| match b.length() > a.length() {
        true => b,
        false => a,
    })
}

impl WorstOperation<'_, '_> {
    fn length(&self) -> u64 {
        self.longest.1 - self.longest.0
    }

    /// Its requests within a time, as they began: the first ones of those, as many as may be drawn.
    fn requests(&self, part: DrawnOperations, (from, to): (f64, f64), budget: usize) -> Vec<DiskRequest> {
        let all = &self.disk.requests;
        let mut some: Vec<DiskRequest> = match part {
            DrawnOperations::First => all[..all.len().min(self.disk.first as usize)].to_vec(),
            DrawnOperations::Longest => {
                let near = |r: &&DiskRequest| self.since(r.ended.0) >= from && self.since(r.arrived.0) <= to;
                all.iter().filter(near).copied().collect()
            }
        };
        some.sort_by_key(|r| (r.began, r.ended, r.sector));
        some.truncate(budget);
        some
    }

    /// Time since the longest operation began, in ns.
    fn since(&self, time: u64) -> f64 {
        time as f64 - self.longest.0 as f64
    }

    /// Whether the disk did anything for the longest operation.
    fn waited(&self) -> bool {
        let mut all = self.disk.requests.iter();
        all.any(|r| r.ended.0 > self.longest.0 && r.began.0 < self.longest.1)
    }
}

fn picture(
    data: &PictureData<'_>,
    (probe, load): (&str, &str),
    of: &[WorstOperation<'_, '_>],
    part: DrawnOperations,
    budget: usize,
) -> Option<Picture> {
    let of: Vec<&WorstOperation<'_, '_>> = of
        .iter()
        .filter(|o| part == DrawnOperations::First || o.waited())
        .collect();
    let most = of.iter().map(|o| o.length()).max()? as f64;
    let around = (-AROUND * most, (1.0 + AROUND) * most);
    let drawn: Vec<Vec<DiskRequest>> = of.iter().map(|o| o.requests(part, around, budget)).collect();
    let ends = drawn.iter().flatten().map(|r| r.ended.0);
    let (from, to) = match part {
        DrawnOperations::First => (0.0, ends.max()? as f64 * 1.01),
        DrawnOperations::Longest => around,
    };
    let (by, unit) = match to {
        ns if ns >= 1e9 => (1e9, "s"),
        ns if ns >= 1e6 => (1e6, "ms"),
        _ => (1e3, "us"),
    };
    let x = PictureAxis {
        label: match part {
            DrawnOperations::First => "time since the first operation began".into(),
            DrawnOperations::Longest => "time since the longest operation began".into(),
        },
        unit: data.micros.replacen("us", unit, 1),
        from: from / by,
        to: to / by,
        ..PictureAxis::default()
    };
    let disk = of.iter().map(|o| o.disk.sectors).max().unwrap_or(0) as f64 * SECTOR / 1e9;
    let y = places(&drawn, disk)?;
    let mut left_out = 0;
    let mut panels = Vec::new();
    for (of, requests) in of.iter().zip(&drawn) {
        let time = |ns: u64| match part {
            DrawnOperations::First => ns as f64 / by,
            DrawnOperations::Longest => of.since(ns) / by,
        };
        left_out += match part {
            DrawnOperations::First => of.disk.first.saturating_sub(requests.len() as u64),
            DrawnOperations::Longest => 0,
        };
        panels.push(panel(of, probe, load, requests, &time, (&x, &y)));
    }
    let rest = slug(probe);
    let rest = rest.trim_start_matches("io").trim_start_matches(['-', '+']);
    let (id, title, which) = match part {
        DrawnOperations::First => (
            "io-head",
            "places on the disk over time",
            "the first requests of the seed with the longest operation; shaded: that operation.",
        ),
        DrawnOperations::Longest => (
            "io-longest",
            "the disk during the longest operation",
            "the requests around the longest operation of all seeds; shaded: that operation. A thin line is a request that waits.",
        ),
    };
    let mut about = format!(
        "A panel a subject: {which} A thick line is a request from the moment that the disk was at its place until it was done; \
         grey: the arm moves there."
    );
    let has = |action: DiskAction| drawn.iter().flatten().any(|r| r.action == action);
    if has(DiskAction::Flush) {
        about += " A flush has no place and is at the lower edge.";
    }
    let outside: usize = panels.iter().map(|p| p.outside).sum();
    if outside > 0 {
        about += &format!(
            " Only the places of most requests are shown; {} that are farther away lie at the edge.",
            grouped(outside as u64)
        );
    }
    if left_out > 0 {
        about += &format!(" {} later requests are left out.", grouped(left_out));
    }
    Some(Picture::Requests(Requests {
        head: PictureHead {
            id: format!("{id}-{rest}-{}", slug(load)).replace("--", "-"),
            title: match load {
                "idle" => format!("{}: {title}", plain(probe)),
                load => format!("{}: {title}, load {}", plain(probe), plain(load)),
            },
            about,
            x,
            y,
            limit: None,
        },
        panels,
    }))
}

/// First and last place of a request, in 10^9 bytes.
fn place(request: &DiskRequest) -> (f64, f64) {
    let gb = |sector: u64| (sector as f64 * SECTOR / 1e3).round() / 1e6;
    (gb(request.sector), gb(request.sector + u64::from(request.sectors)))
}

/// The axis of places: all places, or the range of most of them if it is much smaller.
fn places(drawn: &[Vec<DiskRequest>], disk: f64) -> Option<PictureAxis> {
    let all = || drawn.iter().flatten();
    let mut placed: Vec<(f64, f64)> = all().filter(|r| r.action != DiskAction::Flush).map(place).collect();
    placed.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let highest = placed.iter().map(|(_, high)| *high).fold(f64::NEG_INFINITY, f64::max);
    let all_of_them = (placed.first()?.0, highest);
    // The narrowest range of so many neighbours: a journal far away is no reason to see no file.
    let without = |percent: usize| {
        let kept = placed.len() - (placed.len() * percent / 100).max(1);
        let ranges = placed
            .windows(kept.max(1))
            .map(|some| (some[0].0, some[some.len() - 1].1));
        let near = ranges.min_by(|a, b| (a.1 - a.0).total_cmp(&(b.1 - b.0)))?;
        let gains = near.1 > near.0 && all_of_them.1 - all_of_them.0 > NARROWER * (near.1 - near.0);
        gains.then_some(near)
    };
    let (low, high) = (1..=FAR).find_map(without).unwrap_or(all_of_them);
    // A single place has some room, too.
    let span = (high - low).max(1e-4);
    let flushes = all().any(|r| r.action == DiskAction::Flush);
    Some(PictureAxis {
        label: "place on the disk".into(),
        unit: format!("GB of {}", three(disk)),
        from: low - span * if flushes { BELOW } else { 0.03 },
        to: high + span * 0.03,
        ..PictureAxis::default()
    })
}

fn panel(
    of: &WorstOperation<'_, '_>,
    probe: &str,
    load: &str,
    requests: &[DiskRequest],
    time: &dyn Fn(u64) -> f64,
    (x, y): (&PictureAxis, &PictureAxis),
) -> RequestsPanel {
    let grain = 10_f64.powi(5 - (x.to - x.from).log10().floor() as i32);
    let at = |ns: u64| (x.clamp(time(ns)) * grain).round() / grain;
    let mut outside = 0;
    let mut series: Vec<RequestSeries> = Vec::new();
    for (style, (action, word)) in ACTIONS.into_iter().enumerate() {
        let lines: Vec<[f64; 5]> = requests
            .iter()
            .filter(|r| r.action == action)
            .map(|r| {
                let (low, high) = match action {
                    DiskAction::Flush => (y.from + (y.to - y.from) * 0.02, y.from + (y.to - y.from) * 0.02),
                    _ => place(r),
                };
                outside += usize::from(high < y.from || low > y.to);
                let there = (r.began.0 + r.seek.0).min(r.ended.0);
                let times = [r.arrived.0, there, r.ended.0].map(at);
                [times[0], times[1], times[2], y.clamp(low), y.clamp(high)]
            })
            .collect();
        if !lines.is_empty() {
            let of = SeriesLabel {
                style,
                ..SeriesLabel::label(word)
            };
            series.push(RequestSeries { of, requests: lines });
        }
    }
    let (from, to) = of.longest;
    let longest = [time(from), time(to)];
    let seen = longest[0] < x.to && longest[1] > x.from;
    let (said, of_operation) = (operation_text(of), of.subject.label(load));
    RequestsPanel {
        of: of_operation,
        probe: probe.to_string(),
        seed: of.record.cell.seed,
        moves: moves(requests, &at, y),
        series,
        longest: seen.then(|| longest.map(|t| x.clamp(t))),
        said,
        outside,
    }
}

fn operation_text(of: &WorstOperation<'_, '_>) -> String {
    let ns = |ns: u64| match ns as f64 {
        v if v >= 1e9 => format!("{} s", three(v / 1e9)),
        v if v >= 1e6 => format!("{} ms", three(v / 1e6)),
        v => format!("{} us", three(v / 1e3)),
    };
    format!("longest {}, at {}", ns(of.length()), ns(of.longest.0))
}

/// How the arm moved from request to request, if the disk has an arm.
fn moves(requests: &[DiskRequest], at: &dyn Fn(u64) -> f64, y: &PictureAxis) -> Vec<[f64; 4]> {
    // A request that the disk's cache serves moves nothing.
    let platter = |r: &&DiskRequest| r.seek.0 > 0 || r.rotation.0 > 0;
    let turned: Vec<&DiskRequest> = requests.iter().filter(platter).collect();
    let step = |pair: &[&DiskRequest]| {
        let (last, next) = (pair[0], pair[1]);
        let begins = next.began.0.max(last.ended.0);
        let ends = (next.began.0 + next.seek.0).max(begins);
        [at(begins), y.clamp(place(last).1), at(ends), y.clamp(place(next).0)]
    };
    let moved = turned.windows(2).filter(|pair| pair[1].seek.0 > 0);
    let moves: Vec<[f64; 4]> = moved.map(step).collect();
    if moves.len() > MOST_MOVES { Vec::new() } else { moves }
}
