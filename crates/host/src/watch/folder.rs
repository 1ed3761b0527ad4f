//! A watch folder: `watch.json`, and a run folder for each segment.

use super::file::{SCHEMA, WATCH_FILE, WatchFile};
use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use worstcase_base::Exit;
use worstcase_base::lock::Lock;
use worstcase_base::trust::{self, Others};
use worstcase_base::utc::Utc;
use worstcase_plan::Experiment;
use worstcase_results::record::run::RUN_FILE;
use worstcase_results::record::{Run, RunError, RunPlan, folder};

/// A segment that is being removed.
const REMOVING: &str = ".removing-";

/// Why a watch folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// A watch is there, and nobody asked to go on with it.
    #[error("{} holds a watch already; choose another folder, or add --resume to go on with it", .0.display())]
    Begun(PathBuf),
    /// Something else is there.
    #[error("{} holds something else than a watch; choose another folder", .0.display())]
    NotEmpty(PathBuf),
    /// Another process writes it.
    #[error("another worstcase is watching into {}; end it first, or choose another folder", .0.display())]
    Busy(PathBuf),
    /// Root would write through what somebody else put there.
    #[error(
        "root does not watch into a folder of others: {0}; choose a folder that is not there yet, or set WORSTCASE_TRUST_OTHERS=1 where nobody else is"
    )]
    NotOurs(Others),
    /// It watches something else.
    #[error("{} watches something else, which differs in its {difference}; choose another folder", dir.display())]
    Another {
        /// The folder.
        dir: PathBuf,
        /// The field that differs, and its values there and here.
        difference: String,
    },
    /// Written by another version.
    #[error("{} was written by another version of worstcase ({what}; this one reads '{SCHEMA}'); go on with that one, or watch into another folder", file.display())]
    Form {
        /// The file.
        file: PathBuf,
        /// Why not.
        what: String,
    },
    /// The system refused.
    #[error("cannot {action} {}: {cause}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// The system's words.
        cause: io::Error,
    },
}

impl WatchError {
    /// What a script needs to know of it.
    pub fn exit(&self) -> Exit {
        match self {
            WatchError::Busy(_) | WatchError::Io { .. } => Exit::Storage,
            _ => Exit::Usage,
        }
    }
}

fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> WatchError {
    move |cause| WatchError::Io {
        action,
        path: path.to_path_buf(),
        cause,
    }
}

/// The folder, held by this process.
#[derive(Debug)]
pub struct WatchFolder {
    dir: PathBuf,
    _lock: Lock,
}

impl WatchFolder {
    /// Takes the folder, which is made if it is not there; with it what was watched there.
    pub fn open(dir: &Path, resume: bool) -> Result<(WatchFolder, Option<WatchFile>), WatchError> {
        if let Some(others) = trust::others_in_output(dir).map_err(failed("look at", dir))? {
            return Err(WatchError::NotOurs(others));
        }
        let occupied = fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_some());
        let is_watch = dir.join(WATCH_FILE).exists();
        match (occupied, is_watch, resume) {
            (_, true, false) => return Err(WatchError::Begun(dir.to_path_buf())),
            (true, false, _) if !only_leftovers(dir) => return Err(WatchError::NotEmpty(dir.to_path_buf())),
            _ => {}
        }
        fs::create_dir_all(dir).map_err(failed("create", dir))?;
        let lock = Lock::try_open(dir).map_err(failed("lock", dir))?;
        let lock = lock.ok_or_else(|| WatchError::Busy(dir.to_path_buf()))?;
        let there = is_watch.then(|| read(&dir.join(WATCH_FILE))).transpose()?;
        let folder = WatchFolder {
            dir: dir.to_path_buf(),
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
        let write = || {
            let mut temporary = tempfile::Builder::new()
                .prefix(folder::WRITING)
                .permissions(Permissions::from_mode(0o666))
                .tempfile_in(&self.dir)?;
            temporary.write_all(&json)?;
            temporary.as_file().sync_all()?;
            temporary.persist(&path)?;
            File::open(&self.dir)?.sync_all()
        };
        write().map_err(failed("write", &path))
    }

