//! A package file, .deb or .rpm, recognized by its first bytes.

use std::io::Read;
use std::path::Path;

use worstcase_base::files;

use super::package_info::PackageInfo;
use super::{KernelError, deb, rpm};

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
