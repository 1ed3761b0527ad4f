//! Lines of a kernel module's code.
//!
//! A module's file (ELF, relocatable) holds no addresses: the kernel gives each section its place, and says where functions
//! came to lie. The address of a section is a function's address minus the function's offset in the section. With that the
//! relocations of the debug sections are done as a linker would do them, and then addresses are looked up as in any program.

use super::lookup::{DwarfReader, LineTable};
use super::paths;
use crate::breakdown::lines::{SourceLine, SourceLines};
use gimli::{Dwarf, LittleEndian, Section, SectionId};
use object::read::{File, Object, ObjectSection, ObjectSymbol, RelocationTarget, SectionIndex};
use object::{RelocationKind, SymbolKind};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use worstcase_base::defect::guarded;
use worstcase_lab::execution::Symbols;

/// Headers that every module includes: they tell where the kernel's source is.
const LANDMARKS: [&str; 3] = [
    "include/linux/compiler_types.h",
    "include/linux/types.h",
    "include/linux/module.h",
];

/// The address of each section in memory.
type SectionPlaces = HashMap<SectionIndex, u64>;

/// The kernel's lines, and those of its modules.
pub(crate) struct Modules {
    kernel: Box<dyn SourceLines>,
    modules: Vec<LineTable>,
}

impl Modules {
    /// Adds the lines of modules in `symbols` whose files (ELF) are known and have debug information.
    pub(crate) fn of(
        kernel: Box<dyn SourceLines>,
        symbols: &Symbols,
        mut file: impl FnMut(&str) -> Option<Arc<[u8]>>,
    ) -> Modules {
        let names = symbols.modules().into_iter();
        let modules = names.filter_map(|name| table(&file(name)?, name, symbols));
        Modules {
            modules: modules.collect(),
            kernel,
        }
    }
}

impl SourceLines for Modules {
    fn source(&self, address: u64) -> Option<SourceLine> {
        let of_module = || self.modules.iter().find_map(|module| module.source(address));
        self.kernel.source(address).or_else(of_module)
    }

    fn is_empty(&self) -> bool {
        self.kernel.is_empty() && self.modules.is_empty()
    }
}

/// The lines of one module. None without debug information, if no function lies where the symbols say, or if the
/// file is damaged.
fn table(file: &[u8], name: &str, symbols: &Symbols) -> Option<LineTable> {
    guarded(|| read(file, name, symbols)).unwrap_or(None)
}

fn read(file: &[u8], name: &str, symbols: &Symbols) -> Option<LineTable> {
    let elf = File::parse(file).ok()?;
    let places = places(&elf, name, symbols);
    if places.is_empty() { None } else { lines(&elf, &places) }
}

/// The lines of a program or a shared library, by the addresses that its file has. None without debug information, or if it is
/// damaged.
pub(crate) fn program_lines(file: &[u8]) -> Option<LineTable> {
    guarded(|| lines(&File::parse(file).ok()?, &SectionPlaces::new())).unwrap_or(None)
}

fn lines(elf: &File<'_>, places: &SectionPlaces) -> Option<LineTable> {
    let load = |id| Ok::<_, object::Error>(DwarfReader::new(section(elf, places, id)?, LittleEndian));
    let dwarf = Dwarf::load(load).ok()?;
    if dwarf.debug_line.reader().bytes().is_empty() {
        return None;
    }
    let tops = tops(&dwarf);
    let mut table = LineTable::new(dwarf).ok()?;
    table.tops = tops;
    Some(table)
}

/// The address of each section, as most of its functions say: functions of one name may be in several sections.
fn places(elf: &File<'_>, name: &str, symbols: &Symbols) -> SectionPlaces {
    let mut functions: HashMap<&str, Vec<(SectionIndex, u64)>> = HashMap::new();
    for symbol in elf.symbols().filter(|s| s.kind() == SymbolKind::Text) {
        if let (Ok(name), Some(section)) = (symbol.name(), symbol.section_index()) {
            functions.entry(name).or_default().push((section, symbol.address()));
        }
    }
    let mut votes: HashMap<SectionIndex, BTreeMap<u64, usize>> = HashMap::new();
    for symbol in symbols.of_module(name) {
        for (section, offset) in functions.get(symbol.name.as_str()).into_iter().flatten() {
            let place = symbol.address.wrapping_sub(*offset);
            *votes.entry(*section).or_default().entry(place).or_default() += 1;
        }
    }
    let most = |votes: BTreeMap<u64, usize>| votes.into_iter().max_by_key(|(_, n)| *n).map(|(place, _)| place);
    let found = votes
        .into_iter()
        .filter_map(|(section, votes)| Some((section, most(votes)?)));
    found.collect()
}

