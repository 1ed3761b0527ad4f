//! What instructions do to the state that is followed, in words of all architectures.

/// See the module. The first are of all architectures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "each architecture has some of its own")]
pub(crate) enum Meaning {
    /// No interrupt comes any more.
    InterruptsOff,
    /// Halts the CPU.
    Halts,
    /// Writes a word at an address that only shows when it runs; it may be the kernel's count, which then has so many bytes.
    MayWriteCount(u8),
    /// Reads a task's flags to see whether somebody asked to reschedule.
    ReadsFlags,
    /// `sti`: interrupts come after one more instruction.
    InterruptsOnLater,
    /// `popf`: loads the flags.
    LoadsFlags,
    /// `iret`: loads the flags and the mode.
    Returns,
    /// `syscall`
    SystemCall,
    /// `sysret`
    LeavesKernel,
    /// Writes the kernel's count, which has so many bytes.
    WritesCount(u8),
    /// Compares the kernel's count with this value: it is equal only if somebody asked to reschedule.
    ComparesCount(u16),
    /// Writes the pointer to the current task.
    WritesCurrent,
    /// arm64: interrupts come.
    InterruptsOn,
    /// arm64: sets flags, or flags and mode, to what registers hold.
    SetsState,
    /// arm64: reads a word that is compared with this value; it may be the kernel's count.
    MayCompareCount(u16),
    /// arm64: moves the pointer to the current task to its register.
    MovesCurrent,
}
