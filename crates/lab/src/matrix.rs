//! Many cells: the subjects are booted, then the cells run, several QEMUs at once, each into the run folder when it is done.
//!
//! The order in which cells end does not matter to what is written: each has a folder of its own, and the plan was
//! written before the first began.

use super::added::Added;
use super::cell::{self, Raw, Run as CellRun};
use super::machine::{Machine, Mips};
use super::qemu::Qemu;
use super::snapshot::Snapshot;
use super::subject::{Prepared, Subject};
use super::{LabError, stamps};
use crate::study::PlannedCell;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use worstcase_base::cache::Cache;
use worstcase_kernels::{self as kernels, Kernel, ResolveOptions, preempt};
use worstcase_probe::CellSpec;
use worstcase_results::record::{self, CellEntry, CellId, CellResult, LabMachine, Run, SubjectId};

/// Told of what is done while a matrix runs.
pub trait Progress: Sync {
    /// So many subjects must be booted, and so many cells run.
    fn begin(&self, boots: usize, cells: usize);
    /// A subject is ready.
    fn booted(&self, subject: &str);
    /// A cell is done.
    fn measured(&self, cell: &CellId);
}

/// Subjects with everything that makes them, and the cells to run on them.
pub struct Matrix {
    subjects: Vec<Prepared>,
    cells: Vec<MatrixCell>,
}

/// One cell of a matrix.
pub struct MatrixCell {
    /// Index of its subject.
    subject: usize,
    /// What runs on it.
    pub spec: CellSpec,
    /// Its name.
    pub entry: CellEntry,
}

/// How to run a matrix.
pub struct Execution<'a> {
    /// Where snapshots and results are kept.
    pub cache: &'a Cache,
    /// QEMUs at once.
    pub jobs: NonZeroUsize,
    /// Real time for one machine, if not the default.
    pub limit: Option<Duration>,
    /// Who is told.
    pub progress: &'a dyn Progress,
}

impl Matrix {
    /// Finds the kernels, checks that they can boot what is asked of them, and builds the images.
    pub fn prepare(
        planned: &[PlannedCell],
        added: &[Added],
        qemu: &Qemu,
        options: &ResolveOptions<'_>,
    ) -> Result<Matrix, LabError> {
        let mut found: BTreeMap<&str, Kernel> = BTreeMap::new();
        let mut indices: BTreeMap<(&str, &str, u32, u32), usize> = BTreeMap::new();
        let mut matrix = Matrix {
            subjects: Vec::new(),
            cells: Vec::new(),
        };
        for cell in planned {
            let key = (cell.kernel.as_str(), cell.preempt.as_str(), cell.mips, cell.memory_mb);
            let subject = match indices.get(&key) {
                Some(index) => *index,
                None => {
                    if !found.contains_key(key.0) {
                        found.insert(key.0, kernels::resolve(key.0, options)?);
                    }
                    let subject = subject(&found[key.0], cell, added)?;
                    matrix.subjects.push(subject.prepare(qemu)?);
                    indices.insert(key, matrix.subjects.len() - 1);
                    matrix.subjects.len() - 1
                }
            };
            let entry = CellEntry::new(&subject_id(&matrix.subjects[subject].subject), &cell.spec);
            matrix.cells.push(MatrixCell {
                subject,
                spec: cell.spec.clone(),
                entry,
            });
        }
        Ok(matrix)
    }

    /// The cells, in order.
    pub fn cells(&self) -> &[MatrixCell] {
        &self.cells
    }

    /// The subjects, each once.
    pub fn subjects(&self) -> &[Prepared] {
        &self.subjects
    }

    /// The subject of a cell.
    pub fn subject(&self, cell: &MatrixCell) -> &Prepared {
        &self.subjects[cell.subject]
    }

    /// Runs what `run` does not have yet. The first error ends it after the cells that are being measured.
    pub fn execute(&self, run: &Run, how: &Execution<'_>) -> Result<(), LabError> {
        let missing: Vec<&MatrixCell> = self.cells.iter().filter(|c| !run.has_cell(&c.entry.id)).collect();
        let mut needed: Vec<usize> = missing.iter().map(|c| c.subject).collect();
        needed.dedup();
        let boots = needed
            .iter()
            .filter(|s| !Snapshot::is_cached(how.cache, &self.subjects[**s]))
            .count();
        how.progress.begin(boots, missing.len());
        let snapshots = parallel(how.jobs, &needed, |subject| {
            let prepared = &self.subjects[*subject];
            let cached = Snapshot::is_cached(how.cache, prepared);
            let snapshot = Snapshot::obtain(how.cache, prepared, how.limit)?;
            if !cached {
                how.progress.booted(&prepared.subject.label());
            }
            Ok((*subject, snapshot))
        })?;
        let snapshots: BTreeMap<usize, Snapshot> = snapshots.into_iter().collect();
        parallel(how.jobs, &missing, |cell| {
            let prepared = &self.subjects[cell.subject];
            let snapshot = &snapshots[&cell.subject];
            let raw = cell::obtain(
                how.cache,
                &CellRun {
                    prepared,
                    snapshot,
                    spec: &cell.spec,
                    limit: how.limit,
                },
            )?;
            run.write_cell(&result(prepared, snapshot, &raw)?)?;
            how.progress.measured(&cell.entry.id);
            Ok(())
        })?;
        Ok(())
    }
}

