//! How far the machine has come, for whoever waits for it: the count, a hundred times a second, in a file of eight bytes.
//!
//! A thread of its own writes it: the CPU's code has nothing to do for it, and QEMU's main loop is not woken.

use crate::counts::COUNTS;
use crate::scheduler::SLICE;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Between two looks at the count.
const PAUSE: Duration = Duration::from_millis(10);

/// The file, until the thread has taken it.
static FILE: Mutex<Option<File>> = Mutex::new(None);

/// Makes the file; nothing was executed yet.
pub fn start(path: &Path) -> io::Result<()> {
    let file = File::create(path)?;
    file.write_all_at(&0u64.to_le_bytes(), 0)?;
    *FILE.lock().unwrap_or_else(PoisonError::into_inner) = Some(file);
    Ok(())
}

/// Starts the thread when first called. It inherits its signals from its creator, so that must be a thread of QEMU's that
/// takes none: its CPU's, not its first.
pub(crate) fn begin() {
    if let Some(file) = FILE.lock().unwrap_or_else(PoisonError::into_inner).take() {
        std::thread::spawn(move || tell(&file));
    }
}

/// Until QEMU ends.
fn tell(file: &File) {
    let mut told = 0;
    loop {
        std::thread::sleep(PAUSE);
        // What cannot be read or written now is with the next change.
        let Some(count) = COUNTS.seen(&SLICE) else { continue };
        if count != told && file.write_all_at(&count.to_le_bytes(), 0).is_ok() {
            told = count;
        }
    }
}
