//! The run folder: the plan, and a folder for each cell that was measured.
//!
//! ```text
//! RUN/run.json, SHA256SUMS                                    the plan, never changed
//! RUN/explanations.json                                       what was explained when its study had ended, if anything was
//! RUN/cells/<id>/record.json, samples.parquet, SHA256SUMS     appears whole; those of one measurement appear together
//! RUN/aside/<id>                                              kept cells of a measurement that had to be made again
//! ```

use super::explanations::{self, ExplanationsFile, RunExplanations};
use super::folder::{self, FolderError, RUN_FILE, io_error};
use super::group::{self, CellsBeingWritten};
use super::plan::{self, CellEntry, RunPlan};
use super::{CellId, CellResult, Record, SampleRow};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use worstcase_base::lock::FileLock;
use worstcase_base::near;
use worstcase_base::output::{self, FolderPlace, MissingFolders, OutputFolder};
use worstcase_base::trust::OtherWriters;

/// Name of the folder of its cells.
pub(crate) const CELLS_DIR: &str = "cells";
const ASIDE_DIR: &str = "aside";

/// A run folder.
#[derive(Debug)]
pub struct Run {
    /// The folder as the user named it.
    dir: PathBuf,
    /// The folder in which files are read and written: `dir`, or the folder that [`Writing`] holds.
    at: PathBuf,
    plan: RunPlan,
    writing: Option<Writing>,
}

/// Kept while cells may be written.
#[derive(Debug)]
struct Writing {
    /// Keeps the folder, even if its name changes.
    _folder: OutputFolder,
    /// Two writers never meet.
    _lock: FileLock,
}

worstcase_base::errors! {
    /// Why a run folder cannot be made, read or written.
    #[derive(Debug, thiserror::Error)]
    pub enum RunError {
        /// A folder of it cannot be written, or is damaged.
        #[error(transparent)]
        Folder(#[from] FolderError) => within,
        /// The folder is no run.
        #[error("{} is not a run: it has no {RUN_FILE}; name the folder that a run was written to", .0.display().to_string().escape_debug())]
        NotARun(PathBuf) => Usage,
        /// A folder of runs.
        #[error("{} is not a run, but holds some, the last is {}; name one of them, or all with `worstcase history`",
            .0.display().to_string().escape_debug(), .1.display().to_string().escape_debug())]
        Runs(PathBuf, PathBuf) => Usage,
        /// Root would write through files that another user put there.
        #[error(
            "root does not write a run into a folder of others: {0}; choose a folder that is not there yet, or set WORSTCASE_TRUST_OTHERS=1 where nobody else is"
        )]
        NotOurs(OtherWriters) => Usage,
        /// Something else is there.
        #[error("{} holds something else than a run; choose another folder for the run", .0.display())]
        NotEmpty(PathBuf) => Usage,
        /// Another run is there.
        #[error("{} holds another run, which differs in its {difference}; choose another folder", dir.display())]
        AnotherRun {
            /// The folder.
            dir: PathBuf,
            /// The field that differs, and its values there and here.
            difference: String,
        } => Usage,
        /// Another subject by the same name has been measured there.
        #[error("{} was begun with another subject: {what}; choose another folder", dir.display())]
        AnotherSubject {
            /// The folder.
            dir: PathBuf,
            /// The difference.
            what: String,
        } => Usage,
        /// The folder has a run, and the command did not ask to go on with it.
        #[error("{} holds a run already; choose another folder, or add --resume to measure what it lacks", .0.display())]
        Begun(PathBuf) => Usage,
        /// The folder has a run, and the command cannot go on with one.
        #[error("{} holds a run already: name another folder with --output", .0.display())]
        Taken(PathBuf) => Usage,
        /// The folder has no run to go on with.
        #[error("{} holds no run to go on with; leave --resume out to begin one", .0.display())]
        NotBegun(PathBuf) => Usage,
        /// Another process writes it.
        #[error("another worstcase is writing {}; wait for it, or choose another folder", .0.display())]
        Busy(PathBuf) => Storage,
        /// A plan that cannot be run.
        #[error("the run cannot be planned: {0}")]
        Plan(String) => Usage,
        /// A cell that the plan does not have.
        #[error("{} has no cell '{id}'; {instead}", dir.display())]
        UnknownCell {
            /// The folder.
            dir: PathBuf,
            /// The cell that was asked for.
            id: String,
            /// What was perhaps meant.
            instead: String,
        } => Usage,
        /// A text that several cells have.
        #[error("'{id}' is {number} cells: {first}; add a word that only one has")]
        SeveralCells {
            /// The text that was given.
            id: String,
            /// The number of cells.
            number: usize,
            /// The first of them.
            first: String,
        } => Usage,
        /// A cell that is planned but not there.
        #[error("the cell '{id}' was not measured yet; give the run's command again: {command}")]
        NotMeasured {
            /// The cell.
            id: CellId,
            /// The command of the run.
            command: String,
        } => Usage,
        /// A cell is written a second time.
        #[error("the cell '{0}' was already measured")]
        CellExists(CellId) => Storage,
        /// Opened for reading.
        #[error("{} was opened for reading", .0.display())]
        ReadOnly(PathBuf) => Storage,
    }
}

