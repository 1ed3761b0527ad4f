//! Registers of the CPU that runs.
//!
//! QEMU has no plugin function of version 1 for registers; its gdb server's function for one register is exported for
//! QEMU's own modules and has had the same form since 4.2. In a block's first callback registers are what the guest has.

use crate::arch::READS_REGISTER;
use crate::scheduler;
use std::ffi::{CStr, c_int, c_uint, c_void};

/// Of x86-64, by gdb's number: RDI, which holds a function's first argument.
pub(crate) const FIRST_ARGUMENT: c_int = 5;

/// glib's byte array.
#[repr(C)]
struct ByteArray {
    data: *const u8,
    len: c_uint,
}

type ReadRegister = unsafe extern "C" fn(*mut c_void, *mut ByteArray, c_int) -> c_int;
type NewArray = unsafe extern "C" fn() -> *mut ByteArray;
type SetSize = unsafe extern "C" fn(*mut ByteArray, c_uint) -> *mut ByteArray;

/// What reads registers in QEMU.
pub(crate) struct Registers {
    read: ReadRegister,
    set_size: SetSize,
    array: *mut ByteArray,
}

// SAFETY: used on QEMU's one CPU thread only, under the lock of whoever asks.
unsafe impl Send for Registers {}

impl Registers {
    /// Finds QEMU's functions.
    pub(crate) fn find() -> Result<Registers, String> {
        // SAFETY: the types are those of QEMU's and glib's functions with these names.
        unsafe {
            let new_array = std::mem::transmute::<*mut c_void, NewArray>(symbol(c"g_byte_array_new")?);
            Ok(Registers {
                read: std::mem::transmute::<*mut c_void, ReadRegister>(symbol(READS_REGISTER)?),
                set_size: std::mem::transmute::<*mut c_void, SetSize>(symbol(c"g_byte_array_set_size")?),
                array: new_array(),
            })
        }
    }

    /// One of them; of a shorter one the rest is 0.
    pub(crate) fn read(&self, number: c_int) -> u64 {
        // SAFETY: the CPU exists while it runs; the array is ours; one register appends at most eight bytes.
        unsafe {
            (self.set_size)(self.array, 0);
            (self.read)(scheduler::handle(), self.array, number);
            let length = ((*self.array).len as usize).min(8);
            let mut bytes = [0; 8];
            bytes[..length].copy_from_slice(std::slice::from_raw_parts((*self.array).data, length));
            u64::from_le_bytes(bytes)
        }
    }
}

fn symbol(name: &CStr) -> Result<*mut c_void, String> {
    // SAFETY: a C string; the search is among the libraries of this process.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    if found.is_null() {
        return Err(format!(
            "this QEMU's registers cannot be read: it does not export {}",
            name.to_string_lossy()
        ));
    }
    Ok(found)
}
