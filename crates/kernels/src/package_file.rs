//! A package file, .deb or .rpm, recognized by its first bytes.

use std::io::Read;
use std::path::Path;

use worstcase_base::files;

use super::{KernelError, deb, rpm};

/// A package's description of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageInfo {
    /// Package name.
    pub package: String,
    /// Debian version; for an .rpm version and release.
    pub version: String,
    /// Names of the packages that a .deb needs; of alternatives the first.
    pub depends: Vec<String>,
}

impl PackageInfo {
    /// Refuses an invalid name or version: both are shown, and become names of folders.
    pub fn checked(self) -> Result<PackageInfo, String> {
        let is_word =
            |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.~:_^".contains(c));
        match is_word(&self.package) && is_word(&self.version) {
            true => Ok(self),
            false => Err("it has no proper package name and version".into()),
        }
    }
}

/// Reads a package's description; unpacks nothing.
pub fn info(package: &Path) -> Result<PackageInfo, KernelError> {
    match is_rpm(package)? {
        true => rpm::info(package),
        false => deb::info(package),
    }
}

/// Unpacks the kernel files of a package into a folder; `usr/lib/modules` becomes `lib/modules`.
pub fn unpack(package: &Path, into: &Path) -> Result<PackageInfo, KernelError> {
    match is_rpm(package)? {
        true => rpm::unpack(package, into),
        false => deb::unpack(package, into),
    }
}

/// Reads all of a package as [`unpack`] does, and writes nothing. For scripts/fuzz.
pub fn examine(package: &Path) -> Result<PackageInfo, KernelError> {
    match is_rpm(package)? {
        true => rpm::examine(package),
        false => deb::examine(package),
    }
}

fn is_rpm(package: &Path) -> Result<bool, KernelError> {
    let begins = || {
        let mut begin = Vec::new();
        files::open(package)?
            .take(rpm::MAGIC.len() as u64)
            .read_to_end(&mut begin)?;
        Ok(begin == rpm::MAGIC)
    };
    begins().map_err(|source| KernelError::Unreadable {
        path: package.into(),
        source,
    })
}
