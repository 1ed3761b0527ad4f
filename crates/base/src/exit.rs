//! Exit codes, by which scripts see what went wrong.

/// An exit code. Each library's error says which it is; the numbers are documented and do not change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitKind {
    /// A verdict is FAIL and the user asked for an exit code (`verdict`, `gate`), or a sample was above
    /// `host run --break`, or `history --fail-on-change` found a change for the worse. Never an error.
    Fail = 1,
    /// The command line or a file given by the user is wrong, or the file is missing.
    Usage = 2,
    /// A tool, a right or the network is missing.
    Missing = 3,
    /// The measured machine failed: it panicked, hung or sent nothing.
    Measured = 4,
    /// Storage: the disk is full, or where results or the cache go cannot be written, for want of a right too.
    Storage = 5,
    /// A defect of worstcase: it says where, in one line to be reported.
    Defect = 6,
    /// A verdict is INCONCLUSIVE. Never an error.
    Inconclusive = 10,
    /// Ctrl-C or another signal ended it before it was done; what a shell gives for Ctrl-C.
    Interrupted = 130,
}

impl ExitKind {
    /// The kind with this number, from the exit code of a process.
    pub fn of(number: u8) -> Option<ExitKind> {
        use ExitKind::{Defect, Fail, Inconclusive, Interrupted, Measured, Missing, Storage, Usage};
        [
            Fail,
            Usage,
            Missing,
            Measured,
            Storage,
            Defect,
            Inconclusive,
            Interrupted,
        ]
        .into_iter()
        .find(|exit| *exit as u8 == number)
    }
}
