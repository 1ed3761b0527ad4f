//! The kernel's page table: where the memory behind an address is that no fixed offset tells, such as a stack or a module.

use crate::arch;
use crate::guest_memory::GuestMemory;

/// An entry of a table has eight bytes, and a table is a page.
const ENTRY_BITS: u32 = 3;

/// Where an entry leads, by its physical address.
pub(crate) enum EntryTarget {
    /// The next table.
    Table(u64),
    /// A page, or a large one; the lowest bits are others.
    Memory(u64),
}

/// A page table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageTable {
    /// Its physical address.
    pub(crate) root: u64,
    /// From 3 to 5.
    pub(crate) levels: u32,
    /// Bits of an address within a page.
    pub(crate) page_bits: u32,
}

impl PageTable {
    /// The physical address behind a virtual one, if there is memory.
    pub(crate) fn physical(&self, memory: &GuestMemory, address: u64) -> Option<u64> {
        let mut table = self.root;
        let index_bits = self.page_bits - ENTRY_BITS;
        for level in (0..self.levels).rev() {
            let shift = self.page_bits + index_bits * level;
            let index = address >> shift & ((1 << index_bits) - 1);
            let entry = u64::from_le_bytes(memory.read(table.checked_add(8 * index)?)?);
            let within = (1 << shift) - 1;
            match arch::leads_to(entry, level)? {
                EntryTarget::Table(next) => table = next,
                EntryTarget::Memory(start) => return Some(start & !within | address & within),
            }
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
        let table = |at| arch::tests::entry(EntryTarget::Table(at), 1);
        entry(0x1000, 0x180, table(0x2000));
        entry(0x2000, 0, table(0x3000));
        entry(0x3000, 0, table(0x4000));
        entry(0x3000, 1, arch::tests::entry(EntryTarget::Memory(0), 1));
        entry(0x4000, 3, arch::tests::entry(EntryTarget::Memory(0x5000), 0));
        let table = PageTable {
            root: 0x1000,
            levels: 4,
            page_bits: 12,
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
