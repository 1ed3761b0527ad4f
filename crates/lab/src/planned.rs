//! The cells of a matrix as an executor sees them: what to measure, its key in the cache, and the record made of it.
//! None of this needs a machine.

use super::LabError;
use super::cell;
use super::followed::FollowTelling;
use super::matrix::{self, LabMatrix, MatrixCell};
use super::prepared::Prepared;
use super::ready::ReadyReport;
use worstcase_base::cache::Cache;
use worstcase_contract::CellSpec;
use worstcase_results::record::{CellResult, ExecutorTask, Record};

/// A matrix as tasks of one cell each, named by their index.
pub struct Planned {
    matrix: LabMatrix,
    tasks: Vec<ExecutorTask>,
}

impl Planned {
    /// The tasks of all cells, in order.
    pub fn new(matrix: LabMatrix) -> Planned {
        let task = |cell: &MatrixCell| ExecutorTask {
            cells: vec![cell.entry.clone()],
        };
        Planned {
            tasks: matrix.cells().iter().map(task).collect(),
            matrix,
        }
    }

    /// All tasks.
    pub fn tasks(&self) -> &[ExecutorTask] {
        &self.tasks
    }

    /// How a program that is followed is told of.
    pub fn telling(&self) -> Option<&FollowTelling> {
        self.matrix.telling.as_ref()
    }

    /// A task's subject and cell.
    pub fn cell(&self, task: usize) -> (&Prepared, &CellSpec) {
        let cell = &self.matrix.cells[task];
        (self.matrix.subject(cell), &cell.spec)
    }

    /// The index of a task's subject.
    pub fn subject_of(&self, task: usize) -> usize {
        self.matrix.cells[task].subject
    }

    /// The subject with this index.
    pub fn subject(&self, index: usize) -> &Prepared {
        &self.matrix.subjects[index]
    }

    /// The subjects of these tasks, each once.
    pub fn subjects(&self, tasks: &[usize]) -> Vec<usize> {
        let mut subjects: Vec<usize> = tasks.iter().map(|task| self.subject_of(*task)).collect();
        subjects.sort_unstable();
        subjects.dedup();
        subjects
    }

    /// How the inputs differ from those of this record.
    pub fn changed(&self, record: &Record) -> Option<String> {
        let subject = record.subject.id();
        let cell = self.matrix.cells.iter().find(|cell| cell.entry.subject == subject)?;
        self.matrix.subject(cell).changed_since(record)
    }

    /// The key of a task's cell.
    pub fn key(&self, task: usize) -> Result<String, LabError> {
        let (prepared, spec) = self.cell(task);
        cell::key(prepared, spec)
    }

    /// A task's cell in words.
    pub fn described(&self, task: usize) -> String {
        let (prepared, spec) = self.cell(task);
        cell::described(prepared, spec)
    }

    /// The tasks for which the cache lacks a part of the record.
    pub fn not_cached(&self, cache: &Cache, tasks: &[usize]) -> Result<Vec<usize>, LabError> {
        let mut rest = Vec::new();
        for task in tasks {
            let (prepared, _) = self.cell(*task);
            if !cell::is_cached(cache, &self.key(*task)?) || ReadyReport::kept(cache, &prepared.key).is_none() {
                rest.push(*task);
            }
        }
        Ok(rest)
    }

    /// The result of a task from the cache; none if it is not there.
    pub fn result(&self, cache: &Cache, task: usize) -> Result<Option<CellResult>, LabError> {
        let (prepared, spec) = self.cell(task);
        let Some(ready) = ReadyReport::kept(cache, &prepared.key) else {
            return Ok(None);
        };
        let raw = cell::kept(cache, prepared, spec)?;
        raw.map(|raw| matrix::result(prepared, &ready, &raw, self.telling()))
            .transpose()
    }
}
