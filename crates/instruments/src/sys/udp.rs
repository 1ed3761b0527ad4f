//! UDP sockets that share one port.

use super::check;
use std::io;
use std::net::{SocketAddrV4, UdpSocket};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// A socket at an address that others may have, too (SO_REUSEADDR). A broadcast to it reaches all of them.
pub fn shared(address: SocketAddrV4) -> io::Result<UdpSocket> {
    // SAFETY: no pointers are passed.
    let fd = check(unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) })?;
    // SAFETY: the descriptor was just made and belongs to nobody else.
    let socket = unsafe { OwnedFd::from_raw_fd(fd) };
    let yes: libc::c_int = 1;
    let size = size_of_val(&yes) as libc::socklen_t;
    // SAFETY: `yes` is an int of the length that is passed.
    check(unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_REUSEADDR,
            (&raw const yes).cast(),
            size,
        )
    })?;
    // SAFETY: an IPv4 address holds integers only, for which all zeroes are valid.
    let mut place: libc::sockaddr_in = unsafe { core::mem::zeroed() };
    place.sin_family = libc::AF_INET as libc::sa_family_t;
    place.sin_port = address.port().to_be();
    place.sin_addr.s_addr = u32::from(*address.ip()).to_be();
    let size = size_of_val(&place) as libc::socklen_t;
    // SAFETY: `place` is an address of the length that is passed.
    check(unsafe { libc::bind(socket.as_raw_fd(), (&raw const place).cast(), size) })?;
    Ok(socket.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    #[test]
    fn a_broadcast_reaches_all_sockets_of_a_port() {
        let everybody = Ipv4Addr::new(127, 255, 255, 255);
        let first = shared(SocketAddrV4::new(everybody, 0)).unwrap();
        let port = first.local_addr().unwrap().port();
        let second = shared(SocketAddrV4::new(everybody, port)).unwrap();
        let sender = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        sender.set_broadcast(true).unwrap();
        sender.send_to(&[7], (everybody, port)).unwrap();
        for socket in [first, second] {
            assert_eq!(socket.recv(&mut [0; 2]).unwrap(), 1);
        }
    }
}
