//! Processes and threads: switches between two of them, beginning and end.

use super::{Row, fit, held};
use crate::batch::Batch;
use crate::fixture::Fixture;
use crate::memory::{Area, AreaSharing};
use crate::process::{forked, helper};
use rustix::io::{read, write};
use rustix::pipe::pipe;
use rustix::thread::futex;
use std::os::fd::AsFd;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

pub const SWITCHES: &[Row] = &[
    fit("pingpong.pipe", 50, |_, batch| {
        let (there, back) = (pipe().expect("there are files"), pipe().expect("there are files"));
        pingpong(batch, (&there.0, &back.1), (&there.1, &back.0));
    }),
    held("pingpong.unix", 40, |fixture, batch| {
        let (near, far) = &fixture.unix;
        pingpong(batch, (far, far), (near, near));
    }),
    fit("yield.thread", 100, |_, batch| {
        let on = AtomicBool::new(true);
        thread::scope(|scope| {
            scope.spawn(|| {
                while on.load(Ordering::Relaxed) {
                    rustix::thread::sched_yield();
                }
            });
            (0..8).for_each(|_| rustix::thread::sched_yield());
            batch.repeat(rustix::thread::sched_yield);
            on.store(false, Ordering::Relaxed);
        });
    }),
    fit("pingpong.futex", 50, by_futex),
];

pub const ROWS: &[Row] = &[
    fit("fork+exit", 3, |_, batch| batch.repeat(|| forked(|| ()).wait())),
    held("fork+exit.16m", 1, |_, batch| {
        let mut area = Area::new(4_096, AreaSharing::Private);
        area.write();
        batch.repeat(|| forked(|| ()).wait());
    }),
    fit("exec.tiny", 2, |_, batch| {
        batch.repeat(|| Command::new("/tmp/tiny").env_clear().status().expect("it is there"));
    }),
    fit("thread", 10, |_, batch| {
        batch.repeat(|| thread::spawn(|| ()).join().expect("it does nothing"))
    }),
];

/// Sends a byte to another process and waits for its answer. `far` and `near` are where each reads or answers.
fn pingpong<F: AsFd>(batch: &mut Batch, far: (&F, &F), near: (&F, &F)) {
    let mut byte = [1];
    let child = helper(|| {
        let mut byte = [0];
        while read(far.0, &mut byte) == Ok(1) && byte[0] != 0 {
            let _ = write(far.1, &byte);
        }
    });
    let mut once = || {
        let _ = write(near.0, &[1]);
        let _ = read(near.1, &mut byte);
    };
    (0..4).for_each(|_| once());
    batch.repeat(once);
    let _ = write(near.0, &[0]);
    child.wait();
}

const MINE: u32 = 0;
const YOURS: u32 = 1;
const END: u32 = 2;

/// Two threads that wake one another.
fn by_futex(_: &mut Fixture, batch: &mut Batch) {
    let word = AtomicU32::new(MINE);
    let turn = |to: u32| {
        word.store(to, Ordering::SeqCst);
        let _ = futex::wake(&word, futex::Flags::PRIVATE, 1);
    };
    let wait_while = |value: u32| {
        while word.load(Ordering::SeqCst) == value {
            let _ = futex::wait(&word, futex::Flags::PRIVATE, value, None);
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            loop {
                wait_while(MINE);
                if word.load(Ordering::SeqCst) == END {
                    return;
                }
                turn(MINE);
            }
        });
        let once = || {
            turn(YOURS);
            wait_while(YOURS);
        };
        (0..4).for_each(|_| once());
        batch.repeat(once);
        turn(END);
    });
}
