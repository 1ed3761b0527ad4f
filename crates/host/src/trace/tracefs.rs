//! Files of tracefs, through a detached mount: it needs no mount point and is gone with its descriptor.

use super::TracingError;
use crate::facts::FileTree;
use crate::facts::container::has_own_processes;
use crate::facts::rights::TRACEFS;
use rustix::fs::{Access, Dir, Mode, OFlags, access, openat};
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

/// A mount of tracefs.
#[derive(Debug)]
pub struct Tracefs(OwnedFd);

/// Where instances of the trace are made.
#[derive(Debug)]
pub(crate) struct InstanceFolder {
    path: PathBuf,
    /// Where tracefs is not mounted.
    _own: Option<Tracefs>,
}

impl InstanceFolder {
    /// The one of the mount that there is, which may be read-only for a reason, else of a detached one.
    pub(crate) fn find() -> Result<InstanceFolder, String> {
        let of_mount = TRACEFS.map(|place| Path::new("/").join(place).join(INSTANCES));
        let is_writable = |place: &&PathBuf| access(*place, Access::WRITE_OK | Access::EXEC_OK).is_ok();
        if let Some(path) = of_mount.iter().find(is_writable).cloned() {
            return Ok(InstanceFolder { path, _own: None });
        }
        if let Some(path) = of_mount.iter().find(|place| place.exists()) {
            return Err(format!("{} is not writable", path.display()));
        }
        let own = Tracefs::detached().map_err(|e| format!("tracefs is not mounted, and cannot be: {e}"))?;
        Ok(InstanceFolder {
            path: own.path(INSTANCES),
            _own: Some(own),
        })
    }

    /// Where an instance of this name is, while this lives.
    pub(crate) fn of(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Where uprobes are made.
    pub(crate) fn uprobes(&self) -> PathBuf {
        self.path.with_file_name(UPROBES)
    }
}

/// Adds a line to `uprobe_events`. It must not be cut first, which would remove the uprobes of others.
pub(crate) fn add_uprobe_line(uprobes: &Path, line: &str) -> io::Result<()> {
    File::options().append(true).open(uprobes)?.write_all(line.as_bytes())
}

/// Removes the uprobe `group/name`, which another process may have made.
pub(crate) fn remove_uprobe(event: &str) -> io::Result<()> {
    let line = format!("-:{event}\n");
    let of_mount = TRACEFS.map(|place| Path::new("/").join(place).join(UPROBES));
    match of_mount.iter().find(|place| place.exists()) {
        Some(place) => add_uprobe_line(place, &line),
        None => add_uprobe_line(&Tracefs::detached()?.path(UPROBES), &line),
    }
}

/// Removes the instance that another process may have made in this place, or in a mount of its own.
pub(crate) fn remove_instance(place: &Path) -> io::Result<()> {
    let gone = std::fs::remove_dir(place);
    let name = place.file_name().unwrap_or_default();
    let is_mounted = || place.parent().is_some_and(Path::exists);
    match gone {
        Err(e) if e.kind() == io::ErrorKind::NotFound && !is_mounted() => {
            let own = Tracefs::detached()?;
            std::fs::remove_dir(own.path(INSTANCES).join(name))
        }
        gone => gone,
    }
}

/// Below the mount.
const INSTANCES: &str = "instances";
const UPROBES: &str = "uprobe_events";

impl Tracefs {
    /// For a trace of threads: refused where thread ids are not the kernel's.
    pub(crate) fn of_threads() -> Result<Tracefs, TracingError> {
        match has_own_processes(&FileTree::at(Path::new("/"))) {
            true => Err(TracingError::OwnProcesses),
            false => Tracefs::open(),
        }
    }

    /// Uses a mount that exists, else makes a detached one.
    fn open() -> Result<Tracefs, TracingError> {
        let folder = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        for place in TRACEFS {
            if let Ok(root) = rustix::fs::open(Path::new("/").join(place), folder, Mode::empty()) {
                let found = Tracefs(root);
                if found.text("events/header_page").is_ok() {
                    return Ok(found);
                }
            }
        }
        Self::detached().map_err(|e| TracingError::Tracefs(e.into()))
    }

    fn detached() -> rustix::io::Result<Tracefs> {
        let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
        fsconfig_create(&context)?;
        let attributes =
            MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV | MountAttrFlags::MOUNT_ATTR_NOEXEC;
        fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes).map(Tracefs)
    }

    /// A file or folder, for this process while this lives.
    fn path(&self, below: &str) -> PathBuf {
        Path::new("/proc/self/fd")
            .join(self.0.as_raw_fd().to_string())
            .join(below)
    }

    /// The text of a whole file.
    pub fn text(&self, path: &str) -> Result<String, TracingError> {
        let read = || -> io::Result<String> {
            let file = openat(&self.0, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
            let mut text = String::new();
            File::from(file).read_to_string(&mut text)?;
            Ok(text)
        };
        read().map_err(|source| TracingError::Read {
            path: path.to_string(),
            source,
        })
    }

    /// The tracepoints of a subsystem; none if it does not exist.
    pub fn names(&self, system: &str) -> Vec<String> {
        let path = format!("events/{system}");
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = openat(&self.0, path, flags, Mode::empty());
        let Ok(entries) = folder.and_then(Dir::new) else {
            return Vec::new();
        };
        let mut names: Vec<String> = entries
            .flatten()
            .filter_map(|e| e.file_name().to_str().ok().map(str::to_string))
            .filter(|name| !name.starts_with('.') && name != "enable" && name != "filter")
            .collect();
        names.sort();
        names
    }
}

/// Whether this kernel has the tracer `timerlat`, which measures a timer's lateness in the kernel itself.
pub(crate) fn timerlat_available() -> Result<bool, TracingError> {
    let tracers = Tracefs::open()?.text("available_tracers")?;
    Ok(tracers.split_whitespace().any(|name| name == "timerlat"))
}
