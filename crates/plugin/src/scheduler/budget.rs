//! How many instructions a CPU may still execute. QEMU takes a block's off when the block starts, and gives back what was not
//! executed when something leaves it: so what is missing is what was executed.
//!
//! QEMU keeps the number in two fields of its CPU: sixteen bits, which translated code counts down, and the rest, of which
//! they are filled again. Where they are is found by what QEMU writes when it allows a CPU a number.

use std::ffi::c_void;
use std::sync::atomic::{AtomicI64, AtomicU16, Ordering::Relaxed};

/// The most that the sixteen bits hold.
const FULL: i64 = 0xffff;
/// Allowed while the fields are looked for: no other field of a CPU follows these. QEMU allows no more than fit into 2^31 ns.
const TRIALS: [i64; 3] = [0x1357, FULL + 0x12_ace0, 0x2b3c];

/// Where in a CPU the fields are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Budget {
    bits: usize,
    rest: usize,
}

/// A CPU's fields.
#[derive(Clone, Copy)]
pub(crate) struct Fields {
    bits: &'static AtomicU16,
    rest: &'static AtomicI64,
}

impl Budget {
    /// Finds them in a CPU of so many bytes. `allow` has QEMU allow a number of instructions, `end` take it back.
    ///
    /// # Safety
    /// `cpu` must be a CPU of QEMU's that does not run, and have as many bytes.
    pub(crate) unsafe fn find(
        cpu: *mut c_void,
        size: usize,
        mut allow: impl FnMut(i64),
        mut end: impl FnMut(),
    ) -> Option<Budget> {
        let mut bits: Vec<usize> = (0..size.saturating_sub(8)).step_by(4).collect();
        let mut rest: Vec<usize> = (0..size.saturating_sub(8)).step_by(8).collect();
        let mut keep = |allowed: i64| {
            bits.retain(|at| {
                // SAFETY: an offset within the CPU, by the caller's promise.
                let bits = unsafe { cpu.byte_add(*at).cast::<u16>().read_volatile() };
                i64::from(bits) == allowed.min(FULL)
            });
            rest.retain(|at| {
                // SAFETY: as above.
                let rest = unsafe { cpu.byte_add(*at).cast::<i64>().read_volatile() };
                rest == allowed - allowed.min(FULL)
            });
        };
        for allowed in TRIALS {
            allow(allowed);
            keep(allowed);
            end();
            keep(0);
        }
        match (&bits[..], &rest[..]) {
            (&[bits], &[rest]) => Some(Budget { bits, rest }),
            _ => None,
        }
    }

    /// # Safety
    /// `cpu` must be a CPU of the QEMU that this was found in.
    pub(crate) unsafe fn of(self, cpu: *mut c_void) -> Fields {
        // SAFETY: aligned, within the CPU, which stays until QEMU ends.
        unsafe {
            Fields {
                bits: AtomicU16::from_ptr(cpu.byte_add(self.bits).cast()),
                rest: AtomicI64::from_ptr(cpu.byte_add(self.rest).cast()),
            }
        }
    }
}

impl Fields {
    /// What the CPU may still execute.
    pub(crate) fn left(self) -> i64 {
        i64::from(self.bits.load(Relaxed)) + self.rest.load(Relaxed)
    }

    /// Of a CPU of a test's own.
    #[cfg(test)]
    pub(crate) fn of_test(left: u16) -> Fields {
        Fields {
            bits: Box::leak(Box::new(left.into())),
            rest: Box::leak(Box::new(0.into())),
        }
    }

    /// A block starts.
    #[cfg(test)]
    pub(crate) fn charge(self, instructions: u16) {
        self.bits.fetch_sub(instructions, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: usize = 4096;
    const BITS: usize = 3004;
    const REST: usize = 800;
    /// Of what a CPU was allowed at first.
    const WHOLE: usize = 792;

    /// A CPU with the fields, and some that show nearly the same.
    fn find(writes_rest: bool) -> (Option<Budget>, Vec<u64>) {
        let mut memory = vec![0u64; SIZE / 8];
        let cpu: *mut c_void = memory.as_mut_ptr().cast();
        let write = |allowed: i64| {
            let bits = allowed.min(FULL);
            // SAFETY: offsets within the memory.
            unsafe {
                cpu.byte_add(BITS).cast::<u16>().write(bits as u16);
                cpu.byte_add(WHOLE).cast::<i64>().write(allowed);
                if writes_rest {
                    cpu.byte_add(REST).cast::<i64>().write(allowed - bits);
                }
            }
        };
        // SAFETY: the memory's size.
        let found = unsafe { Budget::find(cpu, SIZE, write, || write(0)) };
        (found, memory)
    }

    #[test]
    fn the_fields_are_those_that_follow_what_is_allowed() {
        let (found, mut memory) = find(true);
        let found = found.unwrap();
        assert_eq!(found, Budget { bits: BITS, rest: REST });
        memory[BITS / 8] = 0x8000_0007 << 32;
        memory[REST / 8] = 100;
        // SAFETY: the memory outlives the use of its fields.
        assert_eq!(unsafe { found.of(memory.as_mut_ptr().cast()) }.left(), 107);
    }

    #[test]
    fn a_cpu_without_them_is_not_guessed_at() {
        assert_eq!(find(false).0, None);
    }
}
