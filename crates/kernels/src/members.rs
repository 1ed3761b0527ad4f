//! Writes the wanted members of a package into one folder.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Component, Path, PathBuf};

use worstcase_base::cache::CacheError;

use super::KernelError;

/// Gives the place of a member of a package; `None` if it is not wanted.
pub type WantedMember<'a> = &'a dyn Fn(&Path) -> Option<PathBuf>;

/// Limit for the files of a package; Debian's largest kernel has 9 000.
pub(crate) const MOST_FILES: usize = 100_000;

/// Writes the wanted members of a package.
pub struct Members<'a> {
    package: &'a Path,
    into: &'a Path,
    wanted: WantedMember<'a>,
    once: bool,
    files: usize,
    buffer: Vec<u8>,
}

impl<'a> Members<'a> {
    /// Members for which `wanted` finds a place below `into`.
    pub fn new(package: &'a Path, into: &'a Path, wanted: WantedMember<'a>) -> Members<'a> {
        Members {
            package,
            into,
            wanted,
            once: false,
            files: 0,
            buffer: vec![0; 1 << 16],
        }
    }

    /// The files of a kernel, each of them once: two packages with the same file do not belong to one kernel.
    pub(crate) fn of_a_kernel(package: &'a Path, into: &'a Path) -> Members<'a> {
        Members {
            once: true,
            ..Members::new(package, into, &kernel_file)
        }
    }

    /// Writes nothing: the places of a kernel's files are only found, and checked to be inside of the folder.
    pub(crate) fn unwritten(package: &'a Path) -> Members<'a> {
        Members::new(package, Path::new(""), &|member| {
            let place = kernel_file(member)?;
            let inside = place.components().all(|part| matches!(part, Component::Normal(_)));
            assert!(inside, "{place:?}");
            None
        })
    }

    /// The place of a regular file of the package, if it is wanted; makes its folder.
    pub fn target(&mut self, member: &Path) -> Result<Option<PathBuf>, KernelError> {
        let Some(place) = (self.wanted)(member) else {
            return Ok(None);
        };
        self.files += 1;
        if self.files > MOST_FILES {
            return Err(self.bad(format!("it has more than {MOST_FILES} files")));
        }
        let target = self.into.join(place);
        let parent = target.parent().unwrap_or(self.into);
        fs::create_dir_all(parent).map_err(|e| self.stored(&target, e))?;
        Ok(Some(target))
    }

    /// Writes a member.
    pub fn write(&mut self, target: &Path, content: &mut dyn Read) -> Result<(), KernelError> {
        let mut options = File::options();
        let options = match self.once {
            true => options.write(true).create_new(true),
            false => options.write(true).create(true).truncate(true),
        };
        let mut file = options.open(target).map_err(|e| self.stored(target, e))?;
        // Not io::copy: a failed read is the package's fault, a failed write the disk's.
        loop {
            let n = content.read(&mut self.buffer).map_err(|e| self.cut(&e))?;
            if n == 0 {
                return Ok(());
            }
            let written = file.write_all(&self.buffer[..n]);
            written.map_err(|e| self.stored(target, e))?;
        }
    }

    /// An error of the package.
    pub fn bad(&self, why: String) -> KernelError {
        KernelError::BadPackage {
            path: self.package.into(),
            why,
        }
    }

    /// The error that the package ends too early, or is damaged.
    pub fn cut(&self, error: &io::Error) -> KernelError {
        self.bad(format!("cut short or damaged ({error})"))
    }

    fn stored(&self, target: &Path, error: io::Error) -> KernelError {
        // Another member has a folder, or a file, of the same name.
        if matches!(
            error.kind(),
            ErrorKind::AlreadyExists | ErrorKind::NotADirectory | ErrorKind::IsADirectory
        ) {
            let name = target.strip_prefix(self.into).unwrap_or(target).display();
            return self.bad(format!("it has {name}, which it or another of the packages has, too"));
        }
        KernelError::from(CacheError::from_io(target, error))
    }
}

/// The place of a member, if it is part of a kernel.
fn kernel_file(path: &Path) -> Option<PathBuf> {
    let normal = |c: Component<'_>| match c {
        Component::CurDir => None,
        Component::Normal(name) => Some(Some(name.to_os_string())),
        _ => Some(None),
    };
    let parts: Vec<_> = path.components().filter_map(normal).collect::<Option<Vec<_>>>()?;
    let path: PathBuf = parts.iter().collect();
    let path = path.strip_prefix("usr").unwrap_or(&path).to_path_buf();
    let in_boot = path.starts_with("boot") && parts.len() == 2;
    (in_boot || path.starts_with("lib/modules")).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_kernel_files_inside_the_folder_are_wanted() {
        let to = |path: &str| kernel_file(Path::new(path)).map(|p| p.display().to_string());
        assert_eq!(to("./boot/vmlinuz-6.1"), Some("boot/vmlinuz-6.1".into()));
        assert_eq!(
            to("./usr/lib/modules/7.3/vmlinuz"),
            Some("lib/modules/7.3/vmlinuz".into())
        );
        for path in [
            "./usr/share/doc/x",
            "./boot/../../etc/passwd",
            "/etc/passwd",
            "./boot/grub/grub.cfg",
        ] {
            assert_eq!(to(path), None, "{path}");
        }
    }
}
