//! The lab as an executor: it boots the subjects, then runs the cells, several QEMUs at once.
//!
//! The results do not depend on the order in which cells end: each has a folder of its own, and the plan is written
//! before the first begins.

use super::LabError;
use super::boot;
use super::cell::{self, CellRun};
use super::matrix::{self, LabMatrix};
use super::planned::Planned;
use super::snapshot::MachineSnapshot;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use worstcase_base::cache::Cache;
use worstcase_base::progress::{CountedWork, Progress};
use worstcase_results::record::{CellResult, Executor, ExecutorTask, Record, Run, parallel};

/// Runs a matrix.
pub struct LabExecutor<'a> {
    planned: Planned,
    how: LabRunOptions<'a>,
    /// The snapshots, by the index of their subject.
    snapshots: BTreeMap<usize, MachineSnapshot>,
}

/// How to run it; none of this changes a result.
pub struct LabRunOptions<'a> {
    /// Where snapshots and results are kept.
    pub cache: &'a Cache,
    /// QEMUs at once.
    pub jobs: NonZeroUsize,
    /// Real time for one machine, if not the default.
    pub limit: Option<Duration>,
}

impl<'a> LabExecutor<'a> {
    /// An executor for the cells of `matrix`.
    pub fn new(matrix: LabMatrix, how: LabRunOptions<'a>) -> LabExecutor<'a> {
        LabExecutor {
            planned: Planned::new(matrix),
            how,
            snapshots: BTreeMap::new(),
        }
    }

    /// Measures all tasks without a run folder; gives their records, in order.
    pub fn records(&mut self, progress: &dyn Progress) -> Result<Vec<Record>, LabError> {
        let all: Vec<usize> = (0..self.planned.tasks().len()).collect();
        progress.begin(&CountedWork {
            preparations: self.preparations(&all),
            ..CountedWork::cells(all.len())
        });
        self.begin(&all, progress)?;
        parallel(self.how.jobs, &all, |task| {
            let record = self.result(*task)?.record;
            progress.done(&format!("measured {}", record.id));
            Ok(record)
        })
    }

    /// The result of a task, from the cache or from running it; its subject must be booted.
    fn result(&self, task: usize) -> Result<CellResult, LabError> {
        let (prepared, spec) = self.planned.cell(task);
        let snapshot = &self.snapshots[&self.planned.subject_of(task)];
        let raw = cell::obtain(
            self.how.cache,
            &CellRun {
                prepared,
                snapshot,
                spec,
                limit: self.how.limit,
            },
        )?;
        matrix::result(prepared, &snapshot.ready, &raw, self.planned.telling())
    }

    fn is_booted(&self, subject: usize) -> bool {
        boot::is_cached(self.how.cache, self.planned.subject(subject))
    }
}

impl Executor for LabExecutor<'_> {
    type Error = LabError;

    fn tasks(&self) -> &[ExecutorTask] {
        self.planned.tasks()
    }

    fn jobs(&self) -> NonZeroUsize {
        self.how.jobs
    }

    fn preparations(&self, missing: &[usize]) -> usize {
        let subjects = self.planned.subjects(missing);
        subjects.into_iter().filter(|subject| !self.is_booted(*subject)).count()
    }

    fn changed(&self, record: &Record) -> Option<String> {
        self.planned.changed(record)
    }

    fn begin(&mut self, missing: &[usize], progress: &dyn Progress) -> Result<(), LabError> {
        let this: &LabExecutor<'_> = self;
        let snapshots = parallel(this.how.jobs, &this.planned.subjects(missing), |subject| {
            let prepared = this.planned.subject(*subject);
            let cached = this.is_booted(*subject);
            let snapshot = boot::obtain(this.how.cache, prepared, this.how.limit)?;
            if !cached {
                progress.prepared(&format!("booted {}", prepared.subject.label()));
            }
            Ok::<_, LabError>((*subject, snapshot))
        })?;
        self.snapshots = snapshots.into_iter().collect();
        Ok(())
    }

    fn measure(&self, task: usize, run: &Run, _stop: &AtomicBool) -> Result<(), LabError> {
        run.write_cell(&self.result(task)?)?;
        Ok(())
    }

    fn end(&mut self) -> Result<(), LabError> {
        Ok(())
    }
}
