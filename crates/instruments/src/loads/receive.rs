//! `receive`: broadcasts over loopback to many UDP sockets; one process sends, four read.
//!
//! A broadcast is received at once, for every socket, in one soft interrupt that ends before its sender goes on. What no
//! longer fits into a socket is dropped there, after the same way.

use super::code::LoadCode;
use super::part::{Ending, RunningPart};
use super::{LoadError, Pace};
use crate::sys::{device, signal, udp};
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::os::fd::AsFd;

/// All sockets of the machine that have the port.
const EVERYBODY: Ipv4Addr = Ipv4Addr::new(127, 255, 255, 255);
const USUAL_SOCKETS: u32 = 64;
const READERS: usize = 4;
const DATAGRAM: usize = 512;
const BROADCASTS: usize = 0;
const DATAGRAMS: usize = 1;

/// Broadcasts to many sockets.
pub const RECEIVE: LoadCode = LoadCode {
    name: "receive",
    units: &["broadcasts", "datagrams"],
    body: Some(start),
};

fn start(load: &mut RunningPart, _seed: u64) -> Result<(), LoadError> {
    if load.surroundings().owns_machine {
        device::loopback_up().map_err(load.preparing("bringing up the loopback interface"))?;
    }
    let sockets = load.request().number().unwrap_or(USUAL_SOCKETS);
    let sockets = receivers(sockets).map_err(load.preparing("making UDP sockets"))?;
    let to = sockets[0].local_addr().map_err(load.preparing("asking for a port"))?;
    for own in sockets.chunks(sockets.len().div_ceil(READERS)) {
        load.spawn(Ending::Anywhere, |board| {
            loop {
                let read = read_all(own).map_err(|e| format!("a socket: {e}"))?;
                board.add(DATAGRAMS, read);
            }
        })?;
    }
    let rate = load.request().rate();
    load.spawn(Ending::Anywhere, |board| {
        let failed = |e| format!("a broadcast: {e}");
        let sender = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
        sender.set_broadcast(true).map_err(failed)?;
        let mut pace = Pace::alone(rate);
        loop {
            pace.wait();
            sender.send_to(&[0x55; DATAGRAM], to).map_err(failed)?;
            board.add(BROADCASTS, 1);
        }
    })
}

/// So many sockets of one port.
fn receivers(count: u32) -> io::Result<Vec<UdpSocket>> {
    let first = udp::shared(SocketAddrV4::new(EVERYBODY, 0))?;
    let port = first.local_addr()?.port();
    let mut all = vec![first];
    for _ in 1..count {
        all.push(udp::shared(SocketAddrV4::new(EVERYBODY, port))?);
    }
    all.iter().try_for_each(|socket| socket.set_nonblocking(true))?;
    Ok(all)
}

/// Waits until the first of a reader's sockets has something, and reads all of them.
fn read_all(sockets: &[UdpSocket]) -> io::Result<u64> {
    signal::poll(sockets[0].as_fd(), None)?;
    let mut datagram = [0; DATAGRAM];
    let mut read = 0;
    for socket in sockets {
        loop {
            match socket.recv(&mut datagram) {
                Ok(_) => read += 1,
                Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                Err(e) => return Err(e),
            }
        }
    }
    Ok(read)
}
