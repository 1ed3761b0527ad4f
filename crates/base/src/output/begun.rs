//! A folder that a command is about to make: it goes away again if nothing was measured.

use super::{FolderPlace, MissingFolders, OutputFolder, UNFINISHED};
use crate::interrupt::LastWork;
use rustix::fs::{AtFlags, Dir, FileType};
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// What is written before anything is measured: plans, their checksums, and unfinished files.
const PLANS: [&str; 4] = ["run.json", "watch.json", "bisect.json", "SHA256SUMS"];
/// Names of files and folders that are not finished begin with one of these.
const UNFINISHED_NAMES: [&str; 3] = [UNFINISHED, ".writing-", ".board-"];

/// Held by a command that makes a folder. When it is dropped, or a signal ends the process, folders go away that were not there
/// before and hold nothing but plans. One that was there and empty is empty again; one that held something is left alone.
#[derive(Debug)]
pub struct BegunFolder {
    made: Option<MadeFolders>,
    _interrupted: Option<LastWork>,
}

#[derive(Clone, Debug)]
struct MadeFolders {
    /// The folder.
    folder: PathBuf,
    /// It and the missing ones above it, the innermost first; none if it was there.
    missing: Vec<PathBuf>,
}

impl BegunFolder {
    /// To be called before the folder is made.
    pub fn at(folder: &Path) -> BegunFolder {
        let made = std::path::absolute(folder)
            .ok()
            .and_then(|folder| MadeFolders::to_be(&folder));
        let last = made.clone();
        BegunFolder {
            _interrupted: last.map(|made| LastWork::new(move || made.take_back())),
            made,
        }
    }

    /// Takes all back, whatever was measured: it is of no use.
    pub fn discard(mut self) {
        if let Some(made) = self.made.take() {
            made.take_back_if(|_| true);
        }
    }
}

impl Drop for BegunFolder {
    fn drop(&mut self) {
        if let Some(made) = &self.made {
            made.take_back();
        }
    }
}

impl MadeFolders {
    fn to_be(folder: &Path) -> Option<MadeFolders> {
        let is_empty = |mut entries: std::fs::ReadDir| entries.next().is_none();
        let missing: Vec<PathBuf> = folder
            .ancestors()
            .take_while(|path| path.symlink_metadata().is_err())
            .map(Path::to_path_buf)
            .collect();
        let may_be_made = !missing.is_empty() || std::fs::read_dir(folder).is_ok_and(is_empty);
        may_be_made.then(|| MadeFolders {
            folder: folder.to_path_buf(),
            missing,
        })
    }

    fn take_back(&self) {
        self.take_back_if(|folder| folder.holds_only_plans().unwrap_or(false));
    }

    /// A step that fails meets something that is not ours; what is left then is left on purpose.
    fn take_back_if(&self, may_go: impl FnOnce(&OutputFolder) -> bool) {
        // A command whose machines a signal has ended takes back, too; half of each would be none.
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        // Somebody put a link in the place of what was made: what it leads to is not ours.
        let is_link = |path: &PathBuf| path.symlink_metadata().is_ok_and(|is| is.is_symlink());
        if self.missing.iter().chain([&self.folder]).any(is_link) {
            return;
        }
        let opened =
            FolderPlace::of(&self.folder, MissingFolders::Refused).and_then(|place| place.parent.open(&place.name));
        let Ok(Some(folder)) = opened else {
            return;
        };
        if !may_go(&folder) || folder.remove_all().is_err() {
            return;
        }
        for path in &self.missing {
            let Ok(place) = FolderPlace::of(path, MissingFolders::Refused) else {
                return;
            };
            if rustix::fs::unlinkat(&place.parent.handle, &place.name, AtFlags::REMOVEDIR).is_err() {
                return;
            }
        }
    }
}

