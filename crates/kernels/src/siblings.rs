//! Package files of one kernel, recognized by their names.
//!
//! ```text
//! linux-image-[unsigned-]RELEASE_VERSION_ARCH.deb     Debian, Ubuntu, make bindeb-pkg
//! linux-modules-[extra-]RELEASE_VERSION_ARCH.deb      Ubuntu; Debian from 7.2 on
//! linux-binary-..., linux-base-...                    Debian from 7.0 on
//! NAME[-core]-VERSION-RELEASE.ARCH.rpm                Fedora (NAME is kernel), openSUSE, make binrpm-pkg
//! NAME-modules[-core|-extra]-VERSION-RELEASE.ARCH.rpm
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::{KernelError, files};

/// The part of a kernel that a package holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum PackagePart {
    /// The image, perhaps with everything else.
    Image,
    /// The same image without a signature.
    Unsigned,
    /// Modules, configuration.
    More,
}

const DEB: [(&str, PackagePart); 6] = [
    ("linux-image-unsigned-", PackagePart::Unsigned),
    ("linux-image-", PackagePart::Image),
    ("linux-binary-", PackagePart::Image),
    ("linux-modules-extra-", PackagePart::More),
    ("linux-modules-", PackagePart::More),
    ("linux-base-", PackagePart::More),
];
const RPM: [(&str, PackagePart); 7] = [
    ("-modules-core", PackagePart::More),
    ("-modules-extra", PackagePart::More),
    ("-modules-internal", PackagePart::More),
    ("-modules", PackagePart::More),
    ("-extra", PackagePart::More),
    ("-optional", PackagePart::More),
    ("-core", PackagePart::Image),
];
/// Packages that are built beside a kernel and are not part of it.
const OTHERS: [&str; 14] = [
    "-debuginfo",
    "-debugsource",
    "-devel",
    "-doc",
    "-docs",
    "-headers",
    "-macros",
    "-matched",
    "-source",
    "-syms",
    "-tools",
    "-tools-libs",
    "-uki-virt",
    "-uki-virt-addons",
];

/// The packages of one kernel, those with its image first.
type KernelPackages = Vec<PathBuf>;

/// Which kernel and which part a package file holds, by its name.
fn named(path: &Path) -> Option<(String, PackagePart)> {
    let name = path.file_name()?.to_str()?;
    match name.strip_suffix(".deb") {
        Some(stem) => of_deb(stem),
        None => of_rpm(name.strip_suffix(".rpm")?),
    }
}

fn of_deb(stem: &str) -> Option<(String, PackagePart)> {
    let (package, rest) = stem.split_once('_').unwrap_or((stem, ""));
    let version = rest.split('_').next().unwrap_or_default();
    let (release, part) = DEB
        .iter()
        .find_map(|(prefix, part)| Some((package.strip_prefix(prefix)?, *part)))?;
    let (release, part) = match release.strip_suffix("-unsigned") {
        Some(release) if part == PackagePart::Image => (release, PackagePart::Unsigned),
        _ => (release, part),
    };
    let is_debug = release.ends_with("-dbg") || release.ends_with("-dbgsym");
    (!is_debug).then(|| (format!("{release}_{version}"), part))
}

fn of_rpm(stem: &str) -> Option<(String, PackagePart)> {
    let (stem, arch) = stem.rsplit_once('.')?;
    let (name_version, release) = stem.rsplit_once('-')?;
    let (name, version) = name_version.rsplit_once('-')?;
    let is_other = arch == "src" || OTHERS.iter().any(|other| name.ends_with(other)) || name.contains("-debuginfo-");
    if !name.starts_with("kernel") || is_other {
        return None;
    }
    let ended = RPM
        .iter()
        .find_map(|(suffix, part)| Some((name.strip_suffix(suffix)?, *part)));
    let (kernel, part) = ended.unwrap_or((name, PackagePart::Image));
    Some((format!("{kernel}-{version}-{release}.{arch}"), part))
}

/// Whether the file's name is that of a package with a kernel's image.
pub(crate) fn has_image(path: &Path) -> bool {
    named(path).is_some_and(|(_, part)| part != PackagePart::More)
}