/// A debug section with its relocations done. References to a section that is not in memory keep a low address, where
/// nothing is looked up.
fn section(elf: &File<'_>, places: &SectionPlaces, id: SectionId) -> Result<Arc<[u8]>, object::Error> {
    let is_wanted = !matches!(id, SectionId::DebugLoc | SectionId::DebugLocLists);
    let Some(section) = elf.section_by_name(id.name()).filter(|_| is_wanted) else {
        return Ok(Arc::new([]));
    };
    let mut data = section.uncompressed_data()?.into_owned();
    for (offset, relocation) in section.relocations() {
        let (RelocationKind::Absolute, RelocationTarget::Symbol(symbol)) = (relocation.kind(), relocation.target())
        else {
            continue;
        };
        let symbol = elf.symbol_by_index(symbol)?;
        let place = symbol
            .section_index()
            .and_then(|s| places.get(&s))
            .copied()
            .unwrap_or(0);
        let value = place
            .wrapping_add(symbol.address())
            .wrapping_add_signed(relocation.addend());
        let len = usize::from(relocation.size() / 8);
        let field = usize::try_from(offset)
            .ok()
            .and_then(|at| data.get_mut(at..)?.get_mut(..len));
        if let (Some(field), Some(bytes)) = (field, value.to_le_bytes().get(..len)) {
            field.copy_from_slice(bytes);
        }
    }
    Ok(data.into())
}

/// The top of the kernel's source, and the top of the module's own source unless that is below.
fn tops(dwarf: &Dwarf<DwarfReader>) -> Vec<String> {
    let (mut kernel, mut own): (Option<String>, Option<String>) = (None, None);
    let mut units = dwarf.units();
    while let Ok(Some(header)) = units.next() {
        let Ok(unit) = dwarf.unit(header) else { continue };
        let text = |reader: &DwarfReader| String::from_utf8_lossy(reader.bytes()).into_owned();
        let below = |folder: &str, path: &str| match path.starts_with('/') || folder.is_empty() {
            true => path.to_string(),
            false => format!("{folder}/{path}"),
        };
        let compiled_in = unit.comp_dir.as_ref().map(text).unwrap_or_default();
        if let Some(name) = unit.name.as_ref().map(text).filter(|name| !name.ends_with(".mod.c")) {
            let file = paths::below(&[], &below(&compiled_in, &name));
            let folder = &file[..file.rfind('/').map_or(0, |at| at + 1)];
            own = Some(own.map_or(folder.to_string(), |own| common(&own, folder)));
        }
        let Some(program) = &unit.line_program else { continue };
        let header = program.header();
        let files = header.file_names().iter().filter_map(|file| {
            let folder = dwarf.attr_string(&unit, file.directory(header)?).ok()?;
            let name = dwarf.attr_string(&unit, file.path_name()).ok()?;
            let path = below(&below(&compiled_in, &text(&folder)), &text(&name));
            Some(paths::below(&[], &path))
        });
        let top = |file: String| {
            let mut tops = LANDMARKS.iter().filter_map(|landmark| file.strip_suffix(landmark));
            tops.next().map(str::to_string)
        };
        kernel = kernel.or_else(|| files.into_iter().find_map(top));
    }
    let is_apart = |own: &String| kernel.as_ref().is_none_or(|kernel| !own.starts_with(kernel.as_str()));
    let own = own.filter(is_apart);
    let tops = kernel.clone().into_iter().chain(own);
    tops.filter(|top| top.len() > 1).collect()
}

/// The folder that holds both; folders end with a slash.
fn common(one: &str, other: &str) -> String {
    let parts = one.split_inclusive('/').zip(other.split_inclusive('/'));
    parts.take_while(|(a, b)| a == b).map(|(a, _)| a).collect()
}
