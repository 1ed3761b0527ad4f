//! The container of a .deb: an `ar` archive (deb(5)), whose members have short names.

use std::io::{self, Read};

const MAGIC: &[u8] = b"!<arch>\n";
const HEADER: usize = 60;

/// A member's header.
#[derive(Debug, PartialEq, Eq)]
pub struct ArMember {
    /// Its name.
    pub name: String,
    /// Its length.
    pub size: u64,
}

/// Reads the beginning of an archive.
pub fn begin(input: &mut impl Read) -> Result<(), String> {
    let mut magic = [0; MAGIC.len()];
    match fill(input, &mut magic)? == MAGIC.len() && magic == MAGIC {
        true => Ok(()),
        false => Err("it is no ar archive".into()),
    }
}

/// Reads a member's header; `None` at the archive's end. The content follows, and after content of odd length one more
/// byte.
pub fn next(input: &mut impl Read) -> Result<Option<ArMember>, String> {
    let mut header = [0; HEADER];
    match fill(input, &mut header)? {
        0 => return Ok(None),
        HEADER => {}
        _ => return Err("a header is cut short".into()),
    }
    if header[58..] != *b"`\n" {
        return Err("a header is damaged".into());
    }
    let text = |range: std::ops::Range<usize>| std::str::from_utf8(&header[range]).map(str::trim_end);
    let size = text(48..58).ok().and_then(|digits| digits.parse().ok());
    Ok(Some(ArMember {
        name: text(0..16).map_or(String::new(), |name| name.trim_end_matches('/').to_string()),
        size: size.ok_or("a header has no length")?,
    }))
}

/// Skips the byte after content of odd length; after the last member it may be missing.
pub fn pad(input: &mut impl Read, size: u64) -> Result<(), String> {
    match size % 2 {
        0 => Ok(()),
        _ => fill(input, &mut [0]).map(drop),
    }
}

/// Fills the buffer as far as the input reaches; gives the number of bytes.
fn fill(input: &mut impl Read, buffer: &mut [u8]) -> Result<usize, String> {
    let mut filled = 0;
    while filled < buffer.len() {
        match input.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e.to_string()),
        }
    }
    Ok(filled)
}
