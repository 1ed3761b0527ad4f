//! The Debian archive that this machine trusts: read from apt's own sources, widened to the archive's other suites.
//!
//! worstcase names no archive of its own. It reads `sources.list`, `*.list` and `*.sources` (sources.list(5)), keeps
//! the sources of Debian's archive and of its security archive with their keyrings, and asks the same hosts for the
//! suites in [`SUITES`]. Suites that the archive does not have are dropped after apt has asked for them.

use std::fs;
use std::path::{Path, PathBuf};

use super::Arch;
use super::archive::AptArchive;
use super::suites::{ROLLING_SUITES, SUITES, is_debian_suite, is_security};

/// One suite at one archive, as apt needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AptSource {
    /// Where the archive is.
    pub uri: String,
    /// The suite, as in `dists/<suite>`.
    pub suite: String,
    /// Keyring path, fingerprint or whole key; `None` means apt's own trusted keys.
    pub signed_by: Option<String>,
    /// Whether this is an old state of an archive, which may be past its own expiry date.
    pub of_the_past: bool,
}

impl AptSource {
    /// The source of an archive that the user names, with the keys of a source of Debian's archive. An old state of the archive is past its own
    /// expiry date; it is verified all the same.
    fn named(archive: &AptArchive, signed_by: Option<String>) -> AptSource {
        AptSource {
            uri: archive.uri.clone(),
            suite: archive.suite.clone(),
            signed_by,
            of_the_past: true,
        }
    }
}

/// The place of apt's sources: `WORSTCASE_APT_SOURCES` (a file, or a directory like /etc/apt), or /etc/apt.
pub fn place() -> PathBuf {
    std::env::var_os("WORSTCASE_APT_SOURCES")
        .filter(|v| !v.is_empty())
        .map_or_else(|| "/etc/apt".into(), PathBuf::from)
}

/// Reads all sources for an architecture below a directory like /etc/apt, or in one file.
pub fn read(place: &Path, arch: Arch) -> std::io::Result<Vec<AptSource>> {
    let mut files = Vec::new();
    if place.is_dir() {
        files.push(place.join("sources.list"));
        let mut parts: Vec<PathBuf> = fs::read_dir(place.join("sources.list.d"))
            .into_iter()
            .flatten()
            .flatten()
            .map(|e| e.path())
            .collect();
        parts.sort();
        files.append(&mut parts);
    } else {
        files.push(place.to_path_buf());
    }
    let mut sources = Vec::new();
    for file in files {
        let parse = match file.extension().and_then(|e| e.to_str()) {
            Some("list") => parse_list,
            Some("sources") => parse_deb822,
            _ => continue,
        };
        match fs::read_to_string(&file) {
            Ok(text) => sources.append(&mut parse(&text, arch)),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound && place.is_dir() => continue,
            Err(e) => return Err(e),
        }
    }
    Ok(sources)
}

/// One-line format: `deb [signed-by=KEYRING arch=amd64] URI SUITE COMPONENT...`.
pub fn parse_list(text: &str, arch: Arch) -> Vec<AptSource> {
    text.lines().filter_map(|line| parse_list_line(line, arch)).collect()
}

/// Whether a source that names architectures is one for this. A system names its own, and Debian's archive has the others at the
/// same place.
fn is_for(named: &[&str], arch: Arch) -> bool {
    named.is_empty()
        || [arch, Arch::default()]
            .iter()
            .any(|arch| named.contains(&arch.debian()))
}

fn parse_list_line(line: &str, arch: Arch) -> Option<AptSource> {
    let line = line.split('#').next()?.trim();
    let rest = line
        .strip_prefix("deb")
        .filter(|r| r.starts_with([' ', '\t', '[']))?
        .trim_start();
    let (options, rest) = match rest.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?,
        None => ("", rest),
    };
    let option = |name: &str| {
        let mut pairs = options.split_whitespace().filter_map(|o| o.split_once('='));
        pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
    };
    let mut words = rest.split_whitespace();
    let (uri, suite) = (words.next()?, words.next()?);
    let named: Vec<&str> = option("arch")
        .map(|named| named.split(',').collect())
        .unwrap_or_default();
    let wanted = words.any(|c| c == "main") && is_for(&named, arch);
    wanted.then(|| AptSource {
        uri: uri.trim_end_matches('/').into(),
        suite: suite.trim_end_matches('/').into(),
        signed_by: option("signed-by").map(str::to_string),
        of_the_past: false,
    })
}

