//! Soft interrupts: a broadcast over loopback is received at once, for every socket, before its sender goes on.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::os::fd::{FromRawFd, OwnedFd};
use worstcase_probe::sys::device;

const PORT: u16 = 9;

/// Broadcasts to so many sockets; none of them reads, so what does not fit is dropped after the same way.
pub fn run(sockets: u32) -> io::Result<Infallible> {
    device::loopback_up()?;
    let _receivers: Vec<OwnedFd> = (0..sockets).map(|_| receiver()).collect::<io::Result<_>>()?;
    let sender = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    sender.set_broadcast(true)?;
    sender.connect(SocketAddrV4::new(Ipv4Addr::new(127, 255, 255, 255), PORT))?;
    loop {
        sender.send(&[0])?;
    }
}

/// A socket at [`PORT`], which others may share.
fn receiver() -> io::Result<OwnedFd> {
    // SAFETY: no pointers are passed.
    let fd = unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM, 0) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and nobody else's.
    let socket = unsafe { OwnedFd::from_raw_fd(fd) };
    let yes: libc::c_int = 1;
    // SAFETY: `yes` is an int of the length that is passed.
    let shared = unsafe {
        let size = size_of_val(&yes) as libc::socklen_t;
        libc::setsockopt(fd, libc::SOL_SOCKET, libc::SO_REUSEADDR, (&raw const yes).cast(), size)
    };
    // SAFETY: an IPv4 address is plain data.
    let mut address: libc::sockaddr_in = unsafe { std::mem::zeroed() };
    address.sin_family = libc::AF_INET as libc::sa_family_t;
    address.sin_port = PORT.to_be();
    // SAFETY: `address` is of the length that is passed.
    let bound = unsafe {
        let size = size_of_val(&address) as libc::socklen_t;
        libc::bind(fd, (&raw const address).cast(), size)
    };
    match (shared, bound) {
        (0, 0) => Ok(socket),
        _ => Err(io::Error::last_os_error()),
    }
}
