//! The cache directory: the one place that knows where it is and how something gets into it.
//!
//! ```text
//! $WORSTCASE_CACHE, or $XDG_CACHE_HOME/worstcase, or ~/.cache/worstcase
//!   <area>/<key>/          a finished entry: it is there whole, or not at all; [`Cache::keep`] adds checksums of its files
//!   <area>/.<key>.*.tmp/   an entry under construction; what a killed process left is removed by the next that uses the area
//!   locks/<area>.<key>     flock files: one builder of an entry at a time, others wait for it
//!   scratch/<machine>/*/   folders of running commands, locked by them; one without its process is removed by the next
//! ```
//!
//! An entry is built in a temporary sibling, written out to the disk, and renamed into place, so that a process
//! that is killed, or a machine that loses power, never leaves something half-usable behind.
//!
//! Several machines may share the folder. Where their locks do not reach each other two may build the same entry: the
//! first that is published stays, and one that must be equal is compared ([`Cache::keep_equal`]).

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use rustix::fs::syncfs;

use crate::format::plain;
use crate::interrupt::LastWork;
use crate::lock::FileLock;
use crate::room::is_made_again_in_seconds;
use crate::trust::{self, OtherWriters};
use crate::{machine, sealed};

crate::errors! {
    /// Why the cache cannot be used.
    #[derive(Debug, thiserror::Error)]
    pub enum CacheError {
        /// Neither WORSTCASE_CACHE nor XDG_CACHE_HOME nor HOME says where the cache is.
        #[error("no cache directory: HOME is not set; set WORSTCASE_CACHE to a directory you can write to")]
        NoPlace => Missing,
        /// Root would execute files that another user put there: apt's configuration, QEMU's plugin.
        #[error(
            "root cannot trust the cache, {}: {others}; set WORSTCASE_CACHE to a directory that only root can write to, \
             or WORSTCASE_TRUST_OTHERS=1 where nobody else is",
            path.display()
        )]
        NotOurs {
            /// The cache.
            path: PathBuf,
            /// Who else could write, and where.
            others: OtherWriters,
        } => Usage,
        /// The directory refuses to be written.
        #[error(
            "cannot write to the cache, {}: {source}; make it writable or set WORSTCASE_CACHE to another directory",
            path.display()
        )]
        Unwritable {
            /// Where writing failed.
            path: PathBuf,
            /// The system's answer.
            source: io::Error,
        } => Storage,
        /// The disk or the user's quota is full.
        #[error("the disk is full, {}; free some space or set WORSTCASE_CACHE to a directory on another disk", path.display())]
        Full {
            /// What could not be written.
            path: PathBuf,
        } => Storage,
        /// Two machines made the same entry, and their results differ.
        #[error(transparent)]
        Differs(Box<CacheDifference>) => Measured,
        /// Any other failure below the cache directory.
        #[error("the cache failed, {}: {source}; check the disk", path.display())]
        Io {
            /// Where it failed.
            path: PathBuf,
            /// The system's answer.
            source: io::Error,
        } => Storage,
    }
}

/// Two machines that do not agree.
#[derive(Debug, thiserror::Error)]
#[error(
    "{what}: {first} and {second} do not agree, their files '{file}' differ; one of them computes wrongly, or has \
     another build of something. Find out which, remove {} and ask again", path.display()
)]
pub struct CacheDifference {
    /// What the entry holds.
    what: String,
    /// The machine that made the entry in the cache.
    first: String,
    /// The machine that made it again.
    second: String,
    /// The file that differs.
    file: String,
    /// The entry.
    path: PathBuf,
}

impl CacheError {
    /// Sorts an I/O error that happened while writing `path`.
    pub fn from_io(path: &Path, source: io::Error) -> CacheError {
        let path = path.to_path_buf();
        match source.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => CacheError::Full { path },
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem | ErrorKind::NotADirectory => {
                CacheError::Unwritable { path, source }
            }
            _ => CacheError::Io { path, source },
        }
    }
}

