//! Archives that the user names besides the system's own: older states of Debian's archive, or a copy of it.

use serde::{Deserialize, Serialize};
use std::str::FromStr;

use super::suites::is_debian_suite;

/// A suite of an archive. Its lists are verified with the keys of the system's own source of Debian's archive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AptArchive {
    /// Where it is.
    pub(crate) uri: String,
    /// As in `dists/<suite>`.
    pub(crate) suite: String,
}

impl FromStr for AptArchive {
    type Err = String;

    /// `URI SUITE` as in sources.list(5); the URI may be a folder of this machine.
    fn from_str(text: &str) -> Result<AptArchive, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let [uri, suite] = words[..] else {
            return Err("write an archive as 'URI SUITE', e.g. '/srv/snapshot/20260101 trixie'".into());
        };
        if !is_debian_suite(suite) {
            return Err(format!(
                "{suite} is no suite of Debian's; take e.g. trixie, trixie-security or bookworm-backports"
            ));
        }
        let uri = match uri.starts_with('/') {
            true => format!("file:{uri}"),
            false => uri.to_string(),
        };
        if !uri.contains(':') {
            return Err(format!(
                "{uri} is no address; write it with its scheme, or an absolute path"
            ));
        }
        Ok(AptArchive {
            uri: uri.trim_end_matches('/').into(),
            suite: suite.into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_is_an_address_and_a_suite() {
        let archive: AptArchive = "/srv/old/ trixie-security".parse().unwrap();
        assert_eq!(
            (archive.uri.as_str(), archive.suite.as_str()),
            ("file:/srv/old", "trixie-security")
        );
        for (text, says) in [
            ("/srv/old", "'URI SUITE'"),
            ("/srv noble", "noble is no suite"),
            ("srv sid", "no address"),
        ] {
            assert!(text.parse::<AptArchive>().unwrap_err().contains(says), "{text}");
        }
    }
}
