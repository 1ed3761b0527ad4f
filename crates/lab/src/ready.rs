//! The report of a machine that is ready: its release, the preemption model in force, the parameters it did not
//! understand.
//!
//! It is part of every record. The cache keeps it after the snapshot has gone, so that a record can be made from a cell's
//! result without a boot, also where another machine booted.

use super::{BOOT_AGAIN, LabError};
use std::collections::BTreeMap;
use std::path::Path;
use worstcase_base::cache::Cache;
use worstcase_base::files::read_to_string;

/// The area of the cache, by the key of the subject.
const AREA: &str = "ready";

/// The file's name, in the cache and in the snapshot.
const FILE: &str = "ready";

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadyReport {
    /// The text that the guest wrote.
    pub text: String,
    /// Its values, by name.
    pub said: BTreeMap<String, String>,
}

impl ReadyReport {
    /// Parses the message; none if it is incomplete.
    pub fn parse(text: String) -> Option<ReadyReport> {
        let said = parse(&text)?;
        Some(ReadyReport { text, said })
    }

    /// The report in the folder of a snapshot, or of a cache entry.
    pub(crate) fn of(folder: &Path) -> Result<ReadyReport, LabError> {
        let text = read_to_string(&folder.join(FILE)).unwrap_or_default();
        ReadyReport::parse(text).ok_or_else(|| LabError::Damaged {
            folder: folder.to_path_buf(),
            reason: format!("its file '{FILE}' is cut short"),
            again: BOOT_AGAIN,
        })
    }

    /// The cached report of a subject.
    pub fn kept(cache: &Cache, subject: &str) -> Option<ReadyReport> {
        ReadyReport::of(&cache.get(AREA, subject)?).ok()
    }

    /// Keeps the report; an existing one must be the same, whichever machine booted. `what` describes the subject.
    pub fn keep(&self, cache: &Cache, subject: &str, what: &str) -> Result<(), LabError> {
        if ReadyReport::kept(cache, subject).as_ref() != Some(self) {
            cache.take_in(AREA, subject, BOOT_AGAIN, what, |building| self.write(building))?;
        }
        Ok(())
    }

    /// Writes the report to the folder of a snapshot, or of a cache entry.
    pub fn write(&self, folder: &Path) -> Result<(), LabError> {
        let path = folder.join(FILE);
        std::fs::write(&path, &self.text).map_err(LabError::io(path))
    }
}

/// `WCREADY`, `key=value` lines, an empty line.
fn parse(text: &str) -> Option<BTreeMap<String, String>> {
    let body = text.strip_prefix("WCREADY\n")?.split_once("\n\n")?.0;
    Some(
        body.lines()
            .filter_map(|l| l.split_once('='))
            .map(|(k, v)| (k.to_string(), v.to_string()))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ready_message_is_read_only_when_it_is_whole() {
        let ready = parse("WCREADY\nrelease=6.1\ntimer_entry=0xff\n\n").unwrap();
        assert_eq!(ready["release"], "6.1");
        assert_eq!(parse("WCREADY\nrelease=6.1\n"), None);
        assert_eq!(parse("SeaBIOS"), None);
    }

    #[test]
    fn two_machines_that_say_something_else_are_told() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::at(dir.path());
        let ready = |release: &str| ReadyReport::parse(format!("WCREADY\nrelease={release}\n\n")).unwrap();
        assert_eq!(ReadyReport::kept(&cache, "key"), None);
        ready("6.1").keep(&cache, "key", "6.1 full").unwrap();
        ready("6.1").keep(&cache, "key", "6.1 full").unwrap();
        assert_eq!(ReadyReport::kept(&cache, "key").unwrap(), ready("6.1"));
        let said = ready("6.2").keep(&cache, "key", "6.1 full").unwrap_err().to_string();
        assert!(said.starts_with("6.1 full: "), "{said}");
    }
}
