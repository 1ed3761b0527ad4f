//! Runs in folders, and in folders of those.

use super::{HistoryError, Placed};
use crate::record::folder::RUN_FILE;
use crate::record::folder::{RECORD_FILE, WRITING};
use crate::record::run::CELLS_DIR;
use crate::record::{FolderError, Run, RunError};
use serde::Serialize;
use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Folders deeper than this below a named folder are not searched.
const DEEPEST: usize = 6;

/// The records that were found.
#[derive(Debug, Default)]
pub struct FoundRecords {
    /// Records, each with its run's folder; a record that is there twice is taken once.
    pub records: Vec<Placed>,
    /// Folders that are no readable run.
    pub skipped: Vec<Skipped>,
}

/// Something that is not part of the history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// The folder.
    pub path: PathBuf,
    /// Why.
    pub why: String,
    /// The folder may hold results, even the newest: it is damaged, or the system did not let it be read.
    pub damaged: bool,
}

/// Reads all runs in these folders.
pub fn find(folders: &[PathBuf]) -> Result<FoundRecords, HistoryError> {
    let (mut found, mut seen) = (FoundRecords::default(), HashSet::new());
    for folder in folders {
        let unreadable = |cause| HistoryError::Folder {
            path: folder.clone(),
            cause,
        };
        fs::read_dir(folder).map_err(unreadable)?;
        let mut runs = Vec::new();
        below(folder, 0, &mut runs, &mut found.skipped);
        for run in runs {
            read(&run, &mut seen, &mut found);
        }
    }
    if found.records.is_empty() {
        return Err(HistoryError::NoRun {
            folders: folders.iter().map(|f| f.display().to_string()).collect(),
            first: found.skipped.first().map(|s| s.why.clone()),
        });
    }
    Ok(found)
}

/// Folders of runs, in the order of their names. Links are not followed, but for a folder that was named.
fn below(folder: &Path, depth: usize, runs: &mut Vec<PathBuf>, skipped: &mut Vec<Skipped>) {
    if folder.join(RUN_FILE).exists() {
        runs.push(folder.to_path_buf());
        return;
    }
    if let Some(cells) = cells_without_run(folder) {
        skipped.push(Skipped {
            path: folder.to_path_buf(),
            why: format!(
                "{} is damaged: {} holds records, and there is no {RUN_FILE}; put {} aside and give the command that made it again",
                folder.display(),
                cells.display(),
                folder.display()
            ),
            damaged: true,
        });
        return;
    }
    let folders = || -> io::Result<Vec<PathBuf>> {
        let mut all = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let is_writing = entry.file_name().to_string_lossy().starts_with(WRITING);
            if entry.file_type()?.is_dir() && !is_writing {
                all.push(entry.path());
            }
        }
        all.sort();
        Ok(all)
    };
    match folders() {
        Ok(all) if depth < DEEPEST => all.iter().for_each(|f| below(f, depth + 1, runs, skipped)),
        Ok(_) => {}
        Err(cause) => skipped.push(Skipped {
            path: folder.to_path_buf(),
            why: format!(
                "{} cannot be read: {cause}; let this user read it, or put it aside",
                folder.display()
            ),
            damaged: true,
        }),
    }
}

fn read(dir: &Path, seen: &mut HashSet<String>, found: &mut FoundRecords) {
    let records = Run::open(dir).and_then(|run| run.records());
    match records {
        Ok(records) if records.is_empty() => found.skipped.push(Skipped {
            path: dir.to_path_buf(),
            why: "no cell of it was measured".into(),
            damaged: false,
        }),
        Ok(records) => {
            for record in records {
                let began = record.origin.as_ref().map(|o| o.began);
                if seen.insert(format!(
                    "{} {} {began:?} {:?}",
                    record.id, record.digest, record.subject
                )) {
                    found.records.push((dir.to_path_buf(), record));
                }
            }
        }
        Err(error) => found.skipped.push(Skipped {
            path: dir.to_path_buf(),
            why: error.to_string(),
            damaged: is_damaged(&error),
        }),
    }
}

fn is_damaged(error: &RunError) -> bool {
    let of_folder = |e: &FolderError| matches!(e, FolderError::Damaged { .. } | FolderError::Io { .. });
    matches!(error, RunError::Folder(e) if of_folder(e))
}

/// The folder of a run's cells, if the folder holds records but no plan.
fn cells_without_run(folder: &Path) -> Option<PathBuf> {
    let cells = folder.join(CELLS_DIR);
    let mut entries = fs::read_dir(&cells).ok()?.flatten();
    entries
        .any(|entry| entry.path().join(RECORD_FILE).exists())
        .then_some(cells)
}
