//! The build-id: a hash that the linker writes into a note, the same in the running kernel and in its debug file.

use std::fmt;

/// A build-id; shown in hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildId(Vec<u8>);

/// Name and type of the note: "GNU", NT_GNU_BUILD_ID.
const NOTE: [u8; 8] = [3, 0, 0, 0, b'G', b'N', b'U', 0];
/// Bytes before them: the sizes of name and hash.
const SIZES: usize = 8;
/// A longer hash is no build-id.
const LONGEST: usize = 64;

impl BuildId {
    /// A build-id from its bytes.
    pub fn new(bytes: &[u8]) -> BuildId {
        BuildId(bytes.to_vec())
    }

    /// The last build-id in a piece of memory that ends with notes.
    pub fn last_in(memory: &[u8]) -> Option<BuildId> {
        let starts = memory.windows(NOTE.len()).enumerate().rev();
        let found = starts.filter(|(_, bytes)| *bytes == NOTE).map(|(at, _)| at);
        found.filter_map(|at| note_at(memory, at)).next()
    }

    /// The ELF note that holds it.
    pub fn note(&self) -> Vec<u8> {
        let sizes = [4u32.to_le_bytes(), (self.0.len() as u32).to_le_bytes()].concat();
        [&sizes[..], &NOTE, &self.0].concat()
    }
}

fn note_at(memory: &[u8], at: usize) -> Option<BuildId> {
    let sizes = memory.get(at.checked_sub(SIZES)?..at)?;
    let (name, hash) = sizes.split_at(4);
    let len = u32::from_le_bytes(hash.try_into().ok()?) as usize;
    if name != [4, 0, 0, 0] || len == 0 || len > LONGEST {
        return None;
    }
    let start = at + NOTE.len();
    memory.get(start..start + len).map(BuildId::new)
}

impl fmt::Display for BuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(hash: &[u8]) -> Vec<u8> {
        BuildId::new(hash).note()
    }

    #[test]
    fn the_last_note_counts() {
        let memory = [note(&[1; 20]), vec![0; 7], note(&[0xab, 2, 3, 4]), vec![9; 30]].concat();
        assert_eq!(BuildId::last_in(&memory).unwrap().to_string(), "ab020304");
        assert_eq!(BuildId::last_in(&note(&[1; 200])), None);
        assert_eq!(BuildId::last_in(&note(&[1; 20])[..30]), None);
        assert_eq!(BuildId::last_in(b""), None);
    }
}
