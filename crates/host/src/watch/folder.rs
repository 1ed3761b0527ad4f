//! A watch folder: `watch.json`, and a run folder for each segment.

use super::file::{SCHEMA, WATCH_FILE, WatchFile};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use worstcase_base::format::without_types;
use worstcase_base::lock::FileLock;
use worstcase_base::output::{self, OutputFolder};
use worstcase_base::trust::OtherWriters;
use worstcase_base::utc::Utc;
use worstcase_plan::Experiment;
use worstcase_results::record::folder::RUN_FILE;
use worstcase_results::record::{Run, RunError, RunPlan, folder};

/// Prefix of a segment that is being removed.
const REMOVING: &str = ".removing-";

worstcase_base::errors! {
    /// Why a watch folder cannot be used.
    #[derive(Debug, thiserror::Error)]
    pub enum WatchError {
        /// The folder holds a watch, and the user did not ask to continue it.
        #[error("{} holds a watch already; choose another folder, or add --resume to go on with it", .0.display())]
        Begun(PathBuf) => Usage,
        /// The folder holds something else.
        #[error("{} holds something else than a watch; choose another folder", .0.display())]
        NotEmpty(PathBuf) => Usage,
        /// Another process writes to the folder.
        #[error("another worstcase is watching into {}; end it first, or choose another folder", .0.display())]
        Busy(PathBuf) => Storage,
        /// Root would write through names that another user controls.
        #[error(
            "root does not watch into a folder of others: {0}; choose a folder that is not there yet, or set WORSTCASE_TRUST_OTHERS=1 where nobody else is"
        )]
        NotOurs(OtherWriters) => Usage,
        /// The folder holds another watch.
        #[error("{} watches something else, which differs in its {difference}; choose another folder", dir.display())]
        Another {
            /// The folder.
            dir: PathBuf,
            /// The field that differs, and its values there and here.
            difference: String,
        } => Usage,
        /// Another version of worstcase wrote it.
        #[error("{} was written by another version of worstcase ({what}; this one reads '{SCHEMA}'); go on with that one, or watch into another folder", file.display())]
        Form {
            /// The file.
            file: PathBuf,
            /// Why it cannot be used.
            what: String,
        } => Usage,
        /// A system call failed.
        #[error("cannot {action} {}: {cause}", path.display())]
        Io {
            /// What was tried.
            action: &'static str,
            /// The path.
            path: PathBuf,
            /// The system's words.
            cause: io::Error,
        } => Storage,
    }
}

fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> WatchError {
    move |cause| WatchError::Io {
        action,
        path: path.to_path_buf(),
        cause,
    }
}

/// A watch folder, locked by this process.
#[derive(Debug)]
pub(crate) struct WatchFolder {
    /// The path that the user gave.
    dir: PathBuf,
    folder: OutputFolder,
    /// The folder through its descriptor, even if it is renamed.
    at: PathBuf,
    _lock: FileLock,
}

impl WatchFolder {
    /// Opens and locks the folder, and makes it if it is missing; also gives the watch that it holds.
    pub(crate) fn open(dir: &Path, resume: bool) -> Result<(WatchFolder, Option<WatchFile>), WatchError> {
        let is_there = dir.exists();
        let folder = OutputFolder::create(dir).map_err(failed(if is_there { "open" } else { "create" }, dir))?;
        if let Some(others) = output::others_in(&folder, dir).map_err(failed("look at", dir))? {
            return Err(WatchError::NotOurs(others));
        }
        let at = folder.held().map_err(failed("open", dir))?;
        let occupied = fs::read_dir(&at).is_ok_and(|mut entries| entries.next().is_some());
        let is_watch = at.join(WATCH_FILE).exists();
        match (occupied, is_watch, resume) {
            (_, true, false) => return Err(WatchError::Begun(dir.to_path_buf())),
            (true, false, _) if !only_leftovers(&at) => return Err(WatchError::NotEmpty(dir.to_path_buf())),
            _ => {}
        }
        let lock = FileLock::try_open(&at).map_err(failed("lock", dir))?;
        let lock = lock.ok_or_else(|| WatchError::Busy(dir.to_path_buf()))?;
        let watched = || read(&at.join(WATCH_FILE), &dir.join(WATCH_FILE));
        let there = is_watch.then(watched).transpose()?;
        let folder = WatchFolder {
            dir: dir.to_path_buf(),
            folder,
            at,
            _lock: lock,
        };
        folder.remove_leftovers()?;
        Ok((folder, there))
    }

    /// Its path.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Writes `watch.json`, in one step.
    pub fn write(&self, file: &WatchFile) -> Result<(), WatchError> {
        let path = self.dir.join(WATCH_FILE);
        let mut json = serde_json::to_vec_pretty(file).expect("plain values are serialised");
        json.push(b'\n');
        let written = self.folder.write_synced(WATCH_FILE, &json);
        written.map_err(failed("write", &path))
    }

