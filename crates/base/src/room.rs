//! Bounds the size of an area with entries that can be made again: while they are too large together, the least
//! recently used entries that nobody holds are removed; all of them, if need be, where the disk has no room for something else.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::SystemTime;

use crate::cache::{Cache, CacheError, discard};
use crate::lock::FileLock;

/// Machines within a cell, from which replays go on.
pub const CHECKPOINTS: &str = "checkpoints";
/// Machines whose load is warm.
pub const WARM: &str = "warm";
/// Booted machines.
pub const SNAPSHOTS: &str = "snapshots";
/// Uncompressed kernels, parts of snapshots.
pub const DIRECT_KERNELS: &str = "vmlinux";

/// What is made again in seconds, in the order in which it gives way.
const GIVE_WAY: [&str; 4] = [CHECKPOINTS, WARM, SNAPSHOTS, DIRECT_KERNELS];

/// Whether entries of an area are made again in seconds. Others are on the disk before they are published; these need not be: what a
/// power failure leaves of one does not fit its checksums.
pub(crate) fn is_made_again_in_seconds(area: &str) -> bool {
    GIVE_WAY.contains(&area)
}

/// An entry in use: it stays until this is dropped.
#[derive(Debug)]
pub struct HeldEntry {
    _lock: FileLock,
}

impl Cache {
    /// Holds a finished entry, and marks it as used now; `None` if it has been removed meanwhile.
    pub fn hold(&self, area: &str, key: &str) -> Result<Option<HeldEntry>, CacheError> {
        let path = self.path(area, key);
        let hold = || -> io::Result<Option<HeldEntry>> {
            let folder = File::open(&path)?;
            // A lock on the folder would not reach other machines that share the cache.
            let lock = FileLock::shared(self.use_file(area, key)?)?;
            // A read-only cache cannot record the use.
            let _ = folder.set_modified(SystemTime::now());
            let ours = folder.metadata()?;
            let is_there = fs::metadata(&path).is_ok_and(|now| ours.ino() == now.ino());
            Ok(is_there.then_some(HeldEntry { _lock: lock }))
        };
        match hold() {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            held => held.map_err(|e| CacheError::from_io(&path, e)),
        }
    }

    /// Removes entries of an area that nobody holds until the rest takes at most `bytes` of the disk.
    pub fn bound(&self, area: &str, bytes: u64) {
        let entries = self.by_use(area);
        let mut taken: u64 = entries.iter().map(|(_, bytes, _)| bytes).sum();
        for (_, entry_bytes, key) in entries {
            if taken <= bytes {
                return;
            }
            // Best effort: an entry that stays costs space, not correctness.
            if self.remove_unheld(area, &key).is_some() {
                taken -= entry_bytes;
            }
        }
    }

    /// Refuses to begin what needs more space than the disk has: some programs hang on a full disk instead of failing. What can
    /// be made again in seconds, and nobody holds, gives way, unless that is too little.
    pub fn require_free(&self, bytes: u64) -> Result<(), CacheError> {
        let lacks = bytes.saturating_sub(self.free()?);
        if lacks == 0 {
            return Ok(());
        }
        let of_area = |area| self.by_use(area).into_iter().map(move |entry| (area, entry));
        let entries: Vec<_> = GIVE_WAY.into_iter().flat_map(of_area).collect();
        let taken: u64 = entries.iter().map(|(_, (_, bytes, _))| bytes).sum();
        if taken >= lacks {
            for (area, (_, _, key)) in entries {
                if self.free()? >= bytes {
                    return Ok(());
                }
                self.remove_unheld(area, &key);
            }
        }
        self.must_have(bytes)
    }

    /// An error where the disk has less space than this.
    pub(crate) fn must_have(&self, bytes: u64) -> Result<(), CacheError> {
        if self.free()? < bytes {
            let path = self.area("")?;
            return Err(CacheError::Full { path });
        }
        Ok(())
    }

