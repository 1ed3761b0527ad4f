//! Lines of a cell's code: those of its kernel, from a named file or from the cache, and those of its modules.

use super::{DebugInfo, Modules};
use crate::breakdown::lines::SourceLines;
use std::path::Path;
use std::sync::Arc;
use worstcase_base::cache::Cache;
use worstcase_kernels::debuginfo::kept::{self, KeptDebugInfo};
use worstcase_kernels::debuginfo::{BuildId, DebugInfoError};
use worstcase_lab::LabError;
use worstcase_lab::additions::Additions;
use worstcase_lab::again::RepeatableCell;
use worstcase_results::record::Record;

/// The places where the lines of a cell's code are looked up.
pub(crate) struct LineOrigin<'a> {
    /// `uname -r` of its kernel.
    release: String,
    build_id: Option<BuildId>,
    kept: Option<KeptDebugInfo>,
    /// A file that the user named.
    named: Option<&'a Path>,
    additions: &'a Additions,
}

impl<'a> LineOrigin<'a> {
    /// The origin for a cell and the additions with which it was measured.
    pub(crate) fn of(
        record: &Record,
        again: &RepeatableCell,
        additions: &'a Additions,
        named: Option<&'a Path>,
        cache: &Cache,
    ) -> Result<LineOrigin<'a>, LabError> {
        let build_id = again.build_id()?;
        Ok(LineOrigin {
            release: record.subject.kernel.release.clone(),
            kept: build_id.as_ref().and_then(|id| kept::of_build(cache, id)),
            build_id,
            named,
            additions,
        })
    }

    /// The build whose lines the cache keeps.
    pub(crate) fn kept_lines(&self) -> String {
        let build = self.build_id.as_ref().filter(|_| self.kept.is_some());
        build.map_or(String::new(), |build| format!("lines of {build}"))
    }

    /// Reads the kernel's. The file that was named must be of this kernel.
    pub(crate) fn kernel(&self, again: &RepeatableCell) -> Result<Box<dyn SourceLines>, DebugInfoError> {
        Ok(match (self.named, &self.kept) {
            (Some(path), _) => {
                let info = DebugInfo::open(path, again.symbols())?;
                Box::new(info.must_be_of(path, &self.release, self.build_id.as_ref())?)
            }
            (None, Some(kept)) => Box::new(DebugInfo::open(&kept.path, again.symbols())?),
            (None, None) => Box::new(()),
        })
    }

    /// Adds the lines of the cell's modules, which are known once the cell was replayed.
    pub(crate) fn with_modules(&self, kernel: Box<dyn SourceLines>, again: &RepeatableCell) -> Modules {
        let file = |name: &str| match self.additions.module(name) {
            Some(own) => Some(Arc::from(&*own.bytes)),
            None => worstcase_base::files::read(&self.kept.as_ref()?.module(name)?)
                .ok()
                .map(Arc::from),
        };
        Modules::of(kernel, again.symbols(), file)
    }
}
