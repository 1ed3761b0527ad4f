//! Reading files that a user or another program names: regular files of a bounded size, and nothing else.
//!
//! Opening a FIFO would wait without an end, and reading /dev/zero would fill the memory. Nobody wants either.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The limit for a file that is read into memory at once: records, baselines, study files, logs of other tools,
/// modules.
pub const MOST_BYTES: u64 = 1 << 30;

/// Opens a regular file without waiting; anything else is refused.
pub fn open(path: &Path) -> io::Result<File> {
    // Without O_NONBLOCK, opening a FIFO waits for a writer. The flag has no effect on regular files.
    let file = File::options()
        .read(true)
        .custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed())
        .open(path)?;
    match file.metadata()? {
        is if is.is_file() => Ok(file),
        is if is.is_dir() => Err(rustix::io::Errno::ISDIR.into()),
        _ => Err(io::Error::other("it is not a regular file")),
    }
}

/// The bytes of a regular file of at most [`MOST_BYTES`].
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    read_most(path, MOST_BYTES)
}

/// The bytes of a regular file of at most `most` bytes.
pub fn read_most(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let length = file.metadata()?.len();
    let mut bytes = Vec::with_capacity(usize::try_from(length.min(most)).unwrap_or(0));
    all(file, most, &mut bytes)?;
    Ok(bytes)
}

/// The text of a regular file of at most [`MOST_BYTES`].
pub fn read_to_string(path: &Path) -> io::Result<String> {
    String::from_utf8(read(path)?).map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e.utf8_error()))
}

/// Reads to the end, at most `most` bytes; more is an error, however small the compressed form was.
pub fn all(from: impl Read, most: u64, into: &mut Vec<u8>) -> io::Result<()> {
    let before = into.len() as u64;
    from.take(most.saturating_add(1)).read_to_end(into)?;
    match into.len() as u64 - before > most {
        true => Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("it holds more than {most} bytes"),
        )),
        false => Ok(()),
    }
}

/// The program that a command's first word starts: with a slash it is a path, else it is looked for on the search path.
pub fn program(word: &Path) -> Option<PathBuf> {
    let is_program = |path: &PathBuf| {
        let facts = std::fs::metadata(path);
        facts.is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
    };
    if word.as_os_str().as_encoded_bytes().contains(&b'/') {
        return Some(word.to_path_buf()).filter(is_program);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|folder| folder.join(word))
        .find(is_program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_of_some_size_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let fifo = dir.path().join("fifo");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &fifo,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR,
            0,
        )
        .unwrap();
        for path in [&fifo, Path::new("/dev/zero")] {
            assert_eq!(read(path).unwrap_err().to_string(), "it is not a regular file");
        }
        assert_eq!(read(dir.path()).unwrap_err().kind(), io::ErrorKind::IsADirectory);
        let file = dir.path().join("file");
        std::fs::write(&file, "text").unwrap();
        assert_eq!(read_to_string(&file).unwrap(), "text");
        assert_eq!(read_most(&file, 4).unwrap(), b"text");
        assert_eq!(
            read_most(&file, 3).unwrap_err().to_string(),
            "it holds more than 3 bytes"
        );
        std::fs::write(&file, [0xff]).unwrap();
        assert_eq!(read_to_string(&file).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn a_program_is_found_on_the_search_path_or_by_its_own() {
        assert!(program(Path::new("sh")).unwrap().ends_with("sh"));
        assert_eq!(program(Path::new("/bin/sh")).unwrap(), Path::new("/bin/sh"));
        for none in ["no-such-program", "", "/etc", "/etc/passwd", "./sh"] {
            assert_eq!(program(Path::new(none)), None, "{none}");
        }
    }
}
