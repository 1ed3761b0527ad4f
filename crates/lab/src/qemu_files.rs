//! The files that determine what QEMU's machine does: its executable, the module with its accelerator, and its
//! firmware.
//!
//! ```text
//! /usr/bin/qemu-system-x86_64               what --qemu or the search path names, or what a wrapper there executes
//! .../qemu/accel-tcg-x86_64.so              where a distribution builds the accelerator as a module
//! .../bios-256k.bin, pvh.bin ...            from the folders that `-L help` names, in this order
//! ```
//! To find them QEMU is started once without a machine. The files, their digests and QEMU's version are cached until a file's
//! size, time or inode changes. Shared libraries are left out, because they compute nothing of the machine.

use super::LabError;
use super::board::Board;
use super::confine::User;
use super::process::{Process, QemuLaunch, QemuProgram, ended_by_itself};
use super::watchdog::MachineLimits;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use worstcase_base::cache::Cache;
use worstcase_base::digest::{Digest, sha256_hex};
use worstcase_contract::Instructions;
use worstcase_plan::Arch;

const AREA: &str = "qemu";

/// Arguments for a QEMU without a machine that answers questions.
const ALONE: &str = "-nodefaults -no-user-config -display none -machine none -accel tcg -S -qmp stdio";

/// The known files of one QEMU.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QemuInventory {
    /// What it answers to `--version`.
    pub(crate) version: String,
    /// What it emulates.
    target: String,
    /// The program that was asked.
    program: StampedFile,
    /// Its executable and modules.
    code: Vec<StampedFile>,
    /// Arguments that a wrapper adds.
    arguments: Vec<String>,
    /// The folders with firmware.
    folders: Vec<PathBuf>,
    firmware: Vec<StampedFile>,
}

/// A file's digest, and what shows that the file is still the same.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StampedFile {
    path: PathBuf,
    device: u64,
    inode: u64,
    bytes: u64,
    /// Seconds and nanoseconds of the file's mtime and ctime.
    times: [i64; 4],
    sha256: String,
}

/// The files of this QEMU; `version` is its own answer.
pub fn find(program: &QemuProgram, version: &str, arch: Arch, cache: &Cache) -> Result<QemuInventory, LabError> {
    let failed = |reason: String| LabError::QemuFiles {
        program: program.path.clone(),
        reason,
    };
    let kept = kept(program, cache);
    if let Some(found) = read(&kept).filter(|found| found.version == version && found.is_unchanged(arch)) {
        return Ok(found);
    }
    let board = Board::of(arch);
    let found = look(program, version, board).map_err(failed)?;
    let found = found.map_err(|target| LabError::QemuOfOther {
        program: program.path.clone(),
        found: target,
        arch,
        wanted: board.program,
    })?;
    let json = serde_json::to_vec(&found).expect("paths and digests are plain data");
    // If the cache cannot be written, the next command repeats the search.
    let _ = cache.write_file(&kept, &json);
    Ok(found)
}

/// The same without a start of QEMU: none if this user has not started it before, if a file has changed since then, or if it is a
/// wrapper, which may execute another QEMU each time.
pub fn known(program: &QemuProgram, arch: Arch, cache: &Cache) -> Option<QemuInventory> {
    let found = read(&kept(program, cache)).filter(|found| found.is_unchanged(arch))?;
    let executable = program.path.canonicalize().ok()?;
    let is_itself = found.arguments.is_empty() && found.code.first()?.path == executable;
    (is_itself && (program.user == User::Caller || found.closed_to_others().is_none())).then_some(found)
}

/// The file with what is known.
fn kept(program: &QemuProgram, cache: &Cache) -> PathBuf {
    let user = match program.user {
        User::Caller => "caller",
        User::Nobody => "nobody",
    };
    let key = Digest::new("worstcase-qemu/3")
        .text(&program.path.to_string_lossy())
        .text(user)
        .hex();
    cache.path(AREA, &key).with_extension("json")
}

fn read(kept: &Path) -> Option<QemuInventory> {
    serde_json::from_slice(&std::fs::read(kept).ok()?).ok()
}

