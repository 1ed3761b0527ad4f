//! What the probes with parameters say of a point: a subject, a load and a probe's parameters, over all seeds.

use super::values::SeedValues;
use super::{Percentile, median};
use crate::record::{Quantity, Record, SubjectId};
use serde::Serialize;
use std::collections::BTreeMap;
use worstcase_contract::Nanos;
use worstcase_contract::bench::{
    Bench, Details, Hackbench, HackbenchRun, Inversion, Pick, SendTimes, Shootdown, Spawn, Switch, SwitchDetails,
    SwitchRepetition,
};
use worstcase_contract::names;

/// Where a point lies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PointName {
    /// The subject.
    pub subject: SubjectId,
    /// The load.
    pub load: String,
    /// Seeds that were measured.
    pub seeds: usize,
}

/// What a switch costs; times in ns a hop.
#[derive(Clone, Debug, PartialEq)]
pub struct SwitchPoint {
    /// Where.
    pub place: PointName,
    /// Which ring.
    pub ring: Switch,
    /// Passing, touching and switching.
    pub raw: SeedValues,
    /// Passing and touching alone, always the same working set.
    pub hot: SeedValues,
    /// Passing and touching alone, each member's working set in turn.
    pub cold: SeedValues,
    /// `raw - hot` of each repetition: the switch, and filling the caches again.
    pub net: SeedValues,
    /// `raw - cold` of each repetition: the switch alone.
    pub net_cold: SeedValues,
    /// As `net`, of the repetitions as they were measured first.
    pub net_first: SeedValues,
    /// What was measured again.
    pub again: RepeatedPoints,
    /// Switches a hop because a member waited.
    pub voluntary: f64,
    /// Switches a hop because something else got the CPU.
    pub involuntary: f64,
    /// Moves to another CPU, of all repetitions, where the kernel tells.
    pub migrations: Option<u64>,
}

/// What was measured again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RepeatedPoints {
    /// Repetitions.
    pub values: u64,
    /// How often, all together.
    pub tries: u64,
    /// Repetitions that were too far off the last time, too.
    pub still_off: u64,
}

/// How long message passing takes.
#[derive(Clone, Debug, PartialEq)]
pub struct HackbenchPoint {
    /// Where.
    pub place: PointName,
    /// What was passed.
    pub work: Hackbench,
    /// Senders and receivers.
    pub processes: u32,
    /// Time of each run, in ns.
    pub total: SeedValues,
    /// CPU time of each run, in ns.
    pub cpu: SeedValues,
    /// Switches a message, of both kinds.
    pub switches: f64,
    /// How often in a run a sender or receiver was found on another CPU than before; of some old records not known.
    pub moves: Option<f64>,
    /// Latency of the messages of all runs: value in ns and how often, ascending.
    pub latency: Option<Vec<(u64, u64)>>,
}

/// How long the most urgent thread waited.
#[derive(Clone, Debug, PartialEq)]
pub struct InversionPoint {
    /// Where.
    pub place: PointName,
    /// Between whom.
    pub chain: Inversion,
    /// How often, and how long.
    pub rounds: RoundFigures,
    /// Rounds in which the mutex was owned when the most urgent thread was made ready.
    pub contended: u64,
    /// Rounds in which the middle thread ran meanwhile.
    pub inverted: u64,
}

/// How long waking a thread took, from another CPU or by an interrupt.
#[derive(Clone, Debug, PartialEq)]
pub struct RemotePoint {
    /// Where.
    pub place: PointName,
    /// What it was woken by.
    pub bench: Bench,
    /// How often, and how long.
    pub rounds: RoundFigures,
    /// What it cost the thread that woke the other: shortest and longest, and the median of the seeds' medians.
    pub send: SendTimes,
    /// Rounds in which the thread did not sleep when it was woken.
    pub awake: u64,
    /// From a pulse until the kernel saw it, where it tells.
    pub seen: Option<SendTimes>,
}

/// What a choice costs.
#[derive(Clone, Debug, PartialEq)]
pub struct PickPoint {
    /// Where.
    pub place: PointName,
    /// Among how many.
    pub pick: Pick,
    /// How often, and how long.
    pub rounds: RoundFigures,
    /// Choices of the task that had just given the CPU away.
    pub same: u64,
    /// Turns of the task that had the fewest and of the one that had the most, of all seeds.
    pub turns: (u64, u64),
}

/// What a new process costs.
#[derive(Clone, Debug, PartialEq)]
pub struct SpawnPoint {
    /// Where.
    pub place: PointName,
    /// How much of a process.
    pub spawn: Spawn,
    /// What was executed.
    pub program: Option<String>,
    /// How often, and how long.
    pub rounds: RoundFigures,
}

