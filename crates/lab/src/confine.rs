//! What a QEMU may touch of the controller: everything may be read as the user may read it, only its own files be written.
//!
//! Landlock does it, whoever runs worstcase: no other file can be written, made or removed, no TCP port be used, no other
//! process be sent a signal, as far as the controller's kernel knows these (the first from Linux 5.13 on, TCP from 6.7,
//! signals from 6.12). A QEMU of root's also loses root's capabilities, but for those that let it open files.

use super::LabError;
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetError, Scope,
};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

/// What the kernel is asked for; one that knows less does less.
const ASKED: ABI = ABI::V6;

/// Read the files of any user, as root does: a kernel or a program may be in a home folder.
const KEPT: [libc::c_ulong; 2] = [CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH];
const CAP_DAC_OVERRIDE: libc::c_ulong = 1;
const CAP_DAC_READ_SEARCH: libc::c_ulong = 2;
/// Numbers beyond the kernel's last one are refused.
const MOST_CAPABILITIES: libc::c_ulong = 64;

/// A rule set that a process can be put under.
#[derive(Debug)]
pub struct Confinement(Option<OwnedFd>);

impl Confinement {
    /// For a process that may write to these files, and do anything in these folders.
    pub fn to(writable: &[&Path]) -> Result<Confinement, LabError> {
        let failed = |e: RulesetError| LabError::Qemu(format!("it cannot be kept from other files (Landlock): {e}"));
        let writes = AccessFs::from_write(ASKED);
        let mut rules = Ruleset::default()
            .handle_access(writes)
            .and_then(|rules| rules.handle_access(AccessNet::from_all(ASKED)))
            .and_then(|rules| rules.scope(Scope::from_all(ASKED)))
            .and_then(Ruleset::create)
            .map_err(failed)?;
        let null = (Path::new("/dev/null"), BitFlags::from(AccessFs::WriteFile));
        let own = writable.iter().map(|path| match path.is_dir() {
            true => (*path, writes),
            false => (*path, AccessFs::WriteFile.into()),
        });
        for (path, access) in own.chain([null]) {
            let file = PathFd::new(path).map_err(|e| LabError::Qemu(e.to_string()))?;
            rules = rules.add_rule(PathBeneath::new(file, access)).map_err(failed)?;
        }
        Ok(Confinement(rules.into()))
    }

    /// Whether this kernel has Landlock, and uses it.
    pub fn is_possible() -> Result<bool, LabError> {
        Ok(Confinement::to(&[])?.0.is_some())
    }

    /// Puts the calling process, and all that it starts, under it. Calls nothing but prctl and landlock_restrict_self, so
    /// that it may be called between fork and exec.
    pub fn enter(&self) -> io::Result<()> {
        for capability in (0..MOST_CAPABILITIES).filter(|capability| !KEPT.contains(capability)) {
            // SAFETY: no pointers are passed. Refused to whoever has no capabilities to lose.
            unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) };
        }
        // SAFETY: no pointers are passed.
        check(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }.into())?;
        match &self.0 {
            // SAFETY: no pointers are passed; the descriptor is open.
            Some(rules) => check(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, rules.as_raw_fd(), 0) }),
            None => Ok(()),
        }
    }
}

fn check(result: libc::c_long) -> io::Result<()> {
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    /// What a shell under it comes to, with an `own` and a `foreign` folder to work in.
    fn shell(text: &str) -> (bool, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["own", "foreign"] {
            std::fs::create_dir(at(name)).unwrap();
            std::fs::write(at(name).join("file"), "as it was").unwrap();
        }
        let confinement = Confinement::to(&[&at("own")]).unwrap();
        let mut command = Command::new("sh");
        command
            .args(["-c", text])
            .current_dir(folder.path())
            .stderr(std::process::Stdio::null());
        // SAFETY: `enter` may be called between fork and exec.
        unsafe { command.pre_exec(move || confinement.enter()) };
        (command.status().unwrap().success(), folder)
    }

    #[test]
    fn only_its_own_files_are_written() {
        let (done, folder) = shell("cat foreign/file > own/new && : > /dev/null && rm own/file");
        assert!(done && !folder.path().join("own/file").exists());
        for text in [
            ": > foreign/file",
            ": > foreign/new",
            "rm foreign/file",
            "mkdir foreign/more",
            "mv foreign/file own",
        ] {
            let (done, folder) = shell(text);
            assert!(!done, "{text}");
            let file = std::fs::read_to_string(folder.path().join("foreign/file"));
            assert_eq!(file.unwrap(), "as it was", "{text}");
        }
    }

    #[test]
    fn root_keeps_only_what_opens_files() {
        let (done, folder) =
            shell("grep CapEff: /proc/self/status > own/new && grep NoNewPrivs: /proc/self/status >> own/new");
        assert!(done);
        let found = std::fs::read_to_string(folder.path().join("own/new")).unwrap();
        let words: Vec<&str> = found.split_whitespace().collect();
        let held = u64::from_str_radix(words[1], 16).unwrap();
        assert_eq!((held & !0b110, words[3]), (0, "1"), "{found}");
    }
}
