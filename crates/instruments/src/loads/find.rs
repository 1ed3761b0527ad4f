//! `find`: a walk through a generated tree of 4096 files in 272 folders, with the status of every entry.

use super::board::Board;
use super::code::LoadCode;
use super::part::{Ending, RunningPart};
use super::{LoadError, Pace};
use std::fs;
use std::io;
use std::path::Path;
use worstcase_logs::prng::SplitMix64;

/// Folders in the root, folders in each of them, files in each of those.
const WIDTH: usize = 16;
/// Characters in a name: long enough not to be kept inline in directory entries.
const NAME_LEN: usize = 40;
const ENTRIES: usize = 0;

/// A walk through a tree of files.
pub const FIND: LoadCode = LoadCode {
    name: "find",
    units: &["entries"],
    body: Some(start),
};

fn start(load: &mut RunningPart, seed: u64) -> Result<(), LoadError> {
    let root = load.folder()?;
    let mut random = SplitMix64::new(seed);
    grow(&root, &mut random).map_err(load.preparing("making a tree of files"))?;
    let rate = load.request().rate();
    load.spawn(Ending::Anywhere, move |board| {
        let mut pace = Pace::alone(rate);
        loop {
            walk(&root, &mut pace, board).map_err(|e| format!("walking {}: {e}", root.display()))?;
        }
    })
}

fn grow(root: &Path, random: &mut SplitMix64) -> io::Result<()> {
    for _ in 0..WIDTH {
        let outer = root.join(name(random));
        fs::create_dir(&outer)?;
        for _ in 0..WIDTH {
            let inner = outer.join(name(random));
            fs::create_dir(&inner)?;
            for _ in 0..WIDTH {
                fs::write(inner.join(name(random)), b"")?;
            }
        }
    }
    Ok(())
}

fn name(random: &mut SplitMix64) -> String {
    (0..NAME_LEN)
        .map(|_| char::from(b'a' + random.below(26) as u8))
        .collect()
}

fn walk(folder: &Path, pace: &mut Pace, board: &Board) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        pace.wait();
        let path = entry?.path();
        let status = fs::symlink_metadata(&path)?;
        board.add(ENTRIES, 1);
        if status.is_dir() {
            walk(&path, pace, board)?;
        }
    }
    Ok(())
}