/// How long unmapping took.
#[derive(Clone, Debug, PartialEq)]
pub struct ShootdownPoint {
    /// Where.
    pub place: PointName,
    /// What was unmapped, beside how many threads.
    pub shootdown: Shootdown,
    /// How often, and how long.
    pub rounds: RoundFigures,
    /// Rounds in which every other thread was seen running right before.
    pub all_ran: u64,
}

/// The samples of a point whose probe plays rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundFigures {
    /// How many.
    pub count: u64,
    /// The shortest. As the others absent where a foreign file does not tell it.
    pub min: Option<Nanos>,
    /// The median over the seeds of each seed's median.
    pub median: Option<Nanos>,
    /// The same of the 99th percentile, where every seed bears one.
    pub p99: Option<Nanos>,
    /// The longest.
    pub max: Option<Nanos>,
}

impl RoundFigures {
    /// So many of which nothing else is known.
    pub(super) fn untimed(count: u64) -> RoundFigures {
        RoundFigures {
            count,
            min: None,
            median: None,
            p99: None,
            max: None,
        }
    }
}

/// The points of `switch`, in the order of the records.
pub fn switches(records: &[Record]) -> Vec<SwitchPoint> {
    points(records, |place, bench, of| match bench {
        Bench::Switch(ring) => switch(place, ring, of),
        _ => None,
    })
}

/// The points of `hackbench`.
pub fn hackbenches(records: &[Record]) -> Vec<HackbenchPoint> {
    points(records, |place, bench, of| match bench {
        Bench::Hackbench(work) => hackbench(place, work, of),
        _ => None,
    })
}

/// The points of `inversion`.
pub fn inversions(records: &[Record]) -> Vec<InversionPoint> {
    points(records, |place, bench, of| match bench {
        Bench::Inversion(chain) => inversion(place, chain, of),
        _ => None,
    })
}

/// The points of `remote` and `epoll`.
pub fn remotes(records: &[Record]) -> Vec<RemotePoint> {
    points(records, |place, bench, of| match of[0].details {
        Some(Details::Remote(_)) => remote(place, bench, of),
        _ => None,
    })
}

/// The points of `irq`.
pub fn irqs(records: &[Record]) -> Vec<RemotePoint> {
    points(records, |place, bench, of| match of[0].details {
        Some(Details::Irq(_)) => remote(place, bench, of),
        _ => None,
    })
}

/// The points of `pick`.
pub fn picks(records: &[Record]) -> Vec<PickPoint> {
    points(records, |place, bench, of| match bench {
        Bench::Pick(pick) => {
            let details = || {
                of.iter().filter_map(|record| match &record.details {
                    Some(Details::Pick(details)) => Some(details),
                    _ => None,
                })
            };
            Some(PickPoint {
                place,
                pick,
                rounds: rounds(of)?,
                same: details().map(|d| d.same).sum(),
                turns: (details().map(|d| d.fewest).min()?, details().map(|d| d.most).max()?),
            })
        }
        _ => None,
    })
}

/// The points of `spawn`.
pub fn spawns(records: &[Record]) -> Vec<SpawnPoint> {
    points(records, |place, bench, of| match bench {
        Bench::Spawn(spawn) => Some(SpawnPoint {
            place,
            spawn,
            program: of.iter().find_map(|r| match &r.details {
                Some(Details::Spawn(d)) => d.program.clone(),
                _ => None,
            }),
            rounds: rounds(of)?,
        }),
        _ => None,
    })
}

/// The points of `shootdown`.
pub fn shootdowns(records: &[Record]) -> Vec<ShootdownPoint> {
    points(records, |place, bench, of| match bench {
        Bench::Shootdown(what) => shootdown(place, what, of),
        _ => None,
    })
}

pub(super) fn points<P>(records: &[Record], point: impl Fn(PointName, Bench, &[&Record]) -> Option<P>) -> Vec<P> {
    let all = grouped(records).into_iter();
    all.filter_map(|(place, bench, of)| point(place, bench, &of)).collect()
}

/// The records of each point.
fn grouped(records: &[Record]) -> Vec<(PointName, Bench, Vec<&Record>)> {
    let mut all: Vec<(PointName, Bench, Vec<&Record>)> = Vec::new();
    for record in records.iter().filter(|r| r.details.is_some()) {
        let Ok(bench) = names::parse(&record.cell.probe) else {
            continue;
        };
        let subject = record.subject.id();
        let same = |(place, other, _): &&mut (PointName, Bench, Vec<&Record>)| {
            place.subject == subject && place.load == record.cell.load && *other == bench
        };
        match all.iter_mut().find(same) {
            Some((place, _, of)) => {
                place.seeds += 1;
                of.push(record);
            }
            None => {
                let place = PointName {
                    subject,
                    load: record.cell.load.clone(),
                    seeds: 1,
                };
                all.push((place, bench, vec![record]));
            }
        }
    }
    all
}

