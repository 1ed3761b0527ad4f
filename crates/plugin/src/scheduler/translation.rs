//! What QEMU has translated: made anew when callbacks are to be registered that were not.

use super::finder::Finder;
use super::qemu::handle;
use std::ffi::c_void;

/// QEMU's functions about it.
pub(crate) struct Translation {
    flush: unsafe extern "C" fn(*mut c_void),
    address: unsafe extern "C" fn(*mut c_void) -> u64,
}

impl Translation {
    /// Finds them.
    pub(crate) fn find() -> Result<Translation, String> {
        let finder = Finder::new();
        let flush = finder.find(c"tb_flush").or_else(|_| finder.find(c"queue_tb_flush"))?;
        let address = finder.find(c"qemu_ram_addr_from_host")?;
        // SAFETY: functions of these names have these forms.
        unsafe {
            Ok(Translation {
                flush: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void)>(flush),
                address: std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void) -> u64>(address),
            })
        }
    }

    /// Has everything translated anew, soon.
    pub(crate) fn flush(&self) {
        // SAFETY: the CPU that runs, on its thread; the work is done when it has left its block.
        unsafe { (self.flush)(handle()) };
    }

    /// The address among the machine's memory of a byte that QEMU has here.
    pub(crate) fn address(&self, host: *mut c_void) -> Option<u64> {
        /// What QEMU gives for others.
        const NONE: u64 = u64::MAX;
        // SAFETY: any address may be asked for.
        let found = (!host.is_null()).then(|| unsafe { (self.address)(host) });
        found.filter(|address| *address != NONE)
    }
}
