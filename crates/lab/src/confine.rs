//! What a QEMU may do on the controller: it can read what its user may read, and write only its own files.
//!
//! A QEMU started by root runs as the user `nobody`, without root's rights. Where that is impossible it stays root, and
//! keeps only the capabilities that let it open files.
//!
//! Landlock does the rest for every user: QEMU can write no other file, make or remove no file, use no TCP port, and send no
//! signal to another process, as far as the controller's kernel supports it (the first since Linux 5.13, TCP since 6.7,
//! signals since 6.12).

use super::LabError;
use landlock::{
    ABI, Access as _, AccessFs, AccessNet, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError,
    Scope,
};
use std::error::Error;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{PermissionsExt, lchown};
use std::path::{Path, PathBuf};

/// The Landlock version that is requested; an older kernel restricts less.
const ASKED: ABI = ABI::V6;

/// Reads any user's files, as root does: a kernel or a program may be in a home folder.
const KEPT: [libc::c_ulong; 2] = [CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH];
const CAP_DAC_OVERRIDE: libc::c_ulong = 1;
const CAP_DAC_READ_SEARCH: libc::c_ulong = 2;
/// An upper bound: prctl refuses numbers beyond the kernel's last capability.
const MOST_CAPABILITIES: libc::c_ulong = 64;

/// User and group `nobody`: on every distribution it does not matter what they own, or who else is in the group.
const NOBODY: libc::uid_t = 65_534;

/// The user that a QEMU runs as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum User {
    /// The user who runs worstcase; also root, where QEMU cannot run as another user.
    Caller,
    /// The user `nobody`, if root runs worstcase.
    Nobody,
}

impl User {
    /// Gives this user access to a file or folder of root's. `Caller` needs none.
    pub(crate) fn lend(self, path: &Path, access: UserAccess) -> io::Result<()> {
        if self == User::Caller {
            return Ok(());
        }
        let mode = match access {
            UserAccess::Read => 0o640,
            UserAccess::Write => 0o660,
            UserAccess::Pass => 0o710,
        };
        lchown(path, Some(0), Some(NOBODY))?;
        fs::set_permissions(path, fs::Permissions::from_mode(mode))
    }

    /// Takes the access back.
    pub(crate) fn take_back(self, path: &Path) -> io::Result<()> {
        if self == User::Caller {
            return Ok(());
        }
        let mode = if path.is_dir() { 0o700 } else { 0o644 };
        lchown(path, Some(0), Some(0))?;
        fs::set_permissions(path, fs::Permissions::from_mode(mode))
    }
}

/// The access that a user gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UserAccess {
    /// Read a file.
    Read,
    /// Read and write it.
    Write,
    /// Open files in a folder by their names, without listing it.
    Pass,
}

