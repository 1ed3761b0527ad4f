//! Files of /proc, /sys, /dev and /boot below any root.

use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The files of a machine. A file that cannot be read is `None`.
#[derive(Clone, Debug)]
pub struct FileTree {
    root: PathBuf,
}

impl FileTree {
    /// The files of this machine (`/`), or of a made-up one below a folder.
    pub fn at(root: &Path) -> FileTree {
        FileTree { root: root.into() }
    }

    /// Where a file is.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// A file's bytes.
    pub fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        fs::read(self.path(name)).ok()
    }

    /// A file's text without the white space around it.
    pub fn text(&self, name: &str) -> Option<String> {
        let bytes = self.bytes(name)?;
        Some(String::from_utf8_lossy(&bytes).trim().to_string())
    }

    /// The target of a symbolic link.
    pub fn link(&self, name: &str) -> Option<String> {
        let says = fs::read_link(self.path(name)).ok()?;
        Some(says.to_string_lossy().into_owned())
    }

    /// The value of a file that holds one.
    pub fn value<T: FromStr>(&self, name: &str) -> Option<T> {
        self.text(name)?.parse().ok()
    }

    /// The choice in brackets of a file like `always [madvise] never`, or the only word of a file.
    pub(crate) fn chosen(&self, name: &str) -> Option<String> {
        let text = self.text(name)?;
        let bracketed = between(&text, '[', ']');
        bracketed.map(str::to_string).or((!text.contains(' ')).then_some(text))
    }

    /// The names in a folder; names with numbers in numerical order.
    pub fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(folder)).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.filter_map(|e| e.file_name().into_string().ok()).collect();
        names.sort_by_key(|name| (name.len(), name.clone()));
        names
    }

    /// The numbers N of the names `<prefix>N` in a folder.
    pub(crate) fn numbers(&self, folder: &str, prefix: &str) -> Vec<u32> {
        let names = self.names(folder);
        names
            .iter()
            .filter_map(|name| name.strip_prefix(prefix)?.parse().ok())
            .collect()
    }

    /// Whether a file or folder is there.
    pub fn exists(&self, name: &str) -> bool {
        self.path(name).exists()
    }
}

/// The text between two marks.
pub(super) fn between(text: &str, open: char, close: char) -> Option<&str> {
    let (_, rest) = text.split_once(open)?;
    Some(rest.split_once(close)?.0)
}

/// The value of the first line `key   : value` of a text.
pub(crate) fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then_some(value.trim())
    })
}
