//! Maps and page faults.

use super::{Row, fit, held};
use crate::batch::Batch;
use crate::memory::{Area, AreaSharing};
use crate::process::{Child, helper};
use rustix::event::pause;

pub const ROWS: &[Row] = &[
    fit("map+unmap", 100, |_, batch| batch.repeat(|| private(1))),
    fit("map+fault+unmap", 60, |_, batch| batch.repeat(|| private(1).write())),
    fit("unmap.16", 20, |_, batch| unmap(batch, 16)),
    held("unmap.256", 4, |_, batch| unmap(batch, 256)),
    fit("unmap.2048", 1, |_, batch| unmap(batch, 2_048)),
    fit("mprotect.1", 60, |fixture, batch| {
        batch.repeat(|| fixture.one_page.protect_twice())
    }),
    fit("mprotect.256", 20, |fixture, batch| {
        batch.repeat(|| fixture.many_pages.protect_twice())
    }),
    held("mremap.16", 10, |_, batch| {
        batch.each(|| (written(16), private(16)), |(from, to)| from.moved_onto(to), drop);
    }),
];

pub const FAULTS: &[Row] = &[
    fit("touch.64", 4, |_, batch| {
        let write = |mut area: Area| {
            area.write();
            area
        };
        batch.each(|| private(64), write, drop);
    }),
    held("read-touch.64", 4, |_, batch| {
        let read = |area: Area| {
            area.read();
            area
        };
        batch.each(|| private(64), read, drop);
    }),
    fit("forget+fault", 60, |fixture, batch| {
        batch.repeat(|| {
            fixture.one_page.forget_pages();
            fixture.one_page.write();
        });
    }),
    fit("map-file.16", 30, |fixture, batch| {
        batch.repeat(|| Area::of_file(&fixture.file, 16).read())
    }),
    held("copy-on-write.64", 2, |_, batch| {
        let before = || (written(64), helper(pause));
        let write = |(mut area, child): (Area, Child)| {
            area.write();
            (area, child)
        };
        batch.each(before, write, |(_, child)| child.kill());
    }),
];

fn private(pages: usize) -> Area {
    Area::new(pages, AreaSharing::Private)
}

fn written(pages: usize) -> Area {
    let mut area = private(pages);
    area.write();
    area
}

fn unmap(batch: &mut Batch, pages: usize) {
    batch.each(|| written(pages), drop, drop);
}
