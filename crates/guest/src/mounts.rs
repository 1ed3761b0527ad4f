//! The file systems that probes and loads expect.

use crate::GuestError;
use std::ffi::CString;

struct Mount {
    kind: &'static str,
    at: &'static str,
    /// A kernel may be built without it.
    optional: bool,
}

const fn needed(kind: &'static str, at: &'static str) -> Mount {
    Mount {
        kind,
        at,
        optional: false,
    }
}

const fn optional(kind: &'static str, at: &'static str) -> Mount {
    Mount {
        kind,
        at,
        optional: true,
    }
}

const MOUNTS: &[Mount] = &[
    needed("proc", "/proc"),
    needed("sysfs", "/sys"),
    needed("devtmpfs", "/dev"),
    needed("tmpfs", "/tmp"),
    optional("tmpfs", "/dev/shm"),
    optional("debugfs", "/sys/kernel/debug"),
    optional("tracefs", "/sys/kernel/tracing"),
    optional("cgroup2", "/sys/fs/cgroup"),
];

/// Mounts everything in [`MOUNTS`] and shows kernel addresses to ourselves.
pub(crate) fn mount_all() -> Result<(), GuestError> {
    for mount in MOUNTS {
        let result = std::fs::create_dir_all(mount.at)
            .map_err(GuestError::new)
            .and_then(|()| mount_one(mount));
        if !mount.optional {
            result?;
        }
    }
    std::fs::write("/proc/sys/kernel/kptr_restrict", "0").map_err(GuestError::new)
}

/// Mounts one more.
pub(crate) fn mount(kind: &'static str, at: &'static str) -> Result<(), GuestError> {
    mount_one(&needed(kind, at))
}

fn mount_one(mount: &Mount) -> Result<(), GuestError> {
    let kind = CString::new(mount.kind).expect("a constant without NUL");
    let at = CString::new(mount.at).expect("a constant without NUL");
    // SAFETY: all pointers are to NUL-terminated strings that outlive the call; no data argument.
    let result = unsafe { libc::mount(kind.as_ptr(), at.as_ptr(), kind.as_ptr(), 0, std::ptr::null()) };
    if result == 0 {
        Ok(())
    } else {
        Err(GuestError::os(format!("mount {} on {}", mount.kind, mount.at)))
    }
}
