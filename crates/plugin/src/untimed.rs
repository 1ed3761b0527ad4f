//! Code that takes no time: neither the count nor the virtual clock goes on while it runs.
//!
//! It is for the kernel's own tracer, whose events tell what a program waits for, and which would be part of what they tell of. A
//! block is of such code if its first instruction is. Blocks of it are in no log.
//!
//! Code that the tracer shares with the rest of the kernel, such as a function's return by a thunk, takes none if the code before
//! it took none.

use crate::api::{Block, OnStart};
use crate::args::UntimedCode;
use crate::count::Place;
use crate::counts;
use crate::scheduler;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

static CODE: OnceLock<UntimedCode> = OnceLock::new();

/// What all CPUs had counted when such code ran last: as long as they count no more, nothing else has run since.
static LAST: AtomicU64 = AtomicU64::new(u64::MAX);

/// Whether the block of shared code that started last takes no time.
static SHARED_IS_FREE: AtomicBool = AtomicBool::new(false);

/// Sets the code, before there is any.
pub(crate) fn set(code: UntimedCode) {
    // It is set once: QEMU installs a plugin once.
    let _ = CODE.set(code);
}

/// What a block is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    /// What takes its time.
    Usual,
    /// What takes none after code that takes none.
    Shared,
    /// What takes none.
    Own,
}

/// Has a block of so many instructions take no time if it is of such code.
pub(crate) fn observe(block: &Block, first: u64, instructions: usize) -> Code {
    let instructions = instructions as u64;
    match CODE.get() {
        Some(code) if code.own.contain(first) => {
            block.on_start::<OwnStart>(instructions);
            Code::Own
        }
        Some(code) if code.shared.contain(first) => {
            block.on_start::<SharedStart>(instructions);
            Code::Shared
        }
        _ => Code::Usual,
    }
}

/// What an instruction's count is when it starts, seen from a callback at its start or of its access to memory.
pub(crate) fn count_at(place: Place) -> u64 {
    place.start(counts::charged(), SHARED_IS_FREE.load(Relaxed))
}

/// That of all CPUs.
pub(crate) fn count_of_all_at(place: Place) -> u64 {
    place.start(counts::charged_of_all(), SHARED_IS_FREE.load(Relaxed))
}

struct OwnStart;

impl OnStart for OwnStart {
    fn run(instructions: u64) {
        scheduler::take_no_time(instructions);
        LAST.store(counts::charged_of_all(), Relaxed);
    }
}

struct SharedStart;

impl OnStart for SharedStart {
    fn run(instructions: u64) {
        let is_free = LAST.load(Relaxed) == counts::charged_of_all().wrapping_sub(instructions);
        SHARED_IS_FREE.store(is_free, Relaxed);
        if is_free {
            scheduler::take_no_time(instructions);
        }
    }
}
