//! What is submitted as job arrays: found again by its folder, cancelled when the user wants it, and removed when it is done.

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

/// How often it is looked whether a cancelled job has ended, and for what tasks tell: a listing of one folder.
pub const LOOK: Duration = Duration::from_millis(500);
/// How often Slurm is asked.
pub const ASK_SLURM: Duration = Duration::from_secs(10);
/// How long Slurm is waited for when a job is cancelled.
const CANCELLED_AFTER: Duration = Duration::from_secs(10);

/// What becomes of a job whose controller is asked to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnStop {
    /// It is cancelled.
    Cancel,
    /// It goes on.
    Leave,
}

/// How Slurm is used, and whom to ask and tell.
pub struct SlurmUse<'a> {
    /// The cache, which all nodes share.
    pub cache: &'a Cache,
    /// What stands behind `slurm:`.
    pub options: SlurmOptions,
    /// Asked when the user wants an end.
    pub on_stop: &'a (dyn Fn(&str) -> OnStop + Sync),
    /// Told what is worth a line.
    pub tell: &'a (dyn Fn(&str) + Sync),
}

/// One or more arrays with one folder.
pub struct JobArray<'a, B: Batch> {
    /// How.
    pub how: SlurmUse<'a>,
    /// What controller and nodes share.
    pub folder: JobFolder,
    batch: B,
    /// The jobs that are submitted.
    jobs: Vec<String>,
}

impl<'a, B: Batch> JobArray<'a, B> {
    /// Of the work with this id; a plan of it has a folder of its own.
    pub fn new(id: &str, how: SlurmUse<'a>, batch: B) -> JobArray<'a, B> {
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

    /// Held while it is looked for jobs and others are submitted: two controllers with the same work submit it once.
    pub fn submitting(&self) -> Result<FileLock, RemoteError> {
        Ok(self.how.cache.lock(AREA, "submitting")?)
    }

    /// Whether a controller that is gone, or that is at it now, submitted it, and it still runs; that is told.
    pub fn is_submitted(&mut self) -> Result<bool, RemoteError> {
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
    pub fn most_tasks(&self) -> Result<usize, RemoteError> {
        match self.how.options.dry_run {
            // A plan can be made where no Slurm is.
            true => Ok(self.batch.most_tasks().unwrap_or(USUAL_ARRAY)),
            false => self.batch.most_tasks(),
        }
    }

    /// Submits so many tasks: each executes worstcase with these words of a shell, in which `$task` is its number.
    pub fn submit(&mut self, words: &str, tasks: usize, most: usize, memory_mb: u32) -> Result<(), RemoteError> {
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

    /// What of it waits or runs.
    pub fn queue(&self) -> Result<SlurmQueue, RemoteError> {
        self.batch.queue(&self.jobs)
    }

    /// The error that it has ended, and this is missing.
    pub fn ended(&self, missing: String) -> RemoteError {
        RemoteError::Ended {
            job: self.numbers(),
            missing,
            said: self.folder.log_end(),
        }
    }

    /// Asks what becomes of it, and does so.
    pub fn stopped(&self) -> Result<(), RemoteError> {
        match (self.how.on_stop)(&self.numbers()) {
            OnStop::Leave => Ok(()),
            OnStop::Cancel => self.cancel(),
        }
    }

    /// Ends it, and waits for that as long as it usually takes.
    pub fn cancel(&self) -> Result<(), RemoteError> {
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

    /// Removes its folder unless it still runs.
    pub fn end(&self) {
        if self.folder.path().exists() && self.found().is_ok_and(|jobs| jobs.is_empty()) {
            self.folder.remove();
        }
    }

    fn numbers(&self) -> String {
        self.jobs.join(", ")
    }
}

/// What each task of an array executes, whose first is the task `first` of all.
fn script(cache: &Cache, executable: &Path, first: usize, words: &str) -> String {
    format!(
        "#!/bin/sh\nexport WORSTCASE_CACHE={}\ntask=$(({first} + SLURM_ARRAY_TASK_ID))\n{} {words}\n",
        word(&cache.path("", "")),
        word(executable),
    )
}

/// A path as a shell's word.
pub fn word(path: &Path) -> String {
    shell(&[path.display().to_string()])
}
