//! The kernel's page table: where the memory behind an address is that no fixed offset tells, such as a stack or a module.

use crate::guest_memory::GuestMemory;

/// Of an entry: it leads somewhere.
const PRESENT: u64 = 1;
/// Of an entry: it leads to a large page, not to the next table.
const LARGE: u64 = 1 << 7;
/// Of an entry: the physical address.
const ADDRESS: u64 = 0x000f_ffff_ffff_f000;
const PAGE_BITS: u32 = 12;
const INDEX_BITS: u32 = 9;

/// A page table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageTable {
    /// Its physical address.
    pub(crate) root: u64,
    /// 4 or 5.
    pub(crate) levels: u32,
}

impl PageTable {
    /// The physical address behind a virtual one, if there is memory.
    pub(crate) fn physical(&self, memory: &GuestMemory, address: u64) -> Option<u64> {
        let mut table = self.root;
        for level in (0..self.levels).rev() {
            let shift = PAGE_BITS + INDEX_BITS * level;
            let index = address >> shift & ((1 << INDEX_BITS) - 1);
            let entry = u64::from_le_bytes(memory.read(table + 8 * index)?);
            if entry & PRESENT == 0 {
                return None;
            }
            if level == 0 || entry & LARGE != 0 {
                let within = (1 << shift) - 1;
                return Some(entry & ADDRESS & !within | address & within);
            }
            table = entry & ADDRESS;
        }
        None
    }

    /// Eight bytes, as a number, at an address that is a multiple of eight.
    pub(crate) fn word(&self, memory: &GuestMemory, address: u64) -> Option<u64> {
        Some(u64::from_le_bytes(memory.read(self.physical(memory, address)?)?))
    }

    /// The text up to a NUL, if that is within `most` bytes.
    pub(crate) fn text(&self, memory: &GuestMemory, address: u64, most: u64) -> Option<String> {
        let bytes = (0..most).map(|i| {
            let [byte] = memory.read(self.physical(memory, address + i)?)?;
            Some(byte)
        });
        let text: Option<Vec<u8>> = bytes.take_while(|byte| *byte != Some(0)).collect();
        text.filter(|text| (text.len() as u64) < most)
            .map(|text| String::from_utf8_lossy(&text).into_owned())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// 64 KiB of memory with a table at 0x1000 that maps the page at `0xffff_c000_0000_3000` to 0x5000, and 2 MiB from
    /// `0xffff_c000_0020_0000` on to the beginning of memory.
    pub(crate) fn mapped() -> (Vec<u8>, PageTable) {
        let mut bytes = vec![0; 0x10000];
        let mut entry = |table: usize, index: usize, value: u64| {
            bytes[table + 8 * index..][..8].copy_from_slice(&value.to_le_bytes());
        };
        entry(0x1000, 0x180, 0x2000 | PRESENT);
        entry(0x2000, 0, 0x3000 | PRESENT);
        entry(0x3000, 0, 0x4000 | PRESENT);
        entry(0x3000, 1, PRESENT | LARGE);
        entry(0x4000, 3, 0x5000 | PRESENT | 1 << 63);
        let table = PageTable {
            root: 0x1000,
            levels: 4,
        };
        (bytes, table)
    }

    #[test]
    fn pages_are_found() {
        let (mut bytes, table) = mapped();
        bytes[0x5008..0x500d].copy_from_slice(b"name\0");
        let memory = GuestMemory::of_bytes(bytes);
        let physical = |address| table.physical(&memory, address);
        assert_eq!(physical(0xffff_c000_0000_3008), Some(0x5008));
        assert_eq!(physical(0xffff_c000_0020_1234), Some(0x1234));
        assert_eq!(physical(0xffff_c000_0000_4000), None);
        assert_eq!(physical(0xffff_8000_0000_0000), None);
        let text = |most| table.text(&memory, 0xffff_c000_0000_3008, most);
        assert_eq!(text(8).as_deref(), Some("name"));
        assert_eq!(text(4), None);
    }
}
