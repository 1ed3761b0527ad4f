//! The place of a host run: a real machine is measured anew each time, so a run gets a folder of its own.

use std::path::{Path, PathBuf};
use worstcase_base::format::is_file_name;
use worstcase_base::utc::Utc;
use worstcase_host::facts::FileTree;
use worstcase_host::facts::identity::host_name;

/// Longest part of a host's name in a folder's.
const NAME: usize = 64;

/// The title of a host measurement in its report.
pub(super) const TITLE: &str = "how late this machine is";

/// The place of a run.
#[derive(Debug)]
pub struct RunPlace {
    /// Its folder.
    pub dir: PathBuf,
    /// The run was begun there, and goes on.
    pub(crate) resume: bool,
}

/// A folder that is not there yet, in the present one: `host-NAME-YYYYMMDD-HHMM`.
pub fn usual() -> PathBuf {
    new("host")
}

/// The same, for a folder that holds `kept`.
pub fn new(kept: &str) -> PathBuf {
    free(&named(kept, &host(), Utc::now()), |name| Path::new(name).exists()).into()
}

/// A title that tells this measurement from that of another machine, or another day.
pub(crate) fn titled(title: &str) -> String {
    format!("{title}: {}, {}", host(), Utc::now().readable())
}

fn host() -> String {
    host_name(&FileTree::at(Path::new("/")))
}

fn named(kept: &str, host: &str, now: Utc) -> String {
    let is_safe = |c: char| is_file_name(&format!("a{c}"), 2);
    let host: String = host
        .chars()
        .take(NAME)
        .map(|c| if is_safe(c) { c } else { '-' })
        .collect();
    format!("{kept}-{host}-{}", now.to_the_minute())
}

/// The name, or what tells it from those that are taken.
fn free(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let numbered = (2..).map(|n| format!("{name}-{n}"));
    let mut names = [name.to_string()].into_iter().chain(numbered);
    names.find(|name| !is_taken(name)).expect("there is no end of numbers")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_new_and_its_name_is_one_of_a_file() {
        let now = Utc::at(1_795_388_707);
        assert_eq!(named("host", "rt.lab", now), "host-rt.lab-20261122-2305");
        assert_eq!(named("try", "../a b\u{e9}", now), "try-..-a-b--20261122-2305");
        let taken = ["x", "x-2"];
        assert_eq!(free("x", |name| taken.contains(&name)), "x-3");
        assert_eq!(free("y", |name| taken.contains(&name)), "y");
    }
}
