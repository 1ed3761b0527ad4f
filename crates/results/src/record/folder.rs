//! A folder that is whole or absent: a cell's record with its samples, and files with their checksums.
//!
//! A folder is written under a temporary name beside its place, flushed to the disk, and renamed. Each holds
//! `SHA256SUMS` in the format of `sha256sum -c`; a file that does not fit it is never read as a result. The
//! lab's cache can keep cells as such folders, too.

use super::fit::{check_footer, read_fitting};
use super::parquet::SamplesReader;
use super::{CellResult, FOLLOW_FILE, Record, SCHEMA, SampleRow};
use sha2::{Digest, Sha256};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use worstcase_base::digest::{hex, sha256_hex};
use worstcase_base::files;
use worstcase_base::format::without_types;
use worstcase_base::lock::FileLock;
use worstcase_base::output::OutputFolder;

/// Name of the plan.
pub const RUN_FILE: &str = "run.json";
/// Name of a cell's record.
pub(crate) const RECORD_FILE: &str = "record.json";
/// Name of the checksums.
pub(crate) const SUMS_FILE: &str = "SHA256SUMS";
/// Temporary folders begin with it; nothing reads them.
pub const WRITING: &str = ".writing-";

worstcase_base::errors! {
    /// Why a folder cannot be written or read.
    #[derive(Debug, thiserror::Error)]
    pub enum FolderError {
        /// The system refused.
        #[error("cannot {action} {}: {cause}", path.display())]
        Io {
            /// The attempted action.
            action: &'static str,
            /// The file or folder.
            path: PathBuf,
            /// The system's words.
            cause: io::Error,
        } => Storage,
        /// The user may not read it.
        #[error("cannot read {}: {cause}; read it as the user who measured it, or as root", path.display())]
        Unreadable {
            /// The file or folder.
            path: PathBuf,
            /// The system's words.
            cause: io::Error,
        } => Usage,
        /// Written by another version.
        #[error("{} was written by another version of worstcase (it is '{}', this one reads '{reads}'); read it with that one, or measure again into another folder", file.display(), found.escape_debug())]
        OtherSchema {
            /// The file.
            file: PathBuf,
            /// Its schema.
            found: String,
            /// Ours.
            reads: &'static str,
        } => Usage,
        /// The file is as it was written, but this version writes it otherwise.
        #[error("{} was written by another version of worstcase: it is whole, and this one cannot read it ({what}); read it with that one, or measure again into another folder", file.display())]
        OtherVersion {
            /// The file.
            file: PathBuf,
            /// Why not.
            what: String,
        } => Usage,
        /// The contents are not those that were written.
        #[error("{} is damaged: {what}; put {} aside and give the command that made it again, which then measures only what is missing", file.display(), aside.display())]
        Damaged {
            /// The file.
            file: PathBuf,
            /// The damage.
            what: String,
            /// The folder or file to put aside.
            aside: PathBuf,
        } => Usage,
    }
}

impl FolderError {
    /// The same where `shown` is the name of the folder that was opened as `held`.
    pub(super) fn named(mut self, held: &Path, shown: &Path) -> FolderError {
        let rename = |path: &mut PathBuf| {
            if let Ok(below) = path.strip_prefix(held) {
                *path = shown.join(below);
            }
        };
        match &mut self {
            FolderError::Io { path, .. } | FolderError::Unreadable { path, .. } => rename(path),
            FolderError::OtherSchema { file, .. } | FolderError::OtherVersion { file, .. } => rename(file),
            FolderError::Damaged { file, aside, .. } => [file, aside].into_iter().for_each(rename),
        }
        self
    }
}

