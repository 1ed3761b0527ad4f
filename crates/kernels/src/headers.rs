//! The headers and the kbuild of a kernel in the archive, to build modules with, in the cache.
//!
//! ```text
//! <cache>/headers/<package>_<version>/usr/src/<package>/    the folder for `make -C`
//! ```

use super::apt::Apt;
use super::{Kernel, KernelError, ResolveOptions, deb};
use std::fs;
use std::path::{Path, PathBuf};
use worstcase_base::cache::CacheError;

const AREA: &str = "headers";

/// Space for them on the disk: 83 MB for 6.1.
const UNPACKED_BYTES: u64 = 200_000_000;

/// The folder for `make -C`, from the cache or from the archive.
pub fn get(kernel: &Kernel, options: &ResolveOptions<'_>) -> Result<PathBuf, KernelError> {
    let none = |why: String| KernelError::NoHeaders {
        kernel: kernel.label.clone(),
        why,
    };
    let Some(version) = &kernel.package_version else {
        return Err(none("it did not come from a package".into()));
    };
    let package = format!("linux-headers-{}", kernel.release);
    let key = format!("{package}_{version}");
    let place = options.cache.path(AREA, &key).join("usr/src");
    let folder = options.cache.publish(AREA, &key, |building| {
        options.cache.require_free(UNPACKED_BYTES)?;
        for deb in download(&package, version, options, building, &none)? {
            deb::unpack_all(&deb, building)?;
            let removed = fs::remove_file(&deb);
            removed.map_err(|e| CacheError::from_io(&deb, e))?;
        }
        find_common(&building.join("usr/src").join(&package).join("Makefile"), &place)
    })?;
    Ok(folder.join("usr/src").join(package))
}

/// Corrects the Makefile, which includes the common headers from where packages are installed.
fn find_common(makefile: &Path, place: &Path) -> Result<(), KernelError> {
    let stored = |e| CacheError::from_io(makefile, e);
    let text = fs::read_to_string(makefile).map_err(stored)?;
    let text = text.replace("include /usr/src", &format!("include {}", place.display()));
    Ok(fs::write(makefile, text).map_err(stored)?)
}

/// Downloads the packages: the kernel's headers first, then packages of the same version that they need.
fn download(
    package: &str,
    version: &str,
    options: &ResolveOptions<'_>,
    into: &Path,
    none: &dyn Fn(String) -> KernelError,
) -> Result<Vec<PathBuf>, KernelError> {
    let apt = Apt::new(&options.cache, options.progress);
    let part = |package: &str| {
        let gone = || {
            none(format!(
                "the archive does not have {package} in version {version} (any more)"
            ))
        };
        apt.find(package, version)?.ok_or_else(gone)
    };
    let mut debs = apt.download(&[part(package)?], into)?;
    let needed = deb::info(&debs[0])?.depends;
    let is_part = |name: &&String| name.starts_with("linux-headers-") || name.starts_with("linux-kbuild-");
    let parts: Result<Vec<_>, _> = needed.iter().filter(is_part).map(|name| part(name)).collect();
    debs.extend(apt.download(&parts?, into)?);
    Ok(debs)
}
