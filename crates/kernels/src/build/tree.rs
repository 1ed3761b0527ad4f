//! The content of a source tree, and a copy of it to build from: git's index and objects, in a folder of our own.
//!
//! ```text
//! <folder>/repository   objects, beside those of the tree's own repository if it has one
//! <folder>/index        what the tree held last, so that only what changed is read again
//! <folder>/source       the copy; what did not change is not touched, so make does not build it again
//! ```
//! The tree is only read. In a git tree the files that git ignores do not count: objects, generated files, its `.config`.
//! The `.gitignore` of other trees is no guide (Debian's ignores everything). There known build results are left out, and
//! `make mrproper` removes the others from the copy.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::process::Signal;
use worstcase_base::child::ends_with_us;

use super::{KernelBuildError, first_error};

/// Build results that are large, or differ each time.
const BUILT: [&str; 22] = [
    "**/.*",
    "**/*.o",
    "**/*.a",
    "**/*.ko",
    "**/*.mod",
    "**/*.mod.c",
    "**/*.order",
    "**/*.so",
    "**/*.so.dbg",
    "vmlinux",
    "vmlinux.unstripped",
    "System.map",
    "Module.symvers",
    "modules.*",
    "include/config/**",
    "include/generated/**",
    "arch/x86/include/generated/**",
    "arch/x86/boot/bzImage",
    "arch/x86/boot/*.bin",
    "arch/x86/boot/*.elf",
    "arch/x86/boot/compressed/vmlinux",
    "arch/x86/boot/compressed/vmlinux.bin*",
];

/// A tree, and the folder for its copy.
pub(crate) struct SourceTree {
    tree: PathBuf,
    folder: PathBuf,
    /// Whether the tree has a repository of its own.
    is_git: bool,
}

impl SourceTree {
    /// Makes the folder ready.
    pub(crate) fn open(tree: &Path, folder: &Path) -> Result<SourceTree, KernelBuildError> {
        let mut opened = SourceTree {
            tree: tree.into(),
            folder: folder.into(),
            is_git: false,
        };
        if !opened.repository().join("HEAD").is_file() {
            let repository = opened.repository();
            opened.run(Command::new("git").args(["init", "--quiet", "--bare"]).arg(repository))?;
        }
        // Inside another repository the paths in that index would not fit.
        opened.is_git = opened.of_its_own(&["--show-prefix"]).as_deref() == Some("");
        Ok(opened)
    }

    /// Where the copy is.
    pub fn source(&self) -> PathBuf {
        self.folder.join("source")
    }

    /// A digest of the tree's content now.
    pub fn state(&self) -> Result<String, KernelBuildError> {
        let borrowed = self.borrow()?;
        let index = self.folder.join("index");
        let without: Vec<String> = BUILT
            .iter()
            .map(|built| format!(":(exclude,top,glob){built}"))
            .collect();
        let mut arguments = vec!["add", "--all", "."];
        if !self.is_git {
            arguments.push("--force");
            arguments.extend(without.iter().map(String::as_str));
        }
        let add = |index: &Path| self.git(index, &self.tree, &arguments);
        match add(&index) {
            // The tree's own index may be a split index, which consists of several files.
            Err(_) if borrowed => {
                fs::remove_file(&index).map_err(KernelBuildError::io(&index))?;
                add(&index)?;
            }
            added => drop(added?),
        }
        self.git(&index, &self.tree, &["write-tree"])
    }

    /// Brings the copy to this state.
    pub fn check_out(&self, state: &str) -> Result<(), KernelBuildError> {
        let source = self.source();
        fs::create_dir_all(&source).map_err(KernelBuildError::io(&source))?;
        let index = self.folder.join("index.source");
        // A killed checkout leaves these locks.
        for lock in ["index.lock", "index.source.lock"] {
            let _ = fs::remove_file(self.folder.join(lock));
        }
        self.git(&index, &source, &["read-tree", "--reset", "-u", state])?;
        match self.is_git {
            true => Ok(()),
            false => self.clean(),
        }
    }