fn switch(place: PointName, ring: Switch, records: &[&Record]) -> Option<SwitchPoint> {
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

fn hackbench(place: PointName, work: Hackbench, records: &[&Record]) -> Option<HackbenchPoint> {
    let all: Vec<_> = records
        .iter()
        .filter_map(|r| match &r.details {
            Some(Details::Hackbench(d)) => Some(d),
            _ => None,
        })
        .collect();
    let runs = || all.iter().flat_map(|d| &d.runs);
    let of_seeds =
        |time: fn(&HackbenchRun) -> f64| SeedValues::new(all.iter().map(|d| d.runs.iter().map(time).collect()));
    let messages: u64 = all.iter().map(|d| d.messages * d.runs.len() as u64).sum();
    let switches: u64 = runs().map(|r| r.voluntary + r.involuntary).sum();
    let moves: Option<u64> = runs().map(|r| r.moves).sum();
    let mut latency: BTreeMap<u64, u64> = BTreeMap::new();
    for (value, count) in all.iter().filter_map(|d| d.message_latency.as_ref()).flatten() {
        *latency.entry(*value).or_default() += count;
    }
    Some(HackbenchPoint {
        place,
        work,
        processes: all.first()?.processes,
        total: of_seeds(|r| r.total.0 as f64)?,
        cpu: of_seeds(|r| r.cpu.0 as f64)?,
        switches: switches as f64 / messages.max(1) as f64,
        moves: moves.map(|moves| moves as f64 / runs().count().max(1) as f64),
        latency: (!latency.is_empty()).then(|| latency.into_iter().collect()),
    })
}

fn inversion(place: PointName, chain: Inversion, records: &[&Record]) -> Option<InversionPoint> {
    let counts = records.iter().filter_map(|r| match &r.details {
        Some(Details::Inversion(d)) => Some((u64::from(d.contended), u64::from(d.inverted))),
        _ => None,
    });
    let (contended, inverted) = counts.fold((0, 0), |sum, n| (sum.0 + n.0, sum.1 + n.1));
    Some(InversionPoint {
        place,
        chain,
        rounds: rounds(records)?,
        contended,
        inverted,
    })
}

fn remote(place: PointName, bench: Bench, records: &[&Record]) -> Option<RemotePoint> {
    let details = || {
        records.iter().filter_map(|r| match &r.details {
            Some(Details::Remote(d) | Details::Irq(d)) => Some(d),
            _ => None,
        })
    };
    let over = |times: Vec<SendTimes>| {
        Some(SendTimes {
            min: times.iter().map(|s| s.min).min()?,
            median: median::of(times.iter().map(|s| s.median))?,
            max: times.iter().map(|s| s.max).max()?,
        })
    };
    Some(RemotePoint {
        place,
        bench,
        rounds: rounds(records)?,
        send: over(details().filter_map(|d| d.send).collect())?,
        awake: details().map(|d| u64::from(d.awake)).sum(),
        seen: over(details().filter_map(|d| d.seen).collect()),
    })
}

fn shootdown(place: PointName, shootdown: Shootdown, records: &[&Record]) -> Option<ShootdownPoint> {
    let ran = records.iter().filter_map(|r| match &r.details {
        Some(Details::Shootdown(d)) => Some(u64::from(d.all_ran)),
        _ => None,
    });
    Some(ShootdownPoint {
        place,
        shootdown,
        rounds: rounds(records)?,
        all_ran: ran.sum(),
    })
}

pub(super) fn rounds(records: &[&Record]) -> Option<RoundFigures> {
    let summaries: Vec<_> = records.iter().filter_map(|r| r.summary(Quantity::Latency)).collect();
    let p99s: Option<Vec<u64>> = summaries
        .iter()
        .map(|s| s.percentiles_ns.get(&Percentile::P99).copied())
        .collect();
    Some(RoundFigures {
        count: records.iter().map(|r| r.accounting.taken()).sum(),
        min: summaries.iter().filter_map(|s| s.min_ns).min().map(Nanos),
        median: median::of(summaries.iter().filter_map(|s| s.median_ns).map(Nanos)),
        p99: p99s.and_then(|values| median::of(values.into_iter().map(Nanos))),
        max: Some(Nanos(summaries.iter().map(|s| s.max_ns).max()?)),
    })
}
