//! Finds a kernel's files in a folder or beside an image.

use std::fs;
use std::path::{Path, PathBuf};

use worstcase_plan::Arch;

use super::KernelError;
use super::image::ImageFacts;

/// The files of one kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelFiles {
    /// The image.
    pub bzimage: PathBuf,
    /// Its architecture, from the image.
    pub arch: Arch,
    /// `uname -r`, from the image.
    pub release: String,
    /// `lib/modules/<release>`.
    pub modules_dir: Option<PathBuf>,
    /// The symbols (in Debian's packages a stub).
    pub system_map: Option<PathBuf>,
    /// The build configuration.
    pub config: Option<PathBuf>,
}

/// Finds the one kernel in an unpacked folder, a kernel's build tree, or a folder with just the files.
pub fn in_folder(folder: &Path) -> Result<KernelFiles, KernelError> {
    let images = images(folder);
    let not = |why: String| KernelError::NotAKernel {
        path: folder.into(),
        why,
    };
    match images.as_slice() {
        [] => Err(not("no vmlinuz, bzImage or Image in it".into())),
        [image] => beside(image, &[folder, &folder.join("boot")]),
        several => Err(not(format!(
            "{} kernel images in it, name the one you want",
            several.len()
        ))),
    }
}

/// The images at the usual places in a folder.
pub fn images(folder: &Path) -> Vec<PathBuf> {
    let mut images = Vec::new();
    let of_trees = Arch::ALL.map(|arch| folder.join("arch").join(arch.folder()).join("boot"));
    for dir in [folder.to_path_buf(), folder.join("boot")].iter().chain(&of_trees) {
        images.extend(entries(dir).into_iter().filter(|p| is_image_name(p)));
    }
    for modules in [folder.join("lib/modules"), folder.join("usr/lib/modules")] {
        images.extend(
            entries(&modules)
                .into_iter()
                .map(|release| release.join("vmlinuz"))
                .filter(|p| p.is_file()),
        );
    }
    images
}

/// Looks for an image's other files: beside it, and below `roots` and its folder's parent.
pub fn beside(bzimage: &Path, roots: &[&Path]) -> Result<KernelFiles, KernelError> {
    let ImageFacts { arch, release } = ImageFacts::read(bzimage)?;
    let beside = bzimage.parent().unwrap_or(Path::new("."));
    let above = beside.join("..");
    let mut places = vec![beside];
    places.extend(roots);
    let modules_roots: Vec<&Path> = places.iter().copied().chain([above.as_path()]).collect();
    let modules_dir = modules_roots.iter().find_map(|root| modules_below(root, &release));
    let beside_modules = modules_dir.clone().unwrap_or_default();
    places.push(&beside_modules);
    let named = |names: [String; 2]| {
        let mut candidates = places
            .iter()
            .flat_map(|place| names.iter().map(|n| place.join(n)).collect::<Vec<_>>());
        candidates.find(|p| p.is_file())
    };
    let config =
        named([format!("config-{release}"), "config".into()]).or_else(|| named([".config".into(), String::new()]));
    let system_map = named([format!("System.map-{release}"), "System.map".into()]);
    Ok(KernelFiles {
        bzimage: bzimage.into(),
        arch,
        release,
        modules_dir,
        system_map,
        config,
    })
}

/// `lib/modules/<release>` below a root, or the root itself if it is that folder.
pub(crate) fn modules_below(root: &Path, release: &str) -> Option<PathBuf> {
    let mut places = vec![
        root.join("lib/modules").join(release),
        root.join("usr/lib/modules").join(release),
    ];
    if root.join("modules.builtin").is_file() || root.join("modules.dep").is_file() {
        places.insert(0, root.to_path_buf());
    }
    places.into_iter().find(|p| p.is_dir())
}

fn entries(dir: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(dir)
        .into_iter()
        .flatten()
        .flatten()
        .map(|e| e.path())
        .collect();
    paths.sort();
    paths
}

fn is_image_name(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.is_file() && (["bzImage", "Image", "vmlinuz"].contains(&&*name) || name.starts_with("vmlinuz-"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::sample as sample_image;

    fn write(path: PathBuf, bytes: &[u8]) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    #[test]
    fn both_of_debians_layouts_are_found() {
        let old = tempfile::tempdir().unwrap();
        write(
            old.path().join("boot/vmlinuz-6.1.0-1-amd64"),
            &sample_image("6.1.0-1-amd64"),
        );
        write(old.path().join("boot/config-6.1.0-1-amd64"), b"");
        write(old.path().join("lib/modules/6.1.0-1-amd64/modules.builtin"), b"");
        let files = in_folder(old.path()).unwrap();
        assert_eq!(files.release, "6.1.0-1-amd64");
        assert_eq!(files.config, Some(old.path().join("boot/config-6.1.0-1-amd64")));
        assert!(files.modules_dir.unwrap().ends_with("lib/modules/6.1.0-1-amd64"));

        let new = tempfile::tempdir().unwrap();
        let modules = new.path().join("usr/lib/modules/7.3-amd64");
        write(modules.join("vmlinuz"), &sample_image("7.3-amd64"));
        write(modules.join("config"), b"");
        write(modules.join("modules.builtin"), b"");
        let files = in_folder(new.path()).unwrap();
        assert_eq!(
            (files.config, files.modules_dir),
            (Some(modules.join("config")), Some(modules))
        );
    }

    #[test]
    fn an_image_alone_will_do_and_finds_its_modules_above() {
        let root = tempfile::tempdir().unwrap();
        let image = root.path().join("boot/vmlinuz-6.1.0-1-amd64");
        write(image.clone(), &sample_image("6.1.0-1-amd64"));
        let files = beside(&image, &[]).unwrap();
        assert_eq!((files.config, files.modules_dir), (None, None));
        write(root.path().join("lib/modules/6.1.0-1-amd64/modules.builtin"), b"");
        assert!(beside(&image, &[]).unwrap().modules_dir.is_some());
    }

    #[test]
    fn what_is_no_kernel_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let why = |result: Result<KernelFiles, KernelError>| result.unwrap_err().to_string();
        assert!(why(in_folder(dir.path())).contains("no vmlinuz, bzImage or Image"));
        let cut = |length| sample_image("6.1")[..length].to_vec();
        for (bytes, expected) in [
            (b"text".to_vec(), "HdrS"),
            (cut(0x206), "cut short"),
            (cut(0x700), "cut short"),
        ] {
            write(dir.path().join("bzImage"), &bytes);
            assert!(why(in_folder(dir.path())).contains(expected));
        }
        write(dir.path().join("vmlinuz-1"), b"");
        assert!(why(in_folder(dir.path())).contains("2 kernel images"));
    }
}
