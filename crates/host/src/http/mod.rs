//! A small HTTP server that strangers may use: one thread, a fixed number of connections, and a bound on all that one of them
//! can take. It serves a watch's metrics, and must not cost the measurement anything.
//!
//! ```text
//! Server       accepts, waits for what is ready (poll), closes what takes too long
//! connection   one of them: a request that comes in, an answer that goes out
//! message      the head of a request, and an answer as bytes
//! ```
//!
//! The limits of a client are in [`ServerLimits`]. The server takes the descriptors of all connections when it begins, so that
//! no client can take one that the measurement needs for its files. No body is read. Nothing is kept alive: an answer ends its
//! connection.

mod connection;
pub mod message;
#[cfg(test)]
mod tests;

use connection::Connection;
use message::{HttpAnswer, HttpRequest};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Limits of what clients may take.
#[derive(Clone, Copy, Debug)]
pub struct ServerLimits {
    /// Connections at a time. A new connection replaces the oldest one.
    pub(crate) connections: usize,
    /// Bytes of a request: its first line and its headers. It has no body.
    pub head: usize,
    /// Time until the request's first byte.
    pub(crate) first_byte: Duration,
    /// Time until the answer is written.
    pub whole: Duration,
}

/// For scrapers on a network: many times what any of them needs.
pub const LIMITS: ServerLimits = ServerLimits {
    connections: 16,
    head: 8 << 10,
    first_byte: Duration::from_secs(5),
    whole: Duration::from_secs(10),
};

/// How often the server looks whether it is to end.
const LOOK: Duration = Duration::from_millis(100);
/// The server accepts nothing for this long when the system has no descriptor or memory for a connection.
const PAUSE: Duration = Duration::from_millis(100);
/// Descriptors that must be left besides the server's: for the measurement, its files, and its children.
const LEFT: usize = 24;

/// A server that listens.
pub struct HttpServer {
    listener: TcpListener,
    limits: ServerLimits,
    /// The open connections, the oldest first.
    open: Vec<Connection>,
    /// Placeholders: one for each connection that is not open, to reserve a descriptor.
    kept: Vec<TcpListener>,
    /// Nothing is accepted until then.
    pause: Option<Instant>,
}

impl HttpServer {
    /// Listens at this address alone. An error if not all descriptors that it may need are available now.
    pub fn open(at: SocketAddr, limits: ServerLimits) -> io::Result<HttpServer> {
        let listener = TcpListener::bind(at)?;
        listener.set_nonblocking(true)?;
        let mut server = HttpServer {
            listener,
            limits,
            open: Vec::with_capacity(limits.connections),
            kept: Vec::new(),
            pause: None,
        };
        server.keep()?;
        let left: io::Result<Vec<TcpListener>> = (0..LEFT).map(|_| server.listener.try_clone()).collect();
        left?;
        Ok(server)
    }

    /// The address at which it listens.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Answers until `over` is set.
    pub fn serve(&mut self, over: &AtomicBool, answer: impl Fn(&HttpRequest<'_>) -> HttpAnswer) {
        while !over.load(Ordering::Relaxed) {
            self.step(&answer);
        }
    }

    /// Waits a moment for something to do, and does it.
    fn step(&mut self, answer: &impl Fn(&HttpRequest<'_>) -> HttpAnswer) {
        let ready = self.wait();
        let now = Instant::now();
        for (connection, is_ready) in self.open.iter_mut().zip(&ready[1..]) {
            if *is_ready {
                connection.go_on(&self.limits, answer);
            }
        }
        if ready[0] {
            self.accept(now, answer);
        }
        self.open.retain(|c| !c.is_over() && now < c.end(&self.limits));
        // If that fails, another thread took the descriptor; the next connection waits until one is free.
        let _ = self.keep();
    }

    /// What is ready: the listener first, then each connection.
    fn wait(&self) -> Vec<bool> {
        let now = Instant::now();
        let is_deaf = self.pause.is_some_and(|end| now < end);
        let listening = if is_deaf { PollFlags::empty() } else { PollFlags::IN };
        let mut asked = vec![PollFd::new(&self.listener, listening)];
        asked.extend(self.open.iter().map(|c| PollFd::new(c.stream(), c.waits_for())));
        let ends = self
            .open
            .iter()
            .map(|c| c.end(&self.limits))
            .chain(self.pause.filter(|_| is_deaf));
        let next = ends
            .map(|end| end.saturating_duration_since(now))
            .fold(LOOK, Duration::min);
        let next = Timespec::try_from(next).expect("LOOK is short");
        match poll(&mut asked, Some(&next)) {
            Ok(_) => asked.iter().map(|fd| !fd.revents().is_empty()).collect(),
            // A signal came, or memory is short for a moment.
            Err(_) => vec![false; asked.len()],
        }
    }

    /// Accepts one waiting connection. If there is another, the listener is ready again.
    fn accept(&mut self, now: Instant, answer: &impl Fn(&HttpRequest<'_>) -> HttpAnswer) {
        if self.open.len() >= self.limits.connections {
            self.open.remove(0);
        } else {
            // The connection takes this placeholder's descriptor.
            self.kept.pop();
        }
        match self
            .listener
            .accept()
            .and_then(|(stream, _)| Connection::new(stream, now))
        {
            Ok(mut connection) => {
                // Most clients have sent their request by now.
                connection.go_on(&self.limits, answer);
                self.open.push(connection);
            }
            // The client has gone, or a signal came.
            Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(e) if e.kind() == io::ErrorKind::ConnectionAborted => {}
            // No descriptor or memory: asking again at once would loop.
            Err(_) => self.pause = Some(now + PAUSE),
        }
    }

    /// Keeps a placeholder for each connection that is not open.
    fn keep(&mut self) -> io::Result<()> {
        while self.kept.len() + self.open.len() < self.limits.connections {
            self.kept.push(self.listener.try_clone()?);
        }
        Ok(())
    }
}
