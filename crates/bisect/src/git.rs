//! A kernel's git tree: its commits, and a checkout of our own that leaves the user's tree as it is.

use crate::BisectError;
use crate::search::{CandidateOrder, ChangeSide, Next};
use rustix::process::Signal;
use std::path::{Path, PathBuf};
use std::process::Command;
use worstcase_base::child::ends_with_us;
use worstcase_kernels::build::is_kernel_tree;

/// Digits of a commit in names.
const DIGITS: usize = 12;

/// The user's tree, and a clone of it that shares its objects.
#[derive(Clone, Debug)]
pub struct GitTree {
    source: PathBuf,
    clone: PathBuf,
}

/// A commit as reports name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// All 40 digits.
    pub id: String,
    /// The first line of its message.
    pub subject: String,
    /// Its author: name and address.
    pub author: String,
    /// When the author wrote it.
    pub date: String,
    /// The nearest tag before it, if there is one.
    pub describe: String,
}

impl Commit {
    /// The commit as kernel developers cite one.
    pub fn cited(&self) -> String {
        format!("{} (\"{}\")", &self.id[..12.min(self.id.len())], self.subject)
    }
}

impl GitTree {
    /// Opens a tree of the kernel; the clone is made at `clone` when it is needed.
    pub fn open(source: &Path, clone: PathBuf) -> Result<GitTree, BisectError> {
        let source = std::path::absolute(source).map_err(BisectError::io(source))?;
        let is_kernel = is_kernel_tree(&source);
        let tree = GitTree { source, clone };
        if tree.git(&tree.source, &["rev-parse", "--git-dir"]).is_err() {
            return Err(tree.refuse("it is no git tree; clone one, or bisect a folder of images with --kernels"));
        }
        match is_kernel {
            true => Ok(tree),
            false => Err(tree.refuse("it is not a kernel's tree: it has no Makefile with a PATCHLEVEL, or no Kconfig")),
        }
    }

    fn refuse(&self, why: &str) -> BisectError {
        BisectError::Request(format!("{}: {why}", self.source.display()))
    }

    /// All digits of a revision.
    pub fn resolve(&self, revision: &str) -> Result<String, BisectError> {
        let wanted = format!("{revision}^{{commit}}");
        let found = self.git(
            &self.source,
            &["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted],
        );
        found.map_err(|_| self.refuse(&format!("it has no commit '{revision}'")))
    }

    /// Both ends, the older one first; refuses those with no commit between them.
    pub fn ordered(&self, one: String, other: String) -> Result<[String; 2], BisectError> {
        let is_ancestor = |a: &str, b: &str| self.git(&self.source, &["merge-base", "--is-ancestor", a, b]).is_ok();
        match () {
            () if one == other => Err(self.refuse("no commit between: good and bad are one commit")),
            () if is_ancestor(&one, &other) => Ok([one, other]),
            () if is_ancestor(&other, &one) => Ok([other, one]),
            () => {
                let base = self
                    .git(&self.source, &["merge-base", &one, &other])
                    .unwrap_or_default();
                let base = &base[..12.min(base.len())];
                Err(self.refuse(&format!(
                    "neither end follows the other; they part at {base}: take that as one of them"
                )))
            }
        }
    }

    /// Looks a commit up.
    pub fn commit(&self, id: &str) -> Result<Commit, BisectError> {
        let text = self.git(
            &self.source,
            &[
                "show",
                "-s",
                "--format=%H%n%s%n%an <%ae>%n%ad",
                "--date=short",
                id,
                "--",
            ],
        )?;
        let mut lines = text.lines().map(str::to_string);
        let mut line = || lines.next().unwrap_or_default();
        Ok(Commit {
            id: line(),
            subject: line(),
            author: line(),
            date: line(),
            describe: self.git(&self.source, &["describe", "--tags", id]).unwrap_or_default(),
        })
    }

    /// Checks a commit out in our clone.
    pub fn check_out(&self, id: &str) -> Result<(), BisectError> {
        let git = self.clone.join(".git");
        // An earlier version, killed while it cloned, left one of these files without the other.
        if !["HEAD", "objects/info/alternates"]
            .iter()
            .all(|file| git.join(file).is_file())
        {
            self.make_clone()?;
        }
        // A killed checkout leaves these locks. No other git works here: the bisection's folder is locked.
        for lock in ["index.lock", "HEAD.lock"] {
            let _ = std::fs::remove_file(git.join(lock));
        }
        self.git(&self.clone, &["checkout", "--quiet", "--force", "--detach", id])
            .map(drop)
    }

    /// Makes the clone under another name and renames it: git writes HEAD first, so a killed clone would look complete.
    fn make_clone(&self) -> Result<(), BisectError> {
        let name = self.clone.file_name().unwrap_or_default().to_string_lossy();
        let new = self.clone.with_file_name(format!(".{name}.new"));
        for half in [&self.clone, &new] {
            let _ = std::fs::remove_dir_all(half);
        }
        let (from, to) = (self.source.display().to_string(), new.display().to_string());
        self.git(
            &self.source,
            &["clone", "--quiet", "--shared", "--no-checkout", &from, &to],
        )?;
        std::fs::rename(&new, &self.clone).map_err(BisectError::io(&self.clone))
    }

    /// Checks `base` out with the changes of `id` reverted; gives the new commit, or why `id` cannot be reverted.
    pub fn check_out_reverted(&self, base: &str, id: &str) -> Result<Result<String, String>, BisectError> {
        self.check_out(base)?;
        let named = ["-c", "user.name=worstcase", "-c", "user.email=worstcase@localhost"];
        let revert = [&named[..], &["revert", "--no-edit", id]].concat();
        match self.git(&self.clone, &revert) {
            Ok(_) => self.git(&self.clone, &["rev-parse", "HEAD"]).map(Ok),
            Err(BisectError::Git { why, .. }) => {
                let _ = self.git(&self.clone, &["revert", "--abort"]);
                Ok(Err(why))
            }
            Err(other) => Err(other),
        }
    }

    fn git(&self, dir: &Path, arguments: &[&str]) -> Result<String, BisectError> {
        let failed = |why: String| BisectError::Git {
            tree: dir.to_path_buf(),
            why,
        };
        let mut command = Command::new("git");
        command.arg("-C").arg(dir).args(arguments).env("LC_ALL", "C");
        // Otherwise this git would still write when the user gives the command again.
        ends_with_us(&mut command, Signal::TERM);
        let output = command.output().map_err(|e| failed(e.to_string()))?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_string()),
            false => {
                let said = String::from_utf8_lossy(&output.stderr);
                let line = said
                    .lines()
                    .find(|line| !line.trim().is_empty())
                    .unwrap_or("it said nothing");
                Err(failed(line.trim().to_string()))
            }
        }
    }
}