/// A package and the other packages of its kernel beside it; of a signed and an unsigned image only this one.
pub fn beside(package: &Path) -> Result<KernelPackages, KernelError> {
    let Some((kernel, part)) = named(package) else {
        return Ok(vec![package.into()]);
    };
    let folder = package.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut found = sets(folder.unwrap_or(Path::new(".")))?
        .remove(&kernel)
        .unwrap_or_default();
    let own = package.file_name();
    let same_image = |other: PackagePart| other != part && other != PackagePart::More && part != PackagePart::More;
    found.retain(|(other, path)| path.file_name() != own && !same_image(*other));
    found.push((part, package.into()));
    Ok(in_order(found))
}

/// The packages of the one kernel in a folder; none if there are no packages, or if the folder has an image as a file.
pub fn in_folder(folder: &Path) -> Result<Option<KernelPackages>, KernelError> {
    if !files::images(folder).is_empty() {
        return Ok(None);
    }
    let mut found = sets(folder)?;
    found.retain(|_, set| set.iter().any(|(part, _)| *part != PackagePart::More));
    let not = |why: String| KernelError::NotAKernel {
        path: folder.into(),
        why,
    };
    match found.len() {
        0 => match packages(folder)?.as_slice() {
            [] => Ok(None),
            [one] => Ok(Some(vec![one.clone()])),
            _ => Err(not(
                "none of the packages in it is named as one with a kernel's image".into()
            )),
        },
        1 => Ok(found.into_values().next().map(in_order)),
        several => Err(not(format!(
            "packages of {several} kernels in it ({}), name those of the one you want, with commas between",
            found.into_keys().collect::<Vec<_>>().join(", ")
        ))),
    }
}

/// Sorts images first; drops the unsigned one if there is another.
fn in_order(mut set: Vec<(PackagePart, PathBuf)>) -> KernelPackages {
    set.sort();
    if set.iter().any(|(part, _)| *part == PackagePart::Image) {
        set.retain(|(part, _)| *part != PackagePart::Unsigned);
    }
    set.into_iter().map(|(_, path)| path).collect()
}

fn sets(folder: &Path) -> Result<BTreeMap<String, Vec<(PackagePart, PathBuf)>>, KernelError> {
    let mut sets: BTreeMap<String, Vec<(PackagePart, PathBuf)>> = BTreeMap::new();
    for path in packages(folder)? {
        if let Some((kernel, part)) = named(&path) {
            sets.entry(kernel).or_default().push((part, path));
        }
    }
    Ok(sets)
}

