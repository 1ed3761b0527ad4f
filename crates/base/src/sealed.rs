//! Checksums over all files of a folder: a folder that has changed is never believed.
//!
//! A sealed folder holds the file `CHECKSUMS`: a line for each of its files, with its XXH3-128, its length and its name.
//! The hash finds damage, and is fast enough for a machine's memory (`docs/lab.md` has its cost). It is no signature:
//! everybody who can write to the folder can seal it again.

use std::fmt::Write;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;
use twox_hash::XxHash3_128;

/// Name of the file with the checksums.
pub const FILE: &str = "CHECKSUMS";
/// Name of the file that says which machine made the folder. It has no checksum: two machines may make equal folders.
pub const MADE_BY: &str = "MADE_BY";

const LONGEST_NAME: u64 = 1 << 10;

/// A block of zeros does not change the hash, whether it was written or is a hole.
const BLOCK: usize = 1 << 16;
static ZEROS: [u8; BLOCK] = [0; BLOCK];

/// Seals the folder as it is; made by this machine, unless the folder names another.
pub fn seal(folder: &Path) -> io::Result<()> {
    let made_by = folder.join(MADE_BY);
    if !made_by.exists() {
        fs::write(made_by, crate::machine::name())?;
    }
    fs::write(folder.join(FILE), checksums(folder)?)
}

/// Checks a folder against its checksums; the error says what differs.
pub fn check(folder: &Path) -> Result<(), String> {
    let kept = crate::files::read_to_string(&folder.join(FILE)).map_err(|e| format!("its {FILE}: {e}"))?;
    let found = checksums(folder).map_err(|e| e.to_string())?;
    if kept == found {
        return Ok(());
    }
    let of = |text: &str| -> Vec<String> { text.lines().map(str::to_string).collect() };
    let (kept, found) = (of(&kept), of(&found));
    let other = kept.iter().find(|line| !found.contains(line));
    let other = other.or_else(|| found.iter().find(|line| !kept.contains(line)));
    Err(match other {
        Some(line) => format!("its file '{}' does not fit its checksum", name(line)),
        None => format!("its {FILE} is not as it was written"),
    })
}

/// Which machine made a sealed folder, in words.
pub fn made_by(folder: &Path) -> String {
    match crate::files::read_most(&folder.join(MADE_BY), LONGEST_NAME) {
        Ok(name) => String::from_utf8_lossy(&name).trim().to_string(),
        Err(_) => "an unknown machine".into(),
    }
}

/// A file of both folders that differs; a file that one folder lacks belongs to another version and is ignored.
pub fn difference(first: &Path, second: &Path) -> io::Result<Option<String>> {
    let read = |folder: &Path| crate::files::read_to_string(&folder.join(FILE));
    let (first, second) = (read(first)?, read(second)?);
    let other = first.lines().find(|line| {
        let same_name = |other: &&str| name(other) == name(line);
        second.lines().find(same_name).is_some_and(|other| other != *line)
    });
    Ok(other.map(|line| name(line).to_string()))
}

/// The file name in a line of checksums.
fn name(line: &str) -> &str {
    line.splitn(3, "  ").nth(2).unwrap_or("?")
}

fn checksums(folder: &Path) -> io::Result<String> {
    let mut names = Vec::new();
    find(folder, Path::new(""), &mut names)?;
    names.sort();
    let mut text = String::new();
    for name in names {
        let (hash, length) = hash(&folder.join(&name))?;
        let name = name.to_string_lossy();
        writeln!(text, "{hash:032x}  {length}  {}", name.escape_debug()).expect("writing to a String cannot fail");
    }
    Ok(text)
}

fn find(root: &Path, below: &Path, names: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(root.join(below))? {
        let entry = entry?;
        let name = below.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => find(root, &name, names)?,
            false if name != Path::new(FILE) && name != Path::new(MADE_BY) => names.push(name),
            false => {}
        }
    }
    Ok(())
}

