//! Memory in which bytes leave a machine that has no debug port: a file of the controller's, mapped into the machine.
//!
//! ```text
//! N u64 LE, stored last | N bytes: what a debug port would have been sent
//! ```
//! What is sent is appended to what the memory holds: a fork of a snapshot finds an empty file.

use std::sync::atomic::{AtomicU64, Ordering};

const WORD: usize = size_of::<u64>();

/// How many bytes of the memory are used once so many were sent more.
pub(super) fn used(filled: u64, more: usize) -> usize {
    WORD + filled as usize + more
}

/// How many bytes were sent.
pub(super) fn filled(memory: &[AtomicU64]) -> u64 {
    memory[0].load(Ordering::Relaxed)
}

/// Appends bytes, for which there must be room. Only aligned words are stored: a device's memory takes no others.
pub(super) fn append(memory: &[AtomicU64], bytes: &[u8]) {
    let before = filled(memory);
    let mut at = used(before, 0);
    let mut rest = bytes;
    while !rest.is_empty() {
        let (word, within) = (&memory[at / WORD], at % WORD);
        let (now, later) = rest.split_at(rest.len().min(WORD - within));
        let mut whole = word.load(Ordering::Relaxed).to_le_bytes();
        whole[within..within + now.len()].copy_from_slice(now);
        word.store(u64::from_le_bytes(whole), Ordering::Relaxed);
        at += now.len();
        rest = later;
    }
    memory[0].store(before + bytes.len() as u64, Ordering::Release);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_follow_each_other() {
        let memory = [const { AtomicU64::new(0) }; 5];
        for text in ["WCERR\0", "", "no such load", "!"] {
            append(&memory, text.as_bytes());
        }
        let bytes: Vec<u8> = memory
            .iter()
            .flat_map(|word| word.load(Ordering::Relaxed).to_le_bytes())
            .collect();
        let sent = b"WCERR\0no such load!";
        assert_eq!(filled(&memory), sent.len() as u64);
        assert_eq!(bytes[WORD..used(filled(&memory), 0)], sent[..]);
        assert!(bytes[used(filled(&memory), 0)..].iter().all(|byte| *byte == 0));
    }
}