fn subject(kernel: &Kernel, cell: &PlannedCell, added: &[Added]) -> Result<Subject, LabError> {
    let mips: Mips = cell.mips.to_string().parse()?;
    Ok(Subject {
        kernel: kernel.clone(),
        preempt: preempt::choose(kernel, cell.preempt.parse()?)?,
        machine: Machine {
            mips,
            memory_mb: cell.memory_mb,
        },
        added: added.to_vec(),
    })
}

fn subject_id(subject: &Subject) -> SubjectId {
    let machine = &subject.machine;
    SubjectId::lab(
        &subject.kernel.label,
        subject.preempt.model.name(),
        machine.mips.number(),
        machine.memory_mb,
    )
}

/// From what a cell left to the record that is kept.
pub fn result(prepared: &Prepared, snapshot: &Snapshot, raw: &Raw) -> Result<CellResult, LabError> {
    let subject = &prepared.subject;
    let label = subject.label();
    let mut stamps = stamps::join(raw, subject.machine.mips).map_err(|e| LabError::Stamps(label.clone(), e))?;
    if raw.record.details.is_some() {
        // No timer was due: the interrupt that came before has nothing to do with the sample.
        stamps.samples.iter_mut().for_each(|stamp| stamp.irq_off = None);
    }
    let said = |key: &str| snapshot.ready.get(key).cloned().unwrap_or_default();
    let described = record::Subject {
        kernel: record::Kernel {
            name: subject.kernel.name.clone(),
            label: subject.kernel.label.clone(),
            release: said("release"),
            version: said("version"),
            digest: subject.kernel.digest.clone(),
        },
        preempt: record::Preempt {
            asked: Some(subject.preempt.model.to_string()),
            in_force: said("preempt"),
        },
        machine: record::Machine::Lab(LabMachine {
            qemu: prepared.qemu.version.clone(),
            mips: subject.machine.mips.number(),
            memory_mb: subject.machine.memory_mb,
            cpu: Machine::CPU.to_string(),
            command_line: prepared.command_line.clone(),
            key: prepared.key.clone(),
        }),
    };
    let mut result = CellResult::new(described, &raw.record, &stamps.samples, Some(stamps.instructions))
        .map_err(|e| LabError::Stamps(label, e.to_string()))?;
    result.record.console = raw.console.clone();
    Ok(result)
}

/// Does `work` on all items, `jobs` at once, and gives the results in the items' order, or the first error.
pub fn parallel<T: Sync, R: Send>(
    jobs: NonZeroUsize,
    items: &[T],
    work: impl Fn(&T) -> Result<R, LabError> + Sync,
) -> Result<Vec<R>, LabError> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::new());
    let failed: Mutex<Option<LabError>> = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..jobs.get().min(items.len()) {
            scope.spawn(|| {
                while failed.lock().expect("no holder panics").is_none() {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index) else { return };
                    match work(item) {
                        Ok(result) => results.lock().expect("no holder panics").push((index, result)),
                        Err(error) => {
                            failed.lock().expect("no holder panics").get_or_insert(error);
                        }
                    }
                }
            });
        }
    });
    if let Some(error) = failed.into_inner().expect("no holder panics") {
        return Err(error);
    }
    let mut results = results.into_inner().expect("no holder panics");
    results.sort_by_key(|(index, _)| *index);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: NonZeroUsize = NonZeroUsize::new(2).unwrap();

    #[test]
    fn results_keep_the_order_of_the_items() {
        let items: Vec<u64> = (0..50).collect();
        assert_eq!(
            parallel(TWO, &items, |n| Ok(n * n)).unwrap(),
            items.iter().map(|n| n * n).collect::<Vec<_>>()
        );
    }

    #[test]
    fn an_error_ends_the_work() {
        let done = AtomicUsize::new(0);
        let items: Vec<u64> = (0..1000).collect();
        let result = parallel(TWO, &items, |n| {
            done.fetch_add(1, Ordering::Relaxed);
            if *n == 3 { Err(LabError::QemuEnded) } else { Ok(()) }
        });
        assert!(matches!(result, Err(LabError::QemuEnded)));
        assert!(done.into_inner() < 1000);
    }
}
