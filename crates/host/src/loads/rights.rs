//! Drops root's rights while loads start that do not need them.
//!
//! The measuring process becomes another user, forks the load's workers, and becomes root again. A worker gives up the
//! way back ([`process::forget_saved_rights`]) before anything else, so a program that it executes has no such rights.

use rustix::fs::{Access, Gid, Uid};
use rustix::process::{DumpableBehavior, dumpable_behavior, set_dumpable_behavior};
use rustix::thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use worstcase_cell::loads::{LoadKind, LoadOrder};
use worstcase_instruments::sys::{process, sched};

/// `nobody`: the kernel's own id for a user that is nobody.
const NOBODY: u32 = 65534;

/// The user and group that a load runs as; shown as the user's id.
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
    /// The account that `part` gets instead of root; `None` if it runs as the user who starts it.
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
            // The user's own program, which may need root's rights.
            LoadKind::Cmd | LoadKind::CmdReady => None,
            // These loads make a device.
            LoadKind::BlockRead | LoadKind::Apps => None,
            // It tells the kernel to kill it first when memory gets short, in a file that belongs to root.
            LoadKind::Memory => None,
            // The kernel does it for root alone, if its settings are the usual ones.
            LoadKind::BpfMaps | LoadKind::Perf | LoadKind::PerfGroup => None,
            // A Makefile runs with the rights of the tree's owner. A tree of root's may be readable by root alone.
            LoadKind::Build => part.request.path().and_then(owner),
            _ => nobody,
        }
    }

    /// Root's account, for folders of a load that could not become another user.
    pub(super) const ROOT: LoadAccount = LoadAccount { user: 0, group: 0 };

    /// Gives a folder to this account.
    pub(super) fn own(self, folder: &Path) -> io::Result<()> {
        std::os::unix::fs::lchown(folder, Some(self.user), Some(self.group))
    }

    /// Becomes this user until the result is dropped, if that user can work in `folder`. The process must have one
    /// thread.
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

/// Root's rights are dropped; dropping this value restores them.
#[derive(Debug)]
pub(super) struct LaidDown {
    group: Gid,
    groups: Vec<Gid>,
    dumpable: DumpableBehavior,
}

impl Drop for LaidDown {
    fn drop(&mut self) {
        // Root's id is still saved, and regaining it restores the capabilities for the rest.
        let _ = set_thread_res_uid(Uid::ROOT, Uid::ROOT, Uid::ROOT);
        let _ = set_thread_res_gid(self.group, self.group, self.group);
        let _ = set_thread_groups(&self.groups);
        // The kernel clears the dumpable flag when the user changes.
        let _ = set_dumpable_behavior(self.dumpable);
    }
}