    /// Begins a segment's run.
    pub fn begin(&self, began: Utc, plan: RunPlan) -> Result<Run, RunError> {
        let name = began.to_the_second();
        let numbered = (2..).map(|n| format!("{name}-{n}"));
        let mut places = [name.clone()]
            .into_iter()
            .chain(numbered)
            .map(|name| self.dir.join(name));
        let place = places
            .find(|place| !place.exists())
            .expect("there is no end of numbers");
        Run::create(&place, plan)
    }

    /// The segments' folders, the oldest first.
    pub fn segments(&self) -> Result<Vec<PathBuf>, WatchError> {
        let mut segments: Vec<PathBuf> = self.names()?.into_iter().filter(|p| is_segment(p)).collect();
        segments.sort();
        Ok(segments)
    }

    /// When the newest record ends that can be read. What a killed writer left in its segment is removed.
    pub fn last(&self) -> Result<Option<Utc>, WatchError> {
        let end_of = |segment: &PathBuf| {
            let plan = Run::open(segment).ok()?.plan().clone();
            let records = Run::create(segment, plan).ok()?.records().ok()?;
            records.iter().filter_map(|r| Some(r.origin.as_ref()?.ended)).max()
        };
        Ok(self.segments()?.iter().rev().find_map(end_of))
    }

    /// Removes the oldest segments until there are `keep`; how many.
    pub fn thin(&self, keep: u64) -> Result<usize, WatchError> {
        let segments = self.segments()?;
        let surplus = segments
            .len()
            .saturating_sub(usize::try_from(keep).unwrap_or(usize::MAX));
        for segment in &segments[..surplus] {
            let away = self.dir.join(format!("{REMOVING}{}", name(segment)));
            // First out of sight: a segment is there whole or not at all.
            fs::rename(segment, &away).map_err(failed("remove", segment))?;
            fs::remove_dir_all(&away).map_err(failed("remove", &away))?;
        }
        Ok(surplus)
    }

    fn names(&self) -> Result<Vec<PathBuf>, WatchError> {
        let entries = fs::read_dir(&self.dir).map_err(failed("read", &self.dir))?;
        Ok(entries.flatten().map(|entry| entry.path()).collect())
    }

    fn remove_leftovers(&self) -> Result<(), WatchError> {
        for path in self.names()?.iter().filter(|path| is_leftover(path)) {
            let removed = match path.is_dir() {
                true => fs::remove_dir_all(path),
                false => fs::remove_file(path),
            };
            removed.map_err(failed("remove", path))?;
        }
        Ok(())
    }
}

impl WatchFile {
    /// An error if another experiment is to go on with this watch. How long its segments are does not matter.
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

fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

fn is_leftover(path: &Path) -> bool {
    [folder::WRITING, REMOVING]
        .iter()
        .any(|prefix| name(path).starts_with(prefix))
}

/// A run whose name is the time of its begin.
fn is_segment(path: &Path) -> bool {
    let mut parts = name(path).split('-');
    let mut digits = |count| {
        parts
            .next()
            .is_some_and(|p| p.len() == count && p.bytes().all(|b| b.is_ascii_digit()))
    };
    digits(8) && digits(6) && path.join(RUN_FILE).exists()
}

/// Somebody was killed before the first `watch.json`.
fn only_leftovers(dir: &Path) -> bool {
    fs::read_dir(dir).is_ok_and(|entries| entries.flatten().all(|entry| is_leftover(&entry.path())))
}

fn read(path: &Path) -> Result<WatchFile, WatchError> {
    let form = |what: String| WatchError::Form {
        file: path.to_path_buf(),
        what,
    };
    let json = worstcase_base::files::read(path).map_err(failed("read", path))?;
    let file: WatchFile = serde_json::from_slice(&json).map_err(|e| form(e.to_string()))?;
    match file.schema == SCHEMA {
        true => Ok(file),
        false => Err(form(format!("it is '{}'", file.schema.escape_debug()))),
    }
}
