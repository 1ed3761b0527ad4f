//! One system call, one copy: a netlink message becomes one buffer of the kernel's, however long it is.

use std::convert::Infallible;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Sends messages of `bytes` zeros, which their receiver, the kernel's routing, drops unread.
pub(crate) fn run(bytes: usize) -> io::Result<Infallible> {
    // SAFETY: no pointers are passed.
    let fd = unsafe { libc::socket(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_ROUTE) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and nobody else's.
    let socket = unsafe { OwnedFd::from_raw_fd(fd) };
    allow(&socket, 2 * bytes)?;
    let message = vec![0x00_u8; bytes];
    loop {
        // SAFETY: the buffer is valid for its length.
        let sent = unsafe { libc::send(socket.as_raw_fd(), message.as_ptr().cast(), bytes, 0) };
        if sent != bytes as isize {
            return Err(io::Error::last_os_error());
        }
    }
}

/// Lets the socket hold so many bytes that it has not sent.
fn allow(socket: &OwnedFd, bytes: usize) -> io::Result<()> {
    let value = bytes as libc::c_int;
    // SAFETY: `value` is an int of the length that is passed.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_SNDBUFFORCE,
            (&raw const value).cast(),
            size_of_val(&value) as libc::socklen_t,
        )
    };
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
