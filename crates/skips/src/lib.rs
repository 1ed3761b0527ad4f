//! A test that cannot be done on this machine says so, and why, instead of passing without a word.
//!
//! Rust's test harness knows no test that decides while it runs that it is not done. So each such test writes a line into the
//! file that [`LIST`] names, and `scripts/test` ends with all of them:
//!
//! ```text
//! crates/worstcase/tests/host/run.rs:134    -         it needs root
//! crates/policies/tests/compiled.rs:22      clang-19  it needs clang-19
//! ```
//! The middle column is the package without which the test cannot be done, where there is one. `scripts/prepare-tests` installs
//! those, so `scripts/test` fails when a test was skipped for one.

use std::fs::File;
use std::io::Write;
use std::panic::Location;

/// The environment variable that names the file. Without it a skip is only printed.
pub const LIST: &str = "WORSTCASE_SKIPS";

/// Ends the test as one that was not done: `skip!("why")`, or `skip!("why", "package")` where a package is what is missing.
#[macro_export]
macro_rules! skip {
    ($why:expr $(, $package:expr)?) => {{
        $crate::skipped(&$why, None$(.or(Some($package)))?);
        return;
    }};
}

/// What is needed, or the end of the test as one that was not done: `or_skip!(get())`, where `get` gives a `Result` whose error
/// says why not. A package may stand behind it, as behind [`skip!`].
#[macro_export]
macro_rules! or_skip {
    ($needed:expr $(, $package:expr)?) => {
        match $needed {
            Ok(needed) => needed,
            Err(why) => $crate::skip!(why $(, $package)?),
        }
    };
}

/// Ends the test unless it runs as root.
#[macro_export]
macro_rules! needs_root {
    () => {
        if !$crate::is_root() {
            $crate::skip!("it needs root");
        }
    };
}

/// Whether this process has the rights of root.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Says that something is not tested. A test calls [`skip!`], which also ends it; this is for a part of one.
#[track_caller]
pub fn skipped(why: &str, package: Option<&str>) {
    let place = Location::caller();
    let why = why.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = format!("{}:{}\t{}\t{why}\n", place.file(), place.line(), package.unwrap_or("-"));
    eprint!("SKIPPED: {line}");
    let Some(list) = std::env::var_os(LIST) else { return };
    // One write of a short line: tests of several processes write at once.
    let written = File::options().create(true).append(true).open(&list);
    let written = written.and_then(|mut list| list.write_all(line.as_bytes()));
    written.unwrap_or_else(|e| panic!("a skip cannot be told, {}: {e}", list.display()));
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    /// Run by the other test alone, in a process that has a list.
    #[test]
    #[ignore = "it skips itself, which is not to be told"]
    fn is_skipped() {
        crate::skip!("there is\nno clang", "clang-19");
    }

    #[test]
    fn a_skip_is_a_line_with_place_package_and_reason() {
        let folder = std::env::temp_dir().join(format!("worstcase-skips-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let list = folder.join("list");
        for _ in 0..2 {
            let mut command = Command::new(std::env::current_exe().unwrap());
            command
                .args(["--exact", "tests::is_skipped", "--ignored"])
                .env(super::LIST, &list);
            assert!(command.output().unwrap().status.success());
        }
        let told = std::fs::read_to_string(&list).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        let lines: Vec<Vec<&str>> = told.lines().map(|line| line.split('\t').collect()).collect();
        assert_eq!(lines.len(), 2, "{told}");
        assert!(lines[0][0].starts_with("crates/skips/src/lib.rs:"), "{told}");
        assert_eq!(lines[0][1..], ["clang-19", "there is no clang"]);
    }
}
