//! The tracked state against the true one: QEMU's own flags register, the kernel's count in memory, the mode by address.
//!
//! QEMU has no plugin function of version 1 for registers; its gdb server's function for one register is exported for
//! QEMU's own modules and has had the same form since 4.2. It is used here alone, and only when an audit is asked for.

use super::tracker::Tracker;
use super::word::Word;
use crate::scheduler;
use std::ffi::{CStr, c_int, c_uint, c_void};

/// Number of the flags among the registers of gdb's x86-64: behind sixteen registers and the instruction pointer.
const FLAGS: c_int = 17;
const IF: u32 = 1 << 9;

/// glib's byte array.
#[repr(C)]
struct ByteArray {
    data: *const u8,
    len: c_uint,
}

type ReadRegister = unsafe extern "C" fn(*mut c_void, *mut ByteArray, c_int) -> c_int;
type NewArray = unsafe extern "C" fn() -> *mut ByteArray;
type SetSize = unsafe extern "C" fn(*mut ByteArray, c_uint) -> *mut ByteArray;

/// What an audit needs of QEMU.
pub(crate) struct Audit {
    /// Blocks compared.
    pub(crate) blocks: u64,
    /// The block before, in which a difference arose.
    before: u64,
    read_register: ReadRegister,
    set_size: SetSize,
    array: *mut ByteArray,
}

// SAFETY: used on QEMU's one CPU thread only, under the census's lock.
unsafe impl Send for Audit {}

impl Audit {
    /// Finds QEMU's functions.
    pub(crate) fn find() -> Result<Audit, String> {
        // SAFETY: the types are those of QEMU's and glib's functions with these names.
        unsafe {
            let new_array = std::mem::transmute::<*mut c_void, NewArray>(symbol(c"g_byte_array_new")?);
            Ok(Audit {
                blocks: 0,
                before: 0,
                read_register: std::mem::transmute::<*mut c_void, ReadRegister>(symbol(c"x86_cpu_gdb_read_register")?),
                set_size: std::mem::transmute::<*mut c_void, SetSize>(symbol(c"g_byte_array_set_size")?),
                array: new_array(),
            })
        }
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
        let interrupts = self.flags() & IF != 0;
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

    fn flags(&self) -> u32 {
        // SAFETY: the CPU exists while it runs; the array is ours; one register appends four bytes.
        unsafe {
            (self.set_size)(self.array, 0);
            (self.read_register)(scheduler::handle(), self.array, FLAGS);
            (*self.array).data.cast::<u32>().read_unaligned()
        }
    }
}

fn symbol(name: &CStr) -> Result<*mut c_void, String> {
    // SAFETY: a C string; the search is among the libraries of this process.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    if found.is_null() {
        return Err(format!(
            "this QEMU cannot be audited: it does not export {}",
            name.to_string_lossy()
        ));
    }
    Ok(found)
}
