//! A folder of kernels: packages, images, and folders with one kernel each, in the order of their versions.

use std::fs;
use std::path::{Path, PathBuf};

use super::{KernelError, files, package_file, siblings, version};

/// One kernel of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderKernel {
    /// Its path: a name that [`super::resolve`] takes.
    pub path: PathBuf,
    /// A package's version; else the image's release.
    pub version: String,
}

/// The kernels directly in a folder, by version; kernels of one version by their file names, with numbers in numerical
/// order.
pub fn kernels_in(folder: &Path) -> Result<Vec<FolderKernel>, KernelError> {
    let unreadable = |source| KernelError::Unreadable {
        path: folder.into(),
        source,
    };
    let entries = fs::read_dir(folder).map_err(unreadable)?;
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(unreadable)?.path();
        found.extend(version_of(&path)?.map(|version| FolderKernel { path, version }));
    }
    let name = |f: &FolderKernel| f.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    found.sort_by(|a, b| version::compare(&a.version, &b.version).then_with(|| version::compare(&name(a), &name(b))));
    match found.is_empty() {
        true => Err(KernelError::NotAKernel {
            path: folder.into(),
            why: "no package of a kernel, no bzImage and no folder with one in it".into(),
        }),
        false => Ok(found),
    }
}

/// The version, if this may be a kernel; otherwise none.
fn version_of(path: &Path) -> Result<Option<String>, KernelError> {
    if path.is_dir() {
        return match version_in(path) {
            Err(KernelError::NotAKernel { .. }) => Ok(None),
            other => other,
        };
    }
    if siblings::is_package(path) {
        // The first of a kernel's packages stands for it.
        let is_first = siblings::has_image(path) && siblings::beside(path)?.first().is_some_and(|first| first == path);
        return match is_first {
            true => Ok(Some(package_file::info(path)?.version)),
            false => Ok(None),
        };
    }
    // Other files in the folder that are no image are ignored.
    Ok(crate::image::ImageFacts::read(path).map(|facts| facts.release).ok())
}

/// The version of the one kernel in a folder.
fn version_in(folder: &Path) -> Result<Option<String>, KernelError> {
    match siblings::in_folder(folder)? {
        Some(packages) => Ok(Some(package_file::info(&packages[0])?.version)),
        None => Ok(Some(files::in_folder(folder)?.release)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deb;

    #[test]
    fn kernels_are_in_the_order_of_their_versions() {
        let dir = tempfile::tempdir().unwrap();
        let image =
            |name: &str, release: &str| fs::write(dir.path().join(name), crate::image::sample(release)).unwrap();
        image("bzImage-10", "6.1.9");
        image("bzImage-9", "6.1.9");
        image("a", "6.1.10");
        fs::create_dir(dir.path().join("built")).unwrap();
        fs::write(dir.path().join("built/bzImage"), crate::image::sample("6.1.2")).unwrap();
        fs::write(dir.path().join("notes"), "text").unwrap();
        let release = "6.1.0-1-amd64";
        let vmlinuz = crate::image::sample(release);
        let members: [(&str, &[u8]); 1] = [("./boot/vmlinuz-6.1.0-1-amd64", &vmlinuz)];
        let package = deb::sample("linux-image-6.1.0-1-amd64", "6.1.3-1", &members);
        fs::write(dir.path().join("linux-image-6.1.0-1-amd64_6.1.3-1_amd64.deb"), package).unwrap();
        let found = kernels_in(dir.path()).unwrap();
        let names: Vec<_> = found
            .iter()
            .map(|f| f.path.file_name().unwrap().to_str().unwrap())
            .collect();
        let deb = "linux-image-6.1.0-1-amd64_6.1.3-1_amd64.deb";
        assert_eq!(names, ["built", deb, "bzImage-9", "bzImage-10", "a"]);
    }

    #[test]
    fn a_folder_without_a_kernel_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let error = kernels_in(dir.path()).unwrap_err().to_string();
        assert!(error.contains("no package of a kernel"), "{error}");
    }
}