impl Run {
    /// Begins a run in `dir`, or goes on with it if the same experiment was begun there.
    pub fn create(dir: &Path, plan: RunPlan) -> Result<Run, RunError> {
        check(&plan)?;
        let place = FolderPlace::of(dir, MissingFolders::Made).map_err(io_error("create", dir))?;
        Run::create_checked((&place.parent, &place.name), dir, plan)
    }

    /// The same by a name in a folder that is held open already. `dir` is the whole path, for messages.
    pub fn create_in(place: (&OutputFolder, &OsStr), dir: &Path, plan: RunPlan) -> Result<Run, RunError> {
        check(&plan)?;
        Run::create_checked(place, dir, plan)
    }

    fn create_checked(place: (&OutputFolder, &OsStr), dir: &Path, plan: RunPlan) -> Result<Run, RunError> {
        let (parent, name) = place;
        let there = parent.open(name).map_err(io_error("open", dir))?;
        let there = there.map(|folder| checked(folder, dir)).transpose()?;
        let folder = match there {
            Some((folder, true)) => folder,
            _ => write_plan(place, dir, &plan)?,
        };
        let at = folder.held().map_err(io_error("open", dir))?;
        let lock = FileLock::try_open(&at).map_err(io_error("lock", dir))?;
        let lock = lock.ok_or_else(|| RunError::Busy(dir.to_path_buf()))?;
        let mut run = Run::opened(dir, at)?;
        if let Some(difference) = run.plan.difference(&plan) {
            return Err(RunError::AnotherRun {
                dir: dir.to_path_buf(),
                difference,
            });
        }
        let cells = run.cells();
        run.named(make(&cells))?;
        run.named(folder::remove_leftovers(&cells).and_then(|()| group::finish(&cells)))?;
        run.writing = Some(Writing {
            _folder: folder,
            _lock: lock,
        });
        Ok(run)
    }

    /// Refuses a folder that has a run already or, to go on with a run, a folder without one.
    pub fn check_begun(dir: &Path, goes_on: bool) -> Result<(), RunError> {
        match (dir.join(RUN_FILE).exists(), goes_on) {
            (true, false) => Err(RunError::Begun(dir.to_path_buf())),
            (false, true) => Err(RunError::NotBegun(dir.to_path_buf())),
            _ => Ok(()),
        }
    }

    /// Refuses a folder that has a run.
    pub fn check_free(dir: &Path) -> Result<(), RunError> {
        match dir.join(RUN_FILE).exists() {
            true => Err(RunError::Taken(dir.to_path_buf())),
            false => Ok(()),
        }
    }

    /// An error if no folder can be made at this place: to be told before the work whose results would go there.
    pub fn check_place(dir: &Path) -> Result<(), RunError> {
        Ok(output::check_may_make(dir).map_err(io_error("create", dir))?)
    }

    /// Opens a run to read it, finished or not.
    pub fn open(dir: &Path) -> Result<Run, RunError> {
        let is_there = dir.join(RUN_FILE).try_exists().or_else(|cause| match cause.kind() {
            io::ErrorKind::PermissionDenied => Err(FolderError::Unreadable {
                path: dir.to_path_buf(),
                cause,
            }),
            _ => Ok(false),
        });
        if !is_there? {
            return Err(match last_run_in(dir) {
                Some(last) => RunError::Runs(dir.to_path_buf(), last),
                None => RunError::NotARun(dir.to_path_buf()),
            });
        }
        Run::opened(dir, dir.to_path_buf())
    }

