//! A command that can do the I-th of N shares of its work, done as N tasks. Results go to the shared cache, where the
//! controller finds them.

use super::array::{ASK_SLURM, JobArray, LOOK, SlurmUse, word};
use super::chunks::chunks;
use super::commands::Batch;
use super::job::Offsets;
use super::options::SlurmOptions;
use crate::RemoteError;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use worstcase_base::digest::Digest;
use worstcase_base::format::shell;
use worstcase_base::progress::Progress;

/// How late a shared file system may show that a task is done.
const SEEN_AFTER: Duration = Duration::from_secs(5);

/// The work that is divided into shares.
pub struct JobShares {
    /// The words of worstcase that come before `I/N`.
    pub command: Vec<String>,
    /// How many shares.
    pub count: usize,
    /// The memory of one task.
    pub memory_mb: u32,
}

/// The number of shares for so many cells.
pub fn count(cells: usize, options: &SlurmOptions) -> usize {
    chunks(&[cells], options.chunk).len()
}

/// Does all shares; gives false if the user stopped it, or for a dry run.
pub fn all<B: Batch>(
    shares: &JobShares,
    how: SlurmUse,
    batch: B,
    progress: &dyn Progress,
    stop: &AtomicBool,
) -> Result<bool, RemoteError> {
    // The command's paths may be relative, so tasks begin in this folder, and it is part of the id.
    let folder = std::env::current_dir().map_err(RemoteError::io("."))?;
    let mut id = Digest::new("worstcase-shares");
    id.text(&folder.display().to_string()).text(&shares.count.to_string());
    for word in &shares.command {
        id.text(word);
    }
    let mut array = JobArray::new(&id.hex(), how, batch);
    let submitting = array.submitting()?;
    if !array.is_submitted()? {
        submit(shares, &mut array, progress)?;
    }
    drop(submitting);
    if array.how.options.dry_run {
        return Ok(false);
    }
    let watched = watch(shares, &array, progress, stop);
    if watched.is_err() {
        // The caller reports the first error; tasks that cannot be cancelled end by themselves.
        let _ = array.cancel();
    }
    array.end();
    watched
}

fn submit<B: Batch>(shares: &JobShares, array: &mut JobArray<B>, progress: &dyn Progress) -> Result<(), RemoteError> {
    let most = array.most_tasks()?;
    let what = format!(
        "{} tasks, {} calls of sbatch",
        shares.count,
        shares.count.div_ceil(most)
    );
    if array.how.options.dry_run {
        (array.how.tell)(&what);
        return Ok(());
    }
    progress.state(&what);
    array.folder.begin_without_plan()?;
    let words = format!(
        "{} \"$((task + 1))/{}\" >/dev/null && echo \"$task\" >> {}/\"$task\"",
        shell(&shares.command),
        shares.count,
        word(&array.folder.done())
    );
    array.submit(&words, shares.count, most, shares.memory_mb)
}

/// Waits until all tasks have reported that they are done.
fn watch<B: Batch>(
    shares: &JobShares,
    array: &JobArray<B>,
    progress: &dyn Progress,
    stop: &AtomicBool,
) -> Result<bool, RemoteError> {
    let (mut read, mut done) = (Offsets::new(), BTreeSet::new());
    let (mut asked, mut over): (Option<Instant>, Option<Instant>) = (None, None);
    let mut queue = String::new();
    loop {
        done.extend(array.folder.done_since(&mut read));
        progress.state(&format!("{} of {} tasks done{queue}", done.len(), shares.count));
        if done.len() == shares.count {
            return Ok(true);
        }
        if stop.load(Ordering::Relaxed) {
            return array.stopped().map(|()| false);
        }
        if over.is_some_and(|since| since.elapsed() > SEEN_AFTER) {
            let missing = shares.count - done.len();
            return Err(array.ended(format!("{missing} of its {} tasks did not do their work", shares.count)));
        }
        if over.is_none() && asked.is_none_or(|last| last.elapsed() >= ASK_SLURM) {
            asked = Some(Instant::now());
            let waits = array.queue()?;
            queue = format!("; {}", waits.words());
            over = waits.is_empty().then(Instant::now);
        }
        std::thread::sleep(LOOK);
    }
}