/// Too few open files are a limit of this user, and no failure of QEMU.
fn not_confined(error: &(dyn Error + 'static)) -> LabError {
    let chain = std::iter::successors(Some(error), |e: &&(dyn Error + 'static)| (*e).source());
    let mut of_system = chain.filter_map(|e| e.downcast_ref::<io::Error>()?.raw_os_error());
    match of_system.find(|code| [libc::EMFILE, libc::ENFILE].contains(code)) {
        Some(code) => LabError::QemuStart {
            program: "QEMU".into(),
            source: io::Error::from_raw_os_error(code),
        },
        None => LabError::Qemu(format!("it cannot be kept from other files (Landlock): {error}")),
    }
}

/// A rule set that a process can be put under.
#[derive(Debug)]
pub(crate) struct Confinement {
    landlock: Option<OwnedFd>,
    user: User,
}

impl Confinement {
    /// For a process of this user that may write to these files.
    pub(crate) fn to(user: User, writable: &[PathBuf]) -> Result<Confinement, LabError> {
        let failed = |e: RulesetError| not_confined(&e);
        let writes = AccessFs::from_write(ASKED);
        let mut rules = Ruleset::default()
            .handle_access(writes)
            .and_then(|rules| rules.handle_access(AccessNet::from_all(ASKED)))
            .and_then(|rules| rules.scope(Scope::from_all(ASKED)))
            .and_then(Ruleset::create)
            .map_err(failed)?;
        for path in writable.iter().map(PathBuf::as_path).chain([Path::new("/dev/null")]) {
            let file = PathFd::new(path).map_err(|e| not_confined(&e))?;
            let access = AccessFs::WriteFile | AccessFs::Truncate;
            rules = rules.add_rule(PathBeneath::new(file, access)).map_err(failed)?;
        }
        Ok(Confinement {
            landlock: rules.into(),
            user,
        })
    }

    /// Whether this kernel has Landlock, and it is enabled.
    pub(crate) fn is_possible() -> Result<bool, LabError> {
        Ok(Confinement::to(User::Caller, &[])?.landlock.is_some())
    }

    /// Confines the calling process, and all that it starts. Calls nothing but prctl, setgroups, setresgid, setresuid and
    /// landlock_restrict_self, so that it may be called between fork and exec.
    pub fn enter(&self) -> io::Result<()> {
        for capability in (0..MOST_CAPABILITIES).filter(|capability| !KEPT.contains(capability)) {
            // SAFETY: no pointers are passed. The kernel refuses a process that has no capabilities to lose.
            unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) };
        }
        if self.user == User::Nobody {
            // Direct system calls: the C library's functions would change the other threads, which this process does not have.
            // SAFETY: the list of groups is empty, so that its address is not used.
            unsafe {
                check(libc::syscall(libc::SYS_setgroups, 0, std::ptr::null::<libc::gid_t>()))?;
                check(libc::syscall(libc::SYS_setresgid, NOBODY, NOBODY, NOBODY))?;
                check(libc::syscall(libc::SYS_setresuid, NOBODY, NOBODY, NOBODY))?;
            }
        }
        // SAFETY: no pointers are passed.
        check(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }.into())?;
        match &self.landlock {
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

    /// Runs a confined shell that may write to `own` and knows the path of `foreign`; both files belong to the caller.
    /// Gives whether it succeeded, and the folder.
    fn shell(user: User, text: &str) -> (bool, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["own", "foreign"] {
            fs::write(at(name), "as it was").unwrap();
        }
        user.lend(folder.path(), UserAccess::Pass).unwrap();
        user.lend(&at("own"), UserAccess::Write).unwrap();
        let confinement = Confinement::to(user, &[at("own")]).unwrap();
        let mut command = Command::new("sh");
        command
            .args(["-c", text])
            .current_dir(folder.path())
            .stderr(std::process::Stdio::null());
        // SAFETY: `enter` may be called between fork and exec.
        unsafe { command.pre_exec(move || confinement.enter()) };
        (command.status().unwrap().success(), folder)
    }

    /// Root can test both users.
    fn users() -> Vec<User> {
        match rustix::process::geteuid().is_root() {
            true => vec![User::Caller, User::Nobody],
            false => vec![User::Caller],
        }
    }

    #[test]
    fn only_its_own_files_are_written() {
        for user in users() {
            let (done, folder) = shell(user, "echo new > own && : > /dev/null");
            assert!(
                done && fs::read_to_string(folder.path().join("own")).unwrap() == "new\n",
                "{user:?}"
            );
            for text in [
                ": > foreign",
                "echo more >> foreign",
                ": > new",
                "rm foreign",
                "rm own",
                "mkdir more",
                "ln -s /etc/passwd link",
                "mv own foreign",
            ] {
                let (done, folder) = shell(user, text);
                assert!(!done, "{user:?}: {text}");
                let mut names: Vec<_> = fs::read_dir(folder.path())
                    .unwrap()
                    .map(|e| e.unwrap().file_name())
                    .collect();
                names.sort();
                assert_eq!(names, ["foreign", "own"], "{user:?}: {text}");
                let file = fs::read_to_string(folder.path().join("foreign"));
                assert_eq!(file.unwrap(), "as it was", "{user:?}: {text}");
            }
        }
    }

    /// The words of a confined process's /proc/self/status.
    fn status(user: User) -> Vec<String> {
        let (done, folder) = shell(
            user,
            "grep -E '^(Uid|Gid|Groups|CapEff|NoNewPrivs):' /proc/self/status > own",
        );
        assert!(done);
        let found = fs::read_to_string(folder.path().join("own")).unwrap();
        found
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect()
    }

    #[test]
    fn root_keeps_only_what_opens_files() {
        let words = status(User::Caller);
        let held = u64::from_str_radix(words[3].strip_prefix("CapEff: ").unwrap(), 16).unwrap();
        assert_eq!((held & !0b110, words[4].as_str()), (0, "NoNewPrivs: 1"), "{words:?}");
    }

    #[test]
    fn nobody_keeps_nothing_and_reads_nothing_of_roots() {
        worstcase_skips::needs_root!();
        let nobody = [
            "Uid: 65534 65534 65534 65534",
            "Gid: 65534 65534 65534 65534",
            "Groups:",
            "CapEff: 0000000000000000",
            "NoNewPrivs: 1",
        ];
        assert_eq!(status(User::Nobody), nobody);
        assert!(shell(User::Caller, "cat /etc/shadow > /dev/null").0);
        for text in ["cat /etc/shadow", "ls", "kill -0 $PPID"] {
            assert!(!shell(User::Nobody, text).0, "{text}");
        }
    }

    #[test]
    fn what_was_lent_comes_back() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mode = || fs::metadata(file.path()).unwrap().permissions().mode() & 0o777;
        for user in users() {
            let before = mode();
            user.lend(file.path(), UserAccess::Write).unwrap();
            assert_eq!(mode() == 0o660, user == User::Nobody);
            user.take_back(file.path()).unwrap();
            assert_eq!(mode(), if user == User::Nobody { 0o644 } else { before });
        }
    }
}
