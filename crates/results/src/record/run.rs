//! The run folder: the plan, and a folder for each cell that was measured.
//!
//! ```text
//! RUN/run.json, SHA256SUMS                                    what is going to be measured, never changed
//! RUN/cells/<id>/record.json, samples.parquet, SHA256SUMS     appears whole
//! ```

use super::folder::{self, FolderError, io_error};
use super::plan::{self, CellEntry, RunPlan};
use super::{CellId, CellResult, Record, SampleRow};
use std::fs;
use std::path::{Path, PathBuf};
use worstcase_base::Exit;
use worstcase_base::lock::Lock;
use worstcase_base::trust::{self, Others};

/// Name of the plan.
pub const RUN_FILE: &str = "run.json";
const CELLS_DIR: &str = "cells";

/// A run folder.
#[derive(Debug)]
pub struct Run {
    dir: PathBuf,
    plan: RunPlan,
    /// Held while cells may be written, so that two writers never meet.
    lock: Option<Lock>,
}

/// Why a run folder cannot be made, read or written.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A folder of it cannot be written, or is damaged.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// No run there.
    #[error("{} is not a run: it has no {RUN_FILE}; name the folder that a run was written to", .0.display().to_string().escape_debug())]
    NotARun(PathBuf),
    /// A folder of runs.
    #[error("{} is not a run, but holds some, the last is {}; name one of them, or all with `worstcase history`",
        .0.display().to_string().escape_debug(), .1.display().to_string().escape_debug())]
    Runs(PathBuf, PathBuf),
    /// Root would write through what somebody else put there.
    #[error(
        "root does not write a run into a folder of others: {0}; choose a folder that is not there yet, or set WORSTCASE_TRUST_OTHERS=1 where nobody else is"
    )]
    NotOurs(Others),
    /// Something else is there.
    #[error("{} holds something else than a run; choose another folder for the run", .0.display())]
    NotEmpty(PathBuf),
    /// Another run is there.
    #[error("{} holds another run, which differs in its {difference}; choose another folder", dir.display())]
    AnotherRun {
        /// The folder.
        dir: PathBuf,
        /// The field that differs, and its values there and here.
        difference: String,
    },
    /// Another subject by the same name has been measured there.
    #[error("{} was begun with another subject: {what}; choose another folder", dir.display())]
    AnotherSubject {
        /// The folder.
        dir: PathBuf,
        /// What is not as it was.
        what: String,
    },
    /// A run is there, and nobody asked to go on with it.
    #[error("{} holds a run already; choose another folder, or add --resume to measure what it lacks", .0.display())]
    Begun(PathBuf),
    /// No run is there to go on with.
    #[error("{} holds no run to go on with; leave --resume out to begin one", .0.display())]
    NotBegun(PathBuf),
    /// Another process writes it.
    #[error("another worstcase is writing {}; wait for it, or choose another folder", .0.display())]
    Busy(PathBuf),
    /// A plan that cannot be run.
    #[error("the run cannot be planned: {0}")]
    Plan(String),
    /// A cell that the plan does not have.
    #[error("{} has no cell '{id}'; its cells begin with: {}", dir.display(), known.join(", "))]
    UnknownCell {
        /// The folder.
        dir: PathBuf,
        /// The cell that was asked for.
        id: String,
        /// The first cells that it has.
        known: Vec<String>,
    },
    /// A cell that is planned but not there.
    #[error("the cell '{id}' was not measured yet; give the run's command again: {command}")]
    NotMeasured {
        /// The cell.
        id: CellId,
        /// The command of the run.
        command: String,
    },
    /// A cell is written a second time.
    #[error("the cell '{0}' was already measured")]
    CellExists(CellId),
    /// Opened for reading.
    #[error("{} was opened for reading", .0.display())]
    ReadOnly(PathBuf),
}

