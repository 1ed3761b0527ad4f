//! Messages within one process, and waiting for several.

use super::{Row, fit, held};
use rustix::event::{PollFd, PollFlags, Timespec, epoll, poll};
use rustix::io::{read, write};
use std::mem::MaybeUninit;

const AT_ONCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

pub const ROWS: &[Row] = &[
    fit("pipe.1", 150, |fixture, batch| {
        batch.repeat(|| {
            let _ = write(&fixture.pipe.1, &[1]);
            let _ = read(&fixture.pipe.0, &mut fixture.buffer[..1]);
        });
    }),
    fit("pipe.16k", 30, |fixture, batch| {
        batch.repeat(|| {
            let _ = write(&fixture.pipe.1, &fixture.buffer[..16_384]);
            let _ = read(&fixture.pipe.0, &mut fixture.buffer[..16_384]);
        });
    }),
    fit("eventfd", 150, |fixture, batch| {
        batch.repeat(|| {
            let _ = write(&fixture.counter, &1u64.to_ne_bytes());
            let _ = read(&fixture.counter, &mut fixture.buffer[..8]);
        });
    }),
    fit("unix.1", 80, |fixture, batch| {
        batch.repeat(|| {
            let _ = write(&fixture.unix.0, &[1]);
            let _ = read(&fixture.unix.1, &mut fixture.buffer[..1]);
        });
    }),
    held("unix.16k", 20, |fixture, batch| {
        batch.repeat(|| {
            let _ = write(&fixture.unix.0, &fixture.buffer[..16_384]);
            let _ = read(&fixture.unix.1, &mut fixture.buffer[..16_384]);
        });
    }),
    fit("epoll.wait", 200, |fixture, batch| {
        let mut event = [MaybeUninit::uninit(); 1];
        batch.repeat(|| epoll::wait(&fixture.epoll, &mut event, Some(&AT_ONCE)).map(drop));
    }),
    held("epoll.add+del", 100, |fixture, batch| {
        let file = &fixture.polled[5];
        batch.repeat(|| {
            let _ = epoll::add(
                &fixture.epoll,
                file,
                epoll::EventData::new_u64(1),
                epoll::EventFlags::IN,
            );
            let _ = epoll::delete(&fixture.epoll, file);
        });
    }),
    fit("poll.64", 60, |fixture, batch| {
        let files = fixture.polled.iter();
        let mut files: Vec<PollFd> = files.map(|file| PollFd::new(file, PollFlags::IN)).collect();
        batch.repeat(|| poll(&mut files, Some(&AT_ONCE)));
    }),
];

pub const NET: &[Row] = &[
    fit("udp.100", 40, |fixture, batch| {
        batch.repeat(|| {
            let _ = write(&fixture.udp.0, &fixture.buffer[..100]);
            let _ = read(&fixture.udp.1, &mut fixture.buffer[..100]);
        });
    }),
    fit("udp.8k", 20, |fixture, batch| {
        batch.repeat(|| {
            let _ = write(&fixture.udp.0, &fixture.buffer[..8_192]);
            let _ = read(&fixture.udp.1, &mut fixture.buffer[..8_192]);
        });
    }),
    held("tcp.100", 30, |fixture, batch| {
        batch.repeat(|| {
            let _ = write(&fixture.tcp.0, &fixture.buffer[..100]);
            let _ = read(&fixture.tcp.1, &mut fixture.buffer[..100]);
        });
    }),
];
