//! The list of operations.

mod calls;
mod files;
mod memory;
mod messages;
mod processes;
mod user;

use crate::batch::Batch;
use crate::fixture::Fixture;

/// One operation.
#[derive(Clone)]
pub struct Operation {
    /// Its name; with cold caches `cold.` before it.
    pub name: String,
    /// What it is like: a calibration can be tried without all of a class.
    pub class: &'static str,
    /// Times in a batch.
    pub times: u32,
    /// No calibration is made from it: it tells how wrong one is.
    pub held_out: bool,
    /// Done with caches that hold something else.
    pub is_cold: bool,
    /// Does it.
    pub run: fn(&mut Fixture, &mut Batch),
}

/// Of a calibration.
const fn fit(name: &'static str, times: u32, run: fn(&mut Fixture, &mut Batch)) -> Row {
    Row {
        name,
        times,
        held_out: false,
        run,
    }
}

/// Kept from a calibration.
const fn held(name: &'static str, times: u32, run: fn(&mut Fixture, &mut Batch)) -> Row {
    Row {
        held_out: true,
        ..fit(name, times, run)
    }
}

/// An operation in the list of its class.
struct Row {
    name: &'static str,
    times: u32,
    held_out: bool,
    run: fn(&mut Fixture, &mut Batch),
}

const CLASSES: [(&str, &[Row]); 11] = [
    ("user", user::ROWS),
    ("call", calls::ROWS),
    ("copy", files::COPIES),
    ("file", files::ROWS),
    ("message", messages::ROWS),
    ("net", messages::NET),
    ("switch", processes::SWITCHES),
    ("map", memory::ROWS),
    ("fault", memory::FAULTS),
    ("process", processes::ROWS),
    ("proc", files::PROC),
];

/// Those of a calibration that are done with cold caches, too.
const COLD: [&str; 23] = [
    "getppid",
    "read.zero",
    "write.null",
    "futex.wake",
    "signal",
    "pread.4k",
    "stat",
    "open+close",
    "create+unlink",
    "fcntl.lock",
    "pipe.1",
    "eventfd",
    "unix.1",
    "udp.100",
    "epoll.wait",
    "poll.64",
    "timerfd.far",
    "pingpong.pipe",
    "map+fault+unmap",
    "mprotect.1",
    "fork+exit",
    "proc.stat",
    "getdents.64",
];
/// Those with cold caches that no calibration is made from.
const COLD_HELD_OUT: [&str; 8] = [
    "uname",
    "fstat",
    "rename.2",
    "unix.16k",
    "tcp.100",
    "pingpong.unix",
    "thread",
    "proc.meminfo",
];

/// All operations.
pub fn all() -> Vec<Operation> {
    let hot = CLASSES.iter().flat_map(|(class, rows)| {
        rows.iter().map(|row| Operation {
            name: row.name.into(),
            class,
            times: row.times,
            held_out: row.held_out,
            is_cold: false,
            run: row.run,
        })
    });
    let hot: Vec<Operation> = hot.collect();
    let cold = |name: &&str, held_out| {
        let same = hot.iter().find(|operation| operation.name == *name);
        Operation {
            name: format!("cold.{name}"),
            class: "cold",
            times: 1,
            held_out,
            is_cold: true,
            run: same.expect("it is in the list").run,
        }
    };
    let fit = COLD.iter().map(|name| cold(name, false));
    let held = COLD_HELD_OUT.iter().map(|name| cold(name, true));
    hot.iter().cloned().chain(fit).chain(held).collect()
}