/// Starts it once; the inner error is what it emulates, if that is not the board's.
fn look(program: &QemuProgram, version: &str, board: &Board) -> Result<Result<QemuInventory, String>, String> {
    let args: Vec<String> = ALONE.split(' ').map(str::to_string).collect();
    let mut qemu = Process::start(QemuLaunch {
        qemu: program,
        args: args.clone(),
        folder: Path::new("/"),
        handed: &[],
        writable: Vec::new(),
        stderr: Stdio::null(),
        progress: None,
        limits: MachineLimits::new(Instructions(0), None),
    })
    .map_err(|e| e.to_string())?;
    let process = procfs::process::Process::new(qemu.id().cast_signed()).map_err(|e| e.to_string())?;
    let executable = process.exe().map_err(|e| e.to_string())?;
    let maps = process.maps().map_err(|e| e.to_string())?;
    let command_line = process.cmdline().map_err(|e| e.to_string())?;
    let told = qemu.talk(|qmp| qmp.execute("query-target", json!({})));
    let told = told.map_err(|e| e.to_string())?;
    let target = told["arch"].as_str().unwrap_or_default().to_string();
    qemu.quit().map_err(|e| e.to_string())?;

    if first_line(&executable, &["--version"])? != version {
        return Err(format!(
            "it runs in {}, which is not QEMU; a wrapper must end with exec",
            executable.display()
        ));
    }
    if target != board.target {
        return Ok(Err(target));
    }
    let mut code = vec![executable];
    code.extend(maps.into_iter().filter_map(|map| match map.pathname {
        procfs::process::MMapPath::Path(path) if is_accelerator(&path) => Some(path),
        _ => None,
    }));
    code.dedup();
    let folders: Vec<PathBuf> = output(&program.path, &["-L", "help"])?
        .lines()
        .map(PathBuf::from)
        .collect();
    let files = |paths: Vec<PathBuf>| -> Result<Vec<StampedFile>, String> {
        let read = |path: PathBuf| StampedFile::read(&path).map_err(|e| format!("{}: {e}", path.display()));
        paths.into_iter().map(read).collect()
    };
    Ok(Ok(QemuInventory {
        version: version.to_string(),
        target,
        program: files(vec![program.path.clone()])?.remove(0),
        code: files(code)?,
        arguments: command_line
            .into_iter()
            .skip(1)
            .filter(|word| !args.contains(word))
            .collect(),
        firmware: files(firmware(&folders, board)?)?,
        folders,
    }))
}

/// Whether this is the accelerator's module, by QEMU's name for it.
fn is_accelerator(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("accel-") && name.ends_with(".so")
}

fn firmware(folders: &[PathBuf], board: &Board) -> Result<Vec<PathBuf>, String> {
    let find = |name: &&str| {
        let mut places = folders.iter().map(|folder| folder.join(name));
        places
            .find(|path| path.is_file())
            .ok_or_else(|| format!("its firmware {name} is in none of the folders that '-L help' names"))
    };
    board.firmware.iter().map(find).collect()
}

impl QemuInventory {
    /// A file that not every user may read.
    pub(crate) fn closed_to_others(&self) -> Option<&Path> {
        let mut all = self.code.iter().chain(&self.firmware).map(|file| file.path.as_path());
        all.find(|path| !is_open_to_all(path))
    }

    fn is_unchanged(&self, arch: Arch) -> bool {
        let board = Board::of(arch);
        let mut all = self.code.iter().chain(&self.firmware).chain([&self.program]);
        let paths = self.firmware.iter().map(|file| file.path.clone());
        self.target == board.target
            && all.all(StampedFile::is_unchanged)
            && firmware(&self.folders, board) == Ok(paths.collect())
    }

    /// The digest of them all.
    pub fn digest(&self) -> String {
        let mut digest = Digest::new("worstcase-qemu/1");
        for file in self.code.iter().chain(&self.firmware) {
            digest.text(&file.sha256);
        }
        for argument in &self.arguments {
            digest.text(argument);
        }
        digest.hex()
    }
}

impl StampedFile {
    fn read(path: &Path) -> io::Result<StampedFile> {
        let mut file = StampedFile::stat(path)?;
        file.sha256 = sha256_hex(&std::fs::read(path)?);
        Ok(file)
    }

    /// The file's stamp, without its digest.
    fn stat(path: &Path) -> io::Result<StampedFile> {
        let stat = std::fs::metadata(path)?;
        Ok(StampedFile {
            path: path.to_path_buf(),
            device: stat.dev(),
            inode: stat.ino(),
            bytes: stat.len(),
            times: [stat.mtime(), stat.mtime_nsec(), stat.ctime(), stat.ctime_nsec()],
            sha256: String::new(),
        })
    }

    fn is_unchanged(&self) -> bool {
        StampedFile::stat(&self.path).is_ok_and(|now| {
            let sha256 = self.sha256.clone();
            StampedFile { sha256, ..now } == *self
        })
    }
}

/// Whether every user may read the file, and pass the folders above it.
fn is_open_to_all(path: &Path) -> bool {
    let mode = |path: &Path| std::fs::metadata(path).map_or(0, |is| is.mode());
    let Ok(path) = path.canonicalize() else { return false };
    mode(&path) & 0o004 != 0 && path.ancestors().skip(1).all(|above| mode(above) & 0o001 != 0)
}

fn output(program: &Path, args: &[&str]) -> Result<String, String> {
    let output = Command::new(program).args(args).output().map_err(|e| e.to_string())?;
    // The output of a killed program may be incomplete, and the result is kept.
    ended_by_itself(output.status).map_err(|e| e.to_string())?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn first_line(program: &Path, args: &[&str]) -> Result<String, String> {
    Ok(output(program, args)?.lines().next().unwrap_or_default().to_string())
}