#[cfg(test)]
mod tests {
    use super::super::SlurmQueue;
    use super::*;
    use std::fs::File;
    use std::io::Write;
    use std::path::Path;
    use std::sync::Mutex;
    use worstcase_base::cache::Cache;

    /// A batch system that does all tasks when they are submitted; without the last if `fails`.
    struct AtOnce<'a> {
        cache: &'a Path,
        fails: bool,
        scripts: &'a Mutex<Vec<String>>,
    }

    impl Batch for AtOnce<'_> {
        fn most_tasks(&self) -> Result<usize, RemoteError> {
            Ok(2)
        }

        fn submit(&self, arguments: &[String], script: &str) -> Result<String, RemoteError> {
            let mut scripts = self.scripts.lock().unwrap();
            scripts.push(format!("{}\n{script}", arguments.join(" ")));
            let jobs = std::fs::read_dir(self.cache.join("jobs")).unwrap();
            let folder = jobs.flatten().find(|job| job.path().is_dir()).unwrap().path();
            let first = (scripts.len() - 1) * 2;
            for task in first..(first + 2).min(if self.fails { 2 } else { 3 }) {
                let mut file = File::create(folder.join(format!("done/{task}"))).unwrap();
                writeln!(file, "{task}").unwrap();
            }
            Ok(scripts.len().to_string())
        }

        fn queue(&self, _: &[String]) -> Result<SlurmQueue, RemoteError> {
            Ok(SlurmQueue::default())
        }

        fn cancel(&self, _: &[String]) -> Result<(), RemoteError> {
            Ok(())
        }
    }

    fn done(fails: bool, options: &str, stopped: bool) -> (Result<bool, String>, Vec<String>) {
        let dir = tempfile::tempdir().unwrap();
        let (cache, scripts) = (Cache::at(dir.path()), Mutex::default());
        let how = SlurmUse {
            cache: &cache,
            options: SlurmOptions::parse(options).unwrap(),
            on_stop: &|_| super::super::OnStop::Leave,
            tell: &|_| {},
        };
        let shares = JobShares {
            command: vec!["census".into(), "a run".into(), "--share".into()],
            count: 3,
            memory_mb: 1024,
        };
        let batch = AtOnce {
            cache: dir.path(),
            fails,
            scripts: &scripts,
        };
        let done = all(
            &shares,
            how,
            batch,
            &worstcase_base::progress::Silent,
            &AtomicBool::new(stopped),
        )
        .map_err(|e| e.to_string());
        let left = std::fs::read_dir(dir.path().join("jobs"))
            .map_or(0, |jobs| jobs.filter(|j| j.as_ref().unwrap().path().is_dir()).count());
        assert_eq!(left, 0, "the folder goes");
        (done, scripts.into_inner().unwrap())
    }

    #[test]
    fn each_task_does_one_share() {
        let (done, scripts) = done(false, "partition=short", false);
        assert_eq!(done, Ok(true));
        assert_eq!(scripts.len(), 2);
        assert!(scripts[1].contains("--partition=short --array=0-0"), "{}", scripts[1]);
        assert!(
            scripts[1].contains("task=$((2 + SLURM_ARRAY_TASK_ID))"),
            "{}",
            scripts[1]
        );
        assert!(
            scripts[1].contains("census 'a run' --share \"$((task + 1))/3\""),
            "{}",
            scripts[1]
        );
    }

    #[test]
    fn what_is_not_done_when_all_has_ended_is_told() {
        let said = done(true, "", false).0.unwrap_err();
        assert!(said.contains("1 of its 3 tasks did not do their work"), "{said}");
        assert_eq!(done(true, "", true).0, Ok(false), "who wants an end gets it");
        let (done, scripts) = done(false, "dry-run", false);
        assert_eq!((done, scripts.len()), (Ok(false), 0));
    }
}
