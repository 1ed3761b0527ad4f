//! The lab's cells by Slurm: the controller plans them, nodes measure them into the shared cache, and the controller
//! takes them in as they appear.

use super::array::{ASK_SLURM, JobArray, LOOK, SlurmUse, word};
use super::chunks::chunks;
use super::commands::Batch;
use super::job::{JobCell, JobPlan, JobSubject, Offsets, SCHEMA};
use crate::RemoteError;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{fs, io};
use worstcase_base::ExitKind;
use worstcase_base::cache::Cache;
use worstcase_base::digest::Digest;
use worstcase_base::progress::Progress;
use worstcase_lab::matrix::LabMatrix;
use worstcase_lab::parcel::{self, Parcel};
use worstcase_lab::planned::Planned;
use worstcase_results::record::{CellId, Executor, ExecutorTask, Record, Run, parallel};

/// Memory that a node needs in addition to that of the lab machine.
const MORE_MEMORY_MB: u32 = 512;
/// One machine sees what another wrote after this time at the latest: a shared file system may cache that a file did not exist.
const SEEN_AFTER: Duration = Duration::from_secs(60);

/// How to run it; none of this changes a result.
pub struct SlurmRunOptions<'a> {
    /// How Slurm is used.
    pub how: SlurmUse<'a>,
    /// Results that are taken in at once.
    pub jobs: NonZeroUsize,
    /// Real time for one machine, if not the default.
    pub limit: Option<Duration>,
    /// The QEMU to use, if it is named.
    pub qemu: Option<PathBuf>,
}

/// Tasks by the key of their cell: two cells have one key if their kernels differ by name alone.
type ByKey = BTreeMap<String, Vec<usize>>;

/// Runs a matrix on a batch system.
pub struct SlurmExecutor<'a, B: Batch> {
    planned: Planned,
    array: JobArray<'a, B>,
    jobs: NonZeroUsize,
    limit: Option<Duration>,
    qemu: Option<PathBuf>,
}

