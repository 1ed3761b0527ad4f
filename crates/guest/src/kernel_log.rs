//! The kernel's log from a moment on; empty if the kernel keeps none.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;

/// See the module.
pub(crate) struct KernelLog(Option<File>);

impl KernelLog {
    /// What is said from here on.
    pub(crate) fn from_now() -> KernelLog {
        let mut options = File::options();
        let log = options.read(true).custom_flags(libc::O_NONBLOCK).open("/dev/kmsg");
        KernelLog(log.ok().filter(|mut log| log.seek(SeekFrom::End(0)).is_ok()))
    }

    /// The lines since then, or since they were asked for.
    pub(crate) fn lines(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut entry = [0; 8192];
        let Some(log) = &mut self.0 else { return lines };
        // An entry a read: `6,123,4567,-;text` and lines that tell more.
        while let Ok(len) = log.read(&mut entry) {
            let text = String::from_utf8_lossy(&entry[..len]).into_owned();
            let said = text.split_once(';').and_then(|(_, said)| said.lines().next());
            lines.extend(said.map(str::to_string));
        }
        lines
    }
}
