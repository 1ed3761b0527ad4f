//! What an operation must not meet: other files, other networks, other threads on its CPU.

use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::process::{Signal, getuid, set_parent_process_death_signal};
use rustix::thread::{CpuSet, sched_setaffinity};
use std::io;

/// Where its files are.
pub const FOLDER: &str = "/tmp";
const PRIORITY: i32 = 50;

/// Takes the CPU and a real-time priority, and a file system and a network of its own, which end with this process.
pub fn begin(cpu: usize) -> Result<(), String> {
    // One who cannot read what we print has ended.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    let mut cpus = CpuSet::new();
    cpus.set(cpu);
    sched_setaffinity(None, &cpus).map_err(|e| format!("cpu {e}"))?;
    real_time().map_err(|e| format!("fifo {e}"))?;
    let namespaces = libc::CLONE_NEWNS | libc::CLONE_NEWNET;
    let users = if getuid().is_root() { 0 } else { libc::CLONE_NEWUSER };
    // SAFETY: this process has one thread and no open folder.
    if unsafe { libc::unshare(namespaces | users) } != 0 {
        return Err(format!("namespaces {}", io::Error::last_os_error()));
    }
    mount_change("/", MountPropagationFlags::REC | MountPropagationFlags::PRIVATE).map_err(|e| format!("mount {e}"))?;
    files().map_err(|e| format!("mount {e}"))?;
    loopback().map_err(|e| format!("network {e}"))
}

/// The same in a machine where this is the only program, whose output is the kernel's console.
pub fn begin_as_init() {
    for (kind, at) in [("proc", "/proc"), ("devtmpfs", "/dev")] {
        let _ = mount(kind, at, kind, MountFlags::empty(), None);
    }
    real_time().expect("PID 1 may");
    files().expect("PID 1 may");
    loopback().expect("PID 1 may");
}

/// Ends the machine.
pub fn power_off() -> ! {
    let _ = rustix::system::reboot(rustix::system::RebootCommand::PowerOff);
    unreachable!("the machine is off")
}

fn files() -> io::Result<()> {
    mount("tmpfs", FOLDER, "tmpfs", MountFlags::NOSUID, Some(c"size=96m"))?;
    Ok(())
}

fn real_time() -> io::Result<()> {
    let priority = libc::sched_param {
        sched_priority: PRIORITY,
    };
    // SAFETY: the argument is read, and lives long enough.
    match unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const priority) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// A new network's loopback device is down.
fn loopback() -> io::Result<()> {
    let socket = std::net::UdpSocket::bind("0.0.0.0:0")?;
    // SAFETY: zeroes are a value of this type.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = from.cast_signed();
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    let socket = std::os::fd::AsRawFd::as_raw_fd(&socket);
    // SAFETY: the request is of the type that this call reads.
    match unsafe { libc::ioctl(socket, libc::SIOCSIFFLAGS as _, &raw const request) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