impl<'a, B: Batch> SlurmExecutor<'a, B> {
    /// An executor for the cells of `matrix`.
    pub fn new(matrix: LabMatrix, means: SlurmRunOptions<'a>, batch: B) -> Result<SlurmExecutor<'a, B>, RemoteError> {
        let planned = Planned::new(matrix);
        let mut id = Digest::new("worstcase-job");
        for task in 0..planned.tasks().len() {
            id.text(&planned.key(task)?);
        }
        Ok(SlurmExecutor {
            planned,
            array: JobArray::new(&id.hex(), means.how, batch),
            jobs: means.jobs,
            limit: means.limit,
            qemu: means.qemu,
        })
    }

    fn cache(&self) -> &Cache {
        self.array.how.cache
    }

    fn plan(&self, tasks: &[usize]) -> Result<JobPlan, RemoteError> {
        let subjects = self.planned.subjects(tasks);
        let place = |task: usize| {
            subjects
                .binary_search(&self.planned.subject_of(task))
                .expect("listed above")
        };
        let cell = |task: &usize| {
            let (_, spec) = self.planned.cell(*task);
            Ok::<_, RemoteError>(JobCell {
                subject: place(*task),
                spec: spec
                    .to_text()
                    .map_err(|e| RemoteError::Choice("slurm".into(), e.to_string()))?,
                key: self.planned.key(*task)?,
            })
        };
        let mut counts = vec![0; subjects.len()];
        tasks.iter().for_each(|task| counts[place(*task)] += 1);
        let subject = |index: &usize| {
            let prepared = self.planned.subject(*index);
            let kernel = prepared.subject.kernel.digest.replace([':', '/'], "-");
            JobSubject {
                parcel: Parcel::of(prepared),
                bzimage: format!("{kernel}.bzimage"),
            }
        };
        Ok(JobPlan {
            schema: SCHEMA.into(),
            limit_s: self.limit.map(|limit| limit.as_secs()),
            qemu: self
                .qemu
                .as_ref()
                .map(std::path::absolute)
                .transpose()
                .map_err(RemoteError::io("."))?,
            subjects: subjects.iter().map(subject).collect(),
            cells: tasks.iter().map(cell).collect::<Result<_, _>>()?,
            tasks: chunks(&counts, self.array.how.options.chunk),
        })
    }

    /// Writes the job's folder; gives the number of bytes and of files.
    fn write(&self, plan: &JobPlan, tasks: &[usize]) -> Result<(u64, usize), RemoteError> {
        self.array.folder.create()?;
        let (mut bytes, mut files) = (0, 0);
        for (index, subject) in self.planned.subjects(tasks).iter().zip(&plan.subjects) {
            let prepared = self.planned.subject(*index);
            let image = self.array.folder.initrd(&subject.parcel.key);
            self.cache().write_file(&image, &prepared.initrd)?;
            bytes += prepared.initrd.len() as u64;
            files += 1;
            let kernel = self.array.folder.path().join(&subject.bzimage);
            if !kernel.exists() {
                bytes += link_or_copy(parcel::bzimage(prepared), &kernel)?;
                files += 1;
            }
        }
        Ok((bytes + self.array.folder.begin(plan)?, files + 1))
    }

    fn submit(&mut self, missing: &[usize], progress: &dyn Progress) -> Result<(), RemoteError> {
        let most = self.array.most_tasks()?;
        let plan = self.plan(missing)?;
        let (bytes, files) = self.write(&plan, missing)?;
        let what = format!(
            "{} cells of {} subjects in {} tasks: {files} files with {bytes} bytes in {}, {} calls of sbatch",
            plan.cells.len(),
            plan.subjects.len(),
            plan.tasks.len(),
            self.array.folder.path().display(),
            plan.tasks.len().div_ceil(most)
        );
        if self.array.how.options.dry_run {
            (self.array.how.tell)(&what);
            return Ok(());
        }
        progress.state(&what);
        let memory = self.planned.subjects(missing).into_iter();
        let memory = memory
            .map(|index| self.planned.subject(index).subject.machine.memory_mb)
            .max();
        let words = format!("lab-node {} \"$task\"", word(self.array.folder.path()));
        let memory = memory.unwrap_or_default() + MORE_MEMORY_MB;
        self.array.submit(&words, plan.tasks.len(), most, memory)
    }

    /// Keeps the results of these tasks in the run; gives the tasks whose results cannot be seen yet.
    fn take_in(&self, tasks: &[usize], run: &Run, progress: &dyn Progress) -> Result<Vec<usize>, RemoteError> {
        let left = parallel(self.jobs, tasks, |task| {
            let Some(result) = self.planned.result(self.cache(), *task)? else {
                return Ok(Some(*task));
            };
            run.write_cell(&result)?;
            progress.done(&format!("measured {}", self.id(*task)));
            Ok::<_, RemoteError>(None)
        })?;
        Ok(left.into_iter().flatten().collect())
    }

    fn id(&self, task: usize) -> &CellId {
        &self.planned.tasks()[task].cells[0].id
    }

    fn check_failures(&self, by_key: &ByKey) -> Result<(), RemoteError> {
        let Some((key, failure)) = self.array.folder.failure() else {
            return Ok(());
        };
        let cell = by_key.get(&key).map(|tasks| format!(" ({})", self.id(tasks[0])));
        Err(RemoteError::Failed {
            machine: failure.machine,
            message: format!("{}{}", failure.message, cell.unwrap_or_default()),
            exit: ExitKind::of(failure.exit).unwrap_or(ExitKind::Measured),
        })
    }

    /// Takes in results as they appear, until all have, or no more can come.
    fn watch(
        &self,
        missing: &[usize],
        run: &Run,
        progress: &dyn Progress,
        stop: &AtomicBool,
    ) -> Result<(), RemoteError> {
        let mut by_key = ByKey::new();
        for task in missing {
            by_key.entry(self.planned.key(*task)?).or_default().push(*task);
        }
        let mut left: BTreeSet<usize> = self.take_in(missing, run, progress)?.into_iter().collect();
        let mut told: BTreeMap<usize, Instant> = BTreeMap::new();
        let mut read = Offsets::new();
        let mut asked = Instant::now();
        while !left.is_empty() {
            if stop.load(Ordering::Relaxed) {
                return self.array.stopped();
            }
            std::thread::sleep(LOOK);
            for key in self.array.folder.done_since(&mut read) {
                for task in by_key.get(&key).into_iter().flatten() {
                    if left.contains(task) {
                        told.entry(*task).or_insert_with(Instant::now);
                    }
                }
            }
            let ready: Vec<usize> = told.keys().copied().collect();
            let unseen = self.take_in(&ready, run, progress)?;
            left.retain(|task| !told.contains_key(task) || unseen.contains(task));
            told.retain(|task, _| unseen.contains(task));
            self.refuse_unseen(&told)?;
            self.check_failures(&by_key)?;
            if asked.elapsed() >= ASK_SLURM && !left.is_empty() {
                asked = Instant::now();
                let queue = self.array.queue()?;
                progress.state(&queue.words());
                if queue.is_empty() {
                    let left = self.last_look(left.into_iter().collect(), run, progress)?;
                    self.check_failures(&by_key)?;
                    return self.ended(&left);
                }
            }
        }
        Ok(())
    }

    /// Called when no task runs any more: all results are there, or will be seen soon.
    fn last_look(&self, mut left: Vec<usize>, run: &Run, progress: &dyn Progress) -> Result<Vec<usize>, RemoteError> {
        let begin = Instant::now();
        let done = |left: &[usize]| left.is_empty() || self.array.folder.failure().is_some();
        left = self.take_in(&left, run, progress)?;
        while !done(&left) && begin.elapsed() < SEEN_AFTER / 6 {
            std::thread::sleep(LOOK);
            left = self.take_in(&left, run, progress)?;
        }
        Ok(left)
    }

    fn refuse_unseen(&self, told: &BTreeMap<usize, Instant>) -> Result<(), RemoteError> {
        match told.iter().find(|(_, since)| since.elapsed() > SEEN_AFTER) {
            None => Ok(()),
            Some((task, _)) => Err(RemoteError::Unseen {
                cell: self.planned.described(*task),
                folder: self.cache().path("", ""),
            }),
        }
    }

    fn ended(&self, left: &[usize]) -> Result<(), RemoteError> {
        match left.first() {
            None => Ok(()),
            Some(first) => Err(self.array.ended(format!(
                "{} cells were not measured, the first is {}",
                left.len(),
                self.id(*first)
            ))),
        }
    }
}

impl<B: Batch> Executor for SlurmExecutor<'_, B> {
    type Error = RemoteError;

