//! Calls that hardly do more than enter the kernel.

use super::{Row, fit, held};
use rustix::process::{Resource, Signal, getpid, getppid, getrlimit, kill_process};
use rustix::rand::{GetRandomFlags, getrandom};
use rustix::thread::{CpuSet, futex, sched_getaffinity, sched_setaffinity};
use rustix::time::{Itimerspec, TimerfdTimerFlags, Timespec, timerfd_gettime, timerfd_settime};
use std::sync::atomic::AtomicU32;

pub const ROWS: &[Row] = &[
    fit("getppid", 500, |_, batch| batch.repeat(getppid)),
    fit("fstat", 400, |fixture, batch| {
        batch.repeat(|| rustix::fs::fstat(&fixture.page_file));
    }),
    held("uname", 400, |_, batch| batch.repeat(rustix::system::uname)),
    fit("lseek", 400, |fixture, batch| {
        batch.repeat(|| rustix::fs::seek(&fixture.page_file, rustix::fs::SeekFrom::Start(0)));
    }),
    held("fionread", 400, |fixture, batch| {
        batch.repeat(|| rustix::io::ioctl_fionread(&fixture.pipe.0));
    }),
    held("getrlimit", 400, |_, batch| {
        batch.repeat(|| getrlimit(Resource::Nofile))
    }),
    fit("dup+close", 300, |fixture, batch| {
        batch.repeat(|| rustix::io::dup(&fixture.page_file));
    }),
    fit("yield", 200, |_, batch| batch.repeat(rustix::thread::sched_yield)),
    fit("futex.wake", 300, |_, batch| {
        let word = AtomicU32::new(0);
        batch.repeat(|| futex::wake(&word, futex::Flags::PRIVATE, 1));
    }),
    held("getrandom.32", 200, |_, batch| {
        let mut bytes = [0; 32];
        batch.repeat(|| getrandom(&mut bytes[..], GetRandomFlags::empty()));
    }),
    fit("setaffinity", 100, |_, batch| {
        let cpus: CpuSet = sched_getaffinity(None).expect("it can be asked");
        batch.repeat(|| sched_setaffinity(None, &cpus));
    }),
    fit("signal", 100, |_, batch| {
        handle();
        batch.repeat(|| kill_process(getpid(), Signal::USR1));
    }),
    fit("timerfd.far", 150, |fixture, batch| {
        let at = |tv_sec| Itimerspec {
            it_interval: Timespec::default(),
            it_value: Timespec { tv_sec, tv_nsec: 0 },
        };
        let (far, off) = (at(1_000), at(0));
        batch.repeat(|| timerfd_settime(&fixture.timer, TimerfdTimerFlags::empty(), &far));
        let _ = timerfd_settime(&fixture.timer, TimerfdTimerFlags::empty(), &off);
    }),
    held("timerfd.gettime", 300, |fixture, batch| {
        batch.repeat(|| timerfd_gettime(&fixture.timer));
    }),
];

/// Has a signal handled by nothing.
fn handle() {
    extern "C" fn nothing(_: libc::c_int) {}
    // SAFETY: the handler does nothing.
    unsafe { libc::signal(libc::SIGUSR1, nothing as *const () as libc::sighandler_t) };
}
