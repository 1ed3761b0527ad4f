//! Finds QEMU, and the build of the plugin that fits it.

use super::process::{QemuProgram, ended_by_itself};
use super::{LabError, qemu_files};
use crate::confine::{Confinement, User};
use crate::payload;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::Command;
use worstcase_base::cache::Cache;
use worstcase_base::files;
use worstcase_base::progress::Progress;

/// The program's name on the search path.
const PROGRAM: &str = "qemu-system-x86_64";

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
    /// Examines the named QEMU, or the one on the search path. Results that take time are kept in the cache. A note
    /// says where it cannot be confined on this machine.
    pub fn find(program: Option<&Path>, cache: &Cache, progress: &dyn Progress) -> Result<Qemu, LabError> {
        if !CONTROLS {
            return Err(LabError::Controller);
        }
        if !Confinement::is_possible()? {
            progress.note(
                "this kernel has no Landlock, so QEMU may write to every file that you may write to; \
                 switch it on (lsm=landlock,...) before you run a kernel that you do not trust",
            );
        }
        let program = program.unwrap_or(Path::new(PROGRAM));
        let path = files::program(program).unwrap_or_else(|| program.to_path_buf());
        let path = std::path::absolute(&path).map_err(|e| cannot_start(&path, e))?;
        if let Some(known) = known(&path, cache) {
            return Ok(known);
        }
        let output = Command::new(program).arg("--version").output();
        let output = output.map_err(|e| cannot_start(program, e))?;
        ended_by_itself(output.status)?;
        let text = String::from_utf8_lossy(&output.stdout);
        let version = text.lines().next().unwrap_or_default().to_string();
        let plugin = parse_version(&version)
            .and_then(plugin_for)
            .ok_or_else(|| LabError::QemuVersion {
                program: program.to_path_buf(),
                version: if version.is_empty() {
                    "of unknown version".into()
                } else {
                    version.clone()
                },
            })?;
        let (program, digest) = as_whom(path, &version, cache, progress)?;
        Ok(Qemu {
            program,
            digest,
            version,
            plugin,
        })
    }
}

/// What is known of it from an earlier command.
fn known(path: &Path, cache: &Cache) -> Option<Qemu> {
    let user = match rustix::process::geteuid().is_root() {
        true => User::Nobody,
        false => User::Caller,
    };
    let program = QemuProgram {
        path: path.to_path_buf(),
        user,
    };
    let files = qemu_files::known(&program, cache)?;
    Some(Qemu {
        program,
        digest: files.digest(),
        plugin: plugin_for(parse_version(&files.version)?)?,
        version: files.version,
    })
}

fn cannot_start(program: &Path, error: io::Error) -> LabError {
    match error.kind() {
        ErrorKind::NotFound if program == Path::new(PROGRAM) => LabError::NoQemu,
        ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::PermissionDenied => LabError::NoQemuAt {
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
    cache: &Cache,
    progress: &dyn Progress,
) -> Result<(QemuProgram, String), LabError> {
    if rustix::process::geteuid().is_root() {
        let nobody = QemuProgram {
            path: path.clone(),
            user: User::Nobody,
        };
        let reason = match says_version(&nobody, version)? {
            Ok(()) => {
                let files = qemu_files::find(&nobody, version, cache)?;
                match files.closed_to_others() {
                    None => return Ok((nobody, files.digest())),
                    Some(file) => format!("{} is for root alone", file.display()),
                }
            }
            Err(reason) => reason,
        };
        progress.note(&format!(
            "QEMU cannot be the user nobody ({reason}), so it stays root, without most of root's capabilities: it may read \
             every file; name a QEMU that all users can execute (--qemu) before you run a kernel that you do not trust",
        ));
    }
    let caller = QemuProgram {
        path,
        user: User::Caller,
    };
    let digest = qemu_files::find(&caller, version, cache)?.digest();
    Ok((caller, digest))
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
        parse_version(&self.version).is_some_and(|version| version >= (10, 0))
    }
}

/// Major and minor of `QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7)`.
fn parse_version(line: &str) -> Option<(u32, u32)> {
    let number = line.strip_prefix("QEMU emulator version ")?.split(' ').next()?;
    let mut parts = number.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// The plugin interface of each QEMU version that was tested. The build for 7.2 works around faults of 7.2 in
/// particular, so that it would count wrongly in others which also have version 1.
fn plugin_for(version: (u32, u32)) -> Option<&'static [u8]> {
    match version {
        (7, 2) => Some(payload::PLUGIN_V1.bytes()),
        (10, _) | (11, 0) => Some(payload::PLUGIN_V4.bytes()),
        (11.., _) => Some(payload::PLUGIN_V7.bytes()),
        _ => None,
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
        assert!(plugin_for((5, 2)).is_none());
        assert!(plugin_for((8, 2)).is_none());
    }
}
