//! A copy of a debug file with only the sections that lookups need, compressed: some 120 MB of a kernel's 600.

use super::elf::ElfFile;
use super::{BuildId, DebugInfoError};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use object::elf::{ELFCOMPRESS_ZLIB, SHF_COMPRESSED, SHT_PROGBITS};
use object::write::Object;
use object::{Architecture, BinaryFormat, Endianness, SectionFlags, SectionKind};
use std::io::Write;
use std::path::Path;
use worstcase_base::cache::CacheError;

/// Sections that are needed to find lines, functions and inlined functions, in DWARF 4 and 5. Places of variables,
/// unwinding and relocations are not.
const NEEDED: [&str; 10] = [
    ".debug_info",
    ".debug_abbrev",
    ".debug_line",
    ".debug_str",
    ".debug_line_str",
    ".debug_str_offsets",
    ".debug_addr",
    ".debug_ranges",
    ".debug_rnglists",
    ".debug_aranges",
];

/// Writes the copy; returns its build-id.
pub fn slim(from: &Path, to: &Path) -> Result<BuildId, DebugInfoError> {
    let elf = ElfFile::open(from)?;
    let id = elf.build_id()?;
    let mut object = Object::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little);
    let note = object.add_section(Vec::new(), b".notes".to_vec(), SectionKind::Note);
    object.append_section_data(note, &id.note(), 4);
    for name in NEEDED {
        let data = elf.section(name)?;
        if data.is_empty() {
            continue;
        }
        let section = object.add_section(Vec::new(), name.as_bytes().to_vec(), SectionKind::Debug);
        let packed = pack(&data).map_err(|e| CacheError::from_io(to, e))?;
        object.set_section_data(section, packed, 8);
        object.section_mut(section).flags = SectionFlags::Elf {
            sh_type: SHT_PROGBITS,
            sh_flags: SHF_COMPRESSED,
        };
    }
    let bytes = object.write().map_err(|e| elf.wrong(e))?;
    std::fs::write(to, bytes).map_err(|e| CacheError::from_io(to, e))?;
    Ok(id)
}

/// A compressed section: kind, reserved, size and alignment of the content (Elf64_Chdr), and the compressed content.
fn pack(data: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut packed = Vec::new();
    for word in [u64::from(ELFCOMPRESS_ZLIB.0), data.len() as u64, 1] {
        packed.extend(word.to_le_bytes());
    }
    let mut encoder = ZlibEncoder::new(packed, Compression::default());
    encoder.write_all(data)?;
    encoder.finish()
}
