//! Memory of this process, mapped and unmapped by hand.

use rustix::mm::{
    Advice, MapFlags, MprotectFlags, MremapFlags, ProtFlags, madvise, mmap, mmap_anonymous, mprotect, mremap_fixed,
    munmap,
};
use std::ffi::c_void;
use std::fs::File;
use std::ptr::null_mut;

/// A page.
pub const PAGE: usize = 4096;

/// A mapped area, which is unmapped when dropped.
pub struct Area {
    at: *mut c_void,
    length: usize,
}

/// Who else sees it.
#[derive(Clone, Copy)]
pub enum AreaSharing {
    /// Nobody: a fork copies it.
    Private,
    /// Forks.
    Shared,
}

impl Area {
    /// Zeroed pages, none of which is there yet.
    pub fn new(pages: usize, sharing: AreaSharing) -> Area {
        let flags = match sharing {
            AreaSharing::Private => MapFlags::PRIVATE,
            AreaSharing::Shared => MapFlags::SHARED,
        };
        let length = pages * PAGE;
        // SAFETY: a new area at a place that the kernel chooses aliases nothing.
        let at = unsafe { mmap_anonymous(null_mut(), length, ProtFlags::READ | ProtFlags::WRITE, flags) };
        Area {
            at: at.expect("there is memory"),
            length,
        }
    }

    /// The first pages of a file, to be read.
    pub fn of_file(file: &File, pages: usize) -> Area {
        let length = pages * PAGE;
        // SAFETY: as above; the file is this program's own and never shortened.
        let at = unsafe { mmap(null_mut(), length, ProtFlags::READ, MapFlags::SHARED, file, 0) };
        Area {
            at: at.expect("there is memory"),
            length,
        }
    }

    /// Writes to each page.
    pub fn write(&mut self) {
        for page in (0..self.length).step_by(PAGE) {
            // SAFETY: within the area, which this holds mutably; only `new` makes areas that are written.
            unsafe { self.at.cast::<u8>().add(page).write_volatile(1) };
        }
    }

    /// Reads from each page.
    pub fn read(&self) {
        for page in (0..self.length).step_by(PAGE) {
            // SAFETY: within the area.
            unsafe { self.at.cast::<u8>().add(page).read_volatile() };
        }
    }

    /// Forbids writing and allows it again.
    pub fn protect_twice(&mut self) {
        for flags in [MprotectFlags::READ, MprotectFlags::READ | MprotectFlags::WRITE] {
            // SAFETY: the area is this one's alone, and nothing refers into it.
            unsafe { mprotect(self.at, self.length, flags) }.expect("it is mapped");
        }
    }

    /// Gives the pages back, and keeps the area.
    pub fn forget_pages(&mut self) {
        // SAFETY: as above; what is lost is what was written to it.
        unsafe { madvise(self.at, self.length, Advice::LinuxDontNeed) }.expect("it is mapped");
    }

    /// Moves it, with its pages, to where another area of the same length is.
    pub fn moved_onto(self, other: Area) -> Area {
        let length = self.length;
        // SAFETY: both areas are given up here, and the new one is the only owner of that place.
        let at = unsafe { mremap_fixed(self.at, length, length, MremapFlags::MAYMOVE, other.at) };
        std::mem::forget((self, other));
        Area {
            at: at.expect("it can be moved"),
            length,
        }
    }

    /// Its bytes.
    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the area is readable, writable, zeroed or written, and borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.at.cast(), self.length) }
    }
}

impl Drop for Area {
    fn drop(&mut self) {
        // SAFETY: this one owns the area.
        let _ = unsafe { munmap(self.at, self.length) };
    }
}
