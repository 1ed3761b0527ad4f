//! Root's rights, laid down while loads are started that need none of them.
//!
//! The measuring process becomes another user, forks the load's workers, and becomes root again; a worker forgets the
//! way back ([`process::forget_saved_rights`]) before it does anything else, and a program that it executes has none.

use rustix::fs::{Access, Gid, Uid};
use rustix::process::{DumpableBehavior, dumpable_behavior, set_dumpable_behavior};
use rustix::thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use worstcase_instruments::loads::{LoadKind, LoadOrder};
use worstcase_instruments::sys::{process, sched};

/// `nobody`: the kernel's own number of a user that is none.
const NOBODY: u32 = 65534;

/// A user and a group that a load runs as, shown as the user's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LoadAccount {
    user: u32,
    group: u32,
}

impl std::fmt::Display for LoadAccount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "user {}", self.user)
    }
}

impl LoadAccount {
    /// Whom `part` runs as instead of root; `None` if it runs as whoever starts it.
    pub(super) fn of(part: &LoadOrder) -> Option<LoadAccount> {
        // Without root's rights a worker cannot raise itself to nice 0.
        if !process::is_root() || sched::nice() > 0 {
            return None;
        }
        let nobody = Some(LoadAccount {
            user: NOBODY,
            group: NOBODY,
        });
        match part.kind {
            // The user's own program, which may need them.
            LoadKind::Cmd | LoadKind::CmdReady => None,
            // They make a device.
            LoadKind::BlockRead | LoadKind::Apps => None,
            // Tells the kernel to kill it first when memory gets short, in a file that is root's.
            LoadKind::Memory => None,
            // What somebody's Makefile does is done with that user's rights. Root's tree only root may be able to read.
            LoadKind::Build => part.path().and_then(owner),
            _ => nobody,
        }
    }

    /// Root, which it is instead when it cannot be another.
    pub(super) const ROOT: LoadAccount = LoadAccount { user: 0, group: 0 };

    /// Gives it a folder.
    pub(super) fn own(self, folder: &Path) -> io::Result<()> {
        std::os::unix::fs::lchown(folder, Some(self.user), Some(self.group))
    }

    /// Becomes it until the result is dropped, if it can work in `folder`. The process must have one thread.
    pub(super) fn become_it(self, folder: &Path) -> io::Result<LaidDown> {
        let before = LaidDown {
            group: rustix::process::getgid(),
            groups: rustix::process::getgroups()?,
            dumpable: dumpable_behavior()?,
        };
        let (user, group) = (Uid::from_raw(self.user), Gid::from_raw(self.group));
        set_thread_groups(&[])?;
        set_thread_res_gid(group, group, group)?;
        set_thread_res_uid(user, user, Uid::ROOT)?;
        let reaches = rustix::fs::access(folder, Access::WRITE_OK | Access::EXEC_OK);
        reaches.map_err(|e| io::Error::new(e.kind(), format!("it cannot work in {}: {e}", folder.display())))?;
        Ok(before)
    }
}

fn owner(path: &Path) -> Option<LoadAccount> {
    let is = std::fs::metadata(path).ok()?;
    (is.uid() != 0).then(|| LoadAccount {
        user: is.uid(),
        group: is.gid(),
    })
}

/// Root's rights are laid down; dropping this takes them up again.
#[derive(Debug)]
pub(super) struct LaidDown {
    group: Gid,
    groups: Vec<Gid>,
    dumpable: DumpableBehavior,
}

impl Drop for LaidDown {
    fn drop(&mut self) {
        // Root's number is still saved, and with it come back the rights for the rest.
        let _ = set_thread_res_uid(Uid::ROOT, Uid::ROOT, Uid::ROOT);
        let _ = set_thread_res_gid(self.group, self.group, self.group);
        let _ = set_thread_groups(&self.groups);
        // The kernel takes it away with the rights.
        let _ = set_dumpable_behavior(self.dumpable);
    }
}