/// The hash of a file's blocks, each with its place, and the file's length. Of a sparse file only what was written is read.
fn hash(path: &Path) -> io::Result<(u128, u64)> {
    let file = crate::files::open(path)?;
    let length = file.metadata()?.len();
    let mut hash = XxHash3_128::new();
    let mut buffer = vec![0; BLOCK];
    let mut at = 0;
    while let Some(data) = next_data(&file, at, length)? {
        at = data - data % BLOCK as u64;
        let block = &mut buffer[..BLOCK.min(usize::try_from(length - at).unwrap_or(BLOCK))];
        file.read_exact_at(block, at)?;
        if *block != ZEROS[..block.len()] {
            hash.write(&at.to_le_bytes());
            hash.write(block);
        }
        at += block.len() as u64;
    }
    Ok((hash.finish_128(), length))
}

/// The offset of the next data of a sparse file at or behind `at`.
pub fn next_data(file: &File, at: u64, length: u64) -> io::Result<Option<u64>> {
    if at >= length {
        return Ok(None);
    }
    match seek(file, SeekFrom::Data(at)) {
        Ok(data) => Ok(Some(data)),
        Err(Errno::NXIO) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealed() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("in")).unwrap();
        fs::write(dir.path().join("in/a"), b"some bytes").unwrap();
        let memory = File::create(dir.path().join("memory")).unwrap();
        memory.set_len(3 << 20).unwrap();
        memory.write_all_at(b"kernel", 1 << 20).unwrap();
        seal(dir.path()).unwrap();
        check(dir.path()).unwrap();
        dir
    }

    #[test]
    fn every_bit_counts_and_so_does_every_file() {
        let dir = sealed();
        let at = |name: &str| dir.path().join(name);
        for name in ["in/a", FILE] {
            let whole = fs::read(at(name)).unwrap();
            for bit in 0..whole.len() * 8 {
                let mut flipped = whole.clone();
                flipped[bit / 8] ^= 1 << (bit % 8);
                fs::write(at(name), flipped).unwrap();
                assert!(check(dir.path()).is_err(), "{name} bit {bit}");
            }
            fs::write(at(name), whole).unwrap();
        }
        check(dir.path()).unwrap();
        fs::write(at("more"), b"").unwrap();
        assert_eq!(
            check(dir.path()).unwrap_err(),
            "its file 'more' does not fit its checksum"
        );
        fs::remove_file(at("more")).unwrap();
        fs::remove_file(at("in/a")).unwrap();
        assert_eq!(
            check(dir.path()).unwrap_err(),
            "its file 'in/a' does not fit its checksum"
        );
        fs::remove_file(at(FILE)).unwrap();
        assert!(check(dir.path()).unwrap_err().starts_with("its CHECKSUMS: "));
    }

    #[test]
    fn folders_of_two_machines_are_equal_when_their_files_are() {
        let (one, other) = (sealed(), sealed());
        let at = |name: &str| other.path().join(name);
        fs::write(at(MADE_BY), "board7\n").unwrap();
        check(other.path()).unwrap();
        assert_eq!(made_by(other.path()), "board7");
        assert_eq!(made_by(one.path()), crate::machine::name());
        assert_eq!(difference(one.path(), other.path()).unwrap(), None);
        fs::write(at("more"), b"of a later version").unwrap();
        seal(other.path()).unwrap();
        assert_eq!(difference(one.path(), other.path()).unwrap(), None);
        fs::write(at("in/a"), b"some other").unwrap();
        seal(other.path()).unwrap();
        assert_eq!(difference(one.path(), other.path()).unwrap().unwrap(), "in/a");
        assert_eq!(made_by(other.path()), "board7");
    }

    #[test]
    fn a_sparse_file_is_its_content_and_its_length() {
        let dir = sealed();
        let path = dir.path().join("memory");
        let memory = File::options().write(true).open(&path).unwrap();
        // Written zeros count as holes do.
        memory.write_all_at(&[0; 200_000], 2 << 20).unwrap();
        check(dir.path()).unwrap();
        memory.write_all_at(&[1], 2 << 20).unwrap();
        assert!(check(dir.path()).is_err());
        memory.write_all_at(&[0], 2 << 20).unwrap();
        // The same bytes at another offset.
        memory.write_all_at(&[0; 6], 1 << 20).unwrap();
        memory.write_all_at(b"kernel", 2 << 20).unwrap();
        assert!(check(dir.path()).is_err());
        memory.write_all_at(&[0; 6], 2 << 20).unwrap();
        memory.write_all_at(b"kernel", 1 << 20).unwrap();
        check(dir.path()).unwrap();
        memory.set_len((3 << 20) + 1).unwrap();
        assert!(check(dir.path()).is_err());
    }
}
