//! The end of another program's output, in bounded memory.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read};

/// Bytes that are kept.
pub const KEPT: usize = 64 << 10;
/// Longest line that is shown, in characters.
const TOLD: usize = 1_000;

/// The last [`KEPT`] bytes of what was pushed.
#[derive(Debug, Default)]
pub struct ByteTail(VecDeque<u8>);

impl ByteTail {
    /// The end of all that `from` gives; a read error ends it.
    pub fn of(mut from: impl Read) -> ByteTail {
        let mut tail = ByteTail::default();
        tail.follow(&mut from, |_| ());
        tail
    }

    /// Like [`ByteTail::of`]; calls `each` whenever bytes came.
    pub fn follow(&mut self, mut from: impl Read, mut each: impl FnMut(&ByteTail)) {
        let mut buffer = [0; 8 << 10];
        loop {
            match from.read(&mut buffer) {
                Ok(0) => return,
                Ok(n) => {
                    self.push(&buffer[..n]);
                    each(self);
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        self.0.extend(bytes);
        self.0.drain(..self.0.len().saturating_sub(KEPT));
    }

    /// The kept bytes as text.
    pub fn text(&self) -> String {
        let bytes: Vec<u8> = self.0.iter().copied().collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The last line that is not empty, trimmed; a long line is cut.
    pub fn last_line(&self) -> Option<String> {
        let text = self.text();
        let line = text.lines().map(str::trim).rfind(|line| !line.is_empty())?;
        Some(line.chars().take(TOLD).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_much_is_kept() {
        let much = std::io::repeat(b'x').take(100 << 20);
        let tail = ByteTail::of(much.chain(&b"\nthe reason\n \n"[..]));
        assert!(
            tail.0.len() == KEPT && tail.0.capacity() < 4 * KEPT,
            "{}",
            tail.0.capacity()
        );
        assert_eq!(tail.last_line().as_deref(), Some("the reason"));
        assert_eq!(ByteTail::of(&b""[..]).last_line(), None);
        let long = ByteTail::of(std::io::repeat(b'y').take(2 << 20));
        assert_eq!(long.last_line().unwrap().len(), TOLD);
    }
}