impl RunError {
    /// What a script needs to know of it.
    pub fn exit(&self) -> Exit {
        match self {
            RunError::Folder(e) => e.exit(),
            RunError::Busy(_) | RunError::CellExists(_) | RunError::ReadOnly(_) => Exit::Storage,
            _ => Exit::Usage,
        }
    }
}

impl Run {
    /// Begins a run in `dir`, or goes on with it if the same experiment was begun there.
    pub fn create(dir: &Path, plan: RunPlan) -> Result<Run, RunError> {
        let measured = plan.imported.is_none().then_some(&plan.experiment);
        let checked = measured.map_or(Ok(()), |experiment| experiment.check().map_err(|e| e.to_string()));
        checked.and_then(|()| plan.check()).map_err(RunError::Plan)?;
        if let Some(others) = trust::others_in_output(dir).map_err(io_error("look at", dir))? {
            return Err(RunError::NotOurs(others));
        }
        let occupied = fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_some());
        if occupied && !dir.join(RUN_FILE).exists() {
            return Err(RunError::NotEmpty(dir.to_path_buf()));
        }
        if !occupied {
            write_plan(dir, &plan)?;
        }
        let lock = Lock::try_open(dir).map_err(io_error("lock", dir))?;
        let lock = lock.ok_or_else(|| RunError::Busy(dir.to_path_buf()))?;
        let mut run = Run::open(dir)?;
        if let Some(difference) = run.plan.difference(&plan) {
            return Err(RunError::AnotherRun {
                dir: dir.to_path_buf(),
                difference,
            });
        }
        let cells = dir.join(CELLS_DIR);
        fs::create_dir_all(&cells).map_err(io_error("create", &cells))?;
        folder::remove_leftovers(&cells)?;
        run.lock = Some(lock);
        Ok(run)
    }

    /// Refuses a folder in which a run was begun already, or, to go on with one, a folder without.
    pub fn check_begun(dir: &Path, goes_on: bool) -> Result<(), RunError> {
        match (dir.join(RUN_FILE).exists(), goes_on) {
            (true, false) => Err(RunError::Begun(dir.to_path_buf())),
            (false, true) => Err(RunError::NotBegun(dir.to_path_buf())),
            _ => Ok(()),
        }
    }

    /// Opens a run to read it, finished or not.
    pub fn open(dir: &Path) -> Result<Run, RunError> {
        if !dir.join(RUN_FILE).exists() {
            return Err(match last_run_in(dir) {
                Some(last) => RunError::Runs(dir.to_path_buf(), last),
                None => RunError::NotARun(dir.to_path_buf()),
            });
        }
        let plan: RunPlan = folder::read_form(dir, RUN_FILE, plan::SCHEMA, Some(plan::EARLIER))?;
        let plan = plan.of_today();
        plan.check()
            .map_err(|what| folder::other_version(&dir.join(RUN_FILE), what))?;
        Ok(Run {
            dir: dir.to_path_buf(),
            plan,
            lock: None,
        })
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// What was going to be measured.
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

    /// Where a cell's folder is, or would be.
    pub fn cell_dir(&self, id: &CellId) -> PathBuf {
        self.dir.join(CELLS_DIR).join(id.as_str())
    }

    /// Whether a cell was measured; its contents are checked when they are read.
    pub fn has_cell(&self, id: &CellId) -> bool {
        self.cell_dir(id).is_dir()
    }

    /// Planned cells that were not measured, in order.
    pub fn missing(&self) -> impl Iterator<Item = &CellEntry> {
        self.plan.cells.iter().filter(|cell| !self.has_cell(&cell.id))
    }

    /// Keeps a cell, whole or not at all.
    pub fn write_cell(&self, result: &CellResult) -> Result<(), RunError> {
        let id = self.may_write(&result.record)?;
        Ok(folder::write_cell(&self.dir.join(CELLS_DIR), id.as_str(), result)?)
    }

    /// Keeps a cell in the place of what was kept of it until now; there is always a whole one. `beside` are further files.
    pub fn replace_cell(&self, result: &CellResult, beside: &[(&str, &[u8])]) -> Result<(), RunError> {
        let id = self.is_planned(&result.record)?;
        let cells = self.dir.join(CELLS_DIR);
        Ok(folder::replace_cell(&cells, id.as_str(), result, beside)?)
    }

    /// The same with samples, and files beside them, that were written in [`Run::scratch`].
    pub fn move_cell(&self, record: &Record, files: &[(&str, &Path)]) -> Result<(), RunError> {
        let id = self.may_write(record)?;
        Ok(folder::move_cell(
            &self.dir.join(CELLS_DIR),
            id.as_str(),
            record,
            files,
        )?)
    }

    /// A folder for files that become part of a cell; gone when dropped, and at the next start if it was left.
    pub fn scratch(&self) -> Result<tempfile::TempDir, RunError> {
        let cells = self.dir.join(CELLS_DIR);
        let folder = tempfile::Builder::new().prefix(folder::WRITING).tempdir_in(&cells);
        Ok(folder.map_err(io_error("write a folder in", &cells))?)
    }

    fn may_write<'a>(&self, record: &'a Record) -> Result<&'a CellId, RunError> {
        let id = self.is_planned(record)?;
        if self.has_cell(id) {
            return Err(RunError::CellExists(id.clone()));
        }
        Ok(id)
    }

    fn is_planned<'a>(&self, record: &'a Record) -> Result<&'a CellId, RunError> {
        if self.lock.is_none() {
            return Err(RunError::ReadOnly(self.dir.clone()));
        }
        self.entry(record.id.as_str())?;
        Ok(&record.id)
    }

    /// The planned cell of this name.
    pub fn entry(&self, id: &str) -> Result<&CellEntry, RunError> {
        let entry = self.plan.cells.iter().find(|cell| cell.id.as_str() == id);
        entry.ok_or_else(|| RunError::UnknownCell {
            dir: self.dir.clone(),
            id: id.escape_debug().to_string(),
            known: self.plan.cells.iter().take(3).map(|c| c.id.to_string()).collect(),
        })
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
        let dir = self.cell_dir(id);
        let record = folder::read_record(&dir)?;
        if record.id != *id {
            return Err(RunError::Folder(FolderError::Damaged {
                file: dir.join(folder::RECORD_FILE),
                what: format!("it is the record of '{}'", record.id),
                aside: dir,
            }));
        }
        Ok(record)
    }

    /// The records of all cells that were measured, in the plan's order.
    pub fn records(&self) -> Result<Vec<Record>, RunError> {
        let measured = self.plan.cells.iter().filter(|cell| self.has_cell(&cell.id));
        measured.map(|cell| self.record(&cell.id)).collect()
    }

    /// Hands a cell's samples to `each`, in order and in bounded memory.
    pub fn for_each_sample(&self, record: &Record, each: impl FnMut(SampleRow)) -> Result<(), RunError> {
        Ok(folder::for_each_sample(&self.cell_dir(&record.id), record, each)?)
    }
}

/// The last by name of the runs in a folder, e.g. of a watch.
fn last_run_in(dir: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(dir).ok()?.flatten().map(|entry| entry.path());
    entries.filter(|path| path.join(RUN_FILE).exists()).max()
}

/// Writes the plan as a new folder, or into an empty one.
fn write_plan(dir: &Path, plan: &RunPlan) -> Result<(), RunError> {
    let absolute = std::path::absolute(dir).map_err(io_error("create", dir))?;
    let (Some(parent), Some(name)) = (absolute.parent(), absolute.file_name().and_then(|n| n.to_str())) else {
        return Err(RunError::NotEmpty(dir.to_path_buf()));
    };
    fs::create_dir_all(parent).map_err(io_error("create", parent))?;
    Ok(folder::write_first(
        parent,
        name,
        &[(RUN_FILE, &folder::to_json(plan))],
    )?)
}
