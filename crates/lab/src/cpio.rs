//! Archives in the "newc" form that the kernel unpacks as its initramfs (Documentation/driver-api/early-userspace/buffer-format.rst).
//!
//! The bytes depend on the entries alone: no times, owners or inode numbers of the controller.

/// An archive being written; empty by default.
#[derive(Default)]
pub struct CpioArchive {
    bytes: Vec<u8>,
    entries: u32,
}

const DIRECTORY: u32 = 0o040_755;
const PROGRAM: u32 = 0o100_755;

impl CpioArchive {
    /// Adds a folder; its parents must be added before.
    pub fn directory(&mut self, path: &str) {
        self.entry(path, DIRECTORY, &[]);
    }

    /// Adds an executable file.
    pub fn file(&mut self, path: &str, data: &[u8]) {
        self.entry(path, PROGRAM, data);
    }

    /// The whole archive.
    pub fn finish(mut self) -> Vec<u8> {
        self.entries = 0;
        self.entry("TRAILER!!!", 0, &[]);
        self.bytes
    }

    fn entry(&mut self, path: &str, mode: u32, data: &[u8]) {
        self.entries += 1;
        let name_len = path.len() as u32 + 1;
        let links = if mode == DIRECTORY { 2 } else { 1 };
        // ino, mode, uid, gid, nlink, mtime, size, device (major, minor), special device (major, minor), name length, check
        let fields = [
            self.entries,
            mode,
            0,
            0,
            links,
            0,
            data.len() as u32,
            0,
            0,
            0,
            0,
            name_len,
            0,
        ];
        self.bytes.extend_from_slice(b"070701");
        for field in fields {
            self.bytes.extend_from_slice(format!("{field:08x}").as_bytes());
        }
        self.bytes.extend_from_slice(path.as_bytes());
        self.bytes.push(0);
        self.pad();
        self.bytes.extend_from_slice(data);
        self.pad();
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_entries_give_the_same_bytes_and_a_trailer() {
        let build = || {
            let mut archive = CpioArchive::default();
            archive.directory("a");
            archive.file("a/b", b"hello");
            archive.finish()
        };
        let bytes = build();
        assert_eq!(bytes, build());
        assert_eq!(bytes.len() % 4, 0);
        assert_eq!(&bytes[..6], b"070701");
        assert_eq!(bytes.windows(6).filter(|w| w == b"070701").count(), 3);
        assert!(bytes.windows(10).any(|w| w == b"TRAILER!!!"));
    }
}
