//! The headers and the kbuild of a kernel in the archive, to build modules with, in the cache.
//!
//! ```text
//! <cache>/headers/<package>_<version>/usr/src/<package>/    the folder for `make -C`
//! ```
//!
//! The programs of the kbuild run on this machine, also where the kernel is for another architecture: then they are packages
//! of this machine's, and a cross compiler builds.

use super::apt::Apt;
use super::version::compare;
use super::{Arch, Kernel, KernelError, ResolveOptions, deb, debian};
use std::fs;
use std::path::{Path, PathBuf};
use worstcase_base::cache::CacheError;

const AREA: &str = "headers";

/// The file in which headers say how they are built with.
pub(crate) const VARIABLES: &str = ".kernelvariables";

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
    let here = Arch::of_controller();
    let key = match kernel.arch == here {
        true => format!("{package}_{version}"),
        false => format!("{package}_{version}_{}", here.debian()),
    };
    let folder = options.cache.publish(AREA, &key, |building| {
        options.cache.require_free(UNPACKED_BYTES)?;
        for deb in download(&package, version, kernel.arch, building, options, &none)? {
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
    if kernel.arch != here {
        let path = folder.join(VARIABLES);
        let text = fs::read_to_string(&path).map_err(|e| CacheError::from_io(&path, e))?;
        options
            .cache
            .write_file(&path, crossed(&text, kernel.arch).as_bytes())?;
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

/// Variables by which the compiler for this architecture is called on a machine of another one. Newer headers name it anyway.
fn crossed(variables: &str, arch: Arch) -> String {
    let named = format!("override CROSS_COMPILE = {}-", arch.gnu());
    match variables.lines().any(|line| line == named) {
        true => variables.to_string(),
        false => format!("{variables}{named}\n"),
    }
}

/// Downloads the packages: the kernel's headers first, then packages of the same version that they need.
fn download(
    package: &str,
    version: &str,
    arch: Arch,
    into: &Path,
    options: &ResolveOptions<'_>,
    none: &dyn Fn(String) -> KernelError,
) -> Result<Vec<PathBuf>, KernelError> {
    let apt = Apt::new(&options.cache, arch, options.progress);
    let here = Apt::new(&options.cache, Arch::of_controller(), options.progress);
    if arch != Arch::of_controller() {
        // Then there are lists of this machine's packages.
        debian::catalog(Arch::of_controller(), options)?;
    }
    let of = |package: &str| match package.starts_with(KBUILD) {
        true => &here,
        false => &apt,
    };
    let part = |package: &str| {
        let apt = of(package);
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
    for name in needed.iter().filter(is_part) {
        debs.extend(of(name).download(&[part(name)?], into)?);
    }
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

    #[test]
    fn a_cross_compiler_is_named_once() {
        let old = "CC = $(CROSS_COMPILE)gcc-12\nifneq ($(DEB_BUILD_ARCH),$(DEB_HOST_ARCH))\n\
                   override CROSS_COMPILE = $(DEB_HOST_GNU_TYPE)-\nendif\n";
        let new = crossed(old, Arch::Arm64);
        assert_eq!(new, format!("{old}override CROSS_COMPILE = aarch64-linux-gnu-\n"));
        assert_eq!(crossed(&new, Arch::Arm64), new);
    }
}
