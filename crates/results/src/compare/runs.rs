//! Sides of several runs of a real machine. Seeds of one run share its moment, so a run is one draw: here each run gives one
//! result, as if it were a seed.

use super::CompareError;
use super::side::{DistributionFigures, SeedGroup, SeedResult, Side};
use crate::record::{GapAccount, Quantity, SubjectId, Venue};
use crate::stats::median;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use worstcase_contract::Nanos;

/// What the results of a group repeat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Replicates {
    /// Seeds of the lab, or files of another tool: independent draws.
    #[default]
    Seeds,
    /// Seeds of one run of a real machine: no independent draws.
    SeedsOfOneRun,
    /// Runs of a real machine, one result each.
    Runs,
}

impl Replicates {
    /// One of them.
    pub fn one(self) -> &'static str {
        self.noun().trim_end_matches('s')
    }

    /// The plural noun.
    pub fn noun(self) -> &'static str {
        match self {
            Replicates::Seeds | Replicates::SeedsOfOneRun => "seeds",
            Replicates::Runs => "runs",
        }
    }
}

impl Side {
    /// Opens both sides. If either has several runs, each run of both is one result.
    pub fn open_both(a: &[PathBuf], b: &[PathBuf]) -> Result<[Side; 2], CompareError> {
        let distinct: BTreeSet<PathBuf> = a
            .iter()
            .chain(b)
            .map(|p| p.canonicalize().unwrap_or(p.clone()))
            .collect();
        if a.len().max(b.len()) > 1 && distinct.len() < a.len() + b.len() {
            return Err(CompareError::RunTwice);
        }
        let open = |paths: &[PathBuf]| paths.iter().map(|path| Side::open(path)).collect::<Result<Vec<_>, _>>();
        let (a, b) = (open(a)?, open(b)?);
        let joined = |sides: &[Side]| sides.len() > 1 || sides.iter().any(Side::is_joined);
        match joined(&a) || joined(&b) {
            true => {
                let both = [Side::joined(a)?, Side::joined(b)?];
                same_seeds(both.iter().flat_map(|side| &side.cells))?;
                Ok(both)
            }
            false => Ok([a, b].map(|side| side.into_iter().next().unwrap_or_default())),
        }
    }

    /// One side of several runs.
    pub fn joined(runs: Vec<Side>) -> Result<Side, CompareError> {
        if let [only] = &runs[..]
            && only.is_joined()
        {
            return Ok(only.clone());
        }
        let mut all = Side::default();
        for (number, run) in (1..).zip(runs) {
            if run.is_joined() {
                return Err(CompareError::JoinedTwice);
            }
            if let Some(subject) = run.subjects.iter().find(|s| s.venue() == Venue::Lab) {
                return Err(CompareError::LabRuns(subject.id()));
            }
            all.add(run, number);
        }
        same_seeds(&all.cells)?;
        Ok(all)
    }

    fn is_joined(&self) -> bool {
        self.cells.iter().any(|group| !group.seeds_a_run.is_empty())
    }

    fn add(&mut self, run: Side, number: u64) {
        if self.title.is_empty() {
            (self.title, self.command, self.to_go_on) = (run.title, run.command, run.to_go_on);
        }
        self.unfinished.extend(run.unfinished);
        for subject in run.subjects {
            if !self.subjects.iter().any(|s| s.id() == subject.id()) {
                self.subjects.push(subject);
            }
        }
        for group in run.cells {
            let one = of_run(&group, number);
            let is_foreign = self.is_foreign(&group.subject);
            let like = |g: &&mut SeedGroup| {
                let own_length = is_foreign || (group.how.is_of_program() && g.how.nearly_as_often(&group.how));
                let nearly = own_length && g.how.same_cell(&group.how) && g.how.nearly_as_long(&group.how);
                g.subject == group.subject && (nearly || g.how == group.how)
            };
            match self.cells.iter_mut().find(like) {
                Some(found) => {
                    found.seeds.push(one);
                    found.seeds_a_run.push(group.seeds.len());
                    add_missing(&mut found.warnings, group.warnings);
                    add_missing(&mut found.interference, group.interference);
                }
                None => self.cells.push(SeedGroup {
                    seeds_a_run: vec![group.seeds.len()],
                    seeds: vec![one],
                    ..group
                }),
            }
        }
    }

    /// What the results of a subject repeat.
    pub fn replicates(&self, id: &SubjectId) -> Replicates {
        match self.is_joined() {
            true => Replicates::Runs,
            false if self.in_lab(id) || self.is_foreign(id) => Replicates::Seeds,
            false => Replicates::SeedsOfOneRun,
        }
    }
}

fn add_missing(all: &mut Vec<String>, more: Vec<String>) {
    all.extend(more);
    all.sort();
    all.dedup();
}

