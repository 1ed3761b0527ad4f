//! The headers and the kbuild of a kernel in the archive, to build modules with, in the cache.
//!
//! ```text
//! <cache>/headers/<package>_<version>/usr/src/<package>/    the folder for `make -C`
//! ```

use super::apt::Apt;
use super::version::compare;
use super::{Kernel, KernelError, ResolveOptions, deb};
use std::fs;
use std::path::{Path, PathBuf};
use worstcase_base::cache::CacheError;

const AREA: &str = "headers";

/// What names of packages with the programs of the kernel's build begin with.
const KBUILD: &str = "linux-kbuild-";

/// Where packages put them.
const INSTALLED: &str = "usr/src";

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
    let apt = Apt::new(&options.cache, kernel.arch, options.progress);
    let folder = options.cache.publish(AREA, &key, |building| {
        options.cache.require_free(UNPACKED_BYTES)?;
        for deb in download(&package, version, &apt, building, &none)? {
            deb::unpack_all(&deb, building)?;
            let removed = fs::remove_file(&deb);
            removed.map_err(|e| CacheError::from_io(&deb, e))?;
        }
        Ok::<(), KernelError>(())
    })?;
    let place = folder.join(INSTALLED);
    let folder = place.join(package);
    let makefile = folder.join("Makefile");
    let text = fs::read_to_string(&makefile).map_err(|e| CacheError::from_io(&makefile, e))?;
    let moved = moved(&text, &place);
    // Here, and not while they are unpacked: an earlier version kept some that name a folder which is not there.
    if moved != text {
        options.cache.write_file(&makefile, moved.as_bytes())?;
    }
    Ok(folder)
}

/// A Makefile that finds itself and the common headers where they are, and not where packages are installed.
fn moved(makefile: &str, place: &Path) -> String {
    let place = format!("{}/", place.display());
    let installed = format!("/{INSTALLED}/");
    let line = |line: &str| match line.find(&installed) {
        Some(at) if !line.contains(&place) => format!("{}{place}{}\n", &line[..at], &line[at + installed.len()..]),
        _ => format!("{line}\n"),
    };
    makefile.lines().map(line).collect()
}

/// Downloads the packages: the kernel's headers first, then packages of the same version that they need.
fn download(
    package: &str,
    version: &str,
    apt: &Apt<'_>,
    into: &Path,
    none: &dyn Fn(String) -> KernelError,
) -> Result<Vec<PathBuf>, KernelError> {
    let part = |package: &str| {
        let gone = || {
            none(format!(
                "the archive does not have {package} in version {version} (any more)"
            ))
        };
        let found = match apt.find(package, version)? {
            // The archive has a newer one for some days before it has the kernel of it, which is signed elsewhere. Headers need
            // this version or a later one.
            None if package.starts_with(KBUILD) => apt
                .newest(package)?
                .filter(|newest| compare(&newest.version, version).is_ge()),
            found => found,
        };
        found.ok_or_else(gone)
    };
    let mut debs = apt.download(&[part(package)?], into)?;
    let needed = deb::info(&debs[0])?.depends;
    let is_part = |name: &&String| name.starts_with("linux-headers-") || name.starts_with(KBUILD);
    let parts: Result<Vec<_>, _> = needed.iter().filter(is_part).map(|name| part(name)).collect();
    debs.extend(apt.download(&parts?, into)?);
    Ok(debs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_makefile_names_no_folder_where_packages_are_installed() {
        let place = Path::new("/cache/headers/x/usr/src");
        let old = "include /usr/src/linux-headers-6.1-common/Makefile\n";
        let new = format!("KBUILD_OUTPUT=/usr/src/linux-headers-7.3-amd64\n{old}");
        assert_eq!(
            moved(&new, place),
            "KBUILD_OUTPUT=/cache/headers/x/usr/src/linux-headers-7.3-amd64\n\
             include /cache/headers/x/usr/src/linux-headers-6.1-common/Makefile\n"
        );
        // What an earlier version kept: the second line alone is right.
        let half = new.replace("include /usr/src", "include /cache/headers/x/usr/src");
        assert_eq!(moved(&half, place), moved(&new, place));
        assert_eq!(moved(&moved(old, place), place), moved(old, place));
    }
}