    /// Removes build results of the tree from the copy.
    fn clean(&self) -> Result<(), KernelBuildError> {
        let mut make = Command::new("make");
        make.arg("-s")
            .arg("-C")
            .arg(self.source())
            .arg("mrproper")
            .stdin(Stdio::null());
        let output = ends_with_us(&mut make, Signal::TERM)
            .output()
            .map_err(KernelBuildError::io("make"))?;
        match output.status.success() {
            true => Ok(()),
            false => Err(KernelBuildError::NoTree {
                tree: self.tree.clone(),
                why: format!(
                    "make mrproper failed in a copy of it ({})",
                    first_error(&String::from_utf8_lossy(&output.stderr))
                ),
            }),
        }
    }

    fn repository(&self) -> PathBuf {
        self.folder.join("repository")
    }

    /// Copies the index of the tree's own repository, if it has one, and uses its objects, so that unchanged files are
    /// not read.
    fn borrow(&self) -> Result<bool, KernelBuildError> {
        if !self.is_git {
            return Ok(false);
        }
        let path = |what: &str| Some(self.tree.join(self.of_its_own(&["--git-path", what])?));
        let (Some(index), Some(objects)) = (path("index"), path("objects")) else {
            return Ok(false);
        };
        let alternates = self.repository().join("objects/info/alternates");
        fs::write(&alternates, format!("{}\n", objects.display())).map_err(KernelBuildError::io(&alternates))?;
        Ok(fs::copy(index, self.folder.join("index")).is_ok())
    }

    /// What git says about the tree's own repository.
    fn of_its_own(&self, what: &[&str]) -> Option<String> {
        let mut git = Command::new("git");
        git.arg("-C").arg(&self.tree).arg("rev-parse").args(what);
        self.run(&mut git).ok()
    }

    fn git(&self, index: &Path, work_tree: &Path, arguments: &[&str]) -> Result<String, KernelBuildError> {
        let mut git = Command::new("git");
        git.current_dir(work_tree)
            .env("GIT_DIR", self.repository())
            .env("GIT_WORK_TREE", work_tree)
            .env("GIT_INDEX_FILE", index)
            .args(["-c", "core.bare=false", "-c", "core.compression=1", "-c", "gc.auto=0"])
            .args(["-c", "core.fsmonitor=false", "-c", "advice.addEmbeddedRepo=false"])
            .args(arguments);
        self.run(&mut git)
    }