    fn opened(dir: &Path, at: PathBuf) -> Result<Run, RunError> {
        let plan = folder::read_form(&at, RUN_FILE, plan::SCHEMA, Some(plan::EARLIER)).map(RunPlan::of_today);
        let plan = plan.and_then(|plan| match plan.check() {
            Ok(()) => Ok(plan),
            Err(what) => Err(folder::other_version(&at.join(RUN_FILE), what)),
        });
        Ok(Run {
            plan: plan.map_err(|error| error.named(&at, dir))?,
            dir: dir.to_path_buf(),
            at,
            writing: None,
        })
    }

    /// Errors tell the name that the user knows.
    fn named<T>(&self, result: Result<T, FolderError>) -> Result<T, RunError> {
        Ok(result.map_err(|error| error.named(&self.at, &self.dir))?)
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The plan of the run.
    pub fn plan(&self) -> &RunPlan {
        &self.plan
    }

    /// The command that gives the same run.
    pub fn command(&self) -> Vec<String> {
        self.plan.command(&self.dir)
    }

    /// The command that goes on with it.
    pub fn to_go_on(&self) -> Vec<String> {
        self.plan.to_go_on(&self.dir)
    }

    /// The place of a cell's folder, by the name that the user knows; the folder may not exist yet.
    pub fn cell_dir(&self, id: &CellId) -> PathBuf {
        self.dir.join(CELLS_DIR).join(id.as_str())
    }

    fn held_cell(&self, id: &CellId) -> PathBuf {
        self.cells().join(id.as_str())
    }

    /// The folder of its cells, by the name that the user knows.
    pub fn cell_dirs(&self) -> PathBuf {
        self.dir.join(CELLS_DIR)
    }

    fn cells(&self) -> PathBuf {
        self.at.join(CELLS_DIR)
    }

    /// The name that the user knows of a path in this run.
    pub fn shown(&self, path: &Path) -> PathBuf {
        path.strip_prefix(&self.at)
            .map_or_else(|_| path.to_path_buf(), |below| self.dir.join(below))
    }

    /// What was explained when its study had ended; nothing if nothing was.
    pub fn explanations(&self) -> Result<RunExplanations, RunError> {
        let path = self.at.join(explanations::FILE);
        let json = match worstcase_base::files::read(&path) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(RunExplanations::default()),
            read => read.map_err(|cause| folder::missing_or_io(&self.at, &path, cause)),
        };
        let parsed = json.and_then(|json| {
            let file = serde_json::from_slice::<ExplanationsFile>(&json).ok();
            let file = file.filter(|file| file.schema == explanations::SCHEMA);
            file.ok_or_else(|| folder::damaged(&path, &path, format!("it is no '{}'", explanations::SCHEMA)))
        });
        Ok(self.named(parsed)?.all)
    }

    /// Keeps them.
    pub fn keep_explanations(&self, all: RunExplanations) -> Result<(), RunError> {
        let path = self.at.join(explanations::FILE);
        let schema = explanations::SCHEMA.to_string();
        let bytes = folder::to_json(&ExplanationsFile { schema, all });
        self.named(output::write(&path, &bytes).map_err(io_error("write", &path)))
    }

    /// Whether a cell was measured; its contents are checked when they are read.
    pub fn has_cell(&self, id: &CellId) -> bool {
        self.held_cell(id).is_dir()
    }

    /// Planned cells that were not measured, in order.
    pub fn missing(&self) -> impl Iterator<Item = &CellEntry> {
        self.plan.cells.iter().filter(|cell| !self.has_cell(&cell.id))
    }

    /// A text with the name that the user knows in the place of this run's.
    pub fn shown_in(&self, text: &str) -> String {
        match self.at == self.dir {
            true => text.to_string(),
            false => text.replace(&*self.at.to_string_lossy(), &self.dir.to_string_lossy()),
        }
    }

    /// Keeps a cell, whole or not at all.
    pub fn write_cell(&self, result: &CellResult) -> Result<(), RunError> {
        let id = self.may_write(&result.record)?;
        self.named(folder::write_cell(&self.cells(), id.as_str(), result))
    }

