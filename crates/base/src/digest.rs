//! Content keys: SHA-256 over parts, each with its length, so that no two lists of parts give the same bytes.

use sha2::{Digest as _, Sha256};
use std::fmt::Write;

/// A digest being computed.
pub struct Digest(Sha256);

impl Digest {
    /// Starts with the name of what is digested and its version.
    pub fn new(kind: &str) -> Self {
        let mut digest = Digest(Sha256::new());
        digest.text(kind);
        digest
    }

    /// Adds a text.
    pub fn text(&mut self, part: &str) -> &mut Self {
        self.bytes(part.as_bytes())
    }

    /// Adds bytes.
    pub fn bytes(&mut self, part: &[u8]) -> &mut Self {
        self.0.update((part.len() as u64).to_le_bytes());
        self.0.update(part);
        self
    }

    /// The digest in hexadecimal.
    pub fn hex(&self) -> String {
        hex(&self.0.clone().finalize())
    }
}

/// SHA-256 of bytes in hexadecimal digits.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&sha256(bytes))
}

/// SHA-256 of bytes.
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// Hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut out, byte| {
        write!(out, "{byte:02x}").expect("writing to a String cannot fail");
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_run_into_each_other() {
        assert_ne!(
            Digest::new("x").text("ab").text("c").hex(),
            Digest::new("x").text("a").text("bc").hex()
        );
        assert_eq!(
            sha256_hex(b""),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }
}
