//! Job arrays: found again by their folder, cancelled when the user asks for it, and removed when they are done.

use super::commands::{Batch, SlurmQueue, USUAL_ARRAY};
use super::job::{AREA, JobFolder, LOG};
use super::options::SlurmOptions;
use crate::RemoteError;
use crate::executable::Executable;
use std::path::Path;
use std::time::{Duration, Instant};
use worstcase_base::cache::Cache;
use worstcase_base::format::shell;
use worstcase_base::lock::FileLock;

/// How often the controller reads the folder in which tasks report, and looks whether a cancelled job has ended.
pub(crate) const LOOK: Duration = Duration::from_millis(500);
/// How often the controller asks Slurm for the queue.
pub(crate) const ASK_SLURM: Duration = Duration::from_secs(10);
/// How long a cancelled job may take to end.
const CANCELLED_AFTER: Duration = Duration::from_secs(10);

/// What becomes of a job when its controller is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnStop {
    /// The job is cancelled.
    Cancel,
    /// The job goes on.
    Leave,
}

/// How Slurm is used, and the user's answers and messages.
pub struct SlurmUse<'a> {
    /// The cache, which all nodes share.
    pub cache: &'a Cache,
    /// What stands behind `slurm:`.
    pub options: SlurmOptions,
    /// Asks the user what becomes of the job when the controller is stopped.
    pub on_stop: &'a (dyn Fn(&str) -> OnStop + Sync),
    /// Prints a line for the user.
    pub tell: &'a (dyn Fn(&str) + Sync),
}

/// One or more arrays with one folder.
pub(crate) struct JobArray<'a, B: Batch> {
    /// How Slurm is used.
    pub(crate) how: SlurmUse<'a>,
    /// What controller and nodes share.
    pub(crate) folder: JobFolder,
    batch: B,
    /// The numbers of the submitted jobs.
    jobs: Vec<String>,
}

impl<'a, B: Batch> JobArray<'a, B> {
    /// The array for the work with this id; a dry run has a folder of its own.
    pub(crate) fn new(id: &str, how: SlurmUse<'a>, batch: B) -> JobArray<'a, B> {
        let id = match how.options.dry_run {
            true => format!("{id}-dry-run"),
            false => id.to_string(),
        };
        JobArray {
            folder: JobFolder::of(how.cache, &id),
            how,
            batch,
            jobs: Vec::new(),
        }
    }

    /// Held from the search for running jobs until new ones are submitted, so that two controllers submit the same work
    /// once.
    pub(crate) fn submitting(&self) -> Result<FileLock, RemoteError> {
        Ok(self.how.cache.lock(AREA, "submitting")?)
    }

    /// Whether another controller, which may have ended, submitted this work and it still runs; says so to the user.
    pub(crate) fn is_submitted(&mut self) -> Result<bool, RemoteError> {
        if self.how.options.dry_run {
            return Ok(false);
        }
        self.jobs = self.found()?;
        if !self.jobs.is_empty() {
            (self.how.tell)(&format!(
                "Slurm's job {} does this already: nothing was submitted",
                self.numbers()
            ));
        }
        Ok(!self.jobs.is_empty())
    }

    fn found(&self) -> Result<Vec<String>, RemoteError> {
        let jobs = self.folder.submitted();
        match jobs.is_empty() || self.batch.queue(&jobs)?.is_empty() {
            true => Ok(Vec::new()),
            false => Ok(jobs),
        }
    }

    /// The largest number of tasks in one array.
    pub(crate) fn most_tasks(&self) -> Result<usize, RemoteError> {
        match self.how.options.dry_run {
            // A dry run works on a machine without Slurm.
            true => Ok(self.batch.most_tasks().unwrap_or(USUAL_ARRAY)),
            false => self.batch.most_tasks(),
        }
    }

    /// Submits `tasks` tasks: each runs worstcase with these words of a shell, in which `$task` is its number.
    pub(crate) fn submit(&mut self, words: &str, tasks: usize, most: usize, memory_mb: u32) -> Result<(), RemoteError> {
        let executable = Executable::own()?.shared(self.how.cache)?;
        for first in (0..tasks).step_by(most) {
            let last = tasks.min(first + most) - 1;
            let script = script(self.how.cache, &executable, first, words);
            let arguments = self.arguments(last - first, memory_mb);
            self.jobs.push(self.batch.submit(&arguments, &script)?);
            self.folder.submit(&self.jobs)?;
        }
        Ok(())
    }

    fn arguments(&self, last: usize, memory_mb: u32) -> Vec<String> {
        let log = self.folder.path().join(LOG).display().to_string();
        let mut arguments = vec![
            "--parsable".into(),
            "--job-name=worstcase".into(),
            "--requeue".into(),
            "--open-mode=append".into(),
            format!("--output={}", log.replace('%', "%%")),
            format!("--mem={memory_mb}M"),
            "--cpus-per-task=1".into(),
        ];
        arguments.extend(self.how.options.arguments());
        arguments.push(format!("--array=0-{last}"));
        arguments
    }

    /// How many tasks of the job wait or run.
    pub(crate) fn queue(&self) -> Result<SlurmQueue, RemoteError> {
        self.batch.queue(&self.jobs)
    }

    /// The error for a job that ended while this is missing.
    pub(crate) fn ended(&self, missing: String) -> RemoteError {
        RemoteError::Ended {
            job: self.numbers(),
            missing,
            said: self.folder.log_end(),
        }
    }

    /// Asks what becomes of the job, and does so.
    pub(crate) fn stopped(&self) -> Result<(), RemoteError> {
        match (self.how.on_stop)(&self.numbers()) {
            OnStop::Leave => Ok(()),
            OnStop::Cancel => self.cancel(),
        }
    }

    /// Cancels the job, and waits as long as that usually takes.
    pub(crate) fn cancel(&self) -> Result<(), RemoteError> {
        if self.jobs.is_empty() {
            return Ok(());
        }
        self.batch.cancel(&self.jobs)?;
        let begin = Instant::now();
        while begin.elapsed() < CANCELLED_AFTER && !self.queue()?.is_empty() {
            std::thread::sleep(LOOK);
        }
        Ok(())
    }

    /// Removes the folder unless the job still runs.
    pub(crate) fn end(&self) {
        if self.folder.path().exists() && self.found().is_ok_and(|jobs| jobs.is_empty()) {
            self.folder.remove();
        }
    }

    fn numbers(&self) -> String {
        self.jobs.join(", ")
    }
}

/// The script that each task of an array runs; `first` is the number of the array's first task among all.
fn script(cache: &Cache, executable: &Path, first: usize, words: &str) -> String {
    format!(
        "#!/bin/sh\nexport WORSTCASE_CACHE={}\ntask=$(({first} + SLURM_ARRAY_TASK_ID))\n{} {words}\n",
        word(&cache.path("", "")),
        word(executable),
    )
}

/// A path as a shell's word.
pub(crate) fn word(path: &Path) -> String {
    shell(&[path.display().to_string()])
}
