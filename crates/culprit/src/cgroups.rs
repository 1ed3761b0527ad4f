//! Control groups that come and go: their parts are freed through RCU.

use std::convert::Infallible;
use std::ffi::CStr;
use std::fs;
use std::io;

const ROOT: &CStr = c"/planted";

/// Makes so many groups and removes them, again and again.
pub(crate) fn run(groups: u32) -> io::Result<Infallible> {
    let root = ROOT.to_str().expect("it is plain");
    fs::create_dir_all(root)?;
    // SAFETY: the strings end with NUL, and no data are passed.
    let mounted = unsafe {
        let file_system = c"cgroup2".as_ptr();
        libc::mount(file_system, ROOT.as_ptr(), file_system, 0, std::ptr::null())
    };
    if mounted != 0 {
        return Err(io::Error::last_os_error());
    }
    loop {
        for group in 0..groups {
            fs::create_dir(format!("{root}/{group}"))?;
        }
        for group in 0..groups {
            fs::remove_dir(format!("{root}/{group}"))?;
        }
    }
}
