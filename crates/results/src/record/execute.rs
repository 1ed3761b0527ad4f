//! The loop that fills a run: it skips recorded cells, measures the rest, and ends when it is asked to.
//!
//! The loop does not know how a cell is measured: an [`Executor`] does. The lab and this machine are two of them;
//! Slurm and machines that ssh reaches measure for the lab elsewhere.

use super::{CellEntry, CellId, Record, Run, RunError};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use worstcase_base::progress::{CountedWork, Progress};

/// The cells that are measured at once: one cell of the lab; on a host a cell for each CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecutorTask {
    /// Its cells; never empty.
    pub cells: Vec<CellEntry>,
}

/// Measures tasks. [`execute`] calls [`Executor::begin`] once, [`Executor::measure_all`] for the tasks that are missing, and
/// [`Executor::end`] once, whatever happened in between.
pub trait Executor: Sync {
    /// The errors of this executor.
    type Error: From<RunError> + Send;

    /// All tasks, in order.
    fn tasks(&self) -> &[ExecutorTask];

    /// The number of tasks that are measured at once.
    fn jobs(&self) -> NonZeroUsize {
        NonZeroUsize::MIN
    }

    /// The number of steps before [`Executor::begin`] is done.
    fn preparations(&self, missing: &[usize]) -> usize;

    /// The change since this record was made, if its subject differs from the one that would be measured now.
    fn changed(&self, record: &Record) -> Option<String>;

    /// Something for the user to know, in a line, before anything is measured.
    fn tell(&self, _note: &str) {}

    /// Makes ready for these tasks, which may be none.
    fn begin(&mut self, missing: &[usize], progress: &dyn Progress) -> Result<(), Self::Error>;

    /// Measures a task and keeps its cells in `run`. When `stop` becomes true it ends early, and keeps the samples
    /// taken so far or nothing.
    fn measure(&self, task: usize, run: &Run, stop: &AtomicBool) -> Result<(), Self::Error>;

    /// Measures these tasks; the first error ends it. An executor that does not decide the order, such as a batch
    /// system, takes the results in another one.
    fn measure_all(
        &self,
        missing: &[usize],
        run: &Run,
        progress: &dyn Progress,
        stop: &AtomicBool,
    ) -> Result<(), Self::Error> {
        parallel(self.jobs(), missing, |task| {
            if stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            self.measure(*task, run, stop)?;
            progress.done(&format!("measured {}", self.tasks()[*task].cells[0].id));
            Ok(())
        })
        .map(drop)
    }

    /// Puts back what [`Executor::begin`] changed, after its failure too.
    fn end(&mut self) -> Result<(), Self::Error>;
}

/// The ending of the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompletedCells {
    /// Tasks that were measured before.
    pub before: usize,
    /// Tasks that were measured, now or before.
    pub measured: usize,
    /// All of them.
    pub of: usize,
}

/// Measures the cells that `run` does not have yet. The first error ends it, after the tasks that are being measured.
/// Once `stop` is true no further task begins, and errors with which running tasks end are ignored.
pub fn execute<E: Executor>(
    executor: &mut E,
    run: &Run,
    progress: &dyn Progress,
    stop: &AtomicBool,
) -> Result<CompletedCells, E::Error> {
    refuse_another_subject(executor, run)?;
    let is_measured = |task: &ExecutorTask| task.cells.iter().all(|cell| run.has_cell(&cell.id));
    let all = executor.tasks().iter().enumerate();
    let missing: Vec<usize> = all.filter(|(_, task)| !is_measured(task)).map(|(nth, _)| nth).collect();
    for task in &missing {
        put_aside_half(executor, &executor.tasks()[*task], run)?;
    }
    progress.begin(&CountedWork {
        preparations: executor.preparations(&missing),
        ..CountedWork::cells(missing.len())
    });
    let begun = executor.begin(&missing, progress);
    let measured = begun.and_then(|()| executor.measure_all(&missing, run, progress, stop));
    let ended = executor.end();
    match measured {
        // Ctrl-C also reaches the processes that the executor started, so the executor ends with an error of its
        // own.
        Err(_) if stop.load(Ordering::Relaxed) => {}
        other => drop(other?),
    }
    ended?;
    Ok(CompletedCells {
        before: executor.tasks().len() - missing.len(),
        measured: executor.tasks().iter().filter(|task| is_measured(task)).count(),
        of: executor.tasks().len(),
    })
}

/// If some cells of a measurement are missing, all its cells are measured again, at once, as they were; the existing ones are put
/// aside. A kill leaves no such half; a full disk, and earlier versions, do.
fn put_aside_half<E: Executor>(executor: &E, task: &ExecutorTask, run: &Run) -> Result<(), RunError> {
    let all = task.cells.iter().map(|cell| &cell.id);
    let there: Vec<&CellId> = all.filter(|id| run.has_cell(id)).collect();
    if there.is_empty() {
        return Ok(());
    }
    let places = run.put_aside(&there)?;
    let places: Vec<String> = places.iter().map(|place| place.display().to_string()).collect();
    executor.tell(&format!(
        "only {} of {} cells of a measurement were kept: it is made again, and what was kept of it is put aside in {}",
        there.len(),
        task.cells.len(),
        places.join(", ")
    ));
    Ok(())
}

/// Cells of two subjects by one name would be taken for one: each subject's first record is compared.
fn refuse_another_subject<E: Executor>(executor: &E, run: &Run) -> Result<(), RunError> {
    let mut seen = BTreeSet::new();
    for cell in executor.tasks().iter().flat_map(|task| &task.cells) {
        if !run.has_cell(&cell.id) || !seen.insert(cell.subject.clone()) {
            continue;
        }
        if let Some(what) = executor.changed(&run.record(&cell.id)?) {
            return Err(RunError::AnotherSubject {
                dir: run.dir().to_path_buf(),
                what: format!("{}: {what}", cell.subject),
            });
        }
    }
    Ok(())
}

/// Does `work` on all items, `jobs` at once, and gives the results in the items' order, or the first error.
pub fn parallel<T: Sync, R: Send, E: Send>(
    jobs: NonZeroUsize,
    items: &[T],
    work: impl Fn(&T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::new());
    let failed: Mutex<Option<E>> = Mutex::new(None);
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
            parallel(TWO, &items, |n| Ok::<u64, ()>(n * n)).unwrap(),
            items.iter().map(|n| n * n).collect::<Vec<_>>()
        );
    }

    #[test]
    fn an_error_ends_the_work() {
        let done = AtomicUsize::new(0);
        let items: Vec<u64> = (0..1000).collect();
        let result = parallel(TWO, &items, |n| {
            done.fetch_add(1, Ordering::Relaxed);
            if *n == 3 { Err("three") } else { Ok(()) }
        });
        assert_eq!(result, Err("three"));
        assert!(done.into_inner() < 1000);
    }
}
