//! The uncompressed kernel in an image.
//!
//! An image is a program that unpacks the kernel behind it: most of the instructions of a boot. A kernel with CONFIG_PVH
//! can be started without it, at an address that a note in its ELF file names
//! (Documentation/arch/x86/boot.rst; Xen's x86/HVM direct boot ABI).

use crate::unpacked::{Packing, Unpacked, most_of};
use object::LittleEndian;
use object::elf::{EM_X86_64, FileHeader64, NoteType, PT_LOAD};
use object::read::elf::{FileHeader, ProgramHeader};

/// The note that names the address (XEN_ELFNOTE_PHYS32_ENTRY).
const ENTRY_NAME: &[u8] = b"Xen";
const ENTRY: NoteType = NoteType(18);

/// The fields of the image's header: sectors of setup code, version of the boot protocol, place and length of the kernel
/// in the code behind the setup.
const SETUP_SECTORS: usize = 0x1f1;
const VERSION: usize = 0x206;
const OFFSET: usize = 0x248;
const LENGTH: usize = 0x24c;
/// The first version whose header has the last two.
const WITH_PLACE: u16 = 0x0208;
const SECTOR: usize = 512;

/// The kernel in a bzImage, an ELF file, if it can be started directly. None if it was built without CONFIG_PVH, or packed in
/// another way than xz, gzip or Zstandard.
pub fn direct(image: &[u8]) -> Option<Vec<u8>> {
    let packed = payload(image)?;
    let most = most_of(packed.len() as u64);
    let unpacked = Unpacked::new(packed, Packing::of_bytes(packed)?, most).ok()?;
    let kernel = unpacked.read_all().ok()?;
    has_entry(&kernel)?.then_some(kernel)
}

/// The packed kernel in an image.
fn payload(image: &[u8]) -> Option<&[u8]> {
    let number = |at: usize| Some(u32::from_le_bytes(*image.get(at..)?.first_chunk()?) as usize);
    let version = u16::from_le_bytes(*image.get(VERSION..)?.first_chunk()?);
    if version < WITH_PLACE {
        return None;
    }
    let code = (usize::from(*image.get(SETUP_SECTORS)?).max(1) + 1) * SECTOR;
    image.get(code + number(OFFSET)?..)?.get(..number(LENGTH)?)
}

/// Whether an ELF file of this architecture, whole as far as it is loaded, has the note.
fn has_entry(kernel: &[u8]) -> Option<bool> {
    let header = FileHeader64::<LittleEndian>::parse(kernel).ok()?;
    let endian = header.endian().ok()?;
    if header.e_machine(endian) != EM_X86_64 {
        return None;
    }
    let mut found = false;
    for segment in header.program_headers(endian, kernel).ok()? {
        if segment.p_type(endian) == PT_LOAD {
            segment.data(endian, kernel).ok()?;
        }
        let Some(mut notes) = segment.notes(endian, kernel).ok()? else {
            continue;
        };
        while let Some(note) = notes.next().ok()? {
            found |= note.name() == ENTRY_NAME && note.n_type(endian) == ENTRY;
        }
    }
    Some(found)
}
