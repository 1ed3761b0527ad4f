//! Reads sections of an ELF file, one at a time: a kernel's file has hundreds of megabytes that nobody needs.

use super::{BuildId, DebugInfoError};
use crate::unpacked::most_of;
use object::read::{CompressionFormat, Object, ObjectSection, ReadCache};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use worstcase_base::files;

/// An ELF file.
pub struct ElfFile {
    path: PathBuf,
    cache: ReadCache<File>,
}

impl ElfFile {
    /// Opens a file, and checks that it is ELF.
    pub fn open(path: &Path) -> Result<ElfFile, DebugInfoError> {
        let file = files::open(path).map_err(|source| DebugInfoError::Unreadable {
            path: path.into(),
            source,
        })?;
        let elf = ElfFile {
            path: path.into(),
            cache: ReadCache::new(file),
        };
        elf.file()?;
        Ok(elf)
    }

    fn file(&self) -> Result<object::File<'_, &ReadCache<File>>, DebugInfoError> {
        object::File::parse(&self.cache).map_err(|e| self.wrong(e))
    }

    /// An error about the content of the file.
    pub fn wrong(&self, why: impl ToString) -> DebugInfoError {
        DebugInfoError::None {
            path: self.path.clone(),
            why: why.to_string(),
        }
    }

    /// Its build-id.
    pub fn build_id(&self) -> Result<BuildId, DebugInfoError> {
        let id = self.file()?.build_id().map_err(|e| self.wrong(e))?.map(BuildId::new);
        id.ok_or_else(|| self.wrong("it has no build-id"))
    }

    /// A section's content, uncompressed; empty if there is no section of this name.
    pub fn section(&self, name: &str) -> Result<Arc<[u8]>, DebugInfoError> {
        let file = self.file()?;
        let Some(section) = file.section_by_name(name) else {
            return Ok(Arc::new([]));
        };
        let wrong = |e: object::Error| self.wrong(format!("{name}: {e}"));
        let (held, holds) = match section.compressed_file_range().map_err(wrong)? {
            range if range.format == CompressionFormat::None => (section.size(), section.size()),
            range => (range.compressed_size, range.uncompressed_size),
        };
        // Both sizes are claims of the file.
        if held > files::MOST_BYTES || holds > most_of(held).min(files::MOST_BYTES) {
            return Err(self.wrong(format!("{name}: it claims {holds} bytes, more than any real one has")));
        }
        let data = section.uncompressed_data().map_err(wrong)?;
        Ok(Arc::from(data))
    }

    /// The file with the common parts of several files (made by dwz), if there is one.
    pub fn supplement(&self) -> Result<Option<ElfFile>, DebugInfoError> {
        let file = self.file()?;
        let Some((name, id)) = file.gnu_debugaltlink().map_err(|e| self.wrong(e))? else {
            return Ok(None);
        };
        let name = String::from_utf8_lossy(name);
        // A relative name counts from this file's folder.
        let path = self.path.parent().unwrap_or(Path::new("")).join(&*name);
        let supplement = ElfFile::open(&path)?;
        match supplement.build_id()? == BuildId::new(id) {
            true => Ok(Some(supplement)),
            false => Err(self.wrong(format!("its other part, {}, is of another build", path.display()))),
        }
    }
}