    /// An area's entries, the longest unused first: when it was used, the bytes that it takes, its key.
    fn by_use(&self, area: &str) -> Vec<(SystemTime, u64, String)> {
        let of = |key: String| {
            let path = self.path(area, &key);
            Some((fs::metadata(&path).ok()?.modified().ok()?, on_disk(&path), key))
        };
        let mut entries: Vec<_> = self.keys(area).into_iter().filter_map(of).collect();
        entries.sort();
        entries
    }

    /// Bytes that this user can still write there.
    fn free(&self) -> Result<u64, CacheError> {
        let path = self.area("")?;
        let stat = rustix::fs::statvfs(&path).map_err(|e| CacheError::from_io(&path, e.into()))?;
        Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
    }

    /// Removes an entry; `None` if it is not there, or another process holds, builds or verifies it now.
    pub fn remove_unheld(&self, area: &str, key: &str) -> Option<()> {
        let path = self.path(area, key);
        let _lock = self.try_lock(area, key)?;
        let _unused = FileLock::try_exclusive(self.use_file(area, key).ok()?).ok()??;
        discard(&path).ok()
    }

    /// The lock file of an entry's users.
    fn use_file(&self, area: &str, key: &str) -> io::Result<File> {
        let folder = self.path("locks", "");
        fs::create_dir_all(&folder)?;
        let path = folder.join(format!("{area}.{key}.used"));
        File::options().read(true).append(true).create(true).open(path)
    }
}

/// Allocated bytes: a memory file has holes. Of a file with several names each has a part.
fn on_disk(entry: &Path) -> u64 {
    let files = fs::read_dir(entry).into_iter().flatten().flatten();
    files
        .filter_map(|file| {
            let is = file.metadata().ok()?;
            Some(is.blocks() * 512 / is.nlink().max(1))
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn what_cannot_fit_is_refused_before_it_begins_and_nothing_gives_way_for_it() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::at(dir.path());
        let kept = cache.publish::<CacheError>(WARM, "a", |_| Ok(())).unwrap();
        assert!(cache.require_free(1).is_ok());
        assert!(matches!(cache.require_free(u64::MAX), Err(CacheError::Full { .. })));
        assert!(kept.exists());
    }

    #[test]
    fn what_was_used_longest_ago_goes_unless_it_is_held() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::at(dir.path());
        for (age, key) in [(30, "a"), (20, "b"), (10, "c"), (0, "d")] {
            let path = cache.publish::<CacheError>("area", key, |p| {
                fs::write(p.join("bytes"), vec![1; 1 << 20]).map_err(|e| CacheError::from_io(p, e))
            });
            let used = SystemTime::now() - Duration::from_secs(1000 + age);
            File::open(path.unwrap()).unwrap().set_modified(used).unwrap();
        }
        let held = cache.hold("area", "b").unwrap().unwrap();
        let verifies = cache.lock("area", "c").unwrap();
        cache.bound("area", 5 << 20);
        assert_eq!(cache.keys("area"), ["a", "b", "c", "d"]);
        cache.bound("area", (3 << 20) + (1 << 19));
        assert_eq!(cache.keys("area"), ["b", "c", "d"]);
        cache.bound("area", 0);
        assert_eq!(cache.keys("area"), ["b", "c"], "in use");
        let linked = dir.path().join("linked");
        fs::hard_link(dir.path().join("area/b/bytes"), &linked).unwrap();
        assert_eq!(
            on_disk(&dir.path().join("area/b")) * 2,
            on_disk(&dir.path().join("area/c")),
            "half of it is the link's"
        );
        fs::remove_file(linked).unwrap();
        drop((held, verifies));
        cache.bound("area", 0);
        assert!(cache.keys("area").is_empty());
        assert!(cache.hold("area", "b").unwrap().is_none());
        assert_eq!(fs::read_dir(dir.path().join("area")).unwrap().count(), 0);
    }
}
