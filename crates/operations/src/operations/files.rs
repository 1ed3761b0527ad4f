//! Files: what is in them, their names, and what the kernel tells in /proc.

use super::{Row, fit, held};
use crate::batch::Batch;
use crate::fixture::Fixture;
use rustix::fs::{
    Access, CWD, FlockOperation, MemfdFlags, Mode, OFlags, RawDir, SeekFrom, access, fcntl_lock, memfd_create, open,
    readlinkat_raw, rename, seek, stat, statfs, unlink,
};
use rustix::io::{pread, pwrite, read, write};
use std::mem::MaybeUninit;

pub const COPIES: &[Row] = &[
    fit("read.zero", 400, |fixture, batch| {
        let mut byte = [0];
        batch.repeat(|| read(&fixture.zero, &mut byte));
    }),
    fit("write.null", 400, |fixture, batch| {
        batch.repeat(|| write(&fixture.null, &[1]))
    }),
    fit("pread.4k", 200, |fixture, batch| {
        batch.repeat(|| pread(&fixture.page_file, &mut fixture.buffer[..4_096], 0));
    }),
    held("pread.64k", 20, |fixture, batch| {
        batch.repeat(|| pread(&fixture.file, &mut fixture.buffer[..65_536], 0));
    }),
    fit("pwrite.4k", 100, |fixture, batch| {
        batch.repeat(|| pwrite(&fixture.page_file, &fixture.buffer[..4_096], 0));
    }),
    fit("memfd.256k", 2, |fixture, batch| {
        batch.repeat(|| {
            let file = memfd_create("memory", MemfdFlags::empty()).expect("there is room");
            write(&file, &fixture.buffer[..262_144])
        });
    }),
];

pub const ROWS: &[Row] = &[
    fit("stat", 150, |_, batch| batch.repeat(|| stat(c"/tmp/listed/f7"))),
    held("access", 150, |_, batch| {
        batch.repeat(|| access(c"/tmp/listed/f9", Access::EXISTS))
    }),
    held("statfs", 150, |_, batch| batch.repeat(|| statfs(c"/tmp/listed"))),
    fit("open+close", 100, |_, batch| {
        batch.repeat(|| open(c"/tmp/listed/f7", OFlags::RDONLY, Mode::empty()));
    }),
    fit("create+unlink", 30, |_, batch| {
        batch.repeat(|| {
            drop(open(
                c"/tmp/listed/new",
                OFlags::RDWR | OFlags::CREATE,
                Mode::RUSR | Mode::WUSR,
            ));
            let _ = unlink(c"/tmp/listed/new");
        });
    }),
    held("rename.2", 40, |_, batch| {
        batch.repeat(|| {
            let _ = rename(c"/tmp/listed/f1", c"/tmp/listed/f1b");
            let _ = rename(c"/tmp/listed/f1b", c"/tmp/listed/f1");
        });
    }),
    fit("getdents.64", 20, |fixture, batch| {
        let mut buffer = [MaybeUninit::uninit(); 16_384];
        batch.repeat(|| {
            let _ = seek(&fixture.folder, SeekFrom::Start(0));
            let mut entries = RawDir::new(&fixture.folder, &mut buffer);
            while entries.next().is_some() {}
        });
    }),
    fit("fcntl.lock", 100, |fixture, batch| {
        batch.repeat(|| {
            let _ = fcntl_lock(&fixture.page_file, FlockOperation::NonBlockingLockExclusive);
            let _ = fcntl_lock(&fixture.page_file, FlockOperation::NonBlockingUnlock);
        });
    }),
    held("readlink", 150, |_, batch| {
        let mut target = [0; 64];
        batch.repeat(|| readlinkat_raw(CWD, c"/proc/self", &mut target[..]));
    }),
];

pub const PROC: &[Row] = &[
    fit("proc.stat", 20, |fixture, batch| {
        told(fixture, batch, c"/proc/self/stat")
    }),
    held("proc.maps", 20, |fixture, batch| {
        told(fixture, batch, c"/proc/self/maps")
    }),
    fit("proc.status", 15, |fixture, batch| {
        told(fixture, batch, c"/proc/self/status")
    }),
    held("proc.meminfo", 10, |fixture, batch| {
        told(fixture, batch, c"/proc/meminfo")
    }),
    fit("proc.loadavg", 40, |fixture, batch| {
        told(fixture, batch, c"/proc/loadavg")
    }),
    fit("proc.limits", 20, |fixture, batch| {
        told(fixture, batch, c"/proc/self/limits")
    }),
];

fn told(fixture: &mut Fixture, batch: &mut Batch, name: &std::ffi::CStr) {
    batch.repeat(|| {
        let file = open(name, OFlags::RDONLY, Mode::empty()).expect("the kernel has it");
        while read(&file, &mut fixture.buffer[..65_536]).is_ok_and(|length| length > 0) {}
    });
}
