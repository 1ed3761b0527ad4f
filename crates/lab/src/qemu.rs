//! Finds QEMU, and the build of the plugin that fits it.

use super::board::Board;
use super::process::{QemuProgram, ended_by_itself};
use super::{LabError, qemu_files};
use crate::confine::{Confinement, User};
use crate::payload::{self, PluginApi};
use rustix::thread::CapabilitySet;
use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use worstcase_base::cache::Cache;
use worstcase_base::files;
use worstcase_base::progress::Progress;
use worstcase_plan::Arch;

/// Whether this executable carries what a lab machine needs.
const CONTROLS: bool = cfg!(target_arch = "x86_64");

/// A QEMU that the lab can work with.
#[derive(Clone, Debug)]
pub struct Qemu {
    /// The executable, and the user it runs as.
    pub program: QemuProgram,
    /// The first line of `--version`, with the distribution's revision.
    pub version: String,
    /// Digest of its executable, modules and firmware: part of every result's key.
    pub digest: String,
    /// The plugin for this QEMU's plugin API.
    pub(crate) plugin: &'static [u8],
}

impl Qemu {
    /// Examines the named QEMU, or the one of this architecture on the search path. Results that take time are kept in the
    /// cache. A note says where it cannot be confined on this machine.
    pub fn find(program: Option<&Path>, arch: Arch, cache: &Cache, progress: &dyn Progress) -> Result<Qemu, LabError> {
        if !CONTROLS {
            return Err(LabError::Controller);
        }
        payload::must_carry(arch)?;
        if !Confinement::is_possible()? {
            progress.note(
                "this kernel has no Landlock, so QEMU may write to every file that you may write to; \
                 switch it on (lsm=landlock,...) before you run a kernel that you do not trust",
            );
        }
        let program = program.unwrap_or(Path::new(Board::of(arch).program));
        let path = files::program(program).unwrap_or_else(|| program.to_path_buf());
        let path = std::path::absolute(&path).map_err(|e| cannot_start(&path, arch, e))?;
        if let Some(known) = known(&path, arch, cache)? {
            return Ok(known);
        }
        let output = Command::new(program).arg("--version").output();
        let output = output.map_err(|e| cannot_start(program, arch, e))?;
        ended_by_itself(output.status)?;
        let text = String::from_utf8_lossy(&output.stdout);
        let version = text.lines().next().unwrap_or_default().to_string();
        let api = parse_version(&version)
            .and_then(api_of)
            .ok_or_else(|| LabError::QemuVersion {
                program: program.to_path_buf(),
                version: if version.is_empty() {
                    "a QEMU of unknown version".into()
                } else {
                    version.clone()
                },
            })?;
        let (program, digest) = as_whom(path, &version, arch, cache, progress)?;
        let plugin = payload::plugin(arch, api)?;
        Ok(Qemu {
            program,
            digest,
            version,
            plugin,
        })
    }
}

/// What is known of it from an earlier command.
fn known(path: &Path, arch: Arch, cache: &Cache) -> Result<Option<Qemu>, LabError> {
    let user = match rustix::process::geteuid().is_root() && may_look_into_others() {
        true => User::Nobody,
        false => User::Caller,
    };
    let program = QemuProgram {
        path: path.to_path_buf(),
        user,
    };
    let Some(files) = qemu_files::known(&program, arch, cache) else {
        return Ok(None);
    };
    let Some(api) = parse_version(&files.version).and_then(api_of) else {
        return Ok(None);
    };
    Ok(Some(Qemu {
        program,
        digest: files.digest(),
        plugin: payload::plugin(arch, api)?,
        version: files.version,
    }))
}

fn cannot_start(program: &Path, arch: Arch, error: io::Error) -> LabError {
    let board = Board::of(arch);
    match error.kind() {
        ErrorKind::NotFound if program == Path::new(board.program) => LabError::NoQemu {
            program: board.program,
            package: board.package,
        },
        ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::PermissionDenied => LabError::NoQemuAt {
            program: board.program,
            package: board.package,
            path: program.to_path_buf(),
            source: error,
        },
        _ => LabError::QemuStart {
            program: program.to_path_buf(),
            source: error,
        },
    }
}

