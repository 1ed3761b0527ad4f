//! Looks addresses up.

use super::paths;
use crate::breakdown::lines::{Inlined, SourceLine, SourceLines};
use addr2line::{Context, LookupContinuation, LookupResult, SplitDwarfLoad};
use gimli::{Dwarf, EndianArcSlice, LittleEndian, Section, SectionId};
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use worstcase_base::defect::guarded;
use worstcase_kernels::debuginfo::elf::ElfFile;
use worstcase_kernels::debuginfo::{BuildId, DebugInfoError};
use worstcase_lab::execution::Symbols;

/// The message for debug information on which its reader panicked.
const BROKEN: &str = "its debug information is damaged";

pub(super) type DwarfReader = EndianArcSlice<LittleEndian>;

/// Functions of every kernel, and the file of each: they tell where the top of the source is. The assembler gets other
/// paths than the compiler.
const LANDMARKS: [(&str, &str); 3] = [
    ("__schedule", "kernel/sched/core.c"),
    ("entry_SYSCALL_64", "arch/x86/entry/entry_64.S"),
    ("cpu_switch_to", "arch/arm64/kernel/entry.S"),
];

/// A kernel's debug information.
pub struct DebugInfo {
    table: LineTable,
    build_id: BuildId,
}

/// A table that looks addresses up.
pub(crate) struct LineTable {
    context: Context<DwarfReader>,
    /// The top of the source, by all its names.
    pub(crate) tops: Vec<String>,
    known: RefCell<HashMap<u64, Option<SourceLine>>>,
}

impl DebugInfo {
    /// Opens a vmlinux, or the part of one that the cache keeps.
    pub fn open(path: &Path, symbols: &Symbols) -> Result<DebugInfo, DebugInfoError> {
        let elf = ElfFile::open(path)?;
        let build_id = elf.build_id()?;
        let load = || {
            let mut dwarf = Dwarf::load(|id| section(&elf, id, id.name()))?;
            if let Some(supplement) = elf.supplement()? {
                dwarf.load_sup(|id| section(&supplement, id, id.name()))?;
            }
            Ok(dwarf)
        };
        let dwarf = guarded(load).unwrap_or_else(|_| Err(elf.wrong(BROKEN)))?;
        if dwarf.debug_info.reader().bytes().is_empty() || dwarf.debug_line.reader().bytes().is_empty() {
            return Err(elf.wrong("it has no .debug_info and .debug_line"));
        }
        let mut table = LineTable::new(dwarf).map_err(|e| elf.wrong(e))?;
        let tops = LANDMARKS.iter().filter_map(|(function, file)| {
            let landmark = table.find(symbols.address_of(function)?)?;
            landmark.file.strip_suffix(file).map(str::to_string)
        });
        table.tops = tops.filter(|top| !top.is_empty()).collect();
        Ok(DebugInfo { table, build_id })
    }

    /// An error unless it is of this kernel.
    pub(crate) fn must_be_of(
        self,
        path: &Path,
        kernel: &str,
        running: Option<&BuildId>,
    ) -> Result<DebugInfo, DebugInfoError> {
        let (path, kernel) = (path.to_path_buf(), kernel.to_string());
        match running {
            None => Err(DebugInfoError::Unidentified { path, kernel }),
            Some(id) if *id == self.build_id => Ok(self),
            Some(id) => Err(DebugInfoError::OtherKernel {
                path,
                found: self.build_id,
                kernel,
                expected: id.clone(),
            }),
        }
    }
}

impl LineTable {
    /// The table of DWARF whose addresses are as in memory.
    pub(crate) fn new(dwarf: Dwarf<DwarfReader>) -> Result<LineTable, String> {
        let context = guarded(|| Context::from_dwarf(dwarf)).map_err(|_| BROKEN.to_string())?;
        Ok(LineTable {
            context: context.map_err(|e| e.to_string())?,
            tops: Vec::new(),
            known: RefCell::default(),
        })
    }

    /// The source line of an address; none if damaged information makes addr2line panic.
    fn find(&self, address: u64) -> Option<SourceLine> {
        guarded(|| self.look_up(address)).unwrap_or(None)
    }

    fn look_up(&self, address: u64) -> Option<SourceLine> {
        let mut lookup = self.context.find_frames(address);
        let mut frames = loop {
            match lookup {
                LookupResult::Output(found) => break found.ok()?,
                LookupResult::Load { load, continuation } => lookup = continuation.resume(split(&load)),
            }
        };
        // The innermost comes first.
        let mut found: Vec<Inlined> = Vec::new();
        while let Ok(Some(frame)) = frames.next() {
            let name = frame.function.as_ref().and_then(|f| f.raw_name().ok());
            if let Some((file, line)) = frame.location.and_then(|l| l.file.zip(l.line)) {
                found.push(Inlined {
                    function: name.map_or(String::new(), |name| readable(&name)),
                    file: paths::below(&self.tops, file),
                    line,
                });
            }
        }
        let own = found.pop()?;
        found.reverse();
        Some(SourceLine {
            file: own.file,
            line: own.line,
            inlined: found,
        })
    }
}

impl SourceLines for DebugInfo {
    fn source(&self, address: u64) -> Option<SourceLine> {
        self.table.source(address)
    }
}

impl SourceLines for LineTable {
    fn source(&self, address: u64) -> Option<SourceLine> {
        let known = self.known.borrow().get(&address).cloned();
        known.unwrap_or_else(|| {
            let found = self.find(address);
            self.known.borrow_mut().insert(address, found.clone());
            found
        })
    }
}

/// A section. The sections with the places of variables stay empty: they are long, and nobody needs them here.
fn section(elf: &ElfFile, id: SectionId, name: &str) -> Result<DwarfReader, DebugInfoError> {
    let data = match id {
        SectionId::DebugLoc | SectionId::DebugLocLists => elf.section("")?,
        _ => elf.section(name)?,
    };
    Ok(DwarfReader::new(data, LittleEndian))
}

/// The compiler may leave information in a file of its own (`.dwo`); without it there are lines, but no inlined
/// functions.
fn split(load: &SplitDwarfLoad<DwarfReader>) -> Option<Arc<Dwarf<DwarfReader>>> {
    let text = |reader: &DwarfReader| String::from_utf8_lossy(reader.bytes()).into_owned();
    let folder = load.comp_dir.as_ref().map(text).unwrap_or_default();
    let path = PathBuf::from(folder).join(text(load.path.as_ref()?));
    let elf = ElfFile::open(&path).ok()?;
    let mut dwarf = Dwarf::load(|id| match id.dwo_name() {
        Some(name) => section(&elf, id, name),
        None => section(&elf, id, ""),
    })
    .ok()?;
    let header = dwarf.units().next().ok().flatten()?;
    let unit = dwarf.unit(header).ok()?;
    if unit.dwo_id != Some(load.dwo_id) {
        return None;
    }
    dwarf.make_dwo(&load.parent);
    Some(Arc::new(dwarf))
}

/// The name of a function as its source has it: of C++ and Rust it is mangled in a file.
pub(crate) fn readable(name: &str) -> String {
    // A function of C may be called `i`, which alone is the mangled name of a type.
    match name.starts_with("_Z") || name.starts_with("_R") {
        true => addr2line::demangle_auto(name.into(), None).into_owned(),
        false => name.to_string(),
    }
}