    /// Begins to keep the cells of one measurement, together. Dropped without [`CellGroup::publish`], nothing of it is kept.
    pub fn group(&self) -> Result<CellGroup<'_>, RunError> {
        self.may_change()?;
        Ok(CellGroup {
            group: self.named(CellsBeingWritten::begin(&self.cells()))?,
            run: self,
        })
    }

    /// Moves cells out of the run into `RUN/aside`, where nothing reads them, so that they can be measured again. Gives where
    /// each is now.
    pub(crate) fn put_aside(&self, cells: &[&CellId]) -> Result<Vec<PathBuf>, RunError> {
        self.may_change()?;
        let aside = self.at.join(ASIDE_DIR);
        self.named(make(&aside))?;
        let one = |id: &&CellId| {
            let numbered = (2..).map(|n| format!("{id}-{n}"));
            let mut places = [id.to_string()]
                .into_iter()
                .chain(numbered)
                .map(|name| aside.join(name));
            let place = places
                .find(|place| !place.exists())
                .expect("there is no end of numbers");
            fs::rename(self.held_cell(id), &place).map_err(io_error("create", &place))?;
            Ok(self.shown(&place))
        };
        let moved = self.named(cells.iter().map(one).collect::<Result<_, FolderError>>())?;
        self.named(folder::sync_dir(&aside).and_then(|()| folder::sync_dir(&self.cells())))?;
        Ok(moved)
    }

    /// A folder for files that become part of a cell; gone when dropped, and at the next start if it was left.
    pub fn scratch(&self) -> Result<tempfile::TempDir, RunError> {
        let cells = self.cells();
        let folder = tempfile::Builder::new().prefix(folder::WRITING).tempdir_in(&cells);
        self.named(folder.map_err(io_error("write a folder in", &cells)))
    }

    fn may_write<'a>(&self, record: &'a Record) -> Result<&'a CellId, RunError> {
        let id = self.is_planned(record)?;
        if self.has_cell(id) {
            return Err(RunError::CellExists(id.clone()));
        }
        Ok(id)
    }

    fn is_planned<'a>(&self, record: &'a Record) -> Result<&'a CellId, RunError> {
        self.may_change()?;
        self.entry(record.id.as_str())?;
        Ok(&record.id)
    }

    fn may_change(&self) -> Result<(), RunError> {
        match self.writing {
            Some(_) => Ok(()),
            None => Err(RunError::ReadOnly(self.dir.clone())),
        }
    }

    /// The planned cell of this name, or the only one that has these words in its name.
    pub fn entry(&self, id: &str) -> Result<&CellEntry, RunError> {
        let names: Vec<&str> = self.plan.cells.iter().map(|cell| cell.id.as_str()).collect();
        let found = near::meant(id, names.iter().copied());
        match found[..] {
            [one] => {
                let mut cells = self.plan.cells.iter();
                Ok(cells.find(|cell| cell.id.as_str() == one).expect("it is one of them"))
            }
            [] => Err(RunError::UnknownCell {
                dir: self.dir.clone(),
                id: id.escape_debug().to_string(),
                instead: format!("there are {}", near::few_of(&near::nearest_first(id, names))),
            }),
            _ => Err(RunError::SeveralCells {
                id: id.escape_debug().to_string(),
                number: found.len(),
                first: near::few_of(&found),
            }),
        }
    }

    /// The record of the measured cell of this name.
    pub fn record_of(&self, id: &str) -> Result<Record, RunError> {
        self.record(&self.entry(id)?.id)
    }

    /// A measured cell's record.
    pub fn record(&self, id: &CellId) -> Result<Record, RunError> {
        if !self.has_cell(id) {
            return Err(RunError::NotMeasured {
                id: id.clone(),
                command: worstcase_base::format::shell(&self.to_go_on()),
            });
        }
        let dir = self.held_cell(id);
        let record = folder::read_record(&dir).and_then(|record| match record.id == *id {
            true => Ok(record),
            false => Err(FolderError::Damaged {
                file: dir.join(folder::RECORD_FILE),
                what: format!("it is the record of '{}'", record.id),
                aside: dir,
            }),
        });
        self.named(record)
    }

    /// The records of all cells that were measured, in the plan's order.
    pub fn records(&self) -> Result<Vec<Record>, RunError> {
        let measured = self.plan.cells.iter().filter(|cell| self.has_cell(&cell.id));
        let records = measured
            .map(|cell| self.record(&cell.id))
            .collect::<Result<Vec<Record>, RunError>>()?;
        super::totals::check(&records).map_err(|what| folder::other_version(&self.dir.join(RUN_FILE), what))?;
        Ok(records)
    }

    /// A file beside a cell's record and samples, which must fit its checksum; nothing if the cell was kept without it.
    pub fn beside(&self, id: &CellId, name: &str) -> Result<Option<Vec<u8>>, RunError> {
        self.named(folder::read_beside(&self.held_cell(id), name))
    }

    /// Says that a file beside a record is as it was written, and not as this version writes it.
    pub fn other_version(&self, id: &CellId, name: &str, what: impl ToString) -> RunError {
        folder::other_version(&self.cell_dir(id).join(name), what).into()
    }

    /// Hands a cell's samples to `each`, in order and in bounded memory.
    pub fn for_each_sample(&self, record: &Record, each: impl FnMut(SampleRow)) -> Result<(), RunError> {
        self.named(folder::for_each_sample(&self.held_cell(&record.id), record, each))
    }
}

