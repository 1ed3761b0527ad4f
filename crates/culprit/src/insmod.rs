//! Loads a kernel module, and closes the file that it makes, if it makes one.

use std::convert::Infallible;
use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::time::Duration;

const NAP: Duration = Duration::from_millis(1);
/// What a module delays the closing of.
const CLOSED: &str = "/proc/planted";

/// Loads the file with these parameters (finit_module(2)), or the one beside it whose name ends with this kernel's release; a load
/// must be seen to work, so it goes on to wake up now and then, and takes signals that the module sends.
pub(crate) fn run(file: &str, parameters: &[String]) -> io::Result<Infallible> {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease")?;
    let of_this_kernel = format!("{file}.{}", release.trim_end());
    let module = File::open(of_this_kernel).or_else(|_| File::open(file))?;
    // SAFETY: the handler does nothing.
    unsafe { libc::signal(libc::SIGUSR1, take as *const () as libc::sighandler_t) };
    let parameters = CString::new(parameters.join(" "))?;
    // SAFETY: an open file and a string that ends with a NUL.
    let loaded = unsafe { libc::syscall(libc::SYS_finit_module, module.as_raw_fd(), parameters.as_ptr(), 0) };
    if loaded != 0 {
        return Err(io::Error::last_os_error());
    }
    loop {
        match File::open(CLOSED) {
            Ok(file) => drop(file),
            Err(_) => std::thread::sleep(NAP),
        }
    }
}

extern "C" fn take(_signal: libc::c_int) {}
