//! What the controller asks of the plugin, each as one argument's text.

use crate::units::Instructions;
use std::fmt;
use std::ops::{Range, RangeInclusive};
use std::str::FromStr;

/// Ranges of instruction counts in ascending order without overlaps: `100-200+500-900`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Windows(Vec<Range<u64>>);

/// A text that asks for nothing that can be done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct AskError(String);

impl Windows {
    /// From ranges in any order; those that overlap or touch become one, empty ones are left out.
    pub fn merged(ranges: impl IntoIterator<Item = Range<Instructions>>) -> Windows {
        let mut all: Vec<Range<u64>> = ranges.into_iter().map(|r| r.start.0..r.end.0).collect();
        all.retain(|r| !r.is_empty());
        all.sort_by_key(|r| r.start);
        let mut merged: Vec<Range<u64>> = Vec::new();
        for range in all {
            match merged.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => merged.push(range),
            }
        }
        Windows(merged)
    }

    /// The ranges in ascending order.
    pub fn ranges(&self) -> impl ExactSizeIterator<Item = Range<Instructions>> {
        self.0.iter().map(|r| Instructions(r.start)..Instructions(r.end))
    }
}

impl fmt::Display for Windows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, range) in self.0.iter().enumerate() {
            let plus = if i == 0 { "" } else { "+" };
            write!(f, "{plus}{}-{}", range.start, range.end)?;
        }
        Ok(())
    }
}

impl FromStr for Windows {
    type Err = AskError;

    fn from_str(text: &str) -> Result<Windows, AskError> {
        let bad = || {
            AskError(format!(
                "windows= needs counts such as 100-200+500-900, ascending, not '{text}'"
            ))
        };
        let mut ranges: Vec<Range<u64>> = Vec::new();
        for part in text.split('+') {
            let (from, to) = part.split_once('-').ok_or_else(bad)?;
            let range = decimal(from).ok_or_else(bad)?..decimal(to).ok_or_else(bad)?;
            let ascends = ranges.last().is_none_or(|last| last.end < range.start);
            if range.is_empty() || !ascends {
                return Err(bad());
            }
            ranges.push(range);
        }
        Ok(Windows(ranges))
    }
}

/// Ranges of addresses of code: `0x10-0x20+0x30-0x40`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeRanges(Vec<Range<u64>>);

impl CodeRanges {
    /// The ranges.
    pub fn iter(&self) -> impl Iterator<Item = &Range<u64>> {
        self.0.iter()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether code at this address is in one of them.
    pub fn contain(&self, address: u64) -> bool {
        self.0.iter().any(|range| range.contains(&address))
    }
}

/// Empty ones are left out.
impl FromIterator<Range<u64>> for CodeRanges {
    fn from_iter<I: IntoIterator<Item = Range<u64>>>(ranges: I) -> CodeRanges {
        CodeRanges(ranges.into_iter().filter(|range| !range.is_empty()).collect())
    }
}

impl fmt::Display for CodeRanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, range) in self.0.iter().enumerate() {
            let plus = if i == 0 { "" } else { "+" };
            write!(f, "{plus}{:#x}-{:#x}", range.start, range.end)?;
        }
        Ok(())
    }
}

impl FromStr for CodeRanges {
    type Err = AskError;

    fn from_str(text: &str) -> Result<CodeRanges, AskError> {
        let range = |part: &str| {
            let (from, to) = part.split_once('-')?;
            let range = address(from)?..address(to)?;
            (!range.is_empty()).then_some(range)
        };
        let ranges: Option<Vec<_>> = text.split('+').map(range).collect();
        ranges.map(CodeRanges).ok_or_else(|| {
            AskError(format!(
                "code needs ranges such as 0xffffffff81a00000-0xffffffff81a00ec0, not '{text}'"
            ))
        })
    }
}

/// An address, in hexadecimal with `0x`.
pub fn address(text: &str) -> Option<u64> {
    text.strip_prefix("0x")
        .filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))
        .and_then(|digits| u64::from_str_radix(digits, 16).ok())
}

fn decimal(text: &str) -> Option<u64> {
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok())?
}

