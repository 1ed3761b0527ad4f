//! What is to be booted and measured, and how long that takes here.

use super::matrix::LabMatrix;
use super::speed::{LabSpeed, TimedWork};
use super::{LabError, boot, cell, warm};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use worstcase_base::cache::Cache;
use worstcase_contract::{CellSpec, Nanos};
use worstcase_plan::{Experiment, PlannedSubject, PreemptChoice};
use worstcase_results::record::CellId;

/// Models of a kernel whose models are not known yet: most of Debian's can boot three.
const USUAL_MODELS: usize = 3;

/// What a snapshot and a result take in the cache, in bytes: measured of Debian's 6.1, 512 MB and 1000 samples.
const OF_BOOT: u64 = 95_000_000;
/// The same of a warm snapshot: the mean of ten loads, from `idle` (1 MB) to `writeback` (73 MB). `apps:10` takes 900 MB.
const OF_WARM: u64 = 12_000_000;
const OF_CELL: u64 = 100_000;

/// Work of the lab.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LabAhead {
    /// Cells to measure.
    pub cells: usize,
    /// Machines to boot.
    pub boots: usize,
    /// How long all takes.
    pub seconds: f64,
    /// What the cache grows by, without kernels, in bytes.
    pub bytes: u64,
}

impl LabAhead {
    /// What a matrix still needs; `is_there` says which cells need nothing.
    pub fn of_matrix(
        matrix: &LabMatrix,
        cache: &Cache,
        jobs: NonZeroUsize,
        is_there: impl Fn(&CellId) -> bool,
    ) -> Result<LabAhead, LabError> {
        let (mut specs, mut boots, mut warm) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
        for cell in matrix.cells().iter().filter(|cell| !is_there(&cell.entry.id)) {
            let prepared = matrix.subject(cell);
            if !boot::is_cached(cache, prepared) {
                boots.insert(prepared.key.as_str());
            }
            if !cell::is_cached(cache, &cell::key(prepared, &cell.spec)?) {
                specs.push(&cell.spec);
                warm.extend(warm::to_make(cache, prepared, &cell.spec)?);
            }
        }
        let ahead = LabAhead::of(boots.len(), &specs, jobs, &LabSpeed::of(cache));
        let of_warm = (warm.len() as u64 * OF_WARM).min(warm::MOST);
        Ok(LabAhead {
            bytes: ahead.bytes + of_warm,
            ..ahead
        })
    }

    /// What an experiment needs with an empty cache; none if its cells are not known.
    pub fn of_experiment(experiment: &Experiment, jobs: NonZeroUsize, speed: &LabSpeed) -> Option<LabAhead> {
        let cells = experiment.lab_cells().ok()?;
        let models = |subject: &PlannedSubject| match subject.preempt {
            PreemptChoice::All => USUAL_MODELS,
            PreemptChoice::One(_) => 1,
        };
        let groups: Vec<_> = cells.chunk_by(|a, b| a.0 == b.0).map(|group| &group[0].0).collect();
        let boots = groups.into_iter().map(models).sum();
        let specs: Vec<&CellSpec> = cells
            .iter()
            .flat_map(|(subject, spec)| std::iter::repeat_n(spec, models(subject)))
            .collect();
        Some(LabAhead::of(boots, &specs, jobs, speed))
    }

    fn of(boots: usize, specs: &[&CellSpec], jobs: NonZeroUsize, speed: &LabSpeed) -> LabAhead {
        let at_once = |work: f64, count: usize| work / jobs.get().min(count.max(1)) as f64;
        let booting = boots as f64 * speed.seconds(TimedWork::Boot, Nanos(0));
        let measuring: f64 = specs.iter().map(|spec| speed.of_cell(spec)).sum();
        LabAhead {
            cells: specs.len(),
            boots,
            seconds: at_once(booting, boots) + at_once(measuring, specs.len()),
            bytes: boots as u64 * OF_BOOT + specs.len() as u64 * OF_CELL,
        }
    }
}