/// A maximum grows with the number of seeds, so all runs must have as many.
fn same_seeds<'a>(groups: impl IntoIterator<Item = &'a SeedGroup, IntoIter: Clone>) -> Result<(), CompareError> {
    let groups = groups.into_iter();
    for group in groups.clone() {
        let of_cell = groups.clone().filter(|g| g.how.same_cell(&group.how));
        let counts: BTreeSet<usize> = of_cell.flat_map(|g| g.seeds_a_run.iter().copied()).collect();
        if counts.len() > 1 {
            return Err(CompareError::SeedsOfRuns {
                cell: group.how.name(),
                counts: counts.into_iter().collect(),
            });
        }
    }
    Ok(())
}

/// All seeds of a run as one result: medians of their medians and percentiles, the highest maximum, sums.
fn of_run(group: &SeedGroup, number: u64) -> SeedResult {
    let quantities: BTreeSet<Quantity> = group.seeds.iter().flat_map(|s| s.quantities.keys().copied()).collect();
    let figures = |quantity: Quantity| -> Option<(Quantity, DistributionFigures)> {
        let all: Vec<&DistributionFigures> = group.seeds.iter().filter_map(|s| s.quantities.get(&quantity)).collect();
        let middle = |value: fn(&DistributionFigures) -> Option<Nanos>| {
            median::of(all.iter().map(|f| value(f)).collect::<Option<Vec<Nanos>>>()?)
        };
        let figures = DistributionFigures {
            median: middle(|f| f.median),
            p99: middle(|f| f.p99),
            max: all.iter().map(|f| f.max).max()?,
        };
        Some((quantity, figures))
    };
    let digests: Vec<&str> = group.seeds.iter().map(|s| s.digest.as_str()).collect();
    SeedResult {
        seed: number,
        digest: digests.join(","),
        missed: group.seeds.iter().map(|s| s.missed).sum(),
        lost: group.seeds.iter().map(|s| s.lost).sum(),
        noise: group.seeds.iter().filter_map(|s| s.noise).reduce(GapAccount::and),
        quantities: quantities.into_iter().filter_map(figures).collect::<BTreeMap<_, _>>(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::CellConditions;

    fn seed(seed: u64, median: u64, max: u64, missed: u64) -> SeedResult {
        let figures = DistributionFigures {
            median: Some(Nanos(median)),
            p99: None,
            max: Nanos(max),
        };
        SeedResult {
            seed,
            digest: format!("d{seed}"),
            missed,
            lost: 0,
            noise: None,
            quantities: BTreeMap::from([(Quantity::Latency, figures)]),
        }
    }

    fn run(seeds: Vec<SeedResult>) -> Side {
        let how = CellConditions {
            load: "idle".into(),
            probe: "wakeup".into(),
            cpu: Some(0),
            period: Nanos(1_000_000),
            periods: 1_000,
            warmup: Nanos(0),
            priority: 90,
            method: None,
        };
        let group = SeedGroup {
            subject: serde_json::from_str("\"a\"").unwrap(),
            how,
            warnings: vec!["hot".into()],
            interference: Vec::new(),
            seeds_a_run: Vec::new(),
            seeds,
        };
        Side {
            cells: vec![group],
            ..Side::default()
        }
    }

    #[test]
    fn each_run_is_one_result() {
        let first = run(vec![seed(1, 10, 90, 0), seed(2, 12, 70, 2), seed(3, 11, 80, 1)]);
        let second = run(vec![seed(1, 20, 40, 0), seed(2, 22, 30, 0), seed(3, 21, 50, 0)]);
        let joined = Side::joined(vec![first, second]).unwrap();
        let [group] = &joined.cells[..] else {
            panic!("{joined:?}")
        };
        let values = |f: fn(&SeedResult) -> u64| group.seeds.iter().map(f).collect::<Vec<_>>();
        assert_eq!(values(|s| s.seed), [1, 2]);
        assert_eq!(values(|s| s.quantities[&Quantity::Latency].median.unwrap().0), [11, 21]);
        assert_eq!(values(|s| s.quantities[&Quantity::Latency].max.0), [90, 50]);
        assert_eq!(values(|s| s.missed), [3, 0]);
        assert_eq!(group.warnings, ["hot"]);
        assert_eq!(joined.replicates(&group.subject), Replicates::Runs);
    }

    #[test]
    fn runs_of_other_numbers_of_seeds_are_refused() {
        let runs = vec![
            run(vec![seed(1, 10, 90, 0)]),
            run(vec![seed(1, 10, 90, 0), seed(2, 10, 90, 0)]),
        ];
        let refused = Side::joined(runs).unwrap_err().to_string();
        assert!(refused.contains("1, 2 seeds"), "{refused}");
    }
}