    fn tasks(&self) -> &[ExecutorTask] {
        self.planned.tasks()
    }

    fn preparations(&self, _: &[usize]) -> usize {
        0
    }

    fn changed(&self, record: &Record) -> Option<String> {
        self.planned.changed(record)
    }

    fn begin(&mut self, missing: &[usize], progress: &dyn Progress) -> Result<(), RemoteError> {
        let mut missing = self.planned.not_cached(self.cache(), missing)?;
        if missing.is_empty() {
            return Ok(());
        }
        missing.sort_by_key(|task| self.planned.subject_of(*task));
        let _submitting = self.array.submitting()?;
        match self.array.is_submitted()? {
            true => Ok(()),
            false => self.submit(&missing, progress),
        }
    }

    fn measure(&self, _: usize, _: &Run, _: &AtomicBool) -> Result<(), RemoteError> {
        unreachable!("measure_all takes them in")
    }

    fn measure_all(
        &self,
        missing: &[usize],
        run: &Run,
        progress: &dyn Progress,
        stop: &AtomicBool,
    ) -> Result<(), RemoteError> {
        if self.array.how.options.dry_run {
            return Ok(());
        }
        let watched = self.watch(missing, run, progress, stop);
        if watched.is_err() {
            // The caller reports the first error; tasks that cannot be cancelled end by themselves.
            let _ = self.array.cancel();
        }
        watched
    }

    fn end(&mut self) -> Result<(), RemoteError> {
        self.array.end();
        Ok(())
    }
}

/// Links the file, as kernels are usually on the cache's disk, or copies it; gives its length.
fn link_or_copy(from: &Path, to: &Path) -> Result<u64, RemoteError> {
    let from = fs::canonicalize(from).map_err(RemoteError::io(from))?;
    let linked = fs::hard_link(&from, to).or_else(|_| -> io::Result<()> {
        let partial = to.with_extension("partial");
        fs::copy(&from, &partial)?;
        fs::rename(partial, to)
    });
    linked
        .and_then(|()| Ok(fs::metadata(to)?.len()))
        .map_err(RemoteError::io(to))
}
