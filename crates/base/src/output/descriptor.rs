//! Descriptors that this process has open already, as a path names them (`/dev/fd/3`).

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;

/// A copy of the descriptor that such a path names. Opening the path again would write a file from its beginning.
pub(super) fn named(path: &Path) -> io::Result<Option<OwnedFd>> {
    let Some(number) = path.to_str().and_then(number) else {
        return Ok(None);
    };
    // SAFETY: the descriptor is used for one call, which refuses a number that is not open.
    let open = unsafe { BorrowedFd::borrow_raw(number) };
    Ok(Some(rustix::io::fcntl_dupfd_cloexec(open, 3)?))
}

fn number(path: &str) -> Option<i32> {
    match path {
        "/dev/stdout" => Some(1),
        "/dev/stderr" => Some(2),
        _ => {
            let mut folders = ["/dev/fd/", "/proc/self/fd/"].iter();
            let number: u16 = folders.find_map(|folder| path.strip_prefix(folder))?.parse().ok()?;
            Some(number.into())
        }
    }
}