    /// git's output, or the first line of its error. The user's settings are left out, because they would change what is
    /// built.
    fn run(&self, git: &mut Command) -> Result<String, KernelBuildError> {
        git.env("GIT_CONFIG_GLOBAL", OsStr::new("/dev/null"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("LC_ALL", "C")
            .stdin(Stdio::null());
        let output = ends_with_us(git, Signal::TERM)
            .output()
            .map_err(KernelBuildError::io("git"))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_string());
        }
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let is_cause = |line: &&str| line.starts_with("fatal:") || line.starts_with("error:");
        let line = said
            .lines()
            .find(is_cause)
            .or(said.lines().next())
            .unwrap_or("it said nothing");
        Err(KernelBuildError::NoTree {
            tree: self.tree.clone(),
            why: format!(
                "git cannot read it ({}); check the tree and the space on the disk",
                line.trim()
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Place(tempfile::TempDir);

    impl Place {
        fn new() -> Place {
            let place = Place(tempfile::tempdir().unwrap());
            fs::create_dir_all(place.0.path().join("tree/kernel")).unwrap();
            place.write(".gitignore", "*.o\n.*\n/*\n");
            place.write("Makefile", "mrproper:\n\trm -f kernel/table.h\n");
            place.write("kernel/fork.c", "one");
            place.write("kernel/fork.o", "object");
            place.write(".config", "CONFIG_A=y");
            place
        }

        fn write(&self, name: &str, text: &str) {
            fs::write(self.0.path().join("tree").join(name), text).unwrap();
        }

        fn tree(&self) -> SourceTree {
            let folder = self.0.path().join("ours");
            fs::create_dir_all(&folder).unwrap();
            SourceTree::open(&self.0.path().join("tree"), &folder).unwrap()
        }

        fn git(&self, arguments: &[&str]) {
            let named = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
            let mut git = Command::new("git");
            git.arg("-C")
                .arg(self.0.path().join("tree"))
                .args(named)
                .args(arguments);
            assert!(git.status().unwrap().success());
        }
    }

    #[test]
    fn the_state_is_that_of_the_sources_alone() {
        let place = Place::new();
        let tree = place.tree();
        let first = tree.state().unwrap();
        place.write("kernel/fork.o", "another object");
        place.write(".config", "CONFIG_A=n");
        assert_eq!(tree.state().unwrap(), first);
        place.write("kernel/fork.c", "two!");
        let second = tree.state().unwrap();
        assert_ne!(second, first);
        place.write("kernel/exit.c", "new");
        assert_ne!(tree.state().unwrap(), second);
        fs::remove_file(place.0.path().join("tree/kernel/exit.c")).unwrap();
        assert_eq!(tree.state().unwrap(), second);
    }

    #[test]
    fn the_copy_becomes_any_state_and_leaves_what_is_the_same() {
        let place = Place::new();
        place.write("kernel/same.c", "same");
        let tree = place.tree();
        let first = tree.state().unwrap();
        tree.check_out(&first).unwrap();
        let copy = |name: &str| tree.source().join(name);
        assert_eq!(fs::read(copy("kernel/fork.c")).unwrap(), b"one");
        assert!(!copy("kernel/fork.o").exists() && !copy(".config").exists());
        let written = |name: &str| fs::metadata(copy(name)).unwrap().modified().unwrap();
        let before = written("kernel/same.c");
        place.write("kernel/table.h", "generated");
        place.write("kernel/fork.c", "two!");
        tree.check_out(&tree.state().unwrap()).unwrap();
        assert_eq!(fs::read(copy("kernel/fork.c")).unwrap(), b"two!");
        assert_eq!(written("kernel/same.c"), before);
        assert!(!copy("kernel/table.h").exists());
        tree.check_out(&first).unwrap();
        assert_eq!(fs::read(copy("kernel/fork.c")).unwrap(), b"one");
    }

    #[test]
    fn a_git_tree_is_its_files_and_not_its_commit() {
        let place = Place::new();
        let plain = place.tree().state().unwrap();
        place.git(&["init", "--quiet"]);
        place.git(&["add", "--force", "Makefile", "kernel/fork.c"]);
        place.git(&["commit", "--quiet", "-m", "one"]);
        let tree = place.tree();
        assert_eq!(tree.state().unwrap(), plain);
        let objects = place.0.path().join("tree/.git/objects");
        let before = fs::read_dir(&objects).unwrap().count();
        place.write("kernel/fork.c", "not committed");
        place.write(".gitignore", "*.o\n.*\n");
        place.write("kernel/new.c", "not even added");
        let state = tree.state().unwrap();
        assert_ne!(state, plain);
        tree.check_out(&state).unwrap();
        assert_eq!(fs::read(tree.source().join("kernel/fork.c")).unwrap(), b"not committed");
        assert!(tree.source().join("kernel/new.c").exists() && !tree.source().join(".git").exists());
        assert_eq!(fs::read_dir(&objects).unwrap().count(), before, "the tree is only read");
        // A tracked file counts although git ignores its name.
        place.git(&["add", "--force", "kernel/fork.o"]);
        let state = tree.state().unwrap();
        tree.check_out(&state).unwrap();
        assert!(tree.source().join("kernel/fork.o").exists());
    }
}
