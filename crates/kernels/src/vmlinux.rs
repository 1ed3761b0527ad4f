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

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    /// A kernel of one segment to load and one of notes.
    fn kernel(note: NoteType) -> Vec<u8> {
        let mut notes = Vec::new();
        for (name, kind) in [(b"GNU\0", NoteType(3)), (b"Xen\0", note)] {
            for number in [4, 8, kind.0] {
                notes.extend(u32::to_le_bytes(number));
            }
            notes.extend(name);
            notes.extend(0x100_0000_u64.to_le_bytes());
        }
        let code = [0x90; 64];
        let (first, second) = (64 + 2 * 56, 64 + 2 * 56 + code.len());
        let mut elf = b"\x7fELF\x02\x01\x01".to_vec();
        elf.resize(16, 0);
        for half in [2_u16, EM_X86_64.0] {
            elf.extend(half.to_le_bytes());
        }
        elf.extend(1_u32.to_le_bytes());
        for word in [0x100_0000, 64, 0_u64] {
            elf.extend(word.to_le_bytes());
        }
        elf.extend(0_u32.to_le_bytes());
        for half in [64_u16, 56, 2, 0, 0, 0] {
            elf.extend(half.to_le_bytes());
        }
        for (kind, at, length) in [(1_u32, first, code.len()), (4, second, notes.len())] {
            elf.extend(kind.to_le_bytes());
            elf.extend(4_u32.to_le_bytes());
            for word in [at as u64, 0, 0x100_0000, length as u64, length as u64, 4] {
                elf.extend(word.to_le_bytes());
            }
        }
        elf.extend(code);
        elf.extend(notes);
        elf
    }

    fn xz(bytes: &[u8]) -> Vec<u8> {
        let mut packed = Vec::new();
        liblzma::read::XzEncoder::new(bytes, 6)
            .read_to_end(&mut packed)
            .unwrap();
        packed
    }

    /// An image with this behind its unpacking code; as the kernel's build does it, the unpacked length follows.
    fn image(packed: &[u8]) -> Vec<u8> {
        let mut image = crate::image::sample("6.1");
        let code = (usize::from(image[SETUP_SECTORS]) + 1) * SECTOR;
        image.resize(code + 100, 0);
        image[VERSION..VERSION + 2].copy_from_slice(&0x20f_u16.to_le_bytes());
        image[OFFSET..OFFSET + 4].copy_from_slice(&100_u32.to_le_bytes());
        image[LENGTH..LENGTH + 4].copy_from_slice(&(packed.len() as u32 + 4).to_le_bytes());
        image.extend(packed);
        image.extend(1_000_u32.to_le_bytes());
        image
    }

    #[test]
    fn the_kernel_in_an_image_is_found_however_it_is_packed() {
        let kernel = kernel(ENTRY);
        let mut gzip = Vec::new();
        flate2::read::GzEncoder::new(&kernel[..], flate2::Compression::best())
            .read_to_end(&mut gzip)
            .unwrap();
        let zstd = ruzstd::encoding::compress_to_vec(&kernel[..], ruzstd::encoding::CompressionLevel::Fastest);
        for packed in [xz(&kernel), gzip, zstd] {
            assert_eq!(direct(&image(&packed)), Some(kernel.clone()), "{:x?}", &packed[..4]);
        }
    }

    #[test]
    fn what_cannot_be_started_so_is_none() {
        let whole = image(&xz(&kernel(ENTRY)));
        assert!(direct(&whole).is_some());
        assert_eq!(direct(&image(&xz(&kernel(NoteType(1))))), None, "no such note");
        assert_eq!(direct(&image(&xz(b"no kernel"))), None);
        assert_eq!(direct(&image(b"\x02\x21\x4c\x18 of lz4")), None);
        let mut of_another_machine = kernel(ENTRY);
        of_another_machine[18] = 3;
        assert_eq!(direct(&image(&xz(&of_another_machine))), None);
        let mut cut = kernel(ENTRY);
        // The length in the file of what is to be loaded.
        cut[64 + 32] = 0xff;
        cut[64 + 33] = 0xff;
        assert_eq!(direct(&image(&xz(&cut))), None);
        let mut old = whole.clone();
        old[VERSION..VERSION + 2].copy_from_slice(&(WITH_PLACE - 1).to_le_bytes());
        assert_eq!(direct(&old), None);
        for length in 0..whole.len() - 4 {
            assert_eq!(direct(&whole[..length]), None, "{length} bytes");
        }
    }
}
