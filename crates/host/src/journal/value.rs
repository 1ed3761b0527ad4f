//! A setting: a file of sysfs or procfs that holds one value.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// Its value, as it could be written: of a choice like `always [madvise] never` the chosen one.
pub(super) fn read(path: &Path) -> io::Result<String> {
    let text = fs::read_to_string(path)?;
    let text = text.trim();
    let chosen = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    Ok(chosen.map_or(text, |(chosen, _)| chosen).to_string())
}

/// Sets it; never makes a file.
pub(super) fn write(path: &Path, value: &str) -> io::Result<()> {
    File::options()
        .write(true)
        .truncate(true)
        .open(path)?
        .write_all(value.as_bytes())
}
