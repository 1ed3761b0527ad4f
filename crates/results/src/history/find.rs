//! Runs in folders, and in folders of those.

use super::{HistoryError, Placed};
use crate::record::Run;
use crate::record::folder::WRITING;
use crate::record::run::RUN_FILE;
use serde::Serialize;
use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Folders deeper than this below one that was named are not looked into.
const DEEPEST: usize = 6;

/// What was found.
#[derive(Debug, Default)]
pub struct Found {
    /// Records, each with its run's folder; one that is there twice is taken once.
    pub records: Vec<Placed>,
    /// What is no run that can be read.
    pub skipped: Vec<Skipped>,
}

/// Something that is not part of the history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// Where.
    pub path: PathBuf,
    /// Why.
    pub why: String,
}

/// Reads all runs in these folders.
pub fn find(folders: &[PathBuf]) -> Result<Found, HistoryError> {
    let (mut found, mut seen) = (Found::default(), HashSet::new());
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

/// Folders of runs, in the order of their names. What a link names is not looked into, but for a folder that was named.
fn below(folder: &Path, depth: usize, runs: &mut Vec<PathBuf>, skipped: &mut Vec<Skipped>) {
    if folder.join(RUN_FILE).exists() {
        runs.push(folder.to_path_buf());
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
            why: cause.to_string(),
        }),
    }
}

fn read(dir: &Path, seen: &mut HashSet<String>, found: &mut Found) {
    let records = Run::open(dir).and_then(|run| run.records());
    match records {
        Ok(records) if records.is_empty() => found.skipped.push(Skipped {
            path: dir.to_path_buf(),
            why: "no cell of it was measured".into(),
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
        }),
    }
}
