//! The folder that controller and nodes share, in the cache:
//!
//! ```text
//! jobs/<id>/plan.json           all cells and tasks; written before anything is submitted, never changed
//!           <subject>.initrd    the image of each subject
//!           <kernel>.bzimage    each kernel
//!           submitted           the numbers of the jobs, a line each
//!           done/<task>         a line for each cell that the task has measured: its key
//!           failed/<key>.json   what a cell failed with
//!           log                 what tasks said
//! ```
//! A task that runs again goes on with the same files. They only say where to look: only the cache says whether a cell is
//! measured.

use crate::RemoteError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use worstcase_base::cache::Cache;
use worstcase_base::files;
use worstcase_lab::parcel::Parcel;

/// Where they are in the cache.
pub(crate) const AREA: &str = "jobs";
const PLAN: &str = "plan.json";
const SUBMITTED: &str = "submitted";
const DONE: &str = "done";
const FAILED: &str = "failed";
/// What tasks printed.
pub(crate) const LOG: &str = "log";

/// The form of plan.json.
pub(crate) const SCHEMA: &str = "worstcase-job/1";

/// The plan of what nodes measure.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct JobPlan {
    /// Always [`SCHEMA`].
    pub(crate) schema: String,
    /// Real time for one machine, in seconds, if it is bounded.
    pub(crate) limit_s: Option<u64>,
    /// The QEMU to use, if it is named.
    pub(crate) qemu: Option<PathBuf>,
    /// Every subject once.
    pub(crate) subjects: Vec<JobSubject>,
    /// The cells, in the order of their subjects.
    pub(crate) cells: Vec<JobCell>,
    /// The cells of each task.
    pub(crate) tasks: Vec<Range<usize>>,
}

/// A subject, and where its kernel is.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct JobSubject {
    /// The subject.
    pub(crate) parcel: Parcel,
    /// The name of the kernel's file in the folder.
    pub(crate) bzimage: String,
}

/// A cell.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct JobCell {
    /// The index of its subject.
    pub(crate) subject: usize,
    /// What is measured.
    pub(crate) spec: String,
    /// The key of the result.
    pub(crate) key: String,
}

/// The error of a cell that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CellFailure {
    /// The machine.
    pub(crate) machine: String,
    /// The error's text.
    pub(crate) message: String,
    /// The exit code that stands for the error.
    pub(crate) exit: u8,
}

/// The folder.
#[derive(Clone, Debug)]
pub(crate) struct JobFolder {
    cache: Cache,
    path: PathBuf,
}

/// How far each file of [`DONE`] has been read.
pub(crate) type Offsets = BTreeMap<std::ffi::OsString, u64>;

