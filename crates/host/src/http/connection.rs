//! One connection: a request comes in, an answer goes out, and neither blocks.

use super::ServerLimits;
use super::message::{self, HttpAnswer, HttpHead, HttpRequest};
use rustix::event::PollFlags;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Instant;

/// Bytes of one read.
const CHUNK: usize = 2 << 10;

pub(crate) struct Connection {
    stream: TcpStream,
    since: Instant,
    state: ConnectionState,
}

enum ConnectionState {
    /// The bytes of the request so far.
    Asked(Vec<u8>),
    /// The answer, and how much of it was written.
    Answered(Vec<u8>, usize),
    Over,
}

impl Connection {
    /// A connection that was just accepted.
    pub fn new(stream: TcpStream, now: Instant) -> io::Result<Connection> {
        stream.set_nonblocking(true)?;
        Ok(Connection {
            stream,
            since: now,
            state: ConnectionState::Asked(Vec::new()),
        })
    }

    /// The socket to poll.
    pub fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// The events to poll for.
    pub(crate) fn waits_for(&self) -> PollFlags {
        match self.state {
            ConnectionState::Asked(_) => PollFlags::IN,
            ConnectionState::Answered(..) => PollFlags::OUT,
            ConnectionState::Over => PollFlags::empty(),
        }
    }

    /// Whether the connection is to be closed.
    pub fn is_over(&self) -> bool {
        matches!(self.state, ConnectionState::Over)
    }

    /// The time at which it is closed, whatever it waits for.
    pub fn end(&self, limits: &ServerLimits) -> Instant {
        match &self.state {
            ConnectionState::Asked(head) if head.is_empty() => self.since + limits.first_byte.min(limits.whole),
            _ => self.since + limits.whole,
        }
    }

    /// Reads and writes without blocking.
    pub fn go_on(&mut self, limits: &ServerLimits, answer: &impl Fn(&HttpRequest<'_>) -> HttpAnswer) {
        if let ConnectionState::Asked(head) = &mut self.state {
            match read(&mut self.stream, head, limits, answer) {
                Ok(Some(bytes)) => self.state = ConnectionState::Answered(bytes, 0),
                Ok(None) => return,
                Err(()) => self.state = ConnectionState::Over,
            }
        }
        if let ConnectionState::Answered(bytes, written) = &mut self.state
            && !matches!(write(&mut self.stream, bytes, written), Ok(false))
        {
            self.state = ConnectionState::Over;
        }
    }
}

/// The answer, once the request is complete. An error if the client is gone.
fn read(
    stream: &mut TcpStream,
    head: &mut Vec<u8>,
    limits: &ServerLimits,
    answer: &impl Fn(&HttpRequest<'_>) -> HttpAnswer,
) -> Result<Option<Vec<u8>>, ()> {
    let mut chunk = [0; CHUNK];
    loop {
        let room = (limits.head - head.len()).min(CHUNK);
        match stream.read(&mut chunk[..room]) {
            Ok(0) => return Err(()),
            Ok(count) => head.extend_from_slice(&chunk[..count]),
            Err(e) if e.kind() == ErrorKind::Interrupted => continue,
            Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(None),
            Err(_) => return Err(()),
        }
        match message::head(head) {
            HttpHead::Whole(request) => return Ok(Some(answer(&request).bytes(request.method != "HEAD"))),
            HttpHead::Refused(answer) => return Ok(Some(answer.bytes(true))),
            HttpHead::Begun if head.len() >= limits.head => return Ok(Some(message::TOO_LONG.bytes(true))),
            HttpHead::Begun => {}
        }
    }
}

/// Whether everything is written.
fn write(stream: &mut TcpStream, bytes: &[u8], written: &mut usize) -> io::Result<bool> {
    while *written < bytes.len() {
        match stream.write(&bytes[*written..]) {
            Ok(count) => *written += count,
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(false),
            Err(e) => return Err(e),
        }
    }
    Ok(true)
}
