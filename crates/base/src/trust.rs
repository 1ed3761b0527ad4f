//! Whether another user could change files that root is going to trust.
//!
//! Files that root executes, or that name what root kills and sets, are only as safe as every folder on their path: a
//! user who may write to one of these can replace what is below. In a sticky folder such as /tmp everybody adds names,
//! but only a name's owner changes it, so a folder of root's in it is safe, and a new name too.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

const WRITABLE_BY_OTHERS: u32 = 0o022;
const STICKY: u32 = 0o1000;
/// The kernel's limit.
const MOST_LINKS: usize = 40;
/// The user id that a user namespace shows for users it does not know, such as root outside.
const UNKNOWN_USER: u32 = 65534;

/// Users other than this one and root who could change a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherWriters {
    /// The folder or file on the way.
    pub at: PathBuf,
    owner: u32,
    mode: u32,
}

impl std::fmt::Display for OtherWriters {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let OtherWriters { at, owner, mode } = self;
        match is_trusted(*owner) {
            true => write!(f, "others can write to {} (mode {:o})", at.display(), mode & 0o7777),
            false => write!(f, "{} belongs to user {owner}", at.display()),
        }
    }
}

/// For root: which other users could change `path`, or what will be made there. Always `None` for an ordinary user, who
/// risks only their own files.
pub fn others_than_root(path: &Path) -> io::Result<Option<OtherWriters>> {
    match rustix::process::geteuid().is_root() {
        true => others(path),
        false => Ok(None),
    }
}

/// The same for a new name in the folder `path`, which may be sticky.
pub fn others_than_root_in(path: &Path) -> io::Result<Option<OtherWriters>> {
    others_than_root(&path.join("new"))
}

/// For root: which other users could change programs that root executes from its cache.
pub(crate) fn others_in_cache(path: &Path) -> io::Result<Option<OtherWriters>> {
    match trusts_everybody() {
        true => Ok(None),
        false => others_than_root(path),
    }
}

/// The user says that nobody else uses this machine: a batch system's container may have nothing but folders of mode
/// 777.
fn trusts_everybody() -> bool {
    std::env::var_os("WORSTCASE_TRUST_OTHERS").is_some_and(|set| set == "1")
}

/// For root: which other users could put links into an output folder, through which root would write. A user who became
/// root by sudo may own the folder.
pub(crate) fn others_in_output(folder: &Path, is: &Metadata) -> io::Result<Option<OtherWriters>> {
    if !rustix::process::geteuid().is_root() || trusts_everybody() {
        return Ok(None);
    }
    let is_owner = is_trusted(is.uid()) || sudo("SUDO_UID") == Some(is.uid());
    let is_group = is.gid() == 0 || sudo("SUDO_GID") == Some(is.gid());
    let by_others = if is_group { 0o002 } else { WRITABLE_BY_OTHERS };
    let safe = is_owner && is.mode() & by_others == 0;
    Ok((!safe).then(|| other_writers(folder, is)))
}

/// Whether root follows this user's links: root's own, those of the user who became root by sudo, or everybody's where the
/// user says that nobody else uses this machine.
pub(crate) fn is_trusted_or_sudo(user: u32) -> bool {
    is_trusted(user) || (rustix::process::geteuid().is_root() && (trusts_everybody() || sudo("SUDO_UID") == Some(user)))
}

fn sudo(name: &str) -> Option<u32> {
    std::env::var(name).ok()?.parse().ok()
}

/// Users other than this one and root who could change `path`.
pub fn others(path: &Path) -> io::Result<Option<OtherWriters>> {
    let mut way: VecDeque<OsString> = words(&std::path::absolute(path)?);
    let mut at = PathBuf::from("/");
    let mut links = 0;
    loop {
        let is = match fs::symlink_metadata(&at) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            is => is?,
        };
        if is.is_symlink() {
            links += 1;
            if links > MOST_LINKS {
                return Err(io::Error::from_raw_os_error(rustix::io::Errno::LOOP.raw_os_error()));
            }
            if !is_trusted(is.uid()) {
                return Ok(Some(other_writers(&at, &is)));
            }
            let target = fs::read_link(&at)?;
            at.pop();
            if target.is_absolute() {
                at = PathBuf::from("/");
            }
            for word in words(&target).into_iter().rev() {
                way.push_front(word);
            }
        } else {
            let is_last = way.is_empty();
            let sticky = is.is_dir() && is.mode() & STICKY != 0 && !is_last;
            if !is_trusted(is.uid()) || (is.mode() & WRITABLE_BY_OTHERS != 0 && !sticky) {
                return Ok(Some(other_writers(&at, &is)));
            }
        }
        match way.pop_front() {
            None => return Ok(None),
            Some(up) if up == ".." => drop(at.pop()),
            Some(name) => at.push(name),
        }
    }
}