/// deb822 format: stanzas of fields; a line that begins with a space continues a field.
pub fn parse_deb822(text: &str, arch: Arch) -> Vec<AptSource> {
    let mut sources = Vec::new();
    let without_comments: String = text
        .lines()
        .filter(|l| !l.starts_with('#'))
        .map(|l| format!("{l}\n"))
        .collect();
    for stanza in without_comments.split("\n\n") {
        let fields = super::packages::fields(stanza);
        let field = |name: &str| {
            fields
                .iter()
                .find(|(key, _)| key.eq_ignore_ascii_case(name))
                .map(|(_, v)| v.as_str())
        };
        let words = |name: &str| field(name).unwrap_or("").split_whitespace().collect::<Vec<_>>();
        let enabled = !matches!(field("Enabled").map(str::trim), Some("no" | "false" | "off" | "0"));
        let architectures = words("Architectures");
        let wanted = enabled
            && words("Types").contains(&"deb")
            && words("Components").contains(&"main")
            && is_for(&architectures, arch);
        if !wanted {
            continue;
        }
        let signed_by = field("Signed-By")
            .map(|v| v.trim_end().to_string())
            .filter(|v| !v.trim().is_empty());
        for uri in words("URIs") {
            for suite in words("Suites") {
                sources.push(AptSource {
                    uri: uri.trim_end_matches('/').into(),
                    suite: suite.trim_end_matches('/').into(),
                    signed_by: signed_by.clone(),
                    of_the_past: false,
                });
            }
        }
    }
    sources
}

/// Debian's sources among `system`, widened to the suites with kernels, and the archives that the user names. Empty if
/// there is no source of Debian's.
pub fn widen(system: &[AptSource], archives: &[AptArchive]) -> Vec<AptSource> {
    let usable = system
        .iter()
        .filter(|s| !s.uri.starts_with("cdrom:") && is_debian_suite(&s.suite));
    let mut debian: Vec<&AptSource> = usable.collect();
    // A third party may also call its suite "bookworm"; if a source has Debian's keyring, only such sources count.
    let by_debian = |s: &&AptSource| s.signed_by.as_deref().is_some_and(|k| k.contains("debian-archive"));
    if debian.iter().any(by_debian) {
        debian.retain(by_debian);
    }
    let archive = debian.iter().find(|s| !is_security(&s.suite));
    let security = debian.iter().find(|s| is_security(&s.suite));
    let mut wanted: Vec<AptSource> = debian.iter().map(|s| (*s).clone()).collect();
    let mut add = |like: Option<&&AptSource>, suite: String| {
        let Some(like) = like else { return };
        if !wanted.iter().any(|s| s.suite == suite) {
            wanted.push(AptSource {
                suite,
                ..(*like).clone()
            });
        }
    };
    for suite in SUITES {
        add(archive, suite.into());
        add(archive, format!("{suite}-updates"));
        add(archive, format!("{suite}-backports"));
        add(security, format!("{suite}-security"));
    }
    for suite in ROLLING_SUITES {
        add(archive, suite.into());
    }
    let trusted = archive.or(security).map(|source| source.signed_by.clone());
    if let Some(signed_by) = trusted {
        wanted.extend(
            archives
                .iter()
                .map(|archive| AptSource::named(archive, signed_by.clone())),
        );
    }
    wanted
}

