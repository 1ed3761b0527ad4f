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

/// What the module's file for a kernel with PREEMPT_RT ends with, if there is one beside the other.
const FOR_RT: &str = ".rt";

/// Loads the file with these parameters (finit_module(2)); a load must be seen to work, so it goes on to wake up now and then.
pub(crate) fn run(file: &str, parameters: &[String]) -> io::Result<Infallible> {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease")?;
    let for_rt = format!("{file}{FOR_RT}");
    let module = match release.contains("-rt") && std::path::Path::new(&for_rt).exists() {
        true => File::open(for_rt)?,
        false => File::open(file)?,
    };
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
