//! Loads a kernel module.

use std::convert::Infallible;
use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::time::Duration;

const NAP: Duration = Duration::from_millis(1);

/// Loads the file with these parameters (finit_module(2)); a load must be seen to work, so it goes on to wake up now and then.
pub(crate) fn run(file: &str, parameters: &[String]) -> io::Result<Infallible> {
    let module = File::open(file)?;
    let parameters = CString::new(parameters.join(" "))?;
    // SAFETY: an open file and a string that ends with a NUL.
    let loaded = unsafe { libc::syscall(libc::SYS_finit_module, module.as_raw_fd(), parameters.as_ptr(), 0) };
    if loaded != 0 {
        return Err(io::Error::last_os_error());
    }
    loop {
        std::thread::sleep(NAP);
    }
}