impl OutputFolder {
    fn holds_only_plans(&self) -> io::Result<bool> {
        for (name, kind) in self.entries()? {
            let text = name.to_string_lossy().into_owned();
            let is_unfinished = UNFINISHED_NAMES.iter().any(|prefix| text.starts_with(prefix));
            let only = match (kind, self.open_if_folder(&name, kind)?) {
                _ if is_unfinished => true,
                (_, Some(below)) => below.holds_only_plans()?,
                (FileType::RegularFile, None) => PLANS.contains(&text.as_str()),
                _ => false,
            };
            if !only {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn remove_all(&self) -> io::Result<()> {
        for (name, kind) in self.entries()? {
            let flags = match self.open_if_folder(&name, kind)? {
                Some(below) => {
                    below.remove_all()?;
                    AtFlags::REMOVEDIR
                }
                None => AtFlags::empty(),
            };
            rustix::fs::unlinkat(&self.handle, &name, flags)?;
        }
        Ok(())
    }

    fn open_if_folder(&self, name: &OsStr, kind: FileType) -> io::Result<Option<OutputFolder>> {
        match kind {
            FileType::Directory => self.open(name),
            _ => Ok(None),
        }
    }

    fn entries(&self) -> io::Result<Vec<(std::ffi::OsString, FileType)>> {
        let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::CLOEXEC;
        let readable = rustix::fs::openat(&self.handle, ".", flags, rustix::fs::Mode::empty())?;
        let mut entries = Vec::new();
        for entry in Dir::new(readable)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes()).to_os_string();
            if name == "." || name == ".." {
                continue;
            }
            let is = rustix::fs::statat(&self.handle, &name, AtFlags::SYMLINK_NOFOLLOW)?;
            entries.push((name, FileType::from_raw_mode(is.st_mode)));
        }
        Ok(entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn fill(folder: &Path, names: &[&str]) {
        for name in names {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            match name.ends_with('/') {
                true => fs::create_dir_all(&path).unwrap(),
                false => fs::write(&path, "x").unwrap(),
            }
        }
    }

    #[test]
    fn what_holds_only_plans_goes_with_the_folders_that_were_made_for_it() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("a/b/run");
        let begun = BegunFolder::at(&folder);
        fill(
            &folder,
            &["run.json", "SHA256SUMS", "cells/", "cells/.writing-1/samples"],
        );
        drop(begun);
        assert!(!dir.path().join("a").exists());
    }

    #[test]
    fn a_link_that_somebody_put_in_its_place_leads_to_nothing_of_ours() {
        let dir = tempfile::tempdir().unwrap();
        let (folder, other) = (dir.path().join("run"), dir.path().join("other"));
        let begun = BegunFolder::at(&folder);
        fs::create_dir(&other).unwrap();
        std::os::unix::fs::symlink(&other, &folder).unwrap();
        drop(begun);
        assert!(other.exists() && folder.is_symlink());
    }

    #[test]
    fn what_was_measured_and_what_was_there_stays() {
        let dir = tempfile::tempdir().unwrap();
        let (measured, empty, other) = (dir.path().join("m"), dir.path().join("e"), dir.path().join("o"));
        fs::create_dir(&empty).unwrap();
        fill(&other, &["run.json"]);
        let begun = [&measured, &empty, &other].map(|folder| BegunFolder::at(folder));
        fill(&measured, &["run.json", "cells/one/record.json"]);
        fill(&empty, &["run.json", "cells/"]);
        drop(begun);
        assert!(measured.join("cells/one/record.json").exists() && measured.join("run.json").exists());
        assert_eq!(fs::read_dir(&empty).unwrap().count(), 0);
        assert!(other.join("run.json").exists());
    }

    #[test]
    fn what_is_of_no_use_goes_and_what_was_there_stays() {
        let dir = tempfile::tempdir().unwrap();
        let (new, other) = (dir.path().join("n"), dir.path().join("o"));
        fill(&other, &["cells/one/record.json"]);
        for folder in [&new, &other] {
            let begun = BegunFolder::at(folder);
            fill(folder, &["cells/one/record.json"]);
            begun.discard();
        }
        assert!(!new.exists() && other.join("cells/one/record.json").exists());
    }

    #[test]
    fn what_is_no_plan_stays() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("run");
        let begun = BegunFolder::at(&folder);
        fill(&folder, &["run.json"]);
        std::os::unix::fs::symlink("/etc/passwd", folder.join("SHA256SUMS")).unwrap();
        drop(begun);
        assert!(folder.join("run.json").exists());
    }
}