/// The file for apt: deb822, package lists only, never marked as trusted.
pub fn to_deb822(sources: &[AptSource], arch: Arch) -> String {
    let stanza = |s: &AptSource| {
        let signed_by = s
            .signed_by
            .as_ref()
            .map(|k| format!("Signed-By: {}\n", k.trim_start_matches(' ')));
        format!(
            "Types: deb\nURIs: {}\nSuites: {}\nComponents: main\nArchitectures: {}\nTargets: Packages\n{}{}\n",
            s.uri,
            s.suite,
            arch.debian(),
            if s.of_the_past { "Check-Valid-Until: no\n" } else { "" },
            signed_by.unwrap_or_default()
        )
    };
    sources.iter().map(stanza).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEB822: &str = "\
Types: deb deb-src
# a comment inside the stanza
URIs: http://archive.example/debian/
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://archive.example/debian-security
Suites: bookworm-security
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://other.example/apt
Suites: bookworm
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 abc

Enabled: no
Types: deb
URIs: http://disabled.example
Suites: sid
Components: main
";

    #[test]
    fn deb822_sources_are_read_with_comments_keys_and_switches() {
        let sources = parse_deb822(DEB822, Arch::X86);
        let suites: Vec<&str> = sources.iter().map(|s| s.suite.as_str()).collect();
        assert_eq!(
            suites,
            ["bookworm", "bookworm-updates", "bookworm-security", "bookworm"]
        );
        assert_eq!(sources[0].uri, "http://archive.example/debian");
        assert!(sources[3].signed_by.as_ref().unwrap().contains("\n .\n abc"));
    }

    #[test]
    fn one_line_sources_are_read_with_options() {
        let text = "# deb http://no.example/ sid main\n\
            deb-src http://no.example/debian sid main\n\
            deb http://archive.example/debian bookworm main non-free # note\n\
            deb [arch=arm64] http://archive.example/debian trixie main\n\
            deb [ arch=amd64,arm64 signed-by=/k/debian-archive-keyring.gpg ] http://archive.example/debian trixie main\n\
            deb http://archive.example/debian trixie contrib\n";
        let sources = parse_list(text, Arch::X86);
        assert_eq!(sources.len(), 2);
        assert_eq!(sources[0].signed_by, None);
        assert_eq!(sources[1].signed_by.as_deref(), Some("/k/debian-archive-keyring.gpg"));
        assert_eq!(parse_list(text, Arch::Arm64).len(), 3);
    }

    #[test]
    fn sources_are_widened_at_debians_hosts_only() {
        let wanted = widen(&parse_deb822(DEB822, Arch::X86), &[]);
        assert!(
            wanted
                .iter()
                .all(|s| s.uri.starts_with("http://archive.example/debian"))
        );
        let at = |suite: &str| wanted.iter().find(|s| s.suite == suite).map(|s| s.uri.as_str());
        assert_eq!(at("experimental"), Some("http://archive.example/debian"));
        assert_eq!(at("trixie-backports"), Some("http://archive.example/debian"));
        assert_eq!(at("bullseye-security"), Some("http://archive.example/debian-security"));
        let mut suites: Vec<&str> = wanted.iter().map(|s| s.suite.as_str()).collect();
        suites.sort();
        suites.dedup();
        assert_eq!(suites.len(), wanted.len(), "each suite once");
    }

    #[test]
    fn a_third_partys_suites_are_not_debians() {
        let text = "deb http://x.example/apt cloud-sdk-bookworm main\ndeb http://x.example/n nodistro main\n\
            deb http://x.example/p bookworm-pgdg main\ndeb http://x.example/u noble main\n";
        let named: AptArchive = "http://x.example/old bookworm".parse().unwrap();
        assert_eq!(widen(&parse_list(text, Arch::X86), &[named]), []);
    }

    #[test]
    fn an_archive_of_the_user_has_debians_keys() {
        let named: AptArchive = "http://old.example/2026 bookworm".parse().unwrap();
        let wanted = widen(&parse_deb822(DEB822, Arch::X86), &[named]);
        let old = wanted.last().unwrap();
        assert_eq!((old.uri.as_str(), old.of_the_past), ("http://old.example/2026", true));
        assert!(old.signed_by.as_ref().unwrap().contains("debian-archive-keyring"));
        let text = to_deb822(&wanted, Arch::X86);
        assert_eq!(text.matches("Check-Valid-Until: no").count(), 1, "{text}");
    }

    #[test]
    fn what_is_written_for_apt_is_read_back_the_same() {
        let sources = parse_deb822(DEB822, Arch::X86);
        assert_eq!(parse_deb822(&to_deb822(&sources, Arch::X86), Arch::X86), sources);
        assert!(!to_deb822(&sources, Arch::X86).to_lowercase().contains("trusted"));
    }
}
