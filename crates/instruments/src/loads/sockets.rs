//! `sockets`: message ping-pong and streaming over loopback TCP and UNIX sockets, eight processes in pairs.
//!
//! Two TCP pairs and one UNIX pair return each message of 512 bytes; one TCP pair streams blocks of 16 KiB.
//! In the lab the loopback interface is brought up first; on a host it must be up already.

use super::LoadError;
use super::board::Board;
use super::code::LoadCode;
use super::part::{Ending, RunningPart};
use crate::sys::device;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;

const MESSAGE: usize = 512;
const BLOCK: usize = 16 * 1024;
const TCP_PING_PONGS: usize = 2;
const MESSAGES: usize = 0;
const BYTES: usize = 1;

/// Messages and streams over loopback and UNIX sockets.
pub const SOCKETS: LoadCode = LoadCode {
    name: "sockets",
    units: &["messages", "bytes"],
    body: Some(start),
};

fn start(load: &mut RunningPart, _seed: u64) -> Result<(), LoadError> {
    if load.surroundings().owns_machine {
        device::loopback_up().map_err(load.preparing("bringing up the loopback interface"))?;
    }
    for _ in 0..TCP_PING_PONGS {
        let (a, b) = tcp_pair().map_err(load.preparing("connecting over loopback"))?;
        ping_pong(load, a, b)?;
    }
    let (a, b) = UnixStream::pair().map_err(load.preparing("making UNIX sockets"))?;
    ping_pong(load, a, b)?;
    let (a, b) = tcp_pair().map_err(load.preparing("connecting over loopback"))?;
    stream(load, a, b)
}

fn tcp_pair() -> io::Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let a = TcpStream::connect(listener.local_addr()?)?;
    let (b, peer) = listener.accept()?;
    if peer != a.local_addr()? {
        return Err(io::Error::other("somebody else connected"));
    }
    for socket in [&a, &b] {
        socket.set_nodelay(true)?;
    }
    Ok((a, b))
}

/// One process sends and waits for the answer, the other returns what it gets.
fn ping_pong<S: Read + Write>(load: &mut RunningPart, mut a: S, mut b: S) -> Result<(), LoadError> {
    load.spawn(Ending::Anywhere, |board| {
        let mut message = [0x55; MESSAGE];
        forever(|| {
            a.write_all(&message)?;
            a.read_exact(&mut message)?;
            count(board, 2, 2 * MESSAGE);
            Ok(())
        })
    })?;
    load.spawn(Ending::Anywhere, |_| {
        let mut message = [0; MESSAGE];
        forever(|| {
            b.read_exact(&mut message)?;
            b.write_all(&message)
        })
    })
}

/// One process sends without end, the other takes.
fn stream(load: &mut RunningPart, mut a: TcpStream, mut b: TcpStream) -> Result<(), LoadError> {
    load.spawn(Ending::Anywhere, |_| {
        let block = vec![0xaa; BLOCK];
        forever(|| a.write_all(&block))
    })?;
    load.spawn(Ending::Anywhere, |board| {
        let mut block = vec![0; BLOCK];
        forever(|| {
            b.read_exact(&mut block)?;
            count(board, 1, BLOCK);
            Ok(())
        })
    })
}

fn count(board: &Board, messages: u64, bytes: usize) {
    board.add(MESSAGES, messages);
    board.add(BYTES, bytes as u64);
}

fn forever(mut turn: impl FnMut() -> io::Result<()>) -> Result<(), String> {
    loop {
        turn().map_err(|e| format!("a socket: {e}"))?;
    }
}
