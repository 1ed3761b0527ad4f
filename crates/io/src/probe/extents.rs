//! Where on the device a part of a file is, as the file system tells (FS_IOC_FIEMAP).

use super::details::Extent;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// <linux/fs.h>: _IOWR('f', 11, struct fiemap).
const FIEMAP: libc::Ioctl = 0xc020_660b_u32 as libc::Ioctl;
const MOST: usize = 16;
const SECTOR: u64 = 512;

/// <linux/fiemap.h>
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Mapped {
    logical: u64,
    physical: u64,
    length: u64,
    reserved: [u64; 2],
    flags: u32,
    reserved_too: [u32; 3],
}

#[repr(C)]
#[derive(Default)]
struct Asked {
    start: u64,
    length: u64,
    flags: u32,
    mapped: u32,
    count: u32,
    reserved: u32,
    extents: [Mapped; MOST],
}

/// Of so many bytes from there on; the first of them if they lie in very many places.
pub(super) fn of(file: &File, at: u64, bytes: u64) -> io::Result<Vec<Extent>> {
    let mut asked = Asked {
        start: at,
        length: bytes,
        count: MOST as u32,
        ..Asked::default()
    };
    // SAFETY: the structure is the kernel's, with room for as many extents as it says.
    if unsafe { libc::ioctl(file.as_raw_fd(), FIEMAP, &mut asked) } == -1 {
        return Err(io::Error::last_os_error());
    }
    let within = |extent: &Mapped| {
        let (from, until) = (extent.logical.max(at), (extent.logical + extent.length).min(at + bytes));
        Extent {
            sector: (extent.physical + (from - extent.logical)) / SECTOR,
            sectors: until.saturating_sub(from) / SECTOR,
        }
    };
    Ok(asked.extents[..asked.mapped as usize].iter().map(within).collect())
}
