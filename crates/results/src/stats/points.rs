//! A point of a probe with parameters: a subject, a load and these parameters, over all seeds. The other figures of a
//! point are made beside their columns, from [`points`] and [`rounds`].

use super::{Percentile, median};
use crate::record::{Quantity, Record, SubjectId};
use serde::Serialize;
use worstcase_contract::Nanos;
use worstcase_contract::bench::Bench;
use worstcase_contract::names;

/// The subject, load and probe of a point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PointName {
    /// The subject.
    pub subject: SubjectId,
    /// The load.
    pub load: String,
    /// Seeds that were measured.
    pub seeds: usize,
}

/// The samples of a point whose probe plays rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundFigures {
    /// The number of rounds.
    pub count: u64,
    /// The shortest. Like the others it is absent if a foreign file does not tell it.
    pub min: Option<Nanos>,
    /// The median over the seeds of each seed's median.
    pub median: Option<Nanos>,
    /// The same of the 99th percentile, where every seed bears one.
    pub p99: Option<Nanos>,
    /// The longest.
    pub max: Option<Nanos>,
}

impl RoundFigures {
    /// Figures of rounds of which only the number is known.
    pub fn untimed(count: u64) -> RoundFigures {
        RoundFigures {
            count,
            min: None,
            median: None,
            p99: None,
            max: None,
        }
    }
}

/// The results of `point` for the records of each subject, load and probe that has parameters, in their order.
pub fn points<P>(records: &[Record], point: impl Fn(PointName, Bench, &[&Record]) -> Option<P>) -> Vec<P> {
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

/// The figures of all samples of these records; none without samples.
pub fn rounds(records: &[&Record]) -> Option<RoundFigures> {
    let summaries: Vec<_> = records.iter().filter_map(|r| r.summary(Quantity::Latency)).collect();
    let p99s: Option<Vec<Nanos>> = summaries.iter().map(|s| s.percentile(Percentile::P99)).collect();
    Some(RoundFigures {
        count: records.iter().map(|r| r.accounting.taken()).sum(),
        min: summaries.iter().filter_map(|s| s.min_ns).min().map(Nanos),
        median: median::of(summaries.iter().filter_map(|s| s.median())),
        p99: p99s.and_then(median::of),
        max: Some(Nanos(summaries.iter().map(|s| s.max_ns).max()?)),
    })
}
