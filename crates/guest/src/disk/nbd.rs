//! The kernel's side of nbd (drivers/block/nbd.c), set up by ioctl, and what goes over its socket.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use worstcase_disk::{Action, Request};
use worstcase_instruments::sys::process;

// <linux/nbd.h>
const SET_SOCK: u64 = 0xab00;
const SET_BLOCK_SIZE: u64 = 0xab01;
const DO_IT: u64 = 0xab03;
const SET_SIZE_BLOCKS: u64 = 0xab07;
const SET_FLAGS: u64 = 0xab0a;
const HAS_FLAGS: u64 = 1;
const SEND_FLUSH: u64 = 1 << 2;
const SEND_FUA: u64 = 1 << 3;
const COMMAND_FUA: u32 = 1 << 16;
const REQUEST_MAGIC: u32 = 0x2560_9513;
const REPLY_MAGIC: u32 = 0x6744_6698;

const SECTOR: u64 = 512;
/// Bytes of a request without its data.
pub(crate) const REQUEST: usize = 28;

/// What a socket holds: more than the longest request, so that neither side waits for the other in the middle of one.
const ROOM: libc::c_int = 4 << 20;

/// Two ends: the kernel's and the server's.
pub(crate) fn sockets() -> io::Result<(UnixStream, UnixStream)> {
    let (kernel, server) = UnixStream::pair()?;
    make_room(&kernel)?;
    make_room(&server)?;
    Ok((kernel, server))
}

fn make_room(socket: &UnixStream) -> io::Result<()> {
    let length = size_of_val(&ROOM) as libc::socklen_t;
    let (fd, option) = (socket.as_raw_fd(), libc::SO_SNDBUFFORCE);
    // SAFETY: the pointer is to an integer of this length that outlives the call.
    match unsafe { libc::setsockopt(fd, libc::SOL_SOCKET, option, std::ptr::from_ref(&ROOM).cast(), length) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// The device's node.
pub(crate) struct Client(File);

impl Client {
    /// Gives the device its size.
    pub(crate) fn open(node: &Path, bytes: u64) -> io::Result<Client> {
        let client = Client(File::options().read(true).write(true).open(node)?);
        client.control(SET_BLOCK_SIZE, SECTOR)?;
        client.control(SET_SIZE_BLOCKS, bytes / SECTOR)?;
        client.control(SET_FLAGS, HAS_FLAGS | SEND_FLUSH | SEND_FUA)?;
        Ok(client)
    }

    /// Lets the kernel use the device, until the machine ends.
    pub(crate) fn run(&self, socket: &UnixStream) -> i32 {
        // Whoever waits for the device sees that it does not become ready.
        let _ = process::set_name("disk-client");
        let started = self.control(SET_SOCK, socket.as_raw_fd() as u64);
        i32::from(started.and_then(|()| self.control(DO_IT, 0)).is_err())
    }

    fn control(&self, what: u64, value: u64) -> io::Result<()> {
        // SAFETY: these requests take a number, no pointer.
        match unsafe { libc::ioctl(self.0.as_raw_fd(), what as libc::Ioctl, value) } {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    }
}

/// A request as it comes; none if the kernel says goodbye, or what it says is not of this protocol.
pub(crate) fn parse(bytes: &[u8; REQUEST]) -> Option<Request> {
    let word = |at: usize| u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let long = |at: usize| u64::from(word(at)) << 32 | u64::from(word(at + 4));
    let command = word(4);
    let action = match command & 0xffff {
        0 => Action::Read,
        1 => Action::Write,
        3 => Action::Flush,
        4 => Action::Discard,
        _ => return None,
    };
    (word(0) == REQUEST_MAGIC).then(|| Request {
        id: long(8),
        action,
        fua: command & COMMAND_FUA != 0,
        sector: long(16) / SECTOR,
        sectors: word(24) / SECTOR as u32,
    })
}

/// The beginning of an answer; what was read follows.
pub(crate) fn reply(id: u64) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..4].copy_from_slice(&REPLY_MAGIC.to_be_bytes());
    bytes[8..].copy_from_slice(&id.to_be_bytes());
    bytes
}
