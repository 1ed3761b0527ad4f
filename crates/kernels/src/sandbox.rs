//! apt's own sandbox: if root starts it, apt-get downloads as the user `_apt`, and reads the verified files as root.
//!
//! This works where `_apt` has access to every folder above the cache. In root's home, the cache's usual place, it has
//! none: then apt warns, and downloads as root.

use std::fs;
use std::io;
use std::os::unix::fs::lchown;
use std::path::{Path, PathBuf};

const USER: &str = "_apt";

/// A folder that belongs to apt's user until this is dropped, if root runs apt and the user exists.
pub(super) struct Lent(Option<PathBuf>);

impl Lent {
    pub(super) fn to_apt(folder: &Path) -> io::Result<Lent> {
        let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
        match number(&users).filter(|_| rustix::process::geteuid().is_root()) {
            Some(user) => lchown(folder, Some(user), None).map(|()| Lent(Some(folder.to_path_buf()))),
            None => Ok(Lent(None)),
        }
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Some(folder) = &self.0 {
            // Root owned the folder and runs this, so the kernel has no reason to refuse.
            let _ = lchown(folder, Some(0), None);
        }
    }
}

fn number(users: &str) -> Option<u32> {
    let apt = users
        .lines()
        .find_map(|line| line.strip_prefix(USER)?.strip_prefix(':'))?;
    apt.split(':').nth(1)?.parse().ok()
}

/// The note to the user if apt did without its sandbox.
pub(super) fn note(messages: &[String]) -> Option<String> {
    let without = |message: &String| message.contains("unsandboxed as root");
    messages.iter().any(without).then(|| {
        format!(
            "apt-get fetched as root, because its user {USER} cannot pass through the folders above the cache; \
             set WORSTCASE_CACHE to a folder that everybody can read, or run this command as an ordinary user"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn apts_user_is_found_among_all() {
        let users =
            "root:x:0:0:root:/root:/bin/bash\n_apt2:x:7:7::/:\n_apt:x:42:65534::/nonexistent:/usr/sbin/nologin\n";
        assert_eq!(number(users), Some(42));
        assert_eq!(number("root:x:0:0:root:/root:/bin/bash\n"), None);
    }

    #[test]
    fn a_folder_is_lent_and_comes_back() {
        let users = fs::read_to_string("/etc/passwd").unwrap();
        worstcase_skips::needs_root!();
        let user = worstcase_skips::or_skip!(number(&users).ok_or("there is no user _apt: it needs an apt"));
        let dir = tempfile::tempdir().unwrap();
        let owner = || fs::metadata(dir.path()).unwrap().uid();
        let lent = Lent::to_apt(dir.path()).unwrap();
        assert_eq!(owner(), user);
        drop(lent);
        assert_eq!(owner(), 0);
    }

    #[test]
    fn doing_without_the_sandbox_is_told() {
        let said = "W: Download is performed unsandboxed as root as file '/x' couldn't be accessed by user '_apt'.";
        assert!(note(&[said.into()]).unwrap().contains("WORSTCASE_CACHE"));
        assert_eq!(note(&["W: something else".into()]), None);
    }
}
