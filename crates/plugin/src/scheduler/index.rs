//! The number that QEMU keeps in each CPU (`cpu_index`), and another one that it shows while the CPU runs.
//!
//! QEMU 10 and 11 make the address of a plugin's counter from the number while they translate. Where CPUs share a thread they
//! do so in the translated block's constant of that value, which is another one from then on (`gen_plugin_u64_ptr`): each
//! further addition of the block goes to eight times the number, soon outside of the counters, and the block computes with
//! the wrong constant where it has the same one. Number 0 stays 0. So the others show a number while they run that is 0 when
//! it is multiplied by eight in 32 bits, and that code of a guest hardly holds. All CPUs then share the first counter. They
//! cannot show 0 itself: at an INIT, QEMU takes the CPU with number 0 for the one that boots.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

type Cpu = *mut c_void;

/// Where it is looked for: `CPUState` is smaller, and the CPU of x86 that begins with it larger.
const SPAN: usize = 8 << 10;
/// What a CPU shows while it runs; no CPU has it as its own.
const SHOWN: c_int = 0x6000_0000;

/// Where the number is in a CPU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Index {
    offset: usize,
}

impl Index {
    /// Finds it by the numbers of the first two CPUs: what is changed must change whom `get` finds.
    ///
    /// # Safety
    /// `first` and `second` must be QEMU's CPUs 0 and 1, `get` its `qemu_get_cpu`, and no other thread may look for CPUs.
    pub(crate) unsafe fn find(first: Cpu, second: Cpu, get: unsafe extern "C" fn(c_int) -> Cpu) -> Option<Index> {
        (0..SPAN).step_by(4).map(|offset| Index { offset }).find(|index| {
            // SAFETY: within the CPUs, by the caller's promise and `SPAN`.
            let (zero, one) = unsafe { (index.of(first), index.of(second)) };
            if (zero.load(Relaxed), one.load(Relaxed)) != (0, 1) {
                return false;
            }
            one.store(SHOWN, Relaxed);
            // SAFETY: any number may be asked for.
            let found = unsafe { get(SHOWN) == second && get(1) != second };
            one.store(1, Relaxed);
            found
        })
    }

    /// Shows a CPU's counter as the first one while it does something.
    ///
    /// # Safety
    /// `cpu` must be a CPU of the QEMU that this was found in, with this number.
    pub(crate) unsafe fn with_first_counter<T>(self, cpu: Cpu, number: usize, work: impl FnOnce() -> T) -> T {
        // SAFETY: the caller's promise.
        let own = unsafe { self.of(cpu) };
        own.store(SHOWN, Relaxed);
        let done = work();
        own.store(number as c_int, Relaxed);
        done
    }

    /// SAFETY: `cpu` must be a CPU of QEMU's.
    unsafe fn of<'a>(self, cpu: Cpu) -> &'a AtomicI32 {
        // SAFETY: aligned, within the CPU, which stays until QEMU ends.
        unsafe { AtomicI32::from_ptr(cpu.byte_add(self.offset).cast()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicPtr;

    static CPUS: [AtomicPtr<c_void>; 2] = [const { AtomicPtr::new(std::ptr::null_mut()) }; 2];

    /// The number is at the third place of four bytes that are 0 and 1.
    const AT: usize = 3000;

    unsafe extern "C" fn get(number: c_int) -> Cpu {
        let found = CPUS.iter().map(|cpu| cpu.load(Relaxed));
        // SAFETY: the CPUs of the test.
        let has = |cpu: &Cpu| unsafe { cpu.byte_add(AT).cast::<c_int>().read() == number };
        found.into_iter().find(has).unwrap_or(std::ptr::null_mut())
    }

    #[test]
    fn the_number_is_where_changing_it_changes_who_is_found() {
        let mut cpus = [vec![0i32; SPAN / 4], vec![0i32; SPAN / 4]];
        for at in [100, 2000, AT] {
            cpus[1][at / 4] = 1;
        }
        for (cpu, place) in cpus.iter_mut().zip(&CPUS) {
            place.store(cpu.as_mut_ptr().cast(), Relaxed);
        }
        let [first, second] = [0, 1].map(|n: usize| CPUS[n].load(Relaxed));
        // SAFETY: CPUs of the test, and its function.
        let index = unsafe { Index::find(first, second, get) }.unwrap();
        assert_eq!(index.offset, AT);
        // SAFETY: as above.
        let seen = unsafe { index.with_first_counter(second, 1, || (get(SHOWN) == second, get(1).is_null())) };
        assert_eq!(seen, (true, true));
        assert_eq!((cpus[1][25], cpus[1][500], cpus[1][AT / 4]), (1, 1, 1));
    }
}
