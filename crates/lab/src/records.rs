//! Cells that are measured for their records alone, without a run folder.

use super::LabError;
use super::cell::{self, Run};
use super::executor::How;
use super::matrix::{self, Matrix};
use super::snapshot::Snapshot;
use worstcase_results::record::{Progress, Record, parallel};

/// The record of every cell, in order.
pub fn records(matrix: &Matrix, how: &How<'_>, progress: &dyn Progress) -> Result<Vec<Record>, LabError> {
    let subjects = matrix.subjects();
    let cached: Vec<bool> = subjects.iter().map(|s| Snapshot::is_cached(how.cache, s)).collect();
    let booted = cached.iter().filter(|cached| !**cached).count();
    progress.begin(booted, matrix.cells().len());
    let all: Vec<usize> = (0..subjects.len()).collect();
    let snapshots = parallel(how.jobs, &all, |subject| {
        let prepared = &subjects[*subject];
        let snapshot = Snapshot::obtain(how.cache, prepared, how.limit)?;
        if !cached[*subject] {
            progress.prepared(&prepared.subject.label());
        }
        Ok::<_, LabError>(snapshot)
    })?;
    let cells: Vec<&matrix::MatrixCell> = matrix.cells().iter().collect();
    parallel(how.jobs, &cells, |cell| {
        let (prepared, snapshot) = (matrix.subject(cell), &snapshots[cell.subject]);
        let run = Run {
            prepared,
            snapshot,
            spec: &cell.spec,
            limit: how.limit,
        };
        let raw = cell::obtain(how.cache, &run)?;
        let record = matrix::result(prepared, snapshot, &raw)?.record;
        progress.measured(&record.id);
        Ok::<_, LabError>(record)
    })
}