/// An [`FolderError::Io`] for `map_err`.
pub(super) fn io_error(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> FolderError {
    move |cause| FolderError::Io {
        action,
        path: path.to_path_buf(),
        cause,
    }
}

pub(super) fn damaged(file: &Path, aside: &Path, what: impl Into<String>) -> FolderError {
    FolderError::Damaged {
        file: file.to_path_buf(),
        what: what.into(),
        aside: aside.to_path_buf(),
    }
}

/// The error for a file that fits its checksum.
pub(super) fn other_version(file: &Path, what: impl ToString) -> FolderError {
    FolderError::OtherVersion {
        file: file.to_path_buf(),
        what: what.to_string(),
    }
}

/// Writes `result` as the folder `parent/name`, which must not exist.
pub fn write_cell(parent: &Path, name: &str, result: &CellResult) -> Result<(), FolderError> {
    let record = to_json(&result.record);
    let samples_name = result.record.samples.file.as_str();
    let mut files = vec![(RECORD_FILE, record.as_slice()), (samples_name, &result.samples[..])];
    files.extend(result.found.as_ref().map(|found| (FOLLOW_FILE, found.as_bytes())));
    write_folder(parent, name, &files, &[])
}

/// JSON as it is written to disk: indented, with a line end.
pub(super) fn to_json(value: &impl serde::Serialize) -> Vec<u8> {
    let mut json = serde_json::to_vec_pretty(value).expect("plain values are serialised");
    json.push(b'\n');
    json
}

/// Writes files and their checksums as the folder `parent/name`, whole or not at all; `moved` are files to take from where they are.
pub(super) fn write_folder(
    parent: &Path,
    name: &str,
    files: &[(&str, &[u8])],
    moved: &[(&str, &Path)],
) -> Result<(), FolderError> {
    written(parent, WRITING, files, moved)?.put(parent, name)
}

/// Like the above for a folder in which users beside the run's owner write, too, and may exchange names meanwhile;
/// returns the folder that was written. Removes the leftovers of a killed writer of this folder. `shown` is the place,
/// for messages.
pub(super) fn write_first(
    (parent, name): (&OutputFolder, &OsStr),
    shown: &Path,
    files: &[(&str, &[u8])],
) -> Result<OutputFolder, FolderError> {
    let held = parent.held().map_err(io_error("create", shown))?;
    let written = write_in((parent, name), &held, files);
    written.map_err(|error| error.named(&held, shown.parent().unwrap_or(shown)))
}

fn write_in(
    (place, name): (&OutputFolder, &OsStr),
    parent: &Path,
    files: &[(&str, &[u8])],
) -> Result<OutputFolder, FolderError> {
    let begun: String = name.to_string_lossy().chars().take(50).collect();
    let prefix = format!("{WRITING}{begun}-");
    remove_abandoned(parent, &prefix)?;
    let temporary = temporary(parent, &prefix)?;
    let opened = place.open(temporary.path().file_name().unwrap_or_default());
    let opened = opened.and_then(|folder| folder.ok_or_else(|| io::ErrorKind::NotFound.into()));
    let folder = opened.map_err(io_error("open", temporary.path()))?;
    let held = folder.held().map_err(io_error("open", temporary.path()))?;
    let _lock = fill(&held, files, &[]).map_err(|error| error.named(&held, temporary.path()))?;
    let to = parent.join(name);
    fs::rename(temporary.path(), &to).map_err(io_error("create", &to))?;
    // The folder is in its place: there is nothing left to remove.
    let _ = temporary.keep();
    sync_dir(parent)?;
    Ok(folder)
}

/// A temporary folder whose files are flushed. Its lock tells it from the folder of a killed writer.
struct WrittenFolder {
    folder: TempDir,
    _lock: Option<FileLock>,
}

impl WrittenFolder {
    fn put(self, parent: &Path, name: &str) -> Result<(), FolderError> {
        let place = parent.join(name);
        fs::rename(self.folder.path(), &place).map_err(io_error("create", &place))?;
        // The folder is in its place: there is nothing left to remove.
        let _ = self.folder.keep();
        sync_dir(parent)
    }
}

fn written(
    parent: &Path,
    prefix: &str,
    files: &[(&str, &[u8])],
    moved: &[(&str, &Path)],
) -> Result<WrittenFolder, FolderError> {
    let folder = temporary(parent, prefix)?;
    let _lock = fill(folder.path(), files, moved)?;
    Ok(WrittenFolder { folder, _lock })
}

fn temporary(parent: &Path, prefix: &str) -> Result<TempDir, FolderError> {
    tempfile::Builder::new()
        .prefix(prefix)
        .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777))
        .tempdir_in(parent)
        // tempfile adds a path that the user does not know.
        .map_err(|error| io_error("write a folder in", parent)(error.kind().into()))
}

