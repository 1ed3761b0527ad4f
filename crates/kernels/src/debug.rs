//! Fetches a kernel's debug package and keeps the part that gives lines of source code.

use super::apt::Apt;
use super::{Kernel, KernelError, ResolveOptions, deb};
use crate::debuginfo::kept::{self, KeptDebugInfo};
use std::collections::BTreeSet;
use worstcase_base::cache::Cache;

/// Space for taking a package apart besides the package itself: the kernel's debug file.
const VMLINUX_BYTES: u64 = 1_200_000_000;

/// The debug information of the kernel and of these modules, from the cache or from the archive.
pub fn get(
    kernel: &Kernel,
    modules: &BTreeSet<String>,
    options: &ResolveOptions<'_>,
) -> Result<KeptDebugInfo, KernelError> {
    let none = |why: String| KernelError::NoDebugPackage {
        kernel: kernel.label.clone(),
        why,
    };
    let Some(version) = &kernel.package_version else {
        return Err(none("it did not come from a package".into()));
    };
    if let Some(kept) = kept(kernel, &options.cache) {
        return Ok(kept);
    }
    let apt = Apt::new(&options.cache, kernel.arch, options.progress);
    let package = kept::package(&kernel.release);
    let gone = || {
        none(format!(
            "the archive does not have {package} in version {version} (any more)"
        ))
    };
    let part = apt.find(&package, version)?.ok_or_else(gone)?;
    let megabytes = part.size.div_ceil(1_000_000);
    options.progress.note(&format!(
        "{package}: {megabytes} MB to download, about an eighth of it is kept"
    ));
    options.cache.require_free(part.size + VMLINUX_BYTES)?;
    kept::keep(&options.cache, &kernel.release, version, |into| {
        let debs = apt.download(&[part], into)?;
        options.progress.download(&format!("unpacking {package}"), 100.0);
        let vmlinux = deb::unpack_debug(&debs[0], modules, into);
        options.progress.end();
        vmlinux
    })
}

/// The debug information in the cache.
pub fn kept(kernel: &Kernel, cache: &Cache) -> Option<KeptDebugInfo> {
    let version = kernel.package_version.as_ref()?;
    kept::of_version(cache, &kernel.release, version)
}