/// Makes a folder of the run; an existing folder is fine.
fn make(folder: &Path) -> Result<(), FolderError> {
    match fs::create_dir(folder) {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => Err(io_error("create", folder)(e)),
        _ => Ok(()),
    }
}

/// The cells of one measurement, on their way into a run.
pub struct CellGroup<'a> {
    run: &'a Run,
    group: CellsBeingWritten,
}

impl CellGroup<'_> {
    /// The run that they are for.
    pub fn run(&self) -> &Run {
        self.run
    }

    /// Writes a cell in the place of the one kept until now; `beside` are further files.
    pub fn replace(&mut self, result: &CellResult, beside: &[(&str, &[u8])]) -> Result<(), RunError> {
        let id = self.run.is_planned(&result.record)?;
        let record = folder::to_json(&result.record);
        let mut files = vec![
            (folder::RECORD_FILE, record.as_slice()),
            (result.record.samples.file.as_str(), result.samples.as_slice()),
        ];
        files.extend(beside);
        let added = self.group.add(id.as_str(), &files, &[]);
        self.run.named(added)
    }

    /// Writes a cell that the run does not have, with samples, and files beside them, that were written in [`Run::scratch`].
    pub fn move_in(&mut self, record: &Record, files: &[(&str, &Path)]) -> Result<(), RunError> {
        let id = self.run.may_write(record)?;
        let json = folder::to_json(record);
        let added = self.group.add(id.as_str(), &[(folder::RECORD_FILE, &json)], files);
        self.run.named(added)
    }

    /// Keeps them all. If it fails, or is killed, they are kept whole when the run is opened for writing again, or none of
    /// them is.
    pub fn publish(self) -> Result<(), RunError> {
        match self.group.is_empty() {
            true => Ok(()),
            false => self.run.named(self.group.publish(&self.run.cells())),
        }
    }
}

/// The last by name of the runs in a folder, e.g. of a watch.
fn last_run_in(dir: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(dir).ok()?.flatten().map(|entry| entry.path());
    entries.filter(|path| path.join(RUN_FILE).exists()).max()
}

fn check(plan: &RunPlan) -> Result<(), RunError> {
    let checked = plan
        .measured()
        .map_or(Ok(()), |experiment| experiment.check().map_err(|e| e.to_string()));
    checked.and_then(|()| plan.check()).map_err(RunError::Plan)
}

/// A folder that is there, and whether it holds a run; refused if others can write to it, or if it holds something else.
fn checked(folder: OutputFolder, dir: &Path) -> Result<(OutputFolder, bool), RunError> {
    if let Some(others) = output::others_in(&folder, dir).map_err(io_error("look at", dir))? {
        return Err(RunError::NotOurs(others));
    }
    let at = folder.held().map_err(io_error("open", dir))?;
    let is_run = at.join(RUN_FILE).exists();
    if !is_run && fs::read_dir(&at).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(RunError::NotEmpty(dir.to_path_buf()));
    }
    Ok((folder, is_run))
}

/// Writes the plan as a new folder, or in the place of an empty one.
fn write_plan(place: (&OutputFolder, &OsStr), dir: &Path, plan: &RunPlan) -> Result<OutputFolder, RunError> {
    let folder = folder::write_first(place, dir, &[(RUN_FILE, &folder::to_json(plan))])?;
    Ok(checked(folder, dir)?.0)
}
