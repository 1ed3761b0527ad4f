//! Cells of one measurement, which appear together: all of them or, after a kill at any instant, none.
//!
//! ```text
//! RUN/cells/.writing-XXXXXX/<id>/...         cells are written here; removed if the writer is killed
//! RUN/cells/.publishing-XXXXXX/<id>/...      the same after one rename: from now on they count as kept
//!                              SHA256SUMS    the checksum of each cell's own SHA256SUMS
//! RUN/cells/<id>/...                         each is moved to its place, one after the other
//! ```
//! A file system renames one folder at a time. If the writer is killed between two of them, the folder `.publishing-` is
//! still there, and who opens the run for writing next moves the rest ([`finish`]).

use super::folder::{self, FolderError, SUMS_FILE, WRITING, io_error};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use worstcase_base::digest::sha256_hex;
use worstcase_base::files;

/// Folders of cells that are kept and may not all be in their places begin with it.
pub(super) const PUBLISHING: &str = ".publishing-";

/// Cells that are being written.
pub(super) struct CellsBeingWritten {
    folder: TempDir,
    /// Their checksums, in the format of `sha256sum -c`.
    sums: String,
}

impl CellsBeingWritten {
    /// Begins without a cell, in the folder of a run's cells.
    pub(super) fn begin(cells: &Path) -> Result<CellsBeingWritten, FolderError> {
        let folder = tempfile::Builder::new()
            .prefix(WRITING)
            .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777))
            .tempdir_in(cells)
            .map_err(io_error("write a folder in", cells))?;
        Ok(CellsBeingWritten {
            folder,
            sums: String::new(),
        })
    }

    /// Whether no cell was written yet.
    pub(super) fn is_empty(&self) -> bool {
        self.sums.is_empty()
    }

    /// Writes a cell's files and flushes them; `moved` are files to take from where they are.
    pub(super) fn add(
        &mut self,
        id: &str,
        files: &[(&str, &[u8])],
        moved: &[(&str, &Path)],
    ) -> Result<(), FolderError> {
        folder::write_folder(self.folder.path(), id, files, moved)?;
        let sums = self.folder.path().join(id).join(SUMS_FILE);
        let sum = sha256_hex(&files::read(&sums).map_err(io_error("read", &sums))?);
        self.sums += &format!("{sum}  {id}/{SUMS_FILE}\n");
        Ok(())
    }

    /// Puts all cells in their places below `cells`, where they replace existing ones. After an error, or a kill, either none of
    /// them is kept, or [`finish`] does the rest.
    pub(super) fn publish(self, cells: &Path) -> Result<(), FolderError> {
        let decided = self.decide(cells)?;
        for id in decided.ids()? {
            decided.place(&id, cells)?;
        }
        decided.close(cells)
    }

    /// Decides to keep the cells.
    fn decide(self, cells: &Path) -> Result<Decided, FolderError> {
        let own = self.folder.path();
        folder::write_synced(&own.join(SUMS_FILE), self.sums.as_bytes())?;
        folder::sync_dir(own)?;
        let name = own.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let place = cells.join(format!("{PUBLISHING}{}", name.trim_start_matches(WRITING)));
        fs::rename(own, &place).map_err(io_error("create", &place))?;
        // The folder has another name now: there is nothing left to remove.
        let _ = self.folder.keep();
        folder::sync_dir(cells)?;
        Ok(Decided { folder: place })
    }
}

/// Cells that count as kept, of which some may be in their places.
struct Decided {
    folder: PathBuf,
}

impl Decided {
    /// Its cells, in the order in which they were written.
    fn ids(&self) -> Result<Vec<String>, FolderError> {
        let list = self.folder.join(SUMS_FILE);
        let text = files::read(&list).map_err(|cause| folder::missing_or_io(&self.folder, &list, cause))?;
        let id = |line: &str| {
            Some(
                line.split_once("  ")?
                    .1
                    .strip_suffix(SUMS_FILE)?
                    .strip_suffix('/')?
                    .to_string(),
            )
        };
        let text = String::from_utf8_lossy(&text).into_owned();
        let ids: Option<Vec<String>> = text.lines().map(id).collect();
        // An id is one name: a list that another user changed must not lead elsewhere.
        let ids = ids.filter(|ids| ids.iter().all(|id| !id.contains('/') && !id.starts_with('.')));
        ids.ok_or_else(|| folder::damaged(&list, &self.folder, "it is no list of cells"))
    }

    /// Moves a cell to its place, if it is not there yet.
    fn place(&self, id: &str, cells: &Path) -> Result<(), FolderError> {
        let (from, to) = (self.folder.join(id), cells.join(id));
        if self.is_placed(id, &to)? {
            return Ok(());
        }
        if !from.is_dir() {
            return Err(folder::damaged(&from, &self.folder, "it is missing"));
        }
        let moved = match to.exists() {
            // The replaced cell is in this group's folder then, and is removed with it.
            true => renameat_with(CWD, &from, CWD, &to, RenameFlags::EXCHANGE).map_err(Into::into),
            false => fs::rename(&from, &to),
        };
        moved.map_err(io_error("create", &to))?;
        folder::sync_dir(cells)
    }

