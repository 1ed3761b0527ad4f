//! The message that a guest sends in the end; and where none came, the end of its console.

use super::invocation::CONSOLE;
use super::place::ERRORS;
use super::process::last_lines;
use std::path::Path;

/// Limit in bytes for a guest's message; forty million samples take less.
pub(super) const LONGEST_MESSAGE: u64 = 256 << 20;

const ERROR_MAGIC: &[u8] = b"WCERR\0";

/// The guest's error in one line, if it sent one instead of the expected message.
pub(super) fn guest_error(message: &[u8]) -> Option<String> {
    let at = message.windows(ERROR_MAGIC.len()).position(|w| w == ERROR_MAGIC)?;
    let text = String::from_utf8_lossy(&message[at + ERROR_MAGIC.len()..]);
    let words: Vec<&str> = text.split_whitespace().collect();
    Some(words.join(" "))
}

/// The last lines of QEMU's errors and of the console, for messages.
pub(super) fn console_end(folder: &Path) -> String {
    let parts = [ERRORS, CONSOLE].map(|name| last_lines(&folder.join(name), 60));
    let said: Vec<String> = parts.into_iter().filter(|p| !p.is_empty()).collect();
    if said.is_empty() {
        "(neither QEMU nor the kernel said anything)".into()
    } else {
        said.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guests_error_is_found_behind_a_message() {
        assert_eq!(
            guest_error(b"WCREADY\n\nWCERR\0no such load"),
            Some("no such load".into())
        );
        assert_eq!(
            guest_error(b"WCERR\0the guest panicked: panicked at a.rs:1:\nindex 3\n"),
            Some("the guest panicked: panicked at a.rs:1: index 3".into())
        );
        assert_eq!(guest_error(b"WCREC\0"), None);
    }
}
