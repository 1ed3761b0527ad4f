//! The lab's disk: a profile's name, or the file of one.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::Path;
use std::str::FromStr;
use worstcase_disk::Profile;
use worstcase_disk::profiles;

/// A disk; serialised as it is typed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct DiskSpec(String);

/// A disk that cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoDisk {
    /// Neither a built-in profile nor a file's name.
    #[error("no disk '{0}'; there are {names}, or name a profile's file, e.g. ./mine.toml", names = profiles::NAMES.join(", "))]
    Unknown(String),
    /// The file cannot be read.
    #[error("the disk's profile {0}: {1}")]
    Unreadable(String, String),
    /// The profile holds an impossible value.
    #[error("the disk's profile {0}: {1}")]
    Wrong(String, String),
}

impl DiskSpec {
    /// The disk of the article that the study `io-schedulers` repeats.
    pub(crate) fn usual() -> DiskSpec {
        DiskSpec(profiles::NAMES[0].into())
    }

    /// Its numbers.
    pub fn profile(&self) -> Result<Profile, NoDisk> {
        if let Some(profile) = profiles::builtin(&self.0) {
            return Ok(profile);
        }
        let text = worstcase_base::files::read_to_string(self.0.as_ref());
        let text = text.map_err(|e| NoDisk::Unreadable(self.0.clone(), e.to_string()))?;
        profiles::read(&text).map_err(|e| NoDisk::Wrong(self.0.clone(), e.to_string()))
    }

    /// A word for names of subjects.
    pub fn word(&self) -> &str {
        let stem = Path::new(&self.0).file_stem().and_then(|stem| stem.to_str());
        stem.unwrap_or(&self.0)
    }
}

impl FromStr for DiskSpec {
    type Err = NoDisk;

    fn from_str(text: &str) -> Result<DiskSpec, NoDisk> {
        if profiles::NAMES.contains(&text) {
            return Ok(DiskSpec(text.into()));
        }
        if !text.ends_with(".toml") || text.contains(|c: char| c.is_control()) {
            return Err(NoDisk::Unknown(text.escape_debug().to_string()));
        }
        let path = std::path::absolute(text).map_err(|e| NoDisk::Unreadable(text.into(), e.to_string()))?;
        Ok(DiskSpec(path.display().to_string()))
    }
}

worstcase_contract::text_form!(DiskSpec);

impl fmt::Display for DiskSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_is_a_name_or_a_file() {
        assert_eq!("hdd".parse::<DiskSpec>().unwrap(), DiskSpec::usual());
        assert!(DiskSpec::usual().profile().is_ok());
        let error = "floppy".parse::<DiskSpec>().unwrap_err().to_string();
        assert!(error.contains("hdd, laptop"), "{error}");
        let mine: DiskSpec = "./mine.toml".parse().unwrap();
        assert!(mine.to_string().starts_with('/') && mine.word() == "mine");
        let error = mine.profile().unwrap_err().to_string();
        assert!(error.contains("/mine.toml: "), "{error}");
    }
}