/// All package files of a folder.
fn packages(folder: &Path) -> Result<Vec<PathBuf>, KernelError> {
    let unreadable = |source| KernelError::Unreadable {
        path: folder.into(),
        source,
    };
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if is_package(&path) && path.is_file() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Whether the file's name is that of a package.
pub(crate) fn is_package(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "deb" || end == "rpm")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(names: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        names
            .iter()
            .for_each(|name| fs::write(dir.path().join(name), "").unwrap());
        dir
    }

    fn names(set: &[PathBuf]) -> Vec<&str> {
        set.iter()
            .map(|path| path.file_name().unwrap().to_str().unwrap())
            .collect()
    }

    #[test]
    fn the_packages_of_one_kernel_belong_together() {
        let ubuntu = [
            "linux-image-unsigned-6.8.0-45-generic_6.8.0-45.45_amd64.deb",
            "linux-modules-6.8.0-45-generic_6.8.0-45.45_amd64.deb",
            "linux-modules-extra-6.8.0-45-generic_6.8.0-45.45_amd64.deb",
        ];
        let fedora = [
            "kernel-6.11.4-301.fc41.x86_64.rpm",
            "kernel-core-6.11.4-301.fc41.x86_64.rpm",
            "kernel-modules-6.11.4-301.fc41.x86_64.rpm",
            "kernel-modules-core-6.11.4-301.fc41.x86_64.rpm",
        ];
        let debian = [
            "linux-binary-7.3-amd64_7.3.4-1_amd64.deb",
            "linux-image-7.3-amd64_7.3.4-1_amd64.deb",
            "linux-base-7.3-amd64_7.3.4-1_all.deb",
            "linux-modules-7.3-amd64_7.3.4-1_amd64.deb",
        ];
        let built = ["kernel-6.12.0_mine-1.x86_64.rpm"];
        let beside_them = [
            "linux-image-6.8.0-45-generic-dbgsym_6.8.0-45.45_amd64.deb",
            "linux-headers-6.8.0-45-generic_6.8.0-45.45_amd64.deb",
            "linux-libc-dev_6.8.0-45.45_amd64.deb",
            "linux-base_4.9_all.deb",
            "kernel-devel-6.11.4-301.fc41.x86_64.rpm",
            "kernel-headers-6.12.0_mine-1.x86_64.rpm",
            "kernel-debuginfo-common-x86_64-6.11.4-301.fc41.x86_64.rpm",
            "kernel-6.11.4-301.fc41.src.rpm",
            "notes",
        ];
        for set in [&ubuntu[..], &fedora, &debian, &built] {
            let dir = folder(&[set, &beside_them].concat());
            assert_eq!(names(&in_folder(dir.path()).unwrap().unwrap()), set_sorted(set));
            for package in set {
                assert_eq!(
                    names(&beside(&dir.path().join(package)).unwrap()),
                    set_sorted(set),
                    "{package}"
                );
            }
        }
        let dir = folder(&[&ubuntu[..], &fedora].concat());
        let several = in_folder(dir.path()).unwrap_err().to_string();
        assert!(
            several
                .contains("packages of 2 kernels in it (6.8.0-45-generic_6.8.0-45.45, kernel-6.11.4-301.fc41.x86_64)"),
            "{several}"
        );
        assert_eq!(names(&beside(&dir.path().join(ubuntu[1])).unwrap()), ubuntu);
    }

    fn set_sorted<'a>(set: &[&'a str]) -> Vec<&'a str> {
        let mut set = set.to_vec();
        set.sort_by_key(|name| (!has_image(Path::new(name)), *name));
        set
    }

    #[test]
    fn other_versions_and_other_kernels_are_not_of_it() {
        let image = "linux-image-6.1.0-1-amd64_6.1-1_amd64.deb";
        let dir = folder(&[
            image,
            "linux-modules-6.1.0-1-amd64_6.1-2_amd64.deb",
            "linux-modules-6.1.0-2-amd64_6.1-1_amd64.deb",
            "kernel-debug-modules-6.1-1.x86_64.rpm",
            "kernel-core-6.1-1.x86_64.rpm",
        ]);
        assert_eq!(names(&beside(&dir.path().join(image)).unwrap()), [image]);
        let core = "kernel-core-6.1-1.x86_64.rpm";
        assert_eq!(names(&beside(&dir.path().join(core)).unwrap()), [core]);
    }

    #[test]
    fn of_a_signed_and_an_unsigned_image_one_is_taken() {
        let signed = "linux-image-6.8.0-45-generic_6.8.0-45.45_amd64.deb";
        let unsigned = "linux-image-unsigned-6.8.0-45-generic_6.8.0-45.45_amd64.deb";
        let modules = "linux-modules-6.8.0-45-generic_6.8.0-45.45_amd64.deb";
        let dir = folder(&[signed, unsigned, modules]);
        assert_eq!(names(&in_folder(dir.path()).unwrap().unwrap()), [signed, modules]);
        for named in [signed, unsigned] {
            assert_eq!(names(&beside(&dir.path().join(named)).unwrap()), [named, modules]);
        }
    }

    #[test]
    fn a_file_of_any_name_stands_alone() {
        let dir = folder(&["mine.deb", "notes"]);
        assert_eq!(names(&in_folder(dir.path()).unwrap().unwrap()), ["mine.deb"]);
        assert_eq!(names(&beside(&dir.path().join("mine.deb")).unwrap()), ["mine.deb"]);
        assert_eq!(in_folder(folder(&["notes"]).path()).unwrap(), None);
        let two = in_folder(folder(&["a.deb", "b.rpm"]).path()).unwrap_err().to_string();
        assert!(two.contains("none of the packages in it is named"), "{two}");
    }
}
