//! Reads apt's `Packages` lists, as far as kernels need them.

use serde::{Deserialize, Serialize};
use worstcase_plan::Arch;

/// One version of one package in one suite.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackageVersion {
    /// Package name.
    pub name: String,
    /// Debian version.
    pub version: String,
    /// Size of the .deb in bytes.
    pub size: u64,
    /// Names in `Depends`, without versions; of alternatives the first.
    pub depends: Vec<String>,
    /// The suite whose list it stands in.
    pub(crate) suite: String,
}

/// The fields of one stanza of a control file. Further lines of a field keep their leading space.
pub fn fields(stanza: &str) -> Vec<(String, String)> {
    let mut fields: Vec<(String, String)> = Vec::new();
    for line in stanza.lines() {
        if line.starts_with([' ', '\t']) {
            if let Some((_, value)) = fields.last_mut() {
                value.push('\n');
                value.push_str(line);
            }
        } else if let Some((key, value)) = line.split_once(':') {
            fields.push((key.to_string(), value.trim().to_string()));
        }
    }
    fields
}

/// The packages of a `Packages` list that may be part of a kernel of this architecture.
pub fn parse(text: &str, suite: &str, arch: Arch) -> Vec<PackageVersion> {
    // Of the lists' some 60 000 stanzas a few hundred matter, so a stanza is parsed only if it may.
    text.split("\n\n")
        .filter(|s| may_be_kernel(s))
        .filter_map(|stanza| package(stanza, suite, arch))
        .collect()
}

fn may_be_kernel(stanza: &str) -> bool {
    let stanza = stanza.trim_start_matches('\n');
    let Some(name) = stanza.strip_prefix("Package: linux-").and_then(|s| s.lines().next()) else {
        return false;
    };
    ["image-", "binary-", "base-", "modules-"]
        .iter()
        .any(|p| name.starts_with(p))
        && !name.ends_with("-dbg")
}

fn package(stanza: &str, suite: &str, arch: Arch) -> Option<PackageVersion> {
    let fields = fields(stanza);
    let field = |name: &str| {
        fields
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    };
    if field("Architecture")? != arch.debian() {
        return None;
    }
    Some(PackageVersion {
        name: field("Package")?.into(),
        version: field("Version")?.into(),
        size: field("Size").and_then(|s| s.parse().ok()).unwrap_or(0),
        depends: field("Depends")
            .unwrap_or("")
            .split(',')
            .filter_map(dependency)
            .collect(),
        suite: suite.into(),
    })
}

fn dependency(text: &str) -> Option<String> {
    let first = text.split('|').next()?.trim();
    let end = first.find([' ', '(', ':']).unwrap_or(first.len());
    (end > 0).then(|| first[..end].to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "\
Package: linuxlogo
Version: 6.01-2
Architecture: amd64

Package: linux-image-7.3-amd64
Source: linux-signed-amd64 (7.3~rc7+1~exp1)
Version: 7.3~rc7-1~exp1
Architecture: amd64
Depends: dracut | initramfs-tools (>= 0.120+deb8u2) | linux-initramfs-tool, linux-base-7.3-amd64 (= 7.3~rc7-1~exp1), linux-binary-7.3-amd64 (= 7.3~rc7-1~exp1)
Size: 1888

Package: linux-image-7.3-amd64-dbg
Version: 7.3~rc7-1~exp1
Architecture: amd64
Size: 1187980540

Package: linux-image-5.10.0-46-arm64
Version: 5.10.262-1
Architecture: arm64
Size: 3
";

    #[test]
    fn only_kernel_packages_of_the_architecture_are_kept() {
        let packages = parse(LIST, "experimental", Arch::X86);
        assert_eq!(packages.len(), 1);
        assert_eq!(packages[0].name, "linux-image-7.3-amd64");
        assert_eq!(packages[0].size, 1888);
        assert_eq!(
            packages[0].depends,
            ["dracut", "linux-base-7.3-amd64", "linux-binary-7.3-amd64"]
        );
        assert_eq!(packages[0].suite, "experimental");
        let of_boards = parse(LIST, "bullseye", Arch::Arm64);
        assert_eq!(of_boards.len(), 1);
        assert_eq!(of_boards[0].name, "linux-image-5.10.0-46-arm64");
    }
}
