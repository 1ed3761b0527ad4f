//! The work folder for the loads of a measurement, with a random name.

use crate::HostError;
use std::path::{Path, PathBuf};
use worstcase_base::{trust, unforeseen};

/// A random path for the loads' work folder. The measuring process makes the folder later, when the journal lists it, and
/// refuses one that exists by then.
pub fn work_dir(parent: &Path) -> Result<PathBuf, HostError> {
    let failed = |source| HostError::Read {
        path: parent.to_path_buf(),
        source,
    };
    if !parent.is_dir() {
        return Err(HostError::Argument(format!(
            "no folder {}: name one that is there with --work-dir",
            parent.display()
        )));
    }
    let parent = std::path::absolute(parent).map_err(failed)?;
    if let Some(others) = trust::others_than_root_in(&parent).map_err(failed)? {
        return Err(HostError::WorkNotOurs { path: parent, others });
    }
    let name = unforeseen::name("worstcase-work-").map_err(failed)?;
    Ok(parent.join(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_folder_that_is_not_there_is_a_wrong_argument() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        std::fs::write(&file, "").unwrap();
        for parent in [dir.path().join("nosuch"), file] {
            let said = work_dir(&parent).unwrap_err().to_string();
            assert!(
                said.starts_with("no folder /") && said.ends_with("--work-dir"),
                "{said}"
            );
        }
    }

    #[test]
    fn a_work_folder_is_never_called_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let (one, two) = (work_dir(dir.path()).unwrap(), work_dir(dir.path()).unwrap());
        assert_ne!(one, two);
        let name = one.file_name().unwrap().to_str().unwrap();
        assert_eq!(name.len(), "worstcase-work-".len() + 32);
        assert!(!name.contains(&format!("-{}-", std::process::id())), "{name}");
    }

    #[test]
    fn root_makes_none_where_others_could_replace_it() {
        worstcase_skips::needs_root!();
        let dir = tempfile::tempdir().unwrap();
        let open = dir.path().join("open");
        std::fs::create_dir(&open).unwrap();
        for (bits, is_refused) in [(0o777, true), (0o1777, false), (0o755, false)] {
            std::fs::set_permissions(&open, std::fs::Permissions::from_mode(bits)).unwrap();
            assert_eq!(work_dir(&open).is_err(), is_refused, "{bits:o}");
        }
        std::os::unix::fs::chown(&open, Some(12_345), None).unwrap();
        let error = work_dir(&open).unwrap_err().to_string();
        assert!(
            error.contains("belongs to user 12345; choose another with --work-dir"),
            "{error}"
        );
    }
}
