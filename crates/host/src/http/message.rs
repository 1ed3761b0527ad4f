//! The head of a request, and an answer as bytes.

use std::borrow::Cow;

/// More headers than any scraper sends.
const HEADERS: usize = 64;
/// The type of answers for people.
const TEXT: &str = "text/plain; charset=utf-8";

/// A request without a body.
#[derive(Debug, PartialEq, Eq)]
pub struct HttpRequest<'a> {
    /// GET, HEAD, or another.
    pub method: &'a str,
    /// Without the query behind a question mark.
    pub path: &'a str,
    /// The media types that the client accepts; empty if it names none, or in bytes that are no text.
    pub accept: &'a str,
}

/// A request as far as its bytes have come.
#[derive(Debug)]
pub enum HttpHead<'a> {
    /// The request is incomplete.
    Begun,
    /// The complete request.
    Whole(HttpRequest<'a>),
    /// The bytes are no request, or one that is not served.
    Refused(HttpAnswer),
}

/// An answer, complete but for the headers that all have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpAnswer {
    status: &'static str,
    kind: &'static str,
    body: Cow<'static, [u8]>,
}

/// The answer to a request whose head is too long.
pub(crate) const TOO_LONG: HttpAnswer = HttpAnswer::text("431 Request Header Fields Too Large", "too long a request\n");
const NOT_HTTP: HttpAnswer = HttpAnswer::text("400 Bad Request", "not HTTP/1\n");
const HAS_BODY: HttpAnswer = HttpAnswer::text("413 Content Too Large", "a request here has no body\n");

impl HttpAnswer {
    /// An answer of one line for people.
    pub const fn text(status: &'static str, line: &'static str) -> HttpAnswer {
        HttpAnswer {
            status,
            kind: TEXT,
            body: Cow::Borrowed(line.as_bytes()),
        }
    }

    /// An answer with the requested content.
    pub fn found(kind: &'static str, body: Vec<u8>) -> HttpAnswer {
        HttpAnswer {
            status: "200 OK",
            kind,
            body: Cow::Owned(body),
        }
    }

    /// The bytes to send; the head alone for a HEAD request.
    pub fn bytes(&self, with_body: bool) -> Vec<u8> {
        let HttpAnswer { status, kind, body } = self;
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
        );
        [head.as_bytes(), if with_body { body } else { &[] }].concat()
    }
}

/// The head of the request that begins with these bytes.
pub fn head(bytes: &[u8]) -> HttpHead<'_> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut parsed = httparse::Request::new(&mut headers);
    match parsed.parse(bytes) {
        Ok(httparse::Status::Partial) => return HttpHead::Begun,
        Ok(httparse::Status::Complete(_)) => {}
        Err(httparse::Error::TooManyHeaders) => return HttpHead::Refused(TOO_LONG),
        Err(_) => return HttpHead::Refused(NOT_HTTP),
    }
    let named = |name: &str| parsed.headers.iter().find(|h| h.name.eq_ignore_ascii_case(name));
    // Only an empty body is accepted: none is read.
    let is_empty = named("Content-Length").is_none_or(|length| length.value == b"0");
    if named("Transfer-Encoding").is_some() || !is_empty {
        return HttpHead::Refused(HAS_BODY);
    }
    let accept = named("Accept").map_or("", |accept| std::str::from_utf8(accept.value).unwrap_or_default());
    let target = parsed.path.unwrap_or_default();
    HttpHead::Whole(HttpRequest {
        method: parsed.method.unwrap_or_default(),
        path: target.split('?').next().unwrap_or_default(),
        accept,
    })
}