/// The program, running as `nobody` if root runs worstcase and that is possible; with the digest of its files.
fn as_whom(
    path: PathBuf,
    version: &str,
    arch: Arch,
    cache: &Cache,
    progress: &dyn Progress,
) -> Result<(QemuProgram, String), LabError> {
    if rustix::process::geteuid().is_root() {
        let nobody = QemuProgram {
            path: path.clone(),
            user: User::Nobody,
        };
        let reason = match says_version(&nobody, version)? {
            Ok(()) if !may_look_into_others() => "this root has no CAP_SYS_PTRACE".to_string(),
            Ok(()) => {
                let files = qemu_files::find(&nobody, version, arch, cache)?;
                match files.closed_to_others() {
                    None => return Ok((nobody, files.digest())),
                    Some(file) => format!("{} is for root alone", file.display()),
                }
            }
            Err(reason) => reason,
        };
        progress.note(&format!(
            "QEMU cannot be the user nobody ({reason}), so it stays root, without most of root's capabilities: it may read \
             every file; run worstcase as another user, or name a QEMU that all users can execute (--qemu), before you run a kernel \
             that you do not trust",
        ));
    }
    let caller = QemuProgram {
        path,
        user: User::Caller,
    };
    let digest = qemu_files::find(&caller, version, arch, cache)?.digest();
    Ok((caller, digest))
}

/// Whether the memory of a QEMU of another user can be read: root of a container usually cannot.
fn may_look_into_others() -> bool {
    let held = rustix::thread::capabilities(None);
    held.is_ok_and(|held| held.effective.contains(CapabilitySet::SYS_PTRACE))
}

/// The inner error says, in words, why this user cannot execute it. A killed program is an outer error: its cause is not
/// known, and must not make QEMU run as root.
fn says_version(program: &QemuProgram, version: &str) -> Result<Result<(), String>, LabError> {
    let output = program
        .command(&[], &[])
        .map_err(|e| e.to_string())
        .and_then(|mut command| command.arg("--version").output().map_err(|e| e.to_string()));
    let output = match output {
        Ok(output) => output,
        Err(reason) => return Ok(Err(reason)),
    };
    ended_by_itself(output.status)?;
    Ok(match String::from_utf8_lossy(&output.stdout).lines().next() {
        Some(line) if line == version => Ok(()),
        _ => {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(said.lines().next().unwrap_or("it says no version").to_string())
        }
    })
}

impl Qemu {
    /// Whether it can restore a machine from a path that it opens itself (8.2). An older one would start a shell for that,
    /// which its sandbox denies; 11.1 does not accept a descriptor any more.
    pub(crate) fn restores_from_paths(&self) -> bool {
        parse_version(&self.version).is_some_and(|version| version >= (8, 2))
    }
}

/// Major and minor of `QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7)`.
fn parse_version(line: &str) -> Option<(u32, u32)> {
    let number = line.strip_prefix("QEMU emulator version ")?.split(' ').next()?;
    let mut parts = number.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// The plugin interface of each QEMU version that was tested. The build for version 1 works around faults of 7.2 and 8.2, so that
/// it may count wrongly in others which have version 1 too.
fn api_of(version: (u32, u32)) -> Option<PluginApi> {
    match version {
        (7 | 8, 2) => Some(PluginApi::V1),
        (10, _) | (11, 0) => Some(PluginApi::V4),
        (11.., _) => Some(PluginApi::V7),
        _ => None,
    }
}

/// The QEMU of each architecture, found when a machine of it is prepared.
pub struct Qemus<'a> {
    named: Option<PathBuf>,
    cache: &'a Cache,
    progress: &'a dyn Progress,
    found: Mutex<BTreeMap<Arch, Qemu>>,
}

impl<'a> Qemus<'a> {
    /// The named one, or those on the search path.
    pub fn new(named: Option<&Path>, cache: &'a Cache, progress: &'a dyn Progress) -> Qemus<'a> {
        Qemus {
            named: named.map(Path::to_path_buf),
            cache,
            progress,
            found: Mutex::default(),
        }
    }

    /// That of an architecture.
    pub fn of(&self, arch: Arch) -> Result<Qemu, LabError> {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(qemu) = found.get(&arch) {
            return Ok(qemu.clone());
        }
        let qemu = Qemu::find(self.named.as_deref(), arch, self.cache, self.progress)?;
        found.insert(arch, qemu.clone());
        Ok(qemu)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_old_ones_refused() {
        assert_eq!(
            parse_version("QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7)"),
            Some((7, 2))
        );
        assert_eq!(parse_version("QEMU emulator version 10.0.2"), Some((10, 0)));
        assert_eq!(parse_version("hello"), None);
        assert_eq!([(5, 2), (8, 0), (9, 2)].map(api_of), [None; 3]);
        assert_eq!(api_of((8, 2)), Some(PluginApi::V1));
        assert_eq!(api_of((11, 1)), Some(PluginApi::V7));
    }
}