/// Where the kernel's tasks are, for a kernel that is not relocated, as numbers in hexadecimal between colons. Physical addresses
/// begin at 0 where memory does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskPlaces {
    /// Physical address of the pointer to the current task.
    pub current: u64,
    /// Virtual address at which all memory is mapped (`page_offset_base`).
    pub direct_map: u64,
    /// Offset of the thread id in a task.
    pub pid: u64,
    /// Offset of the name in a task.
    pub comm: u64,
    /// Offset of the pointer to the kernel's stack in a task.
    pub stack: u64,
    /// Physical address of the count of reasons not to preempt; on arm64 its offset in a task.
    pub preempt_count: u64,
    /// Physical address of the kernel's page table.
    pub page_table: u64,
    /// Physical address of the list of where each CPU has its own memory.
    pub per_cpu: u64,
    /// Virtual address at which the kernel's own image would be mapped if it began at physical address 0.
    pub image: u64,
    /// Bits of an address within a page.
    pub page_bits: u64,
    /// Length of what user code leaves at the top of a stack (`struct pt_regs`); of no use on x86-64.
    pub regs: u64,
}

impl TaskPlaces {
    /// Length of a task's name in the kernel, with its NUL.
    pub const COMM_LEN: usize = 16;

    /// The physical address behind one of the kernel's data pointers.
    pub fn physical(&self, address: u64) -> Option<u64> {
        address
            .checked_sub(self.image)
            .or_else(|| address.checked_sub(self.direct_map))
    }

    /// Levels of the kernel's page table: the more, the lower all memory is mapped.
    pub fn page_levels(&self) -> u32 {
        let of_page = self.page_bits as u32;
        let translated = (64 - self.direct_map.leading_ones()).saturating_sub(of_page);
        translated.div_ceil(of_page.saturating_sub(ENTRY_BITS).max(1))
    }
}

/// An entry of a page table has eight bytes.
const ENTRY_BITS: u32 = 3;

/// Pages of 4, 16 or 64 KiB.
const PAGE_BITS: RangeInclusive<u64> = 12..=16;

impl fmt::Display for TaskPlaces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TaskPlaces {
            current,
            direct_map,
            pid,
            comm,
            stack,
            preempt_count,
            page_table,
            per_cpu,
            image,
            page_bits,
            regs,
        } = self;
        write!(
            f,
            "{current:x}:{direct_map:x}:{pid:x}:{comm:x}:{stack:x}:{preempt_count:x}:{page_table:x}:{per_cpu:x}"
        )?;
        write!(f, ":{image:x}:{page_bits:x}:{regs:x}")
    }
}

impl FromStr for TaskPlaces {
    type Err = AskError;

    fn from_str(text: &str) -> Result<TaskPlaces, AskError> {
        let [
            current,
            direct_map,
            pid,
            comm,
            stack,
            preempt_count,
            page_table,
            per_cpu,
            image,
            page_bits,
            regs,
        ] = numbers::<11>(text)
            .filter(|[.., page_bits, _]| PAGE_BITS.contains(page_bits))
            .ok_or_else(|| AskError(format!("tasks= needs eleven numbers in hexadecimal, not '{text}'")))?;
        Ok(TaskPlaces {
            current,
            direct_map,
            pid,
            comm,
            stack,
            preempt_count,
            page_table,
            per_cpu,
            image,
            page_bits,
            regs,
        })
    }
}

/// Where the kernel keeps what it knows of its modules, as numbers in hexadecimal between colons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModulePlaces {
    /// Virtual address of the head of the list of modules.
    pub head: u64,
    /// Offset of the list's links in a module.
    pub list: u64,
    /// Offset of a module's name.
    pub name: u64,
    /// Offset of the pointer to its symbols.
    pub symbols: u64,
    /// There: offset of the pointer to the table of symbols (ELF).
    pub table: u64,
    /// There: offset of their number.
    pub count: u64,
    /// There: offset of the pointer to their names.
    pub strings: u64,
    /// Physical address of the kernel's page table.
    pub page_table: u64,
    /// Its levels.
    pub page_levels: u64,
    /// Bits of an address within a page.
    pub page_bits: u64,
}

impl fmt::Display for ModulePlaces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ModulePlaces {
            head,
            list,
            name,
            symbols,
            table,
            count,
            strings,
            page_table,
            page_levels,
            page_bits,
        } = self;
        write!(
            f,
            "{head:x}:{list:x}:{name:x}:{symbols:x}:{table:x}:{count:x}:{strings:x}:{page_table:x}:{page_levels:x}:{page_bits:x}"
        )
    }
}

impl FromStr for ModulePlaces {
    type Err = AskError;

