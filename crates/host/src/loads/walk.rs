//! A walk through a tree of files with the status of every entry, on one file system, reading only.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use worstcase_instruments::loads::{Board, Ending, LoadError, RunningPart};

const ENTRIES: usize = 0;

/// Walks from `root` again and again.
pub(super) fn start(load: &mut RunningPart, root: PathBuf) -> Result<(), LoadError> {
    let reading = load.preparing(format!("reading {}", root.display()));
    let device = fs::metadata(&root).map_err(reading)?.dev();
    load.spawn(Ending::Anywhere, move |board| {
        loop {
            walk(&root, device, board).map_err(|e| format!("reading {}: {e}", root.display()))?;
        }
    })
}

fn walk(root: &Path, device: u64, board: &Board) -> io::Result<()> {
    let mut folders = vec![root.to_path_buf()];
    fs::read_dir(root)?;
    while let Some(folder) = folders.pop() {
        // Others may have removed the folder, or made it unreadable.
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let Ok(status) = entry.metadata() else { continue };
            board.add(ENTRIES, 1);
            if status.is_dir() && status.dev() == device {
                folders.push(entry.path());
            }
        }
    }
    Ok(())
}
