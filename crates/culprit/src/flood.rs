//! Soft interrupts: a broadcast over loopback is received at once, for every socket, before its sender goes on.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use worstcase_instruments::sys::{device, udp};

const PORT: u16 = 9;

/// Broadcasts to so many sockets; none of them reads, so what does not fit is dropped after the same way.
pub(crate) fn run(sockets: u32) -> io::Result<Infallible> {
    device::loopback_up()?;
    let any = SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, PORT);
    let _receivers: Vec<UdpSocket> = (0..sockets).map(|_| udp::shared(any)).collect::<io::Result<_>>()?;
    let sender = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    sender.set_broadcast(true)?;
    sender.connect(SocketAddrV4::new(Ipv4Addr::new(127, 255, 255, 255), PORT))?;
    loop {
        sender.send(&[0])?;
    }
}