    fn from_str(text: &str) -> Result<ModulePlaces, AskError> {
        let [
            head,
            list,
            name,
            symbols,
            table,
            count,
            strings,
            page_table,
            page_levels,
            page_bits,
        ] = numbers::<10>(text)
            .filter(|[.., page_bits]| PAGE_BITS.contains(page_bits))
            .ok_or_else(|| AskError(format!("modules= needs ten numbers in hexadecimal, not '{text}'")))?;
        Ok(ModulePlaces {
            head,
            list,
            name,
            symbols,
            table,
            count,
            strings,
            page_table,
            page_levels,
            page_bits,
        })
    }
}

fn numbers<const N: usize>(text: &str) -> Option<[u64; N]> {
    let numbers: Option<Vec<u64>> = text.split(':').map(|n| u64::from_str_radix(n, 16).ok()).collect();
    numbers?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(from: u64, to: u64) -> Range<Instructions> {
        Instructions(from)..Instructions(to)
    }

    #[test]
    fn windows_that_overlap_or_touch_are_one() {
        let windows = Windows::merged([
            range(50, 60),
            range(10, 20),
            range(15, 30),
            range(30, 31),
            range(7, 7),
            range(12, 13),
        ]);
        assert_eq!(windows.to_string(), "10-31+50-60");
        assert_eq!(windows.to_string().parse(), Ok(windows));
    }

    #[test]
    fn windows_that_cannot_be_are_refused() {
        for bad in [
            "", "5", "5-", "-5", "9-5", "5-5", "1-5+4-9", "1-5+5-9", "1-5++7-9", "0x1-5", "+1-5",
        ] {
            assert!(bad.parse::<Windows>().is_err(), "{bad}");
        }
    }

    #[test]
    fn code_is_read_back() {
        let code: CodeRanges = [0x10..0x20, 7..7, 0x5..0x6].into_iter().collect();
        assert_eq!(code.to_string(), "0x10-0x20+0x5-0x6");
        assert_eq!(code.to_string().parse(), Ok(code.clone()));
        assert!(code.contain(0x1f) && !code.contain(0x20) && !code.contain(7));
        assert!(CodeRanges::default().is_empty() && CodeRanges::default().to_string().is_empty());
    }

    #[test]
    fn code_that_cannot_be_is_refused() {
        for bad in [
            "",
            "0x20-0x10",
            "0x10-0x10",
            "0x10",
            "16-32",
            "0x10-0x20+",
            "0x-0x5",
            "0x+1-0x5",
        ] {
            assert!(bad.parse::<CodeRanges>().is_err(), "{bad}");
        }
    }

    #[test]
    fn places_are_read_back_and_translate() {
        let places = TaskPlaces {
            current: 0xfc1_f940,
            direct_map: 0xffff_8880_0000_0000,
            pid: 0x9a0,
            comm: 0xbc0,
            stack: 0x20,
            preempt_count: 0xfc1_f948,
            page_table: 0x2a1_0000,
            per_cpu: 8,
            image: 0xffff_ffff_8000_0000,
            page_bits: 12,
            regs: 0,
        };
        assert_eq!(places.to_string().parse(), Ok(places));
        assert_eq!(places.physical(0xffff_ffff_82a1_b000), Some(0x2a1_b000));
        assert_eq!(places.physical(0xffff_8880_0123_4000), Some(0x123_4000));
        assert_eq!(places.physical(0), None);
        assert!("1:2:3".parse::<TaskPlaces>().is_err());
        assert!("1:2:3:4:5:6:7:8:9:c:x".parse::<TaskPlaces>().is_err());
        assert!("1:2:3:4:5:6:7:8:9:b:0".parse::<TaskPlaces>().is_err());
        let levels = |direct_map, page_bits| {
            let others = TaskPlaces {
                direct_map,
                page_bits,
                ..places
            };
            others.page_levels()
        };
        assert_eq!((places.page_levels(), levels(0xff11_0000_0000_0000, 12)), (4, 5));
        // arm64: 48, 52 and 47 bits.
        let [most, wide, few] = [48, 52, 47].map(|bits| u64::MAX << bits);
        assert_eq!((levels(most, 12), levels(wide, 12), levels(few, 14)), (4, 5, 3));
    }

    #[test]
    fn places_of_modules_are_read_back() {
        let text = "ffffffff82a1b000:8:18:1f0:0:8:10:2a10000:4:c";
        let places: ModulePlaces = text.parse().unwrap();
        assert_eq!((places.name, places.page_levels), (0x18, 4));
        assert_eq!(places.to_string(), text);
        assert!("1:2".parse::<ModulePlaces>().is_err());
    }
}
