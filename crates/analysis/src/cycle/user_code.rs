//! Names of the code of programs: by which file a block of user code comes, in which function it is, and on which line.
//!
//! The files are known, and so is the code that ran. A file's code lies in memory as in the file, whole pages away from the
//! addresses that the file has: the distance is where its bytes are those that ran. No report of the guest is needed, and code that
//! is not the file's is never taken for it.

use crate::breakdown::frames::{NO_SYMBOL, UserFunction};
use crate::breakdown::lines::{SourceLine, SourceLines};
use crate::debuginfo::{LineTable, program_lines, readable};
use object::read::elf::{FileHeader, ProgramHeader};
use object::read::{File, Object, ObjectSymbol};
use object::{Endianness, SymbolKind, elf};
use std::collections::{BTreeMap, HashMap};
use worstcase_lab::execution::Block;

const PAGE: u64 = 4096;

/// Shorter blocks are in too many places to tell where a file lies.
const TELLING: usize = 12;

/// Blocks that are looked at to find where a file lies.
const LOOKED_AT: usize = 400;

/// Places of a file, in several processes.
const PLACES: usize = 4;

/// The code of the programs and libraries that were put into the machine.
pub(crate) struct UserCode {
    files: Vec<CodeFile>,
    /// By block: its file, and how far the file was moved.
    blocks: Vec<Option<(usize, u64)>>,
}

/// A program or a library.
struct CodeFile {
    name: String,
    /// Executable parts, by the address that the file gives them.
    parts: Vec<(u64, Vec<u8>)>,
    functions: Vec<FileFunction>,
    lines: Option<LineTable>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct FileFunction {
    address: u64,
    size: u64,
    name: String,
}

impl UserCode {
    /// Finds the blocks that are of one of these files.
    pub(crate) fn of(files: &BTreeMap<String, Vec<u8>>, blocks: &[Block]) -> UserCode {
        let files: Vec<CodeFile> = files
            .iter()
            .filter_map(|(path, data)| CodeFile::of(path, data))
            .collect();
        let places: Vec<Vec<u64>> = files.iter().map(|file| file.places(blocks)).collect();
        let place_of = |block: &Block| {
            let mut all = files.iter().zip(&places).enumerate();
            all.find_map(|(number, (file, places))| {
                let place = places.iter().find(|place| file.has(block, **place))?;
                Some((number, *place))
            })
        };
        UserCode {
            blocks: blocks
                .iter()
                .map(|block| is_user(block).then(|| place_of(block)).flatten())
                .collect(),
            files,
        }
    }

    /// The function of each block.
    pub(crate) fn functions(&self, blocks: &[Block]) -> Vec<Option<UserFunction>> {
        let function = |(block, place): (&Block, &Option<(usize, u64)>)| {
            let (file, moved) = (*place)?;
            let file = &self.files[file];
            let function = file.function(block.address.wrapping_sub(moved));
            Some(UserFunction {
                function: readable(function.unwrap_or(NO_SYMBOL)),
                file: file.name.clone(),
            })
        };
        blocks.iter().zip(&self.blocks).map(function).collect()
    }

    /// The line of an instruction of a block.
    pub(crate) fn source(&self, block: usize, address: u64) -> Option<SourceLine> {
        let (file, moved) = (*self.blocks.get(block)?)?;
        self.files[file].lines.as_ref()?.source(address.wrapping_sub(moved))
    }
}

fn is_user(block: &Block) -> bool {
    block.address >> 63 == 0
}

impl CodeFile {
    /// None of a file that is no program.
    fn of(path: &str, data: &[u8]) -> Option<CodeFile> {
        let header = elf::FileHeader64::<Endianness>::parse(data).ok()?;
        let endian = header.endian().ok()?;
        let headers = header.program_headers(endian, data).ok()?;
        let is_code = |part: &&elf::ProgramHeader64<Endianness>| {
            part.p_type(endian) == elf::PT_LOAD && (part.p_flags(endian) & elf::PF_X).0 != 0
        };
        let part = |part: &elf::ProgramHeader64<Endianness>| {
            Some((part.p_vaddr(endian), part.data(endian, data).ok()?.to_vec()))
        };
        let parts: Vec<(u64, Vec<u8>)> = headers.iter().filter(is_code).filter_map(part).collect();
        let parsed = File::parse(data).ok()?;
        (!parts.is_empty()).then(|| CodeFile {
            name: path.rsplit('/').next().unwrap_or(path).to_string(),
            functions: functions(&parsed),
            lines: program_lines(data),
            parts,
        })
    }