impl JobFolder {
    /// The folder of this id.
    pub(crate) fn of(cache: &Cache, id: &str) -> JobFolder {
        JobFolder {
            path: cache.path(AREA, id),
            cache: cache.clone(),
        }
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// An image's file.
    pub(crate) fn initrd(&self, subject: &str) -> PathBuf {
        self.path.join(format!("{subject}.initrd"))
    }

    /// The folder in which tasks report: one file for each, named by its number.
    pub(crate) fn done(&self) -> PathBuf {
        self.path.join(DONE)
    }

    /// Begins anew, for a caller whose tasks need no plan.
    pub(crate) fn begin_without_plan(&self) -> Result<(), RemoteError> {
        for name in [DONE, FAILED] {
            let folder = self.path.join(name);
            let _ = fs::remove_dir_all(&folder);
            fs::create_dir_all(&folder).map_err(RemoteError::io(&folder))?;
        }
        Ok(())
    }

    /// Begins anew with this plan; the caller has written images and kernels before.
    pub(crate) fn begin(&self, plan: &JobPlan) -> Result<u64, RemoteError> {
        self.begin_without_plan()?;
        let json = serde_json::to_vec(plan).expect("a plan is plain data");
        self.cache.write_file(&self.path.join(PLAN), &json)?;
        Ok(json.len() as u64)
    }

    /// Makes the folder.
    pub(crate) fn create(&self) -> Result<(), RemoteError> {
        fs::create_dir_all(&self.path).map_err(RemoteError::io(&self.path))
    }

    /// Reads the plan, on a node.
    pub(crate) fn plan(folder: &Path) -> Result<JobPlan, RemoteError> {
        let path = folder.join(PLAN);
        let wrong = |reason: String| RemoteError::File {
            path: path.clone(),
            reason,
        };
        let json = files::read(&path).map_err(|e| wrong(e.to_string()))?;
        let plan: JobPlan = serde_json::from_slice(&json).map_err(|e| wrong(e.to_string()))?;
        match plan.schema == SCHEMA {
            true => Ok(plan),
            false => Err(wrong(format!(
                "it is {}, and this worstcase reads {SCHEMA}",
                plan.schema
            ))),
        }
    }

    /// The numbers of the jobs that were submitted for it.
    pub(crate) fn submitted(&self) -> Vec<String> {
        let text = files::read_to_string(&self.path.join(SUBMITTED)).unwrap_or_default();
        text.lines().map(str::to_string).collect()
    }

    /// Keeps the numbers of submitted jobs.
    pub(crate) fn submit(&self, jobs: &[String]) -> Result<(), RemoteError> {
        Ok(self
            .cache
            .write_file(&self.path.join(SUBMITTED), jobs.join("\n").as_bytes())?)
    }

    /// On a node: reports that a cell is in the cache. An error is ignored: the controller may be gone.
    pub(crate) fn tell_done(folder: &Path, task: usize, key: &str) {
        let file = File::options()
            .create(true)
            .append(true)
            .open(folder.join(DONE).join(task.to_string()));
        let _ = file.and_then(|mut file| file.write_all(format!("{key}\n").as_bytes()));
    }

    /// On a node: reports that a cell failed.
    pub(crate) fn tell_failure(folder: &Path, key: &str, failure: &CellFailure) -> Result<(), RemoteError> {
        let path = folder.join(FAILED).join(format!("{key}.json"));
        let write = || -> std::io::Result<()> {
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            file.write_all(&serde_json::to_vec(failure)?)?;
            file.persist(&path)?;
            Ok(())
        };
        write().map_err(RemoteError::io(&path))
    }

    /// The keys that nodes have reported since the last call.
    pub(crate) fn done_since(&self, read: &mut Offsets) -> Vec<String> {
        let mut keys = Vec::new();
        for entry in fs::read_dir(self.done()).into_iter().flatten().flatten() {
            let from = read.entry(entry.file_name()).or_default();
            let mut text = String::new();
            let lines = File::open(entry.path()).and_then(|mut file| {
                file.seek(SeekFrom::Start(*from))?;
                file.read_to_string(&mut text)
            });
            // The last line may be incomplete: it is read the next time.
            if let (Ok(_), Some(end)) = (lines, text.rfind('\n')) {
                *from += end as u64 + 1;
                keys.extend(text[..end].lines().map(str::to_string));
            }
        }
        keys
    }

    /// The first failure that was reported, and the key of its cell.
    pub(crate) fn failure(&self) -> Option<(String, CellFailure)> {
        let entries = fs::read_dir(self.path.join(FAILED)).ok()?.flatten();
        let mut found = entries.filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let failure = serde_json::from_slice(&files::read(&entry.path()).ok()?).ok()?;
            Some((name.strip_suffix(".json")?.to_string(), failure))
        });
        found.next()
    }

    /// The last lines that tasks printed.
    pub(crate) fn log_end(&self) -> String {
        let text = files::read(&self.path.join(LOG)).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().collect();
        match &lines[lines.len().saturating_sub(3)..] {
            [] => "Its log is empty".into(),
            last => format!("Its log ends: {}", last.join(" / ")),
        }
    }

    /// Removes the folder.
    pub(crate) fn remove(&self) {
        // Best effort: a leftover costs space, and the next run with these cells removes it.
        let _ = fs::remove_dir_all(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_done_is_read_once_and_only_when_it_is_whole() {
        let dir = tempfile::tempdir().unwrap();
        let folder = JobFolder::of(&Cache::at(dir.path()), "x");
        let mut read = Offsets::new();
        fs::create_dir_all(folder.path().join(DONE)).unwrap();
        JobFolder::tell_done(folder.path(), 0, "aa");
        JobFolder::tell_done(folder.path(), 3, "bb");
        let torn = folder.path().join("done/3");
        File::options()
            .append(true)
            .open(&torn)
            .unwrap()
            .write_all(b"c")
            .unwrap();
        let mut keys = folder.done_since(&mut read);
        keys.sort();
        assert_eq!(keys, ["aa", "bb"]);
        File::options()
            .append(true)
            .open(&torn)
            .unwrap()
            .write_all(b"c\n")
            .unwrap();
        assert_eq!(folder.done_since(&mut read), ["cc"]);
        assert!(folder.done_since(&mut read).is_empty());
    }

    #[test]
    fn a_failure_names_its_cell() {
        let dir = tempfile::tempdir().unwrap();
        let folder = JobFolder::of(&Cache::at(dir.path()), "x");
        fs::create_dir_all(folder.path().join(FAILED)).unwrap();
        assert_eq!(folder.failure(), None);
        let failure = CellFailure {
            machine: "n1".into(),
            message: "it panicked".into(),
            exit: 4,
        };
        JobFolder::tell_failure(folder.path(), "aa", &failure).unwrap();
        assert_eq!(folder.failure(), Some(("aa".into(), failure)));
    }
}
