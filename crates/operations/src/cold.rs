//! Caches filled with something else.

use crate::memory::{Area, AreaSharing, PAGE};
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
use std::hint::black_box;
use std::ptr::null_mut;

/// More than the second-level cache of any processor holds.
const DATA_PAGES: usize = 2048;
/// More than its first-level instruction cache.
const CODE: usize = 128 << 10;
const LINE: usize = 64;

/// Fills the caches.
pub struct Evictor {
    data: Area,
    code: extern "C" fn(),
}

impl Evictor {
    /// With its own data and code, which forks share.
    pub fn new() -> Evictor {
        let mut data = Area::new(DATA_PAGES, AreaSharing::Shared);
        data.write();
        Evictor { data, code: jumps() }
    }

    /// Touches every line of them twice.
    pub fn evict(&mut self) {
        for _ in 0..2 {
            for byte in self.data.bytes().iter_mut().step_by(LINE) {
                *byte = byte.wrapping_add(1);
            }
            black_box(&mut self.data);
            (self.code)();
        }
    }
}

/// A function with a jump to the next line in each line, and a return in the last.
fn jumps() -> extern "C" fn() {
    let protection = ProtFlags::READ | ProtFlags::WRITE | ProtFlags::EXEC;
    // SAFETY: a new area at a place that the kernel chooses; it stays for good.
    let area = unsafe { mmap_anonymous(null_mut(), CODE.next_multiple_of(PAGE), protection, MapFlags::SHARED) };
    let area = area.expect("there is memory").cast::<u8>();
    let mut code = vec![0x90; CODE];
    for line in (0..CODE).step_by(LINE) {
        code[line..line + 2].copy_from_slice(&[0xeb, 62]); // jmp to the next line
    }
    code[CODE - LINE] = 0xc3; // ret
    // SAFETY: the area is as long as the code, and what is written is a function that keeps to the C convention.
    unsafe {
        std::ptr::copy_nonoverlapping(code.as_ptr(), area, CODE);
        std::mem::transmute::<*mut u8, extern "C" fn()>(area)
    }
}