/// A disk with less space than this, in bytes, counts as full.
const FULL: u64 = 1 << 20;

/// The cache directory. Opening it touches nothing: a cache that is only read may be read-only.
#[derive(Debug, Clone)]
pub struct Cache {
    root: PathBuf,
}

/// A folder for temporary files; removed when dropped, or by the next command if this process is killed.
#[derive(Debug)]
pub struct Scratch {
    folder: tempfile::TempDir,
    _lock: FileLock,
    _interrupted: LastWork,
}

impl Scratch {
    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Cache {
    /// The user's cache, from the environment. Root's is refused if another user can write to it.
    pub fn open() -> Result<Cache, CacheError> {
        let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        let root = set("WORSTCASE_CACHE")
            .or_else(|| {
                set("XDG_CACHE_HOME")
                    .filter(|p| p.is_absolute())
                    .map(|p| p.join("worstcase"))
            })
            .or_else(|| set("HOME").map(|p| p.join(".cache/worstcase")))
            .ok_or(CacheError::NoPlace)?;
        let root = std::path::absolute(&root).map_err(|e| CacheError::from_io(&root, e))?;
        match trust::others_in_cache(&root).map_err(|e| CacheError::from_io(&root, e))? {
            Some(others) => Err(CacheError::NotOurs { path: root, others }),
            None => Ok(Cache { root }),
        }
    }

    /// A cache at a place of the caller's choice.
    pub fn at(root: impl Into<PathBuf>) -> Cache {
        Cache { root: root.into() }
    }

    /// Where an entry is or would be.
    pub fn path(&self, area: &str, key: &str) -> PathBuf {
        self.root.join(area).join(key)
    }

    /// A finished entry, if there is one.
    pub fn get(&self, area: &str, key: &str) -> Option<PathBuf> {
        Some(self.path(area, key)).filter(|p| p.exists())
    }

    /// The keys of an area's finished entries, sorted.
    pub fn keys(&self, area: &str) -> Vec<String> {
        let Ok(dir) = fs::read_dir(self.root.join(area)) else {
            return Vec::new();
        };
        let names = dir.flatten().filter_map(|e| e.file_name().into_string().ok());
        let mut keys: Vec<String> = names.filter(|n| !n.starts_with('.')).collect();
        keys.sort();
        keys
    }

    /// Creates `<root>/<area>` and returns it: for state that is not published in one piece, like apt's.
    pub fn area(&self, area: &str) -> Result<PathBuf, CacheError> {
        let path = self.root.join(area);
        fs::create_dir_all(&path).map_err(|e| CacheError::from_io(&path, e))?;
        Ok(path)
    }

    /// Waits until no other process builds this entry, and keeps others away until the lock is dropped.
    pub fn lock(&self, area: &str, key: &str) -> Result<FileLock, CacheError> {
        let (path, file) = self.lock_file(area, key)?;
        FileLock::exclusive(file).map_err(|e| CacheError::from_io(&path, e))
    }

    /// Takes the lock only if it is free now.
    pub(crate) fn try_lock(&self, area: &str, key: &str) -> Option<FileLock> {
        let (_, file) = self.lock_file(area, key).ok()?;
        FileLock::try_exclusive(file).ok()?
    }

    fn lock_file(&self, area: &str, key: &str) -> Result<(PathBuf, File), CacheError> {
        let path = self.area("locks")?.join(format!("{}.{key}", area.replace('/', ".")));
        let file = File::options().create(true).append(true).open(&path);
        let file = file.map_err(|e| CacheError::from_io(&path, e))?;
        Ok((path, file))
    }

    /// Removes unfinished entries of killed processes. A living builder holds its entry's lock. Done once in a process.
    fn sweep_once(&self, area: &str) {
        static SWEPT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
        let folder = self.root.join(area);
        if !SWEPT.lock().expect("no holder panics").insert(folder.clone()) {
            return;
        }
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let key = name.to_str().and_then(under_construction);
            if key.is_some_and(|key| self.try_lock(area, key).is_some()) {
                // Best effort: a leftover that stays costs space, not correctness.
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }

    /// Builds an entry and publishes it in one step; an entry that exists is returned as it is.
    ///
    /// `build` fills the directory it is given. When it fails, or the process dies, nothing is published.
    pub fn publish<E: From<CacheError>>(
        &self,
        area: &str,
        key: &str,
        build: impl FnOnce(&Path) -> Result<(), E>,
    ) -> Result<PathBuf, E> {
        self.sweep_once(area);
        let _lock = self.lock(area, key)?;
        let path = self.path(area, key);
        match path.exists() {
            true => Ok(path),
            false => self.build(area, key, build, |_| Ok(())),
        }
    }

    /// Like [`Cache::publish`], with checksums. An existing entry that does not fit its checksums is built anew; one line
    /// on standard error says so, and what is done `again`.
    pub fn keep<E: From<CacheError>>(
        &self,
        area: &str,
        key: &str,
        again: &str,
        build: impl FnOnce(&Path) -> Result<(), E>,
    ) -> Result<PathBuf, E> {
        let (_lock, there) = self.enter(area, key, again)?;
        match there {
            Some(path) => Ok(path),
            None => self.build(area, key, |building| seal_built(build, building), |_| Ok(())),
        }
    }

    /// Like [`Cache::keep`], for entries that must be equal on every machine. If another machine, which our locks do
    /// not reach, publishes the entry meanwhile, both are compared. `what` names the entry in an error.
    pub fn keep_equal<E: From<CacheError>>(
        &self,
        area: &str,
        key: &str,
        again: &str,
        what: &str,
        build: impl FnOnce(&Path) -> Result<(), E>,
    ) -> Result<PathBuf, E> {
        let (_lock, there) = self.enter(area, key, again)?;
        match there {
            Some(path) => Ok(path),
            None => self.build_equal(area, key, what, build),
        }
    }

    /// An entry that fits its checksums; one that does not is reported and removed, as by [`Cache::keep`].
    pub fn kept(&self, area: &str, key: &str, again: &str) -> Result<Option<PathBuf>, CacheError> {
        if self.get(area, key).is_none() {
            return Ok(None);
        }
        let _lock = self.lock(area, key)?;
        self.whole(area, key, again)
    }

    /// Takes in an entry of another machine; if the entry exists, both must be equal. `fill` writes it, with
    /// [`sealed::MADE_BY`] if another machine made it.
    pub fn take_in<E: From<CacheError>>(
        &self,
        area: &str,
        key: &str,
        again: &str,
        what: &str,
        fill: impl FnOnce(&Path) -> Result<(), E>,
    ) -> Result<PathBuf, E> {
        let (_lock, _) = self.enter(area, key, again)?;
        self.build_equal(area, key, what, fill)
    }

    /// Locks an entry, and returns it if it is complete.
    fn enter(&self, area: &str, key: &str, again: &str) -> Result<(FileLock, Option<PathBuf>), CacheError> {
        self.sweep_once(area);
        let lock = self.lock(area, key)?;
        let there = self.whole(area, key, again)?;
        Ok((lock, there))
    }

    fn build_equal<E: From<CacheError>>(
        &self,
        area: &str,
        key: &str,
        what: &str,
        build: impl FnOnce(&Path) -> Result<(), E>,
    ) -> Result<PathBuf, E> {
        let path = self.path(area, key);
        let compare = |building: &Path| {
            let difference = sealed::difference(&path, building).map_err(|e| CacheError::from_io(&path, e))?;
            match difference {
                None => Ok(()),
                Some(file) => Err(CacheError::Differs(Box::new(CacheDifference {
                    what: what.into(),
                    first: sealed::made_by(&path),
                    second: sealed::made_by(building),
                    file,
                    path: path.clone(),
                }))),
            }
        };
        self.build(area, key, |building| seal_built(build, building), compare)
    }

    /// An entry that fits its checksums; one that does not is removed. The caller holds its lock.
    fn whole(&self, area: &str, key: &str, again: &str) -> Result<Option<PathBuf>, CacheError> {
        let path = self.path(area, key);
        if !path.exists() {
            return Ok(None);
        }
        let Err(reason) = check_once(&path) else {
            return Ok(Some(path));
        };
        let place = path.display();
        crate::say!(
            "worstcase: {}",
            plain(&format!("damaged in the cache, {place}: {reason}; {again}"))
        );
        discard(&path).map_err(|e| CacheError::from_io(&path, e))?;
        Ok(None)
    }

    /// Builds under the entry's lock; `meets` gets the result if another entry has been published meanwhile.
    fn build<E: From<CacheError>>(
        &self,
        area: &str,
        key: &str,
        build: impl FnOnce(&Path) -> Result<(), E>,
        meets: impl FnOnce(&Path) -> Result<(), CacheError>,
    ) -> Result<PathBuf, E> {
        let path = self.path(area, key);
        let parent = self.area(area)?;
        let prefix = format!(".{key}.");
        remove_leftovers(&parent, &prefix);
        let building = tempfile::Builder::new()
            .prefix(&prefix)
            .suffix(".tmp")
            .tempdir_in(&parent)
            .map_err(|e| CacheError::from_io(&parent, e))?;
        let _interrupted = LastWork::remove(building.path());
        // A program that runs out of disk often reports another error: QEMU dies from SIGBUS, or loses the end of a
        // record.
        build(building.path()).map_err(|error| self.must_have(FULL).err().map_or(error, E::from))?;
        let stored = || -> io::Result<()> {
            let dir = File::open(building.path())?;
            // One syncfs instead of an fsync for each of some thousand files; it also reports what failed to reach the disk.
            if !is_made_again_in_seconds(area) {
                syncfs(&dir)?;
            }
            set_mode(building.path(), 0o755)?;
            fs::rename(building.path(), &path)?;
            File::open(&parent)?.sync_all()
        };
        match stored() {
            Ok(()) => {
                // The directory has moved: nothing is left for TempDir to delete.
                let _ = building.keep();
            }
            Err(e) if matches!(e.kind(), ErrorKind::DirectoryNotEmpty | ErrorKind::AlreadyExists) => {
                meets(building.path())?;
            }
            Err(e) => return Err(CacheError::from_io(&path, e).into()),
        }
        Ok(path)
    }

    /// A folder for the caller alone. Removes those of killed processes.
    pub fn scratch(&self) -> Result<Scratch, CacheError> {
        // Otherwise another process could remove the new folder before it is locked, as a leftover.
        let _making = self.lock("scratch", "making")?;
        // Locks of folders do not reach other machines, so each machine has a place of its own.
        let area = self.area(&format!("scratch/{}", machine::name()))?;
        remove_unlocked(&area);
        let make = || -> io::Result<Scratch> {
            let folder = tempfile::tempdir_in(&area)?;
            let lock = FileLock::try_open(folder.path())?.ok_or(io::ErrorKind::WouldBlock)?;
            Ok(Scratch {
                _interrupted: LastWork::remove(folder.path()),
                folder,
                _lock: lock,
            })
        };
        make().map_err(|e| CacheError::from_io(&area, e))
    }

    /// Replaces one file in one step.
    pub fn write_file(&self, path: &Path, bytes: &[u8]) -> Result<(), CacheError> {
        let parent = path.parent().unwrap_or(&self.root);
        let stored = || -> io::Result<()> {
            fs::create_dir_all(parent)?;
            let mut file = tempfile::Builder::new()
                .prefix(".")
                .suffix(".tmp")
                .tempfile_in(parent)?;
            io::Write::write_all(&mut file, bytes)?;
            file.as_file().sync_all()?;
            set_mode(file.path(), 0o644)?;
            file.persist(path).map_err(|e| e.error)?;
            Ok(())
        };
        stored().map_err(|e| CacheError::from_io(path, e))
    }
}

fn seal_built<E: From<CacheError>>(build: impl FnOnce(&Path) -> Result<(), E>, building: &Path) -> Result<(), E> {
    build(building)?;
    Ok(sealed::seal(building).map_err(|e| CacheError::from_io(building, e))?)
}

/// Whether an entry fits its checksums; computed once in a process.
fn check_once(entry: &Path) -> Result<(), String> {
    static FITTING: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let fitting = || FITTING.lock().expect("no holder panics");
    if fitting().contains(entry) {
        return Ok(());
    }
    sealed::check(entry)?;
    fitting().insert(entry.to_path_buf());
    Ok(())
}

/// Removes an entry: a rename to a name of an unfinished entry makes it vanish in one step.
pub(crate) fn discard(entry: &Path) -> io::Result<()> {
    let name = entry.file_name().unwrap_or_default().to_string_lossy();
    let going = entry.with_file_name(format!(".{name}.discarded.tmp"));
    fs::rename(entry, &going)?;
    match going.is_dir() {
        true => fs::remove_dir_all(&going),
        false => fs::remove_file(&going),
    }
}

/// tempfile makes everything private; a cache of public kernels may be shared.
fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

/// The key in the name of an entry under construction: `.KEY.RANDOM.tmp`.
fn under_construction(name: &str) -> Option<&str> {
    let (key, _random) = name.strip_prefix('.')?.strip_suffix(".tmp")?.rsplit_once('.')?;
    Some(key).filter(|key| !key.is_empty())
}

/// Removes entries with this prefix: under the entry's lock they can only be those of a dead process.
fn remove_leftovers(parent: &Path, prefix: &str) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(prefix) && name.ends_with(".tmp") {
            // Best effort: a leftover that stays costs space, not correctness.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Removes folders without a lock, whose processes are gone.
fn remove_unlocked(area: &Path) {
    for entry in fs::read_dir(area).into_iter().flatten().flatten() {
        if FileLock::try_open(&entry.path()).is_ok_and(|lock| lock.is_some()) {
            // Best effort, as above.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scratch_of_the_living_stays_and_of_the_dead_goes() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::at(dir.path());
        let dead = dir.path().join("scratch").join(machine::name()).join("left");
        let of_another = dir.path().join("scratch/another machine/left");
        fs::create_dir_all(&of_another).unwrap();
        fs::create_dir_all(dead.join("inside")).unwrap();
        let first = cache.scratch().unwrap();
        assert!(!dead.exists() && of_another.exists());
        let second = cache.scratch().unwrap();
        assert!(first.path().is_dir() && second.path().is_dir());
        let path = first.path().to_path_buf();
        drop(first);
        assert!(!path.exists());
    }

    #[test]
    fn a_failed_build_publishes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::at(dir.path());
        let failed = cache.publish("area", "key", |p| {
            fs::write(p.join("half"), b"half").unwrap();
            Err(CacheError::NoPlace)
        });
        assert!(failed.is_err());
        assert_eq!(cache.get("area", "key"), None);
        assert_eq!(fs::read_dir(dir.path().join("area")).unwrap().count(), 0);
    }

    #[test]
    fn leftovers_of_a_killed_builder_are_removed_and_not_taken_for_an_entry() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::at(dir.path());
        let left = dir.path().join("area/.key.XYZ.tmp");
        fs::create_dir_all(&left).unwrap();
        assert_eq!(cache.keys("area"), Vec::<String>::new());
        let path = cache
            .publish::<CacheError>("area", "key", |p| {
                fs::write(p.join("f"), b"whole").unwrap();
                Ok(())
            })
            .unwrap();
        assert_eq!(fs::read(path.join("f")).unwrap(), b"whole");
        assert!(!left.exists());
        assert_eq!(cache.keys("area"), ["key"]);
    }

    #[test]
    fn leftovers_of_other_entries_are_swept_unless_their_builder_lives() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::at(dir.path());
        let make = |name: &str| {
            let left = dir.path().join("swept").join(name);
            fs::create_dir_all(left.join("in")).unwrap();
            left
        };
        let (dead, dotted) = (make(".dead.XYZ.tmp"), make(".linux_6.1.2.XYZ.tmp"));
        let (alive, done) = (make(".alive.XYZ.tmp"), make("done"));
        let lock = cache.lock("swept", "alive").unwrap();
        let publish = || cache.publish::<CacheError>("swept", "other", |_| Ok(())).unwrap();
        publish();
        assert!(!dead.exists() && !dotted.exists() && alive.exists() && done.exists());
        drop(lock);
    }

    #[test]
    fn an_entry_that_changed_is_built_again() {
        let dir = tempfile::tempdir().unwrap();
        let built = std::cell::Cell::new(0);
        // Each check stands for another process, because a process checks an entry only once.
        let keep = |root: &Path| {
            let kept = Cache::at(root).keep::<CacheError>("area", "key", "it is made again", |path| {
                built.set(built.get() + 1);
                fs::write(path.join("f"), b"whole").unwrap();
                Ok(())
            });
            fs::read(kept.unwrap().join("f")).unwrap()
        };
        assert_eq!(keep(dir.path()), b"whole");
        fs::write(dir.path().join("area/key/f"), b"whale").unwrap();
        assert_eq!(keep(dir.path()), b"whole");
        assert_eq!(built.get(), 2);
        assert_eq!(fs::read_dir(dir.path().join("area")).unwrap().count(), 1);
    }

    /// Publishes as a machine whose locks do not reach this one.
    fn publish_behind_the_lock(root: &Path, bytes: &[u8]) {
        let path = root.join("area/key");
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("f"), bytes).unwrap();
        fs::write(path.join(sealed::MADE_BY), "board7").unwrap();
        sealed::seal(&path).unwrap();
    }