    /// Whether the cell in the place is this group's: a cell that was exchanged already must not be exchanged back.
    fn is_placed(&self, id: &str, place: &Path) -> Result<bool, FolderError> {
        let list = self.folder.join(SUMS_FILE);
        let text = files::read(&list).map_err(io_error("read", &list))?;
        let Ok(there) = files::read(&place.join(SUMS_FILE)) else {
            return Ok(false);
        };
        let wanted = format!("{}  {id}/{SUMS_FILE}", sha256_hex(&there));
        Ok(String::from_utf8_lossy(&text).lines().any(|line| line == wanted))
    }

    /// All cells are in their places: removes the ones that they replaced.
    fn close(self, cells: &Path) -> Result<(), FolderError> {
        // First moved out of sight, so that a kill leaves nothing that looks like cells to be placed.
        let away = cells.join(format!("{WRITING}{}", self.name()));
        fs::rename(&self.folder, &away).map_err(io_error("remove", &self.folder))?;
        fs::remove_dir_all(&away).map_err(io_error("remove", &away))
    }

    fn name(&self) -> String {
        let name = self.folder.file_name().unwrap_or_default().to_string_lossy();
        name.trim_start_matches(PUBLISHING).to_string()
    }
}

/// Puts the cells that a killed writer had decided to keep in their places. The caller must hold the run's lock.
pub(super) fn finish(cells: &Path) -> Result<(), FolderError> {
    for entry in fs::read_dir(cells).map_err(io_error("read", cells))? {
        let entry = entry.map_err(io_error("read", cells))?;
        if !entry.file_name().to_string_lossy().starts_with(PUBLISHING) {
            continue;
        }
        let decided = Decided { folder: entry.path() };
        for id in decided.ids()? {
            decided.place(&id, cells)?;
        }
        decided.close(cells)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cells `a`, `b` and `c`, each with a file that says `text`.
    fn group(cells: &Path, text: &str) -> CellsBeingWritten {
        let mut group = CellsBeingWritten::begin(cells).unwrap();
        for id in ["a", "b", "c"] {
            group.add(id, &[("record.json", text.as_bytes())], &[]).unwrap();
        }
        group
    }

    /// The contents of every cell, in order, and the number of other entries.
    fn there(cells: &Path) -> (Vec<String>, usize) {
        let said = |id: &&str| fs::read_to_string(cells.join(id).join("record.json")).ok();
        let said: Vec<String> = ["a", "b", "c"].iter().filter_map(said).collect();
        let others = fs::read_dir(cells).unwrap().count() - said.len();
        (said, others)
    }

    fn all(text: &str) -> (Vec<String>, usize) {
        (vec![text.to_string(); 3], 0)
    }

    #[test]
    fn a_writer_killed_after_any_rename_leaves_all_of_the_cells_or_none() {
        for before in [None, Some("old")] {
            for renames in 0..=4 {
                let dir = tempfile::tempdir().unwrap();
                let cells = dir.path();
                if let Some(text) = before {
                    group(cells, text).publish(cells).unwrap();
                }
                let new = group(cells, "new");
                if renames == 0 {
                    // A killed writer removes nothing.
                    let _ = new.folder.keep();
                } else {
                    let decided = new.decide(cells).unwrap();
                    for id in decided.ids().unwrap().iter().take(renames - 1) {
                        decided.place(id, cells).unwrap();
                    }
                }
                folder::remove_leftovers(cells).unwrap();
                finish(cells).unwrap();
                let expected = match (renames, before) {
                    (0, None) => (Vec::new(), 0),
                    (0, Some(text)) => all(text),
                    _ => all("new"),
                };
                assert_eq!(there(cells), expected, "{before:?} before, {renames} renames");
                // A second call changes nothing.
                finish(cells).unwrap();
                assert_eq!(there(cells), expected);
            }
        }
    }

    #[test]
    fn a_list_that_leads_elsewhere_is_damage() {
        let dir = tempfile::tempdir().unwrap();
        let cells = dir.path().join("cells");
        fs::create_dir(&cells).unwrap();
        let decided = group(&cells, "new").decide(&cells).unwrap();
        let list = format!("{}  ../b/{SUMS_FILE}\n", "0".repeat(64));
        fs::write(decided.folder.join(SUMS_FILE), list).unwrap();
        assert!(matches!(finish(&cells), Err(FolderError::Damaged { .. })));
        fs::remove_file(decided.folder.join(SUMS_FILE)).unwrap();
        assert!(matches!(finish(&cells), Err(FolderError::Damaged { .. })));
    }
}
