//! Where things are in a kernel of arm64 on the board `virt`.
//!
//! ```text
//! memory file   0 ... the image, behind the code that QEMU starts with ... its end
//! physical      + 0x4000_0000
//! virtual       the image's own mapping; all memory in one piece, from memstart_addr on, at the lowest address of the kernel's
//! ```

use super::{KernelMemory, offsets, per_cpu_list, symbol};
use btf_rs::{Btf, Type};
use worstcase_contract::symbols::SymbolTable;
use worstcase_contract::window::ask::TaskPlaces;

/// The symbol by which each CPU has its current task.
pub(super) const CURRENT: &str = "__entry_task";

/// Where memory begins on the board `virt`.
const MEMORY: u64 = 0x4000_0000;

/// Where QEMU may put an image, by a multiple of this: a kernel asks for a distance from 2 MiB.
const PLACE: u64 = 0x8_0000;
const PLACES: u64 = 8;
/// The image's head (Documentation/arch/arm64/booting.rst): its flags, and its magic.
const FLAGS: usize = 24;
const MAGIC: usize = 56;
const HEAD: usize = 64;

/// The bits of virtual addresses with which kernels are built, and which `memstart_addr` assumes.
const ADDRESS_BITS: [u32; 3] = [48, 52, 47];

/// In `struct pt_regs`: the mode of the CPU and the number of the system call.
const KNOWN: [u64; 2] = [264, 280];

/// How it maps memory; the places of tasks are not known yet.
pub(super) fn mappings(memory: &KernelMemory, symbols: &SymbolTable, cpu: u32) -> Result<TaskPlaces, String> {
    let current = symbols.data(CURRENT).ok_or(
        "it has no symbol __entry_task, as Debian's before 6.12; take 6.12 or later, or a kernel with CONFIG_KALLSYMS_ALL",
    )?;
    let text = symbols.code().find(|code| code.name == "_text");
    let landmarks = Landmarks {
        text: text.ok_or("it has no symbol _text")?.address,
        voffset: symbol(symbols, "kimage_voffset")?,
        start: symbol(symbols, "memstart_addr")?,
        per_cpu: per_cpu_list(symbols).map(|list| list.wrapping_add(8 * u64::from(cpu))),
        current,
    };
    landmarks.mappings(memory)
}

/// Virtual addresses that tell how memory is mapped.
struct Landmarks {
    /// The image's beginning.
    text: u64,
    /// `kimage_voffset`: how far the image is mapped from where it lies.
    voffset: u64,
    /// `memstart_addr`: what lies where all memory is mapped.
    start: u64,
    /// How far a CPU's own memory is from where symbols have it; none with one CPU alone.
    per_cpu: Option<u64>,
    /// The current task, there.
    current: u64,
}

impl Landmarks {
    fn mappings(&self, memory: &KernelMemory) -> Result<TaskPlaces, String> {
        let (at, head) = image(memory).ok_or("its image is not where QEMU puts it")?;
        let mut places = TaskPlaces {
            image: self.text.wrapping_sub(at),
            page_bits: page_bits(&head)?,
            direct_map: u64::MAX,
            ..TaskPlaces::default()
        };
        if memory.word(&places, self.voffset)? != places.image.wrapping_sub(MEMORY) {
            return Err("its image is mapped elsewhere than its symbols are".into());
        }
        let distance = self.per_cpu.map_or(Ok(0), |list| memory.word(&places, list))?;
        let current = self.current.wrapping_add(distance);
        let start = memory.word(&places, self.start)?;
        let length = memory.file.metadata().map_err(|e| e.to_string())?.len();
        let is_it = |at: &u64| current.checked_sub(*at).is_some_and(|place| place < length);
        let all = ADDRESS_BITS.map(|bits| (u64::MAX << bits).wrapping_add(MEMORY).wrapping_sub(start));
        let found = all.into_iter().find(is_it);
        places.direct_map = found.ok_or("all memory is mapped where it is not known")?;
        Ok(places)
    }
}