    /// How far it was moved, as these blocks tell, the most likely first.
    fn places(&self, blocks: &[Block]) -> Vec<u64> {
        let telling = blocks
            .iter()
            .filter(|block| is_user(block) && block.code.len() >= TELLING);
        let mut votes: HashMap<u64, usize> = HashMap::new();
        for block in telling.take(LOOKED_AT) {
            for (address, code) in &self.parts {
                let first = block.address.wrapping_sub(*address) % PAGE;
                let mut at = first as usize;
                while let Some(own) = code.get(at..at + block.code.len()) {
                    if own == block.code {
                        let moved = block.address.wrapping_sub(address + at as u64);
                        *votes.entry(moved).or_default() += block.code.len();
                    }
                    at += PAGE as usize;
                }
            }
        }
        let mut places: Vec<(u64, usize)> = votes.into_iter().collect();
        places.sort_by_key(|(moved, votes)| (std::cmp::Reverse(*votes), *moved));
        places.truncate(PLACES);
        places.into_iter().map(|(moved, _)| moved).collect()
    }

    /// Whether a block is its code, if it was moved so far.
    fn has(&self, block: &Block, moved: u64) -> bool {
        let address = block.address.wrapping_sub(moved);
        self.parts.iter().any(|(from, code)| {
            let own = address
                .checked_sub(*from)
                .and_then(|at| code.get(usize::try_from(at).ok()?..));
            own.is_some_and(|own| own.starts_with(&block.code))
        })
    }

    fn function(&self, address: u64) -> Option<&str> {
        let after = self.functions.partition_point(|function| function.address <= address);
        let found = &self.functions[after.checked_sub(1)?];
        let is_in = found.size == 0 || address < found.address + found.size;
        is_in.then_some(found.name.as_str())
    }
}

/// The functions of a file in order; of several names at one address the one with a size, the shortest.
fn functions(file: &File<'_>) -> Vec<FileFunction> {
    let all = file.symbols().chain(file.dynamic_symbols());
    let text = all.filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.is_definition());
    let mut functions: Vec<FileFunction> = text
        .filter_map(|symbol| {
            Some(FileFunction {
                address: symbol.address(),
                size: symbol.size(),
                name: symbol.name().ok()?.to_string(),
            })
        })
        .collect();
    functions.sort_by_key(|own| (own.address, own.size == 0, own.name.len(), own.name.clone()));
    functions.dedup_by_key(|own| own.address);
    functions
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(address: u64, code: &[u8]) -> Block {
        Block {
            address,
            lengths: vec![1; code.len()],
            code: code.to_vec(),
        }
    }

    fn file() -> CodeFile {
        let code: Vec<u8> = (0..3 * PAGE).map(|at| (at % 251) as u8 ^ (at / 251) as u8).collect();
        let function = |address, size, name: &str| FileFunction {
            address,
            size,
            name: name.into(),
        };
        CodeFile {
            name: "p".into(),
            parts: vec![(0x1000, code)],
            functions: vec![function(0x1100, 0x80, "a"), function(0x1200, 0, "b")],
            lines: None,
        }
    }

    #[test]
    fn a_file_lies_where_its_bytes_ran() {
        let file = file();
        let moved = 0x7fff_1234_5000;
        let own = |at: usize, length: usize| block(0x1000 + at as u64 + moved, &file.parts[0].1[at..at + length]);
        let mut blocks = vec![own(0x100, 20), own(0x1234, 30), own(0x210, 4)];
        // Another program's code, and the kernel's.
        blocks.push(block(0x40_1100, &[0x90; 20]));
        blocks.push(block(0xffff_ffff_8100_0100, &file.parts[0].1[0x100..0x120]));
        assert_eq!(file.places(&blocks), [moved]);
        let user = UserCode {
            blocks: blocks
                .iter()
                .map(|block| file.has(block, moved).then_some((0, moved)))
                .collect(),
            files: vec![file],
        };
        let names: Vec<Option<String>> = user
            .functions(&blocks)
            .into_iter()
            .map(|own| own.map(|own| own.function))
            .collect();
        assert_eq!(
            names,
            [Some("a"), Some("b"), Some("b"), None, None].map(|name| name.map(String::from))
        );
    }

    #[test]
    fn what_lies_behind_a_function_is_not_its_own() {
        let file = file();
        let names = [0x10ff, 0x1100, 0x117f, 0x1180, 0x1200].map(|address| file.function(address));
        assert_eq!(names, [None, Some("a"), Some("a"), None, Some("b")]);
    }
}
