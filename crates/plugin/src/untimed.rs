//! Code that takes no time: neither the count nor the virtual clock goes on while it runs.
//!
//! It is for the kernel's own tracer, whose events tell what a program waits for, and which would be part of what they tell of. A
//! block is of such code if its first instruction is. Blocks of it are in no log.
//!
//! Code that the tracer shares with the rest of the kernel, such as a function's return by a thunk, takes none if the code before
//! it took none.

use crate::api::{self, Block, OnStart};
use crate::args::UntimedCode;
use crate::scheduler;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

static CODE: OnceLock<UntimedCode> = OnceLock::new();

/// What all CPUs had counted when such code ran last: as long as they count no more, nothing else has run since.
static LAST: AtomicU64 = AtomicU64::new(u64::MAX);

/// How a block is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    /// By the additions of its instructions.
    Usually,
    /// Here, if at all.
    Here,
    /// Never.
    Never,
}

/// Sets the code, before there is any.
pub(crate) fn set(code: UntimedCode) {
    // It is set once: QEMU installs a plugin once.
    let _ = CODE.set(code);
}

/// Has a block of so many instructions take no time if it is of such code.
pub(crate) fn observe(block: &Block, first: u64, instructions: usize) -> Counted {
    let has = |ranges: &[Range<u64>]| ranges.iter().any(|range| range.contains(&first));
    let instructions = instructions as u64;
    match CODE.get() {
        Some(code) if has(&code.own) => {
            block.on_start_from::<OwnStart>(0, instructions);
            Counted::Never
        }
        Some(code) if has(&code.shared) => {
            block.on_start_from::<SharedStart>(0, instructions);
            Counted::Here
        }
        _ => Counted::Usually,
    }
}

struct OwnStart;

impl OnStart for OwnStart {
    fn run(instructions: u64) {
        LAST.store(api::count_of_all(), Relaxed);
        scheduler::take_no_time(instructions);
    }
}

struct SharedStart;

impl OnStart for SharedStart {
    fn run(instructions: u64) {
        match LAST.load(Relaxed) == api::count_of_all() {
            true => scheduler::take_no_time(instructions),
            false => api::add(instructions),
        }
    }
}