/// The place of the image in memory, and its head.
fn image(memory: &KernelMemory) -> Option<(u64, [u8; HEAD])> {
    (0..PLACES).map(|n| n * PLACE).find_map(|at| {
        let mut head = [0; HEAD];
        super::FileExt::read_exact_at(&memory.file, &mut head, at).ok()?;
        head[MAGIC..].starts_with(b"ARM\x64").then_some((at, head))
    })
}

/// Bits of an address within a page.
fn page_bits(head: &[u8; HEAD]) -> Result<u64, String> {
    match head[FLAGS] >> 1 & 3 {
        1 => Ok(12),
        2 => Ok(14),
        _ => Err("its pages have neither 4 KiB nor 16 KiB".into()),
    }
}

/// The offset of the count of reasons not to preempt in a task, and the length of what user code leaves on its stack.
pub(super) fn of_types(btf: &Btf) -> Option<(u64, u64)> {
    let [info] = offsets(btf, "task_struct", ["thread_info"])?;
    let [count] = offsets(btf, "thread_info", ["preempt_count"])?;
    if offsets(btf, "pt_regs", ["pstate", "syscallno"])? != KNOWN {
        return None;
    }
    let types = btf.resolve_types_by_name("pt_regs").ok()?;
    let regs = types.into_iter().find_map(|found| match found {
        Type::Struct(regs) => Some(regs.size()),
        _ => None,
    });
    Some((info + count, regs? as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const RAM: u64 = 8 << 20;
    const TEXT: u64 = 0xffff_8000_8000_0000;
    const IMAGE_AT: u64 = 0x20_0000;

    /// A kernel with pages of this kind, whose `memstart_addr` and own memory of the CPU are there.
    fn mapped(pages: u8, start: u64, per_cpu: u64, voffset: u64) -> Result<TaskPlaces, String> {
        let mut bytes = vec![0; RAM as usize];
        let mut put = |at: u64, value: &[u8]| bytes[(IMAGE_AT + at) as usize..][..value.len()].copy_from_slice(value);
        put(MAGIC as u64, b"ARM\x64");
        put(FLAGS as u64, &[pages << 1 | 8]);
        put(0x1000, &voffset.to_le_bytes());
        put(0x1008, &start.to_le_bytes());
        put(0x1010, &per_cpu.to_le_bytes());
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        let landmarks = Landmarks {
            text: TEXT,
            voffset: TEXT + 0x1000,
            start: TEXT + 0x1008,
            per_cpu: Some(TEXT + 0x1010),
            current: TEXT + 0x2000,
        };
        landmarks.mappings(&KernelMemory::of(file))
    }

    #[test]
    fn memory_is_found_by_what_the_kernel_knows() {
        const FITS: u64 = TEXT - IMAGE_AT - MEMORY;
        let own = |direct_map: u64| direct_map.wrapping_add(0x60_0000).wrapping_sub(TEXT + 0x2000);
        let of_48 = u64::MAX << 48;
        let places = mapped(1, MEMORY, own(of_48), FITS).unwrap();
        assert_eq!((places.direct_map, places.image), (of_48, TEXT - IMAGE_AT));
        assert_eq!((places.page_bits, places.page_levels()), (12, 4));
        // Built for 52 bits, which the CPU does not have.
        let less = MEMORY.wrapping_sub(of_48.wrapping_sub(u64::MAX << 52));
        assert_eq!(mapped(1, less, own(of_48), FITS).unwrap().direct_map, of_48);
        let of_47 = u64::MAX << 47;
        let places = mapped(2, MEMORY, own(of_47), FITS).unwrap();
        assert_eq!(
            (places.direct_map, places.page_bits, places.page_levels()),
            (of_47, 14, 3)
        );
        for (refused, why) in [
            (mapped(3, MEMORY, own(of_48), FITS), "pages"),
            (mapped(1, MEMORY, own(of_48), FITS + PLACE), "elsewhere"),
            (mapped(1, MEMORY, own(of_48 + (1 << 40)), FITS), "not known"),
        ] {
            assert!(refused.unwrap_err().contains(why), "{why}");
        }
    }
}