    #[test]
    fn two_machines_that_build_one_entry_must_agree() {
        for (there, agree) in [("same", true), ("other", false)] {
            let dir = tempfile::tempdir().unwrap();
            let cache = Cache::at(dir.path());
            let kept = cache.keep_equal::<CacheError>("area", "key", "again", "cell x", |path| {
                publish_behind_the_lock(dir.path(), there.as_bytes());
                fs::write(path.join("f"), b"same").unwrap();
                Ok(())
            });
            match agree {
                true => assert_eq!(sealed::made_by(&kept.unwrap()), "board7", "the first stays"),
                false => {
                    let said = kept.unwrap_err().to_string();
                    let both = format!("cell x: board7 and {} do not agree", machine::name());
                    assert!(said.starts_with(&both) && said.contains("'f'"), "{said}");
                }
            }
            assert_eq!(fs::read_dir(dir.path().join("area")).unwrap().count(), 1);
        }
    }

    #[test]
    fn what_another_machine_made_is_taken_in_once_and_compared_later() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::at(dir.path());
        let take = |bytes: &'static str, by: &'static str| {
            cache.take_in::<CacheError>("area", "key", "again", "cell x", |path| {
                fs::write(path.join("f"), bytes).unwrap();
                fs::write(path.join(sealed::MADE_BY), by).unwrap();
                Ok(())
            })
        };
        let path = take("same", "board1").unwrap();
        take("same", "board2").unwrap();
        assert_eq!(sealed::made_by(&path), "board1");
        let said = take("other", "board3").unwrap_err().to_string();
        assert!(said.starts_with("cell x: board1 and board3 do not agree"), "{said}");
        assert_eq!(fs::read(path.join("f")).unwrap(), b"same");
    }

    #[test]
    fn concurrent_builders_build_once() {
        let dir = tempfile::tempdir().unwrap();
        let built = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|s| {
            for _ in 0..4 {
                s.spawn(|| {
                    let cache = Cache::at(dir.path());
                    let made = cache.publish::<CacheError>("area", "key", |_| {
                        built.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                        std::thread::sleep(std::time::Duration::from_millis(20));
                        Ok(())
                    });
                    made.unwrap();
                });
            }
        });
        assert_eq!(built.into_inner(), 1);
    }
}
