//! What the census follows on x86-64 alone: flags and mode that instructions load from memory, and its ways into the kernel.

use super::meaning::Meaning;
use super::packed::PackedInstruction;
use super::state::{Census, lock};
use super::steps::at_start;
use crate::api::{Block, Instruction, OnRead, OnStart};
use crate::arch;

/// What the instruction that loads flags has loaded so far: its first word's address, and the mode.
#[derive(Default)]
pub(crate) struct Pending {
    loading: Option<(u64, bool)>,
}

impl Pending {
    /// Nothing is needed for it.
    #[expect(clippy::unnecessary_wraps, reason = "elsewhere QEMU's functions are looked for")]
    pub(crate) fn new() -> Result<Pending, String> {
        Ok(Pending::default())
    }
}

/// Nothing is to be known of blocks.
pub(crate) fn observe(_block: &Block, _first: u64) {}

/// Registers what an instruction of user code does.
pub(crate) fn register_of_user(instruction: &Instruction, meaning: Meaning, at: PackedInstruction) {
    if meaning == Meaning::SystemCall {
        instruction.on_start::<SystemCall>(at.0);
    }
}

/// Registers what an instruction of the kernel's does here alone.
pub(crate) fn register(instruction: &Instruction, meaning: Meaning, at: PackedInstruction) {
    match meaning {
        Meaning::InterruptsOnLater => instruction.on_start::<InterruptsOnLater>(at.0),
        Meaning::LeavesKernel => instruction.on_start::<LeavesKernel>(at.0),
        Meaning::LoadsFlags => {
            instruction.on_start::<Loads>(at.0);
            instruction.on_read::<LoadsFlags>(at.0);
        }
        Meaning::Returns => {
            instruction.on_start::<Loads>(at.0);
            instruction.on_read::<Returns>(at.0);
        }
        _ => {}
    }
}

at_start! {
    SystemCall = |tracker, start, at| tracker.enter(start + 1, at);
    InterruptsOnLater = |tracker, start, at| tracker.sti(start + 1, at);
}

/// An instruction that returns to user mode starts.
struct LeavesKernel;

impl OnStart for LeavesKernel {
    fn run(data: u64) {
        let place = PackedInstruction(data);
        let now = place.end();
        if let Some(census) = lock().as_mut() {
            census.in_user(now);
            census.step(|tracker, _, _| tracker.leave(now, place.address(), true, false));
        }
    }
}

/// An instruction that loads flags starts.
struct Loads;

impl OnStart for Loads {
    fn run(_: u64) {
        if let Some(census) = lock().as_mut() {
            census.pending.loading = Some((0, true));
        }
    }
}

/// `popf` reads.
struct LoadsFlags;

impl OnRead for LoadsFlags {
    fn run(vaddr: u64, physical: u64, data: u64) {
        if let Some(census) = lock().as_mut() {
            census.load(vaddr, physical, PackedInstruction(data), 0);
        }
    }
}

/// `iret` reads.
struct Returns;

impl OnRead for Returns {
    fn run(vaddr: u64, physical: u64, data: u64) {
        if let Some(census) = lock().as_mut() {
            census.load(vaddr, physical, PackedInstruction(data), 16);
        }
    }
}

impl Census {
    /// A word that an instruction loads at a physical address: the first is the base, for `iret` the flags the third.
    fn load(&mut self, vaddr: u64, physical: u64, place: PackedInstruction, flags_at: u64) {
        let Some((base, kernel)) = self.pending.loading else {
            return;
        };
        let base = if base == 0 { vaddr } else { base };
        self.pending.loading = Some((base, kernel));
        let offset = vaddr.wrapping_sub(base);
        let Some(word) = self.word(physical) else {
            return;
        };
        if offset == 8 && flags_at == 16 {
            self.pending.loading = Some((base, word & 3 != 3));
        }
        if offset == flags_at {
            self.pending.loading = None;
            let (now, at) = (place.end(), place.address());
            let kernel = flags_at == 0 || kernel;
            if !kernel {
                self.in_user(now);
            }
            self.step(|tracker, _, _| tracker.leave(now, at, arch::allow_interrupts(word), kernel));
        }
    }

    fn word(&mut self, physical: u64) -> Option<u64> {
        let mut word = None;
        self.step(|_, _, memory| word = memory.read(physical).map(u64::from_le_bytes));
        word
    }
}
