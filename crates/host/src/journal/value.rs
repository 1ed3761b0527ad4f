//! A setting: a file of sysfs or procfs that holds one value.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// The value in the form in which it can be written: of `always [madvise] never` the chosen word.
pub(super) fn read(path: &Path) -> io::Result<String> {
    let text = fs::read_to_string(path)?;
    let text = text.trim();
    let chosen = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    Ok(chosen.map_or(text, |(chosen, _)| chosen).to_string())
}

/// Writes the value; never makes a file.
pub(super) fn write(path: &Path, value: &str) -> io::Result<()> {
    File::options()
        .write(true)
        .truncate(true)
        .open(path)?
        .write_all(value.as_bytes())
}
