//! Tests each limit with a client that exceeds it. Time limits are short so that a test need not wait; none asserts how
//! long something took.

use super::message::{HttpAnswer, HttpHead, HttpRequest, head};
use super::{HttpServer, LIMITS, ServerLimits};
use proptest::prelude::*;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

const NEVER: Duration = Duration::from_secs(3_600);
/// Long enough for a test that is not scheduled for a while between its connection and its first byte.
const SOON: Duration = Duration::from_secs(1);
const PATIENT: ServerLimits = ServerLimits {
    connections: 4,
    first_byte: NEVER,
    whole: NEVER,
    ..LIMITS
};

struct RunningServer {
    at: SocketAddr,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<HttpServer>>,
}

impl RunningServer {
    fn new(limits: ServerLimits) -> RunningServer {
        let mut server = HttpServer::open("127.0.0.1:0".parse().unwrap(), limits).unwrap();
        let (at, over) = (server.address().unwrap(), Arc::new(AtomicBool::new(false)));
        let seen = over.clone();
        let thread = std::thread::spawn(move || {
            server.serve(&seen, answer);
            server
        });
        RunningServer {
            at,
            over,
            thread: Some(thread),
        }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.at).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    /// Sends a request; gives all that comes back.
    fn exchange(&self, request: &[u8]) -> String {
        let mut stream = self.connect();
        stream.write_all(request).unwrap();
        rest(stream)
    }

    fn end(mut self) -> HttpServer {
        self.over.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap()
    }
}

impl Drop for RunningServer {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

/// Reads until the server closes. If the server closed without reading everything, the connection is reset.
fn rest(mut stream: TcpStream) -> String {
    let (mut all, mut chunk) = (Vec::new(), [0; 4_096]);
    loop {
        match stream.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => all.extend_from_slice(&chunk[..count]),
            Err(e) if e.kind() == std::io::ErrorKind::ConnectionReset => break,
            Err(e) => panic!("it is still open: {e}"),
        }
    }
    String::from_utf8(all).unwrap()
}

fn answer(request: &HttpRequest<'_>) -> HttpAnswer {
    match request.path {
        "/large" => HttpAnswer::found("text/plain", vec![b'x'; 32 << 20]),
        path => HttpAnswer::found(
            "text/plain",
            format!("{} {path} {}", request.method, request.accept).into_bytes(),
        ),
    }
}

#[test]
fn a_request_is_answered_and_its_connection_closed() {
    let server = RunningServer::new(PATIENT);
    let told = server.exchange(b"GET /here?x=1 HTTP/1.1\r\nHost: x\r\naccept: text/plain\r\n\r\n");
    let (head, body) = told.split_once("\r\n\r\n").unwrap();
    assert_eq!(body, "GET /here text/plain");
    assert!(
        head.starts_with("HTTP/1.1 200 OK\r\n") && head.contains("Content-Length: 20\r\nConnection: close"),
        "{head}"
    );
    let told = server.exchange(b"HEAD /here HTTP/1.0\r\n\r\n");
    assert!(
        told.contains("Content-Length: 11\r\n") && told.ends_with("\r\n\r\n"),
        "{told}"
    );
}

#[test]
fn a_request_may_come_byte_by_byte() {
    let server = RunningServer::new(PATIENT);
    let mut stream = server.connect();
    for byte in b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n" {
        stream.write_all(&[*byte]).unwrap();
        std::thread::yield_now();
    }
    assert!(rest(stream).ends_with("GET /slow "));
}

#[test]
fn no_body_is_read() {
    let server = RunningServer::new(PATIENT);
    for body in [
        "Content-Length: 99999999999",
        "Content-Length: 99999999999999999999999999",
        "content-length: -1",
        "Transfer-Encoding: chunked",
        "Transfer-Encoding: identity\r\nContent-Length: 0",
    ] {
        let told = server.exchange(format!("GET / HTTP/1.1\r\n{body}\r\n\r\n").as_bytes());
        assert!(told.starts_with("HTTP/1.1 413 "), "{body}: {told}");
    }
    assert!(
        server
            .exchange(b"GET / HTTP/1.1\r\nContent-Length: 0\r\n\r\n")
            .starts_with("HTTP/1.1 200 ")
    );
}

