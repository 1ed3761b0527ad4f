//! The slice that runs: what its CPU has executed since the slice began.

use super::budget::Fields;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicI64, AtomicPtr, Ordering::Relaxed};

/// See the module. Only the CPUs' thread begins and ends one; others may look.
pub(crate) struct RunningSlice {
    /// Of its CPU; null while none runs.
    fields: AtomicPtr<Fields>,
    allowed: AtomicI64,
    /// Instructions that took no time.
    untimed: AtomicI64,
}

/// The machine's.
pub(crate) static SLICE: RunningSlice = RunningSlice::new();

/// What a CPU did in a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Executed {
    /// All instructions.
    pub(crate) all: i64,
    /// Those that took time.
    pub(crate) timed: i64,
}

impl RunningSlice {
    /// None runs.
    pub(crate) const fn new() -> RunningSlice {
        RunningSlice {
            fields: AtomicPtr::new(null_mut()),
            allowed: AtomicI64::new(0),
            untimed: AtomicI64::new(0),
        }
    }

    /// Its CPU, which has been allowed a number of instructions, begins.
    pub(crate) fn begin(&self, fields: &'static Fields) {
        self.untimed.store(0, Relaxed);
        self.allowed.store(fields.left(), Relaxed);
        self.fields.store(std::ptr::from_ref(fields).cast_mut(), Relaxed);
    }

    /// It has stopped.
    pub(crate) fn end(&self) -> Executed {
        let timed = self.executed();
        self.fields.store(null_mut(), Relaxed);
        Executed {
            all: timed + self.untimed.load(Relaxed),
            timed,
        }
    }

    /// So many of the instructions that it is charged with take no time.
    pub(crate) fn take_no_time(&self, instructions: i64) {
        self.untimed.fetch_add(instructions, Relaxed);
    }

    /// What it has executed that took time, with all of the block that runs; 0 if none runs.
    pub(crate) fn executed(&self) -> i64 {
        // SAFETY: null, or what `begin` was given, which stays.
        match unsafe { self.fields.load(Relaxed).as_ref() } {
            Some(fields) => self.allowed.load(Relaxed) - fields.left() - self.untimed.load(Relaxed),
            None => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_was_executed() {
        let slice = RunningSlice::new();
        let fields: &Fields = Box::leak(Box::new(Fields::of_test(100)));
        assert_eq!(slice.executed(), 0);
        slice.begin(fields);
        fields.charge(30);
        assert_eq!(slice.executed(), 30);
        fields.charge(5);
        slice.take_no_time(5);
        assert_eq!(slice.executed(), 30);
        assert_eq!(slice.end(), Executed { all: 35, timed: 30 });
        assert_eq!(slice.executed(), 0);
    }
}
