//! Where results go: standard output, or a file that is there whole or not at all.

use serde::Serialize;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use worstcase_base::format::plain_lines;

/// Standard output went away or cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the output: {0}; check where it goes")]
pub struct OutputError(#[from] io::Error);

/// Writes text for people to standard output, whatever records, kernels and packages hold that it tells of; a reader that
/// went away (`| head`) is no error.
pub fn print(text: &str) -> Result<(), OutputError> {
    print_data(&plain_lines(text))
}

/// Writes what programs read, as it is.
pub fn print_data(text: &str) -> Result<(), OutputError> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

/// Writes a value to standard output as JSON.
pub fn print_json(value: &impl Serialize) -> Result<(), OutputError> {
    let json = serde_json::to_string_pretty(value).map_err(io::Error::from)?;
    print_data(&format!("{json}\n"))
}

/// Writes a file, replacing one that is there. What is no plain file (a pipe, `/dev/stdout`) is written to as it is.
pub fn write(path: &Path, data: &[u8]) -> io::Result<()> {
    // The file that a link names is replaced, not the link.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    match fs::metadata(&target) {
        Ok(there) if there.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        Ok(there) if !there.is_file() => return File::create(&target)?.write_all(data),
        _ => {}
    }
    let folder = target
        .parent()
        .filter(|p| !p.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    // Said in the system's words; else it is of a file that nobody asked for.
    fs::metadata(folder)?;
    let mut file = tempfile::Builder::new()
        .prefix(".worstcase-")
        // Less what the umask takes away, as of any file.
        .permissions(fs::Permissions::from_mode(0o666))
        .tempfile_in(folder)
        .map_err(|e| io::Error::from(e.kind()))?;
    file.write_all(data)?;
    file.persist(&target).map_err(|e| e.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_replaced_and_nothing_else_left() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("file"), dir.path().join("link"));
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write(&file, b"old").unwrap();
        write(&link, b"new").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
        assert_eq!(write(dir.path(), b"").unwrap_err().kind(), io::ErrorKind::IsADirectory);
        let said = write(&dir.path().join("no/file"), b"").unwrap_err().to_string();
        assert_eq!(said, "No such file or directory (os error 2)");
    }
}
