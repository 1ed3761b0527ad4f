//! Child processes: they end with this process, also when it is killed, and inherit none of its descriptors.

use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// The kernel sends the child this signal when the thread that starts it ends. The child's own children are not
/// covered.
pub fn ends_with_us(command: &mut Command, signal: Signal) -> &mut Command {
    let us = getpid();
    let ask = move || {
        set_parent_process_death_signal(Some(signal))?;
        match getppid() == Some(us) {
            true => Ok(()),
            // The parent ended before prctl was called, so no signal will come.
            false => Err(io::ErrorKind::Interrupted.into()),
        }
    };
    // SAFETY: between fork and exec only prctl and getppid are called, which are async-signal-safe.
    unsafe { command.pre_exec(ask) }
}

/// Marks descriptors that this process inherited (`9>>file`) close-on-exec, so that no child gets them. Standard input,
/// output and errors stay. The descriptors that we open ourselves are close-on-exec anyway.
pub fn hand_on_no_descriptors() {
    // SAFETY: CLOSE_RANGE_CLOEXEC closes nothing now; a descriptor that is used in this process stays open.
    let done = unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    if done != 0 {
        one_by_one();
    }
}

/// For kernels before Linux 5.11.
fn one_by_one() {
    let Ok(open) = std::fs::read_dir("/proc/self/fd") else {
        return;
    };
    let numbers = open
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    for number in numbers.filter(|number: &i32| *number > 2) {
        // SAFETY: setting this flag changes nothing in this process; a descriptor that is closed by now is refused.
        unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Stdio;

    /// As for the kernel, the end of the starting thread counts.
    #[test]
    fn it_does_not_outlive_who_started_it() {
        let start = || {
            let mut sleep = Command::new("sleep");
            sleep.arg("1000").stdin(Stdio::null());
            ends_with_us(&mut sleep, Signal::TERM).spawn().unwrap()
        };
        let mut child = std::thread::spawn(start).join().unwrap();
        let status = child.wait().unwrap();
        let signal = std::os::unix::process::ExitStatusExt::signal(&status);
        assert_eq!(signal, Some(Signal::TERM.as_raw()));
    }

    #[test]
    fn what_was_left_open_for_us_is_not_handed_on() {
        for close in [hand_on_no_descriptors, one_by_one] {
            let open = std::fs::File::open("/dev/null").unwrap();
            let inherited = rustix::io::fcntl_dupfd_cloexec(&open, 100).unwrap();
            rustix::io::fcntl_setfd(&inherited, rustix::io::FdFlags::empty()).unwrap();
            let has_it = || {
                let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&inherited));
                Command::new("test").args(["-e", &path]).status().unwrap().success()
            };
            assert!(has_it());
            close();
            assert!(!has_it());
        }
    }
}
