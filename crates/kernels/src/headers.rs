//! Fetches what a module for a kernel of the archive is built with: its headers and its kbuild.

use super::apt::Apt;
use super::{Kernel, KernelError, ResolveOptions, deb};
use std::path::{Path, PathBuf};

/// Downloads the packages into a folder: that of the kernel's headers first, then those that it needs of the same version.
pub fn download(kernel: &Kernel, options: &ResolveOptions<'_>, into: &Path) -> Result<Vec<PathBuf>, KernelError> {
    let none = |why: String| KernelError::NoHeaders {
        kernel: kernel.label.clone(),
        why,
    };
    let Some(version) = &kernel.package_version else {
        return Err(none("it did not come from a package".into()));
    };
    let apt = Apt::new(&options.cache, options.observer);
    let part = |package: &str| {
        let gone = || {
            none(format!(
                "the archive does not have {package} in version {version} (any more)"
            ))
        };
        apt.find(package, version)?.ok_or_else(gone)
    };
    let mut debs = apt.download(&[part(&format!("linux-headers-{}", kernel.release))?], into)?;
    let needed = deb::info(&debs[0])?.depends;
    let is_part = |name: &&String| name.starts_with("linux-headers-") || name.starts_with("linux-kbuild-");
    let parts: Result<Vec<_>, _> = needed.iter().filter(is_part).map(|name| part(name)).collect();
    debs.extend(apt.download(&parts?, into)?);
    Ok(debs)
}
