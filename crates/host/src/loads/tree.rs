//! `compile:PATH`: a copy of a user's tree, without build results.
//!
//! If git tracks the tree's Makefile, the tracked files (and a kernel's `.config`) are copied; otherwise all files, and
//! `make clean` follows if the Makefile has it.

use super::place::need_space;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use worstcase_instruments::loads::{LoadError, RunningPart};

/// In the order in which make looks for them.
const MAKEFILES: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];
const KERNEL_CONFIGURATION: &str = ".config";
/// A built tree may take several times the space of its sources, and two copies of these are kept.
const ROOM: u64 = 4;

/// The first of `programs` that is nowhere in PATH.
pub(super) fn missing_program(programs: &[&'static str]) -> Option<&'static str> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |program: &str| {
        let executable = |folder: PathBuf| {
            let file = folder.join(program);
            file.is_file() && rustix::fs::access(&file, rustix::fs::Access::EXEC_OK).is_ok()
        };
        std::env::split_paths(&path).any(executable)
    };
    programs.iter().copied().find(|program| !is_there(program))
}

/// For `load`, copies the tree `from` to the new folder `to`, ready to be built from clean.
pub(super) fn copy(load: &RunningPart, from: &Path, to: &Path) -> Result<(), LoadError> {
    if let Some(program) = missing_program(&["make"]) {
        return Err(load.not_available(format!("there is no {program} in PATH; install it")));
    }
    let Some(makefile) = MAKEFILES.into_iter().find(|name| from.join(name).is_file()) else {
        return Err(load.not_available(format!("there is no Makefile in {}", from.display())));
    };
    let tracked = tracked_files(from).filter(|files| files.iter().any(|file| file == Path::new(makefile)));
    let is_tracked = tracked.is_some();
    let reading = format!("reading {}", from.display());
    let files = match tracked {
        Some(files) => files,
        None => all_files(from).map_err(load.preparing(reading))?,
    };
    let bytes = files
        .iter()
        .filter_map(|file| fs::symlink_metadata(from.join(file)).ok());
    let bytes: u64 = bytes.map(|status| status.len()).sum();
    fs::create_dir(to).map_err(load.preparing("making a folder"))?;
    need_space(load, to, ROOM * bytes)?;
    for file in &files {
        copy_one(&from.join(file), &to.join(file))
            .map_err(load.preparing(format!("copying {}", from.join(file).display())))?;
    }
    if !is_tracked {
        // A Makefile without `clean` is fine.
        let _ = quiet("make").arg("-C").arg(to).arg("clean").status();
    }
    Ok(())
}

/// The files that git tracks in the folder, if its repository belongs to this user: another user's repository could
/// make git run a program.
fn tracked_files(folder: &Path) -> Option<Vec<PathBuf>> {
    let listing = quiet("git")
        .arg("-C")
        .arg(folder)
        .args(["ls-files", "-z"])
        .stdout(Stdio::piped())
        .output()
        .ok()?;
    if !listing.status.success() {
        return None;
    }
    let names = listing.stdout.split(|&byte| byte == 0).filter(|name| !name.is_empty());
    let mut files: Vec<PathBuf> = names.map(|name| PathBuf::from(OsStr::from_bytes(name))).collect();
    if folder.join(KERNEL_CONFIGURATION).is_file() && !files.iter().any(|f| f == Path::new(KERNEL_CONFIGURATION)) {
        files.push(KERNEL_CONFIGURATION.into());
    }
    Some(files)
}

fn quiet(program: &str) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    for variable in ["MAKEFLAGS", "MFLAGS", "MAKELEVEL"] {
        command.env_remove(variable);
    }
    command
}

/// Everything below `root` but `.git`, relative to it.
fn all_files(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder))? {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                if entry.file_name() != ".git" {
                    folders.push(path.clone());
                    files.push(path);
                }
            } else {
                files.push(path);
            }
        }
    }
    Ok(files)
}

/// Copies a file with its mode and time, a link, or an empty folder; files of other kinds, and vanished ones, are left
/// out.
fn copy_one(from: &Path, to: &Path) -> io::Result<()> {
    let status = match fs::symlink_metadata(from) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        status => status?,
    };
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    if status.is_symlink() {
        std::os::unix::fs::symlink(fs::read_link(from)?, to)
    } else if status.is_dir() {
        fs::create_dir_all(to)
    } else if status.is_file() {
        fs::copy(from, to)?;
        let time = status.modified()?;
        // A read-only file cannot be opened for writing; reading is enough to set a time.
        File::open(to)?.set_modified(time)
    } else {
        Ok(())
    }
}