#[test]
fn a_head_has_a_bound() {
    let server = RunningServer::new(PATIENT);
    let begun = "GET / HTTP/1.1\r\nX: ";
    let longest = LIMITS.head - begun.len() - 4;
    let with = |count: usize| format!("{begun}{}\r\n\r\n", "x".repeat(count));
    assert!(server.exchange(with(longest).as_bytes()).starts_with("HTTP/1.1 200 "));
    assert!(
        server
            .exchange(with(longest + 1).as_bytes())
            .starts_with("HTTP/1.1 431 ")
    );
    // The server does not wait for the end of such a head.
    assert!(
        server
            .exchange(with(longest + 4).trim_end().as_bytes())
            .starts_with("HTTP/1.1 431 ")
    );
    let many = "X: y\r\n".repeat(100);
    assert!(
        server
            .exchange(format!("GET / HTTP/1.1\r\n{many}").as_bytes())
            .starts_with("HTTP/1.1 431 ")
    );
}

#[test]
fn what_is_no_http_is_told_so() {
    let server = RunningServer::new(PATIENT);
    for bytes in [
        &b"\x16\x03\x01\x02\x00\x01\x00"[..],
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET\r\n\r\n",
    ] {
        assert!(server.exchange(bytes).starts_with("HTTP/1.1 400 "), "{bytes:?}");
    }
}

#[test]
fn who_sends_nothing_is_closed() {
    let server = RunningServer::new(ServerLimits {
        first_byte: SOON,
        ..PATIENT
    });
    assert_eq!(rest(server.connect()), "");
    // A client that has begun its request has more time.
    let mut begun = server.connect();
    begun.write_all(b"GET / HT").unwrap();
    assert_eq!(rest(server.connect()), "");
    begun.write_all(b"TP/1.1\r\n\r\n").unwrap();
    assert!(rest(begun).ends_with("GET / "));
}

#[test]
fn who_does_not_end_is_closed() {
    let server = RunningServer::new(ServerLimits { whole: SOON, ..PATIENT });
    let mut begun = server.connect();
    begun.write_all(b"GET / HTTP/1.1\r\n").unwrap();
    assert_eq!(rest(begun), "");
}

#[test]
fn who_does_not_read_is_closed() {
    let server = RunningServer::new(ServerLimits { whole: SOON, ..PATIENT });
    let mut stream = server.connect();
    stream.write_all(b"GET /large HTTP/1.1\r\n\r\n").unwrap();
    // The server answers others meanwhile: it waits for no client.
    assert!(server.exchange(b"GET /other HTTP/1.1\r\n\r\n").ends_with("GET /other "));
    // When this is answered, the time of the slow reader is over.
    assert_eq!(rest(server.connect()), "");
    let told = rest(stream);
    assert!(
        told.starts_with("HTTP/1.1 200 ") && told.len() < 32 << 20,
        "{}",
        told.len()
    );
}

#[test]
fn a_newcomer_takes_the_place_of_the_oldest_and_descriptors_stay_what_they_are() {
    let server = RunningServer::new(PATIENT);
    let idle: Vec<TcpStream> = (0..3 * PATIENT.connections).map(|_| server.connect()).collect();
    assert!(server.exchange(b"GET / HTTP/1.1\r\n\r\n").ends_with("GET / "));
    for stream in idle.into_iter().take(2 * PATIENT.connections) {
        assert_eq!(rest(stream), "");
    }
    let server = server.end();
    assert!(server.open.len() <= PATIENT.connections);
    assert_eq!(server.open.len() + server.kept.len(), PATIENT.connections);
}

#[test]
fn who_goes_away_makes_room() {
    let server = RunningServer::new(PATIENT);
    for _ in 0..10 {
        let mut stream = server.connect();
        stream.write_all(b"GET /large HTTP/1.1\r\n\r\n").unwrap();
        drop(stream);
    }
    assert!(server.exchange(b"GET / HTTP/1.1\r\n\r\n").ends_with("GET / "));
    let server = server.end();
    assert_eq!(server.open.len() + server.kept.len(), PATIENT.connections);
}

proptest! {
    #[test]
    fn any_bytes_are_a_head_or_not(bytes in prop::collection::vec(any::<u8>(), 0..512)) {
        if let HttpHead::Refused(answer) = head(&bytes) {
            prop_assert!(answer.bytes(true).starts_with(b"HTTP/1.1 4"));
        }
    }
}