/// Writes a folder's files, and their checksums.
fn fill(folder: &Path, files: &[(&str, &[u8])], moved: &[(&str, &Path)]) -> Result<Option<FileLock>, FolderError> {
    let lock = FileLock::try_open(folder).map_err(io_error("lock", folder))?;
    let mut sums = String::new();
    for (file, bytes) in files {
        write_synced(&folder.join(file), bytes)?;
        sums += &format!("{}  {file}\n", sha256_hex(bytes));
    }
    for (file, from) in moved {
        let to = folder.join(file);
        fs::rename(from, &to).map_err(io_error("move", from))?;
        let sync = File::open(&to).and_then(|file| file.sync_all());
        sync.map_err(io_error("flush", &to))?;
        sums += &format!("{}  {file}\n", sha256_of_file(&to).map_err(io_error("read", &to))?);
    }
    write_synced(&folder.join(SUMS_FILE), sums.as_bytes())?;
    sync_dir(folder)?;
    Ok(lock)
}

#[expect(clippy::disallowed_methods, reason = "a new name in a folder that was just made")]
pub(super) fn write_synced(path: &Path, bytes: &[u8]) -> Result<(), FolderError> {
    let write = || {
        let mut file = File::create(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    write().map_err(io_error("write", path))
}

pub(super) fn sync_dir(path: &Path) -> Result<(), FolderError> {
    let sync = || File::open(path)?.sync_all();
    sync().map_err(io_error("flush", path))
}

/// Removes temporary folders that a killed writer left. The caller must hold the run's lock.
pub(super) fn remove_leftovers(parent: &Path) -> Result<(), FolderError> {
    for entry in fs::read_dir(parent).map_err(io_error("read", parent))? {
        let entry = entry.map_err(io_error("read", parent))?;
        if entry.file_name().to_string_lossy().starts_with(WRITING) {
            fs::remove_dir_all(entry.path()).map_err(io_error("remove", &entry.path()))?;
        }
    }
    Ok(())
}

/// Removes leftovers of killed writers: folders of ours whose name begins so, which no process holds, with nothing
/// but our files.
fn remove_abandoned(parent: &Path, prefix: &str) -> Result<(), FolderError> {
    let is_abandoned = |path: &Path| -> io::Result<bool> {
        let own = fs::symlink_metadata(path)?;
        let is_ours = own.is_dir() && own.uid() == rustix::process::geteuid().as_raw();
        let mut files = fs::read_dir(path)?.flatten();
        let has_ours = files.all(|file| file.file_name() == RUN_FILE || file.file_name() == SUMS_FILE);
        Ok(is_ours && has_ours && FileLock::try_open(path)?.is_some())
    };
    for entry in fs::read_dir(parent).map_err(io_error("read", parent))?.flatten() {
        let is_named = entry.file_name().to_string_lossy().starts_with(prefix);
        // A process that cannot look at the folder leaves it.
        if is_named && is_abandoned(&entry.path()).unwrap_or(false) {
            fs::remove_dir_all(entry.path()).map_err(io_error("remove", &entry.path()))?;
        }
    }
    Ok(())
}

/// The schema alone, read first: fields of another version are none of ours.
#[derive(Debug, serde::Deserialize)]
struct FolderSchema {
    schema: String,
}

/// Reads the file `name` of the folder `dir`, which must fit the folder's checksums and have the schema that this worstcase
/// reads, or one before it that it still reads.
pub(super) fn read_form<T: serde::de::DeserializeOwned>(
    dir: &Path,
    name: &str,
    reads: &'static str,
    earlier: Option<&str>,
) -> Result<T, FolderError> {
    let path = dir.join(name);
    let json = read(dir, name)?;
    let form = serde_json::from_slice::<FolderSchema>(&json);
    let other = || {
        let found = form
            .as_ref()
            .ok()
            .filter(|form| form.schema != reads && Some(form.schema.as_str()) != earlier)?
            .schema
            .clone();
        let file = path.clone();
        Some(FolderError::OtherSchema { file, found, reads })
    };
    match expected_sum(dir, name) {
        Ok(sum) if sum == sha256_hex(&json) => {}
        Ok(_) => {
            let what = format!("it does not fit its checksum in {SUMS_FILE}");
            return Err(damaged(&path, dir, what));
        }
        // There were versions without checksums.
        Err(missing) => return Err(other().unwrap_or(missing)),
    }
    if let Some(other) = other() {
        return Err(other);
    }
    super::bounds::check(&json).map_err(|e| other_version(&path, e))?;
    serde_json::from_slice(&json).map_err(|e| other_version(&path, without_types(&e.to_string())))
}

fn read(dir: &Path, name: &str) -> Result<Vec<u8>, FolderError> {
    let path = dir.join(name);
    files::read(&path).map_err(|cause| missing_or_io(dir, &path, cause))
}

pub(super) fn missing_or_io(dir: &Path, path: &Path, cause: io::Error) -> FolderError {
    match cause.kind() {
        io::ErrorKind::NotFound if dir.is_dir() => damaged(path, dir, "it is missing"),
        io::ErrorKind::IsADirectory => damaged(path, dir, "it is a folder"),
        // The refusal is not the system's but ours: no regular file, or a longer one than any of these.
        _ if cause.raw_os_error().is_none() => damaged(path, dir, cause.to_string()),
        io::ErrorKind::PermissionDenied => FolderError::Unreadable {
            path: path.to_path_buf(),
            cause,
        },
        _ => io_error("read", path)(cause),
    }
}

fn expected_sum(dir: &Path, name: &str) -> Result<String, FolderError> {
    let text = read(dir, SUMS_FILE)?;
    String::from_utf8_lossy(&text)
        .lines()
        .filter_map(|line| line.split_once("  "))
        .find(|(_, file)| *file == name)
        .map(|(sum, _)| sum.to_string())
        .ok_or_else(|| damaged(&dir.join(SUMS_FILE), dir, format!("it has no checksum of {name}")))
}

/// Reads a file beside a record, which must fit the folder's checksums; nothing if it is not there and was never written.
pub(super) fn read_beside(dir: &Path, name: &str) -> Result<Option<Vec<u8>>, FolderError> {
    let path = dir.join(name);
    let sum = expected_sum(dir, name);
    // A link that leads nowhere is there.
    if path.symlink_metadata().is_err() {
        return match sum {
            Ok(_) => Err(damaged(&path, dir, "it is missing")),
            Err(_) => Ok(None),
        };
    }
    let bytes = read(dir, name)?;
    match sum? == sha256_hex(&bytes) {
        true => Ok(Some(bytes)),
        false => Err(damaged(
            &path,
            dir,
            format!("it does not fit its checksum in {SUMS_FILE}"),
        )),
    }
}

/// Files with up to so many rows are compared with their record whenever it is read: 0.14 s for a million. Of longer files
/// only the footer is, and the rows when a caller reads them.
const CHECKED_AT_ONCE: u64 = 1_000_000;

/// Reads a cell's record; checksums and accounting are checked, and that the samples file is of this record.
pub(crate) fn read_record(dir: &Path) -> Result<Record, FolderError> {
    let path = dir.join(RECORD_FILE);
    let record: Record = read_form(dir, RECORD_FILE, SCHEMA, None)?;
    record.check().map_err(|e| other_version(&path, e))?;
    if record.samples.file != super::build::SAMPLES_FILE {
        return Err(other_version(&path, "it names an unknown samples file"));
    }
    let samples = dir.join(&record.samples.file);
    check_length(dir, &samples, &record)?;
    let sum = sha256_of_file(&samples).map_err(|cause| missing_or_io(dir, &samples, cause))?;
    if sum != record.samples.sha256 || sum != expected_sum(dir, &record.samples.file)? {
        return Err(damaged(&samples, dir, "it does not fit its checksum"));
    }
    match record.samples.rows <= CHECKED_AT_ONCE {
        true => for_each_sample(dir, &record, |_| ())?,
        false => {
            let footer = open_samples(dir, &record).map(|reader| check_footer(&reader, &record))?;
            footer.map_err(|what| damaged(&samples, dir, what))?;
        }
    }
    Ok(record)
}

/// The largest size of a row in a samples file, in bytes; the second constant is that of everything else: four times the
/// size of the longest rows and the longest names.
const MOST_OF_A_ROW: u64 = 1 << 10;
const MOST_BESIDE: u64 = 64 << 20;

/// Compares the samples file's length with its record's before any of it is read: a file with holes costs nothing to write,
/// and hours to read.
fn check_length(dir: &Path, samples: &Path, record: &Record) -> Result<(), FolderError> {
    let told = &record.samples;
    if told.bytes > told.rows.saturating_mul(MOST_OF_A_ROW).saturating_add(MOST_BESIDE) {
        let what = format!("{} bytes are too many for {} samples", told.bytes, told.rows);
        return Err(other_version(&dir.join(RECORD_FILE), what));
    }
    let length = files::open(samples).and_then(|file| file.metadata());
    match length.map_err(|cause| missing_or_io(dir, samples, cause))?.len() {
        length if length == told.bytes => Ok(()),
        length => {
            let what = format!("it is {length} bytes long, its record says {}", told.bytes);
            Err(damaged(samples, dir, what))
        }
    }
}

/// Reads a whole cell, to keep it elsewhere.
pub fn read_cell(dir: &Path) -> Result<CellResult, FolderError> {
    let record = read_record(dir)?;
    let samples = read(dir, &record.samples.file)?;
    let found = match record.followed.is_some() && dir.join(FOLLOW_FILE).exists() {
        true => String::from_utf8(read(dir, FOLLOW_FILE)?).ok(),
        false => None,
    };
    Ok(CellResult { record, samples, found })
}

/// SHA-256 of a file of any size.
pub fn sha256_of_file(path: &Path) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut file = files::open(path)?;
    let mut buffer = vec![0; 1 << 16];
    loop {
        match io::Read::read(&mut file, &mut buffer)? {
            0 => return Ok(hex(&hash.finalize())),
            n => hash.update(&buffer[..n]),
        }
    }
}

/// Hands a cell's samples to `each`, group by group, in order. After an error, which tells that they are not this record's,
/// nothing that was handed out may be used.
pub(crate) fn for_each_sample(dir: &Path, record: &Record, each: impl FnMut(SampleRow)) -> Result<(), FolderError> {
    let reader = open_samples(dir, record)?;
    let path = dir.join(&record.samples.file);
    read_fitting(reader, record, each).map_err(|what| damaged(&path, dir, what))
}

fn open_samples(dir: &Path, record: &Record) -> Result<SamplesReader<File>, FolderError> {
    let path = dir.join(&record.samples.file);
    let file = files::open(&path).map_err(|cause| missing_or_io(dir, &path, cause))?;
    SamplesReader::new(file).map_err(|e| damaged(&path, dir, e.to_string()))
}