impl CandidateOrder for GitTree {
    fn next(&self, known: &[(String, ChangeSide)]) -> Result<Next, BisectError> {
        let with = |side: ChangeSide| known.iter().filter(move |(_, s)| *s == side).map(|(id, _)| id.clone());
        // Each commit behind the change is an ancestor of the one before it, so the last is the earliest.
        let after = with(ChangeSide::After).next_back().expect("the newer end is known");
        let not: Vec<String> = with(ChangeSide::Before).map(|id| format!("^{id}")).collect();
        let arguments: Vec<&str> = ["rev-list", "--bisect-all", &after]
            .into_iter()
            .chain(not.iter().map(|n| n.as_str()))
            .collect();
        let list = self.git(&self.source, &arguments)?;
        // git lists the best candidate first.
        let all = list
            .lines()
            .filter_map(|line| Some(line.split_whitespace().next()?.to_string()));
        let others: Vec<String> = all.filter(|id| *id != after).collect();
        let skipped: Vec<String> = with(ChangeSide::Unknown).collect();
        let open = || others.iter().filter(|id| !skipped.contains(id));
        Ok(match open().next() {
            Some(candidate) => Next::Measure {
                candidate: candidate.clone(),
                left: open().count() + 1,
            },
            None if others.is_empty() => Next::Found(after),
            None => Next::OneOf(others.into_iter().chain([after]).collect()),
        })
    }

    fn before(&self, candidate: &str) -> Result<Option<String>, BisectError> {
        Ok(self.resolve(&format!("{candidate}^")).ok())
    }

