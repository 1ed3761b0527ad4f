//! A walk through a tree of files with the status of every entry, on one file system, reading only.

use super::LoadError;
use super::crew::{Crew, Tally, preparing};
use super::pace::Pace;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use worstcase_probe::prng::SplitMix64;

/// Folders in the generated tree, folders in each of them, files in each of those: as in the lab.
const WIDTH: usize = 16;
const ENTRIES: usize = 0;

/// Walks from `root` again and again.
pub(super) fn start(crew: &mut Crew, root: PathBuf, rate: Option<u32>) -> Result<(), LoadError> {
    let name = crew.name();
    let what = || format!("reading {}", root.display());
    let device = fs::metadata(&root).map_err(|e| preparing(name, what())(e))?.dev();
    crew.spawn(move |tally| {
        let mut pace = Pace::alone(rate);
        loop {
            walk(&root, device, &mut pace, tally).map_err(|e| format!("reading {}: {e}", root.display()))?;
        }
    })
}

fn walk(root: &Path, device: u64, pace: &mut Pace, tally: &Tally) -> io::Result<()> {
    let mut folders = vec![root.to_path_buf()];
    fs::read_dir(root)?;
    while let Some(folder) = folders.pop() {
        // Others may remove what was there, or forbid to read it.
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            pace.wait();
            let Ok(status) = entry.metadata() else { continue };
            tally.add(ENTRIES, 1);
            if status.is_dir() && status.dev() == device {
                folders.push(entry.path());
            }
        }
    }
    Ok(())
}

/// A tree of 4096 empty files, as the lab's `find` walks it.
pub(super) fn grow(root: &Path, seed: u64) -> io::Result<()> {
    let mut random = SplitMix64::new(seed);
    let mut name = || format!("{:020}{:020}", random.next_u64(), random.next_u64());
    for _ in 0..WIDTH {
        let outer = root.join(name());
        fs::create_dir(&outer)?;
        for _ in 0..WIDTH {
            let inner = outer.join(name());
            fs::create_dir(&inner)?;
            for _ in 0..WIDTH {
                fs::write(inner.join(name()), b"")?;
            }
        }
    }
    Ok(())
}
