//! /proc/kcore: an ELF file whose segments are the kernel's memory.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

pub(super) const PATH: &str = "/proc/kcore";

/// Sizes and places in an ELF file of 64 bits.
const HEADER: usize = 64;
const SEGMENT: usize = 56;
/// Type of a segment that is memory.
const LOAD: u32 = 1;

/// A segment of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MemorySegment {
    address: u64,
    length: u64,
    offset: u64,
}

/// The open file.
#[derive(Debug)]
pub(super) struct Kcore {
    file: File,
    segments: Vec<MemorySegment>,
}

impl Kcore {
    pub(super) fn open() -> io::Result<Kcore> {
        let file = File::open(PATH)?;
        let mut header = [0; HEADER];
        file.read_exact_at(&mut header, 0)?;
        let (offset, count) = (number(&header, 32, 8), number(&header, 56, 2) as usize);
        let mut table = vec![0; count * SEGMENT];
        file.read_exact_at(&mut table, offset)?;
        let segments = segments(&table);
        Ok(Kcore { file, segments })
    }

    pub(super) fn read(&self, address: u64, length: usize) -> io::Result<Vec<u8>> {
        let offset = place(&self.segments, address, length as u64).ok_or(io::ErrorKind::NotFound)?;
        let mut bytes = vec![0; length];
        self.file.read_exact_at(&mut bytes, offset)?;
        Ok(bytes)
    }
}

fn number(bytes: &[u8], at: usize, length: usize) -> u64 {
    let digits = bytes[at..at + length].iter().rev();
    digits.fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn segments(table: &[u8]) -> Vec<MemorySegment> {
    let memory = table
        .chunks_exact(SEGMENT)
        .filter(|entry| number(entry, 0, 4) as u32 == LOAD);
    let segment = |entry: &[u8]| MemorySegment {
        offset: number(entry, 8, 8),
        address: number(entry, 16, 8),
        length: number(entry, 40, 8),
    };
    memory.map(segment).collect()
}

/// Where the file holds the memory from this address on.
fn place(segments: &[MemorySegment], address: u64, length: u64) -> Option<u64> {
    segments.iter().find_map(|s| {
        let within = address.checked_sub(s.address)?;
        (within.checked_add(length)? <= s.length).then_some(s.offset + within)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_found_by_its_address() {
        let mut table = [0; 2 * SEGMENT];
        // The first is a note.
        table[0] = 4;
        let second = &mut table[SEGMENT..];
        second[0] = 1;
        second[9] = 0x10;
        second[16..24].copy_from_slice(&0xffff_ffff_8100_0000u64.to_le_bytes());
        second[41] = 0x20;
        let found = segments(&table);
        assert_eq!(found.len(), 1);
        assert_eq!(place(&found, 0xffff_ffff_8100_0004, 16), Some(0x1004));
        assert_eq!(place(&found, 0xffff_ffff_8100_1ff8, 16), None);
        assert_eq!(place(&found, 0xffff_ffff_80ff_ffff, 16), None);
    }
}
