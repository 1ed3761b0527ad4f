//! Code that never calls the kernel.

use super::{Row, fit, held};
use std::hint::black_box;

pub const ROWS: &[Row] = &[
    fit("nothing", 1, |_, batch| batch.repeat(|| ())),
    fit("multiply", 40, |_, batch| batch.repeat(multiply)),
    fit("chase.l2", 4_000, |fixture, batch| {
        fixture.near.follow(4_096);
        let times = batch.times;
        batch.window(|| fixture.near.follow(times));
    }),
    fit("chase.l3", 2_000, |fixture, batch| {
        fixture.far.follow(65_536);
        let times = batch.times;
        batch.window(|| fixture.far.follow(times));
    }),
    fit("chase.memory", 1_000, |fixture, batch| {
        let times = batch.times;
        batch.window(|| fixture.farthest.follow(times));
    }),
    held("copy.64k", 20, |fixture, batch| {
        let (from, to) = fixture.buffer.split_at_mut(65_536);
        batch.repeat(|| black_box(&mut *to)[..65_536].copy_from_slice(black_box(from)));
    }),
];

/// A thousand dependent multiplications.
fn multiply() {
    let mut value = black_box(3u64);
    for nth in 0..1_000 {
        value = black_box(value.wrapping_mul(3).wrapping_add(nth));
    }
}