    /// Begins a segment's run.
    pub fn begin(&self, began: Utc, plan: RunPlan) -> Result<Run, RunError> {
        let name = began.to_the_second();
        let numbered = (2..).map(|n| format!("{name}-{n}"));
        let mut names = [name.clone()].into_iter().chain(numbered);
        let name = names
            .find(|name| !self.at.join(name).exists())
            .expect("there is no end of numbers");
        self.run(&name, plan)
    }

    fn run(&self, name: &str, plan: RunPlan) -> Result<Run, RunError> {
        Run::create_in((&self.folder, name.as_ref()), &self.dir.join(name), plan)
    }

    /// The segments' names, the oldest first.
    pub fn segments(&self) -> Result<Vec<String>, WatchError> {
        let names = self.names()?.into_iter();
        let mut segments: Vec<String> = names.filter(|name| is_segment(&self.at, name)).collect();
        segments.sort();
        Ok(segments)
    }

    /// The end of the newest readable record. Leftovers of a killed writer are removed from its segment.
    pub fn last(&self) -> Result<Option<Utc>, WatchError> {
        let end_of = |segment: &String| {
            let plan = Run::open(&self.at.join(segment)).ok()?.plan().clone();
            let records = self.run(segment, plan).ok()?.records().ok()?;
            records.iter().filter_map(|r| Some(r.origin.as_ref()?.ended)).max()
        };
        Ok(self.segments()?.iter().rev().find_map(end_of))
    }

    /// Removes the oldest segments until `keep` are left; gives the number removed.
    pub fn thin(&self, keep: u64) -> Result<usize, WatchError> {
        let segments = self.segments()?;
        let surplus = segments
            .len()
            .saturating_sub(usize::try_from(keep).unwrap_or(usize::MAX));
        for segment in &segments[..surplus] {
            let away = self.at.join(format!("{REMOVING}{segment}"));
            // Renamed first, so that a segment is there whole or not at all.
            let renamed = fs::rename(self.at.join(segment), &away);
            let removed = renamed.and_then(|()| fs::remove_dir_all(&away));
            removed.map_err(failed("remove", &self.dir.join(segment)))?;
        }
        Ok(surplus)
    }

    fn names(&self) -> Result<Vec<String>, WatchError> {
        let entries = fs::read_dir(&self.at).map_err(failed("read", &self.dir))?;
        let names = entries.flatten().map(|entry| entry.file_name().into_string());
        Ok(names.filter_map(Result::ok).collect())
    }

    fn remove_leftovers(&self) -> Result<(), WatchError> {
        for name in self.names()?.iter().filter(|name| is_leftover(name)) {
            let path = self.at.join(name);
            let removed = match path.is_dir() {
                true => fs::remove_dir_all(path),
                false => fs::remove_file(path),
            };
            removed.map_err(failed("remove", &self.dir.join(name)))?;
        }
        Ok(())
    }
}

impl WatchFile {
    /// An error if another experiment would continue this watch. The length of segments may differ.
    pub(super) fn check_same(&self, here: &Experiment, dir: &Path) -> Result<(), WatchError> {
        let of_any_length = |experiment: &Experiment| {
            let mut experiment = experiment.clone();
            experiment.parts.iter_mut().for_each(|part| part.timing.length = None);
            experiment
        };
        match of_any_length(&self.experiment).difference(&of_any_length(here)) {
            None => Ok(()),
            Some(difference) => Err(WatchError::Another {
                dir: dir.to_path_buf(),
                difference: difference.to_string(),
            }),
        }
    }
}

fn is_leftover(name: &str) -> bool {
    [folder::WRITING, REMOVING, output::UNFINISHED]
        .iter()
        .any(|prefix| name.starts_with(prefix))
}

/// Whether this is a segment: a run whose name is the time of its begin.
fn is_segment(dir: &Path, name: &str) -> bool {
    let mut parts = name.split('-');
    let mut digits = |count| {
        parts
            .next()
            .is_some_and(|p| p.len() == count && p.bytes().all(|b| b.is_ascii_digit()))
    };
    digits(8) && digits(6) && dir.join(name).join(RUN_FILE).exists()
}

/// Whether only leftovers are there: a process was killed before the first `watch.json`.
fn only_leftovers(dir: &Path) -> bool {
    let is_left = |entry: fs::DirEntry| entry.file_name().to_str().is_some_and(is_leftover);
    fs::read_dir(dir).is_ok_and(|entries| entries.flatten().all(is_left))
}

/// Reads the file at `path`; `shown` is its name in messages.
fn read(path: &Path, shown: &Path) -> Result<WatchFile, WatchError> {
    let form = |what: String| WatchError::Form {
        file: shown.to_path_buf(),
        what,
    };
    let json = worstcase_base::files::read(path).map_err(failed("read", shown))?;
    let file: WatchFile = serde_json::from_slice(&json).map_err(|e| form(without_types(&e.to_string())))?;
    match file.schema == SCHEMA {
        true => Ok(file),
        false => Err(form(format!("it is '{}'", file.schema.escape_debug()))),
    }
}