    fn shown(&self, candidate: &str) -> String {
        candidate[..DIGITS.min(candidate.len())].to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn run(dir: &Path, arguments: &[&str]) {
        let named = ["-c", "user.name=t", "-c", "user.email=t@example.com"];
        let output = Command::new("git")
            .arg("-C")
            .arg(dir)
            .args(named)
            .args(arguments)
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }

    /// A tree of ten commits with a branch in the middle.
    fn tree(dir: &Path) -> GitTree {
        let source = dir.join("source");
        fs::create_dir(&source).unwrap();
        run(&source, &["init", "--quiet", "-b", "main"]);
        fs::write(source.join("Makefile"), "VERSION = 6\nPATCHLEVEL = 1\n").unwrap();
        fs::write(source.join("Kconfig"), "").unwrap();
        let commit = |name: &str| {
            fs::write(source.join(name), name).unwrap();
            run(&source, &["add", "-A"]);
            run(&source, &["commit", "--quiet", "-m", name]);
            run(&source, &["tag", name]);
        };
        for name in ["c0", "c1", "c2", "c3"] {
            commit(name);
        }
        run(&source, &["checkout", "--quiet", "-b", "side", "c1"]);
        for name in ["s0", "s1"] {
            commit(name);
        }
        run(&source, &["checkout", "--quiet", "main"]);
        run(&source, &["merge", "--quiet", "--no-edit", "side"]);
        for name in ["c4", "c5", "c6"] {
            commit(name);
        }
        GitTree::open(&source, dir.join("clone")).unwrap()
    }

    /// Bisects: a commit with the file `first` is bad; one with a file of `broken` and without `first` cannot be
    /// measured.
    fn bisect(tree: &GitTree, first: &str, broken: &[&str]) -> Next {
        let id = |name: &str| tree.resolve(name).unwrap();
        let has = |commit: &str, name: &str| {
            tree.git(&tree.source, &["merge-base", "--is-ancestor", &id(name), commit])
                .is_ok()
        };
        let mut known = vec![(id("c0"), ChangeSide::Before), (id("c6"), ChangeSide::After)];
        loop {
            let Next::Measure { candidate, .. } = tree.next(&known).unwrap() else {
                return tree.next(&known).unwrap();
            };
            let side = match has(&candidate, first) {
                _ if broken.iter().any(|name| id(name) == candidate) => ChangeSide::Unknown,
                true => ChangeSide::After,
                false => ChangeSide::Before,
            };
            known.push((candidate, side));
        }
    }

    #[test]
    fn every_commit_is_found_also_in_a_branch() {
        let dir = tempfile::tempdir().unwrap();
        let tree = tree(dir.path());
        for first in ["c1", "c2", "c3", "s0", "s1", "c4", "c5", "c6"] {
            let found = tree.resolve(first).unwrap();
            assert_eq!(bisect(&tree, first, &[]), Next::Found(found), "{first}");
        }
        let Next::OneOf(some) = bisect(&tree, "c5", &["c4"]) else {
            panic!("c4 may be the first")
        };
        assert_eq!(some, ["c4", "c5"].map(|name| tree.resolve(name).unwrap()));
    }

    #[test]
    fn commits_are_checked_out_and_reverted_in_a_tree_of_our_own() {
        let dir = tempfile::tempdir().unwrap();
        let tree = tree(dir.path());
        let id = |name: &str| tree.resolve(name).unwrap();
        tree.check_out(&id("c1")).unwrap();
        assert!(tree.clone.join("c1").exists() && !tree.clone.join("c2").exists());
        tree.check_out_reverted(&id("c6"), &id("c2")).unwrap().unwrap();
        assert!(tree.clone.join("c6").exists() && !tree.clone.join("c2").exists());
        assert!(dir.path().join("source/c2").exists(), "the user's tree is as it was");
        let commit = tree.commit("s1").unwrap();
        assert_eq!(
            (commit.subject.as_str(), commit.author.as_str()),
            ("s1", "t <t@example.com>")
        );
    }

    #[test]
    fn ends_between_which_there_is_nothing_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let tree = tree(dir.path());
        let id = |name: &str| tree.resolve(name).unwrap();
        for (one, other) in [("c0", "c6"), ("c6", "c0")] {
            assert_eq!(tree.ordered(id(one), id(other)).unwrap(), [id("c0"), id("c6")]);
        }
        let said = |good: &str, bad: &str| tree.ordered(id(good), id(bad)).unwrap_err().to_string();
        assert!(said("c5", "c5").contains("one commit"));
        assert!(said("c3", "s1").contains(&format!("part at {}", &id("c1")[..12])));
        assert!(
            tree.resolve("nothing")
                .unwrap_err()
                .to_string()
                .contains("no commit 'nothing'")
        );
        let none = GitTree::open(dir.path(), dir.path().join("clone"))
            .unwrap_err()
            .to_string();
        assert!(none.contains("no git tree"), "{none}");
        fs::write(dir.path().join("source/Makefile"), "all:\n").unwrap();
        let other = GitTree::open(&dir.path().join("source"), dir.path().join("clone"))
            .unwrap_err()
            .to_string();
        assert!(other.contains("not a kernel's tree"), "{other}");
    }

    #[test]
    fn what_a_kill_left_of_the_clone_keeps_nobody_from_going_on() {
        let dir = tempfile::tempdir().unwrap();
        let tree = tree(dir.path());
        let id = tree.resolve("c3").unwrap();
        let there = || tree.git(&tree.clone, &["rev-parse", "HEAD"]).unwrap();
        // A git that was killed before it knew where the objects are leaves this.
        run(dir.path(), &["init", "--quiet", "clone"]);
        fs::create_dir(dir.path().join(".clone.new")).unwrap();
        tree.check_out(&id).unwrap();
        assert_eq!(there(), id);
        assert!(!dir.path().join(".clone.new").exists());
        for lock in ["index.lock", "HEAD.lock"] {
            fs::write(tree.clone.join(".git").join(lock), "").unwrap();
        }
        let id = tree.resolve("c1").unwrap();
        tree.check_out(&id).unwrap();
        assert_eq!(there(), id);
    }
}
