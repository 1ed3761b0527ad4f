//! The I/O scheduler of the disk below a folder, set for one measurement through a journal.

use crate::{HostError, Journal};
use std::fs;
use std::path::{Path, PathBuf};
use worstcase_contract::bench::io::{Place, schedulers};
use worstcase_plan::IoScheduler;
use worstcase_results::record::WasSet;

/// Settings that the kernel resets when a scheduler is chosen, besides the scheduler's own.
const BEGUN_ANEW: [&str; 2] = ["nr_requests", "wbt_lat_usec"];

/// A disk's request queue in sysfs.
#[derive(Clone, Debug)]
pub(crate) struct RequestQueue(PathBuf);

impl RequestQueue {
    /// The queue of the disk that holds a folder.
    pub(crate) fn below(folder: &Path) -> Result<RequestQueue, HostError> {
        let place = Place::of(folder).map_err(|source| HostError::Read {
            path: folder.to_path_buf(),
            source,
        })?;
        let device = place.device.ok_or_else(|| {
            HostError::Missing(format!(
                "--io-scheduler: {} is a {}, which has no block device; choose a folder on a disk with --work-dir",
                folder.display(),
                place.file_system
            ))
        })?;
        Ok(RequestQueue(device.join("queue")))
    }

    /// Refuses a scheduler that the kernel does not offer for the disk, or that this user may not choose.
    pub fn check(&self, scheduler: &IoScheduler) -> Result<(), HostError> {
        let file = self.0.join("scheduler");
        let text = read(&file)?;
        let (_, offered) = schedulers(&text);
        if !offered.contains(&scheduler.name) && !is_module(&scheduler.name) {
            return Err(HostError::Missing(format!(
                "--io-scheduler: {} has no '{}', but {}, and this kernel has no module {}-iosched",
                file.display(),
                scheduler.name,
                offered.join(", "),
                scheduler.name
            )));
        }
        // Opening for writing changes nothing.
        fs::OpenOptions::new()
            .write(true)
            .open(&file)
            .map_err(|e| HostError::Missing(format!("--io-scheduler: {}: {e}; run as root", file.display())))?;
        Ok(())
    }

    /// Sets the scheduler until the journal is finished.
    pub(crate) fn hold(&self, journal: &mut Journal, scheduler: &IoScheduler) -> Result<(), HostError> {
        let iosched = self.0.join("iosched");
        let own = names(&iosched).into_iter().map(|name| iosched.join(name));
        let anew = BEGUN_ANEW.iter().map(|name| self.0.join(name));
        for path in own.chain(anew) {
            journal.keep(&path)?;
        }
        journal.set(&self.0.join("scheduler"), &scheduler.name)?;
        let offered = names(&iosched);
        for (name, value) in &scheduler.settings {
            if !offered.contains(name) {
                return Err(HostError::Missing(format!(
                    "--io-scheduler {scheduler}: {} has no setting '{name}' on this kernel; it has {}",
                    scheduler.name,
                    match offered.is_empty() {
                        true => "none".to_string(),
                        false => offered.join(", "),
                    }
                )));
            }
            journal.set(&iosched.join(name), value)?;
        }
        Ok(())
    }
}

/// Whether this kernel has the scheduler as a module, which it loads when the scheduler is chosen.
fn is_module(scheduler: &str) -> bool {
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    let aliases = fs::read_to_string(format!("/lib/modules/{release}/modules.alias")).unwrap_or_default();
    aliases
        .lines()
        .any(|line| line.starts_with(&format!("alias {scheduler}-iosched ")))
}

fn read(path: &Path) -> Result<String, HostError> {
    fs::read_to_string(path).map_err(|source| HostError::Read {
        path: path.to_path_buf(),
        source,
    })
}

/// The names in a folder of sysfs, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}

/// The setting, for a record.
pub(crate) fn was_set(scheduler: &IoScheduler) -> WasSet {
    WasSet {
        id: format!("io-scheduler={scheduler}"),
        made: 1 + scheduler.settings.len(),
        refused: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StateFolder;

    /// A disk with these schedulers.
    fn queue() -> (tempfile::TempDir, RequestQueue) {
        let dir = tempfile::tempdir().unwrap();
        let queue = dir.path().join("queue");
        fs::create_dir_all(queue.join("iosched")).unwrap();
        for (name, value) in [
            ("scheduler", "none [mq-deadline] bfq"),
            ("nr_requests", "64"),
            ("iosched/fifo_batch", "7"),
        ] {
            fs::write(queue.join(name), value).unwrap();
        }
        (dir, RequestQueue(queue))
    }

    fn read_of(queue: &RequestQueue, name: &str) -> String {
        fs::read_to_string(queue.0.join(name)).unwrap()
    }

    #[test]
    fn what_changes_with_the_scheduler_is_set_back_too() {
        let (dir, queue) = queue();
        let state = StateFolder::at(&dir.path().join("state")).unwrap();
        let mut journal = Journal::begin(&state, "test").unwrap();
        queue.hold(&mut journal, &"bfq{fifo_batch=3}".parse().unwrap()).unwrap();
        assert_eq!(
            (read_of(&queue, "scheduler"), read_of(&queue, "iosched/fifo_batch")),
            ("bfq".into(), "3".into())
        );
        // The kernel does this for a new scheduler.
        fs::write(queue.0.join("nr_requests"), "256").unwrap();
        journal.finish().unwrap();
        let now = ["scheduler", "nr_requests", "iosched/fifo_batch"].map(|name| read_of(&queue, name));
        assert_eq!(now, ["mq-deadline", "64", "7"]);
    }

    #[test]
    fn what_a_disk_does_not_have_is_refused_by_name() {
        let (dir, queue) = queue();
        let said = queue.check(&"cfq".parse().unwrap()).unwrap_err().to_string();
        assert!(said.contains("has no 'cfq', but none, mq-deadline, bfq"), "{said}");
        let state = StateFolder::at(&dir.path().join("state")).unwrap();
        let mut journal = Journal::begin(&state, "test").unwrap();
        let held = queue.hold(&mut journal, &"bfq{slice_idle=0}".parse().unwrap());
        let said = held.unwrap_err().to_string();
        assert!(
            said.contains("bfq has no setting 'slice_idle' on this kernel; it has fifo_batch"),
            "{said}"
        );
        journal.finish().unwrap();
        assert_eq!(read_of(&queue, "scheduler"), "mq-deadline");
    }
}