fn other_writers(at: &Path, is: &Metadata) -> OtherWriters {
    OtherWriters {
        at: at.to_path_buf(),
        owner: is.uid(),
        mode: is.mode(),
    }
}

/// The names on a path; `..` is one.
pub(crate) fn words(path: &Path) -> VecDeque<OsString> {
    let named = |part: Component| match part {
        Component::Normal(name) => Some(name.to_os_string()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    };
    path.components().filter_map(named).collect()
}

fn is_trusted(user: u32) -> bool {
    user == 0 || user == rustix::process::geteuid().as_raw() || (user == UNKNOWN_USER && !knows_all_users())
}

fn knows_all_users() -> bool {
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    map.split_ascii_whitespace().eq(["0", "0", "4294967295"])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, lchown, symlink};

    fn mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    fn folder(path: PathBuf, bits: u32) -> PathBuf {
        fs::create_dir(&path).unwrap();
        mode(&path, bits);
        path
    }

    #[test]
    fn a_folder_that_others_can_write_to_spoils_all_below() {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &Path| others(path).unwrap().map(|others| others.at);
        assert_eq!(at(dir.path()), None);
        assert_eq!(at(&dir.path().join("not/there/yet")), None);
        for bits in [0o777, 0o770] {
            let open = folder(dir.path().join(format!("{bits:o}")), bits);
            let ours = folder(open.join("ours"), 0o700);
            assert_eq!(at(&ours), Some(open.clone()));
            assert_eq!(at(&ours.join("not there")), Some(open));
        }
        let sticky = folder(dir.path().join("sticky"), 0o1777);
        let ours = folder(sticky.join("ours"), 0o700);
        assert_eq!(at(&ours), None);
        assert_eq!(at(&sticky.join("new")), None);
        assert_eq!(at(&sticky), Some(sticky.clone()));
        let text = others(&sticky).unwrap().unwrap().to_string();
        assert_eq!(text, format!("others can write to {} (mode 1777)", sticky.display()));
    }

    #[test]
    fn links_are_followed_through_everybody_they_pass() {
        let dir = tempfile::tempdir().unwrap();
        let dir = fs::canonicalize(dir.path()).unwrap();
        let at = |path: &Path| others(path).unwrap().map(|others| others.at);
        let safe = folder(dir.join("safe"), 0o700);
        let open = folder(dir.join("open"), 0o777);
        symlink(&safe, open.join("hop")).unwrap();
        symlink("open/hop", dir.join("link")).unwrap();
        symlink("./open/../safe", dir.join("around")).unwrap();
        symlink("safe", dir.join("short")).unwrap();
        assert_eq!(at(&dir.join("link/file")), Some(open.clone()));
        assert_eq!(at(&dir.join("around/file")), Some(open));
        assert_eq!(at(&dir.join("short/file")), None);
        symlink("circle", dir.join("circle")).unwrap();
        assert!(others(&dir.join("circle")).is_err());
    }

    #[test]
    fn another_owner_spoils_it_too() {
        worstcase_skips::needs_root!();
        let dir = tempfile::tempdir().unwrap();
        let sticky = folder(dir.path().join("sticky"), 0o1777);
        let theirs = folder(sticky.join("theirs"), 0o755);
        symlink("/root", sticky.join("link")).unwrap();
        for path in [&theirs, &sticky.join("link")] {
            lchown(path, Some(12_345), None).unwrap();
            let text = others(&path.join("cache")).unwrap().unwrap().to_string();
            assert_eq!(text, format!("{} belongs to user 12345", path.display()));
        }
    }
}
