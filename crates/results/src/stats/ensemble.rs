//! Ensembles: the same cell over several seeds.
//!
//! One run is one path through the kernel: its maximum may differ by a factor from that of another phase. So every
//! statement is about several seeds, and gives the number of seeds, of samples, and the observation time. CPUs of a
//! host are no seeds: they are different places, and each has an ensemble of its own.

use super::interval::{self, MedianInterval};
use super::{Percentile, median};
use crate::record::{Quantity, Record, SubjectId};
use worstcase_contract::Nanos;

/// The figures of one seed of an ensemble.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeedStats {
    /// The seed.
    pub seed: u64,
    /// Samples, or gaps of `noise`.
    pub taken: u64,
    /// Periods that passed while the probe was late, if that is known.
    pub missed: Option<u64>,
    /// Samples that we failed to keep.
    pub lost: u64,
    /// Its observation time.
    pub observation_time: Nanos,
    /// Its median, if it is known.
    pub median: Option<Nanos>,
    /// Its 99th percentile, if its samples bear one.
    pub p99: Option<Nanos>,
    /// Its maximum.
    pub max: Nanos,
    /// Period index of its maximum, if it is known.
    pub max_index: Option<u32>,
}

/// A quantity under one subject, load and probe, on a host of one CPU, over its seeds; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ensemble {
    /// The subject's name.
    pub subject: SubjectId,
    /// The load.
    pub load: String,
    /// The probe.
    pub probe: String,
    /// Host: the CPU.
    pub cpu: Option<u32>,
    /// The quantity.
    pub quantity: Quantity,
    /// The figures in order of the seeds.
    pub seeds: Vec<SeedStats>,
}

/// The ensembles of a quantity, each at the place of its first record.
pub fn ensembles(records: &[Record], quantity: Quantity) -> Vec<Ensemble> {
    let mut all: Vec<Ensemble> = Vec::new();
    for record in records {
        let Some(summary) = record.summary(quantity) else {
            continue;
        };
        let seed = SeedStats {
            seed: record.cell.seed,
            taken: record.accounting.rows(),
            missed: record.missed(),
            lost: record.accounting.lost(),
            observation_time: record.observation_time(),
            median: summary.median(),
            p99: summary.percentile(Percentile::P99),
            max: Nanos(summary.max_ns),
            max_index: summary.max_index,
        };
        let subject = record.subject.id();
        let cell = &record.cell;
        let same = |e: &&mut Ensemble| {
            e.subject == subject && (&e.load, &e.probe, e.cpu) == (&cell.load, &cell.probe, cell.cpu)
        };
        match all.iter_mut().find(same) {
            Some(ensemble) => ensemble.seeds.push(seed),
            None => all.push(Ensemble {
                subject,
                load: record.cell.load.clone(),
                probe: record.cell.probe.clone(),
                cpu: record.cell.cpu,
                quantity,
                seeds: vec![seed],
            }),
        }
    }
    for ensemble in &mut all {
        ensemble.seeds.sort_by_key(|s| s.seed);
    }
    all
}

impl Ensemble {
    /// Median over the seeds of each seed's median, if each is known.
    pub fn median(&self) -> Option<Nanos> {
        let medians = self.seeds.iter().map(|s| s.median).collect::<Option<Vec<_>>>()?;
        median::of(medians)
    }

    /// Median over the seeds of each seed's 99th percentile, if every seed bears one.
    pub fn p99(&self) -> Option<Nanos> {
        let p99s = self.seeds.iter().map(|s| s.p99).collect::<Option<Vec<_>>>()?;
        median::of(p99s)
    }

    /// The seed with the largest maximum (the first of equals).
    pub fn worst(&self) -> &SeedStats {
        self.seeds
            .iter()
            .reduce(|a, b| if b.max > a.max { b } else { a })
            .expect("an ensemble has a seed")
    }

    /// The maximum over all seeds.
    pub fn max(&self) -> Nanos {
        self.worst().max
    }

    /// The smallest maximum of a seed: with [`Ensemble::max`], the spread of the maxima.
    pub fn least_max(&self) -> Nanos {
        self.seeds.iter().map(|s| s.max).min().expect("an ensemble has a seed")
    }

    /// Median over the seeds of each seed's maximum.
    pub fn median_max(&self) -> Nanos {
        self.over_seeds(|s| s.max)
    }

    /// The value that stands for its worst case: the median over the seeds of each seed's maximum. For a host's CPU it is
    /// the maximum: its seeds are no different paths, only more time.
    pub fn worst_case(&self) -> Nanos {
        match self.cpu {
            Some(_) => self.max(),
            None => self.median_max(),
        }
    }

    /// The interval of the worst case; none for a maximum.
    pub fn worst_case_interval(&self) -> Option<MedianInterval> {
        self.median_max_interval().filter(|_| self.cpu.is_none())
    }

    /// The interval of the median maximum.
    pub fn median_max_interval(&self) -> Option<MedianInterval> {
        let mut maxima: Vec<Nanos> = self.seeds.iter().map(|s| s.max).collect();
        maxima.sort_unstable();
        interval::of_median(&maxima)
    }

    /// Samples of all seeds.
    pub fn taken(&self) -> u64 {
        self.seeds.iter().map(|s| s.taken).sum()
    }

    /// Lost samples of all seeds.
    pub fn lost(&self) -> u64 {
        self.seeds.iter().map(|s| s.lost).sum()
    }

    /// Missed periods of all seeds, if each is known.
    pub fn missed(&self) -> Option<u64> {
        self.seeds.iter().map(|s| s.missed).sum()
    }

    /// Observation time of all seeds: a maximum carries it.
    pub fn observation_time(&self) -> Nanos {
        Nanos(self.seeds.iter().map(|s| s.observation_time.0).sum())
    }

    fn over_seeds(&self, pick: fn(&SeedStats) -> Nanos) -> Nanos {
        median::of(self.seeds.iter().map(pick)).expect("an ensemble has a seed")
    }
}
