//! The tracked state against the true one: QEMU's own flags register, the kernel's count in memory, the mode by address.

use super::tracker::Tracker;
use super::word::Word;
use crate::arch;
use crate::registers::Registers;

/// What an audit needs of QEMU.
pub(crate) struct Audit {
    /// Blocks compared.
    pub(crate) blocks: u64,
    /// The block before, in which a difference arose.
    before: u64,
    registers: Registers,
}

impl Audit {
    /// Finds QEMU's functions.
    pub(crate) fn find() -> Result<Audit, String> {
        Ok(Audit {
            blocks: 0,
            before: 0,
            registers: Registers::find()?,
        })
    }

    /// Compares at a block's start; tells the first difference.
    pub(crate) fn compare(
        &mut self,
        tracker: &Tracker,
        block: u64,
        word: impl Fn(bool) -> Option<Word>,
    ) -> Option<String> {
        self.blocks += 1;
        let before = std::mem::replace(&mut self.before, block);
        let interrupts = arch::allow_interrupts(self.registers.read(arch::FLAGS));
        let kernel = block >> 63 == 1;
        let word = word(matches!(tracker.word, Word::Bits64(_)))?;
        let differs = |what: &str, tracked: &dyn std::fmt::Debug, truth: &dyn std::fmt::Debug| {
            Some(format!(
                "audit, block {} at {block:#x} after {before:#x}: {what} tracked {tracked:x?}, true {truth:x?}",
                self.blocks
            ))
        };
        if interrupts != tracker.interrupts() {
            return differs("interrupts", &tracker.interrupts(), &interrupts);
        }
        if kernel != tracker.kernel {
            return differs("kernel", &tracker.kernel, &kernel);
        }
        if self.blocks > 1 && word != tracker.word && tracker.counted {
            return differs("preempt count", &tracker.word, &word);
        }
        None
    }
}
