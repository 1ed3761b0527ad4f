//! Mounting, device nodes, and bringing up a network interface.

use super::check;
use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::Path;

fn c_path(path: &Path) -> io::Result<CString> {
    use std::os::unix::ffi::OsStrExt;
    CString::new(path.as_os_str().as_bytes()).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))
}

/// Mounts the kernel file system `kind` (`configfs`, ...) at `target`.
pub fn mount(kind: &str, target: &Path) -> io::Result<()> {
    let kind = CString::new(kind).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    let target = c_path(target)?;
    // SAFETY: all strings outlive the call; no data is passed.
    check(unsafe { libc::mount(kind.as_ptr(), target.as_ptr(), kind.as_ptr(), 0, core::ptr::null()) })?;
    Ok(())
}

/// Makes a block device node.
pub fn make_block_node(path: &Path, major: u32, minor: u32) -> io::Result<()> {
    let path = c_path(path)?;
    // SAFETY: `path` outlives the call.
    check(unsafe { libc::mknod(path.as_ptr(), libc::S_IFBLK | 0o600, libc::makedev(major, minor)) })?;
    Ok(())
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
