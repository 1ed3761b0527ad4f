//! Mounting, device nodes, and bringing up a network interface.

use super::check;
use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use rustix::mount::{MountFlags, UnmountFlags};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::Path;

/// Mounts the kernel file system `kind` (`configfs`, ...) at `target`.
pub fn mount(kind: &str, target: &Path) -> io::Result<()> {
    Ok(rustix::mount::mount(kind, target, kind, MountFlags::empty(), None)?)
}

/// Mounts the file system `kind` that is on `device` at `target`.
pub fn mount_device(device: &Path, kind: &str, target: &Path) -> io::Result<()> {
    Ok(rustix::mount::mount(device, target, kind, MountFlags::empty(), None)?)
}

/// Takes away what is mounted at `target`, once what it holds is written.
pub fn unmount(target: &Path) -> io::Result<()> {
    Ok(rustix::mount::unmount(target, UnmountFlags::empty())?)
}

/// Makes a block device node.
pub fn make_block_node(path: &Path, major: u32, minor: u32) -> io::Result<()> {
    let (mode, device) = (Mode::RUSR | Mode::WUSR, makedev(major, minor));
    Ok(mknodat(CWD, path, FileType::BlockDevice, mode, device)?)
}

/// Brings the loopback interface up if it is down.
pub fn loopback_up() -> io::Result<()> {
    // SAFETY: no pointers are passed.
    let fd = check(unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) })?;
    // SAFETY: the descriptor was just made and belongs to nobody else.
    let socket = unsafe { OwnedFd::from_raw_fd(fd) };
    // SAFETY: ifreq is plain data; its name and flags are set below.
    let mut request: libc::ifreq = unsafe { core::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = *from as libc::c_char;
    }
    // SAFETY: `request` is a valid ifreq with a terminated name; the kernel fills the flags.
    check(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFFLAGS, &raw mut request) })?;
    // SAFETY: the call above filled the flags of the union.
    let flags = unsafe { request.ifr_ifru.ifru_flags };
    if flags & libc::IFF_UP as libc::c_short != 0 {
        return Ok(());
    }
    request.ifr_ifru.ifru_flags = flags | libc::IFF_UP as libc::c_short;
    // SAFETY: as above, with the flags to set.
    check(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) })?;
    Ok(())
}
