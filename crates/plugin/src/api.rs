//! QEMU's plugin interface as the rest of the plugin sees it: blocks and instructions.
//!
//! It knows the interface's version: `version` is `api/v1.rs` for QEMU 7.2 and 8.2 or `api/v4.rs` for QEMU 10 and 11. `unsafe` is
//! only here, in `entry`, `guest_memory`, `registers` and `scheduler`.

#[cfg_attr(feature = "api-v1", path = "api/v1.rs")]
#[cfg_attr(feature = "api-v4", path = "api/v4.rs")]
mod version;

use crate::mark::NOP_LEN;
use qemu_plugin_sys as sys;
use std::ffi::{c_uint, c_void};

/// Runs when an instruction or a block starts; `data` is what was given at registration.
pub(crate) trait OnStart {
    /// Called on the CPU's thread.
    fn run(data: u64);
}

/// Runs after a memory access of an instruction; `data` is what was given at registration.
pub(crate) trait OnAccess {
    /// Called on the CPU's thread with the virtual address accessed.
    fn run(vaddr: u64, data: u64);
}

/// Runs after a write of eight bytes; `data` is what was given at registration.
pub(crate) trait OnStore {
    /// Called on the CPU's thread with the virtual address, and whether memory is there and no device.
    fn run(vaddr: u64, is_memory: bool, data: u64);
}

/// Runs after each read of memory by an instruction; `data` is what was given at registration.
pub(crate) trait OnRead {
    /// Called on the CPU's thread with the virtual and the physical address read.
    fn run(vaddr: u64, physical: u64, data: u64);
}

/// Runs after each access of an instruction to memory or a device; `data` is what was given at registration.
pub(crate) trait OnTouch {
    /// Called on the CPU's thread.
    fn run(access: &Access, data: u64);
}

/// An access to memory or a device, during the callback about it.
pub(crate) struct Access {
    info: sys::qemu_plugin_meminfo_t,
    /// The virtual address.
    pub(crate) vaddr: u64,
}

/// What an address leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Touched {
    /// Memory, at this physical address.
    Memory(u64),
    Device,
}

impl Access {
    /// What it leads to, if QEMU knows.
    pub(crate) fn touched(&self) -> Option<Touched> {
        // SAFETY: QEMU's description is valid during the callback, for which the handle of its address is too.
        unsafe {
            let address = sys::qemu_plugin_get_hwaddr(self.info, self.vaddr);
            if address.is_null() {
                return None;
            }
            Some(match sys::qemu_plugin_hwaddr_is_io(address) {
                true => Touched::Device,
                false => Touched::Memory(sys::qemu_plugin_hwaddr_phys_addr(address)),
            })
        }
    }

    /// Whether it writes.
    pub(crate) fn writes(&self) -> bool {
        // SAFETY: as above.
        unsafe { sys::qemu_plugin_mem_is_store(self.info) }
    }

    /// Its bytes.
    pub(crate) fn length(&self) -> u64 {
        // SAFETY: as above.
        1 << unsafe { sys::qemu_plugin_mem_size_shift(self.info) }
    }
}

/// A block during its translation.
pub(crate) struct Block(*mut sys::qemu_plugin_tb);

/// An instruction of a block during the block's translation.
pub struct Instruction<'block> {
    handle: *mut sys::qemu_plugin_insn,
    bytes: [u8; MAX_LEN],
    len: usize,
    block: std::marker::PhantomData<&'block Block>,
}

// Of this architecture.
use crate::arch::MAX_LEN;

impl Block {
    /// The block that QEMU translates.
    ///
    /// # Safety
    /// `handle` is what QEMU passed to the callback that runs; the block must not outlive it.
    pub(crate) unsafe fn of(handle: *mut sys::qemu_plugin_tb) -> Block {
        Block(handle)
    }

    /// The block's instructions in order.
    pub(crate) fn instructions(&self) -> Vec<Instruction<'_>> {
        // SAFETY: a `Block` exists only during the callback that QEMU passed its handle to.
        let n = unsafe { sys::qemu_plugin_tb_n_insns(self.0) };
        let mut instructions: Vec<_> = (0..n)
            .map(|i| {
                // SAFETY: as above, and `i` is below the number of instructions.
                let handle = unsafe { sys::qemu_plugin_tb_get_insn(self.0, i) };
                // SAFETY: the handle is valid as long as the block's.
                let (bytes, len) = unsafe { version::copy_bytes(handle) };
                Instruction {
                    handle,
                    bytes,
                    len,
                    block: std::marker::PhantomData,
                }
            })
            .collect();
        version::drop_unexecuted(&mut instructions);
        instructions
    }

    /// Runs `H` whenever this block starts, before anything of its first instruction.
    pub(crate) fn on_start<H: OnStart>(&self, data: u64) {
        // SAFETY: the handle as in `instructions`; the data is a number in a pointer's clothes, which is never followed.
        unsafe {
            sys::qemu_plugin_register_vcpu_tb_exec_cb(
                self.0,
                Some(started::<H>),
                sys::qemu_plugin_cb_flags::QEMU_PLUGIN_CB_NO_REGS,
                data as *mut c_void,
            );
        }
    }
}

impl Instruction<'_> {
    /// The machine code.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// The virtual address.
    pub(crate) fn vaddr(&self) -> u64 {
        // SAFETY: the handle is valid during the translation callback, which `Block` stands for.
        unsafe { sys::qemu_plugin_insn_vaddr(self.handle) }
    }

    /// As many bytes before this instruction as a mark has before its store, the first of its block, if they lie on the same page.
    pub(crate) fn bytes_before(&self) -> Option<[u8; NOP_LEN]> {
        if self.vaddr() % 4096 < NOP_LEN as u64 {
            return None;
        }
        // SAFETY: as in `vaddr`.
        let host = unsafe { sys::qemu_plugin_insn_haddr(self.handle) }.cast::<u8>();
        if host.is_null() {
            return None;
        }
        // SAFETY: a block's first instruction lies in guest RAM at `host`; a guest page is contiguous there, and
        // at least so many bytes of this page come before. The guest's CPU, the only writer, is translating.
        Some(unsafe { host.sub(NOP_LEN).cast::<[u8; NOP_LEN]>().read() })
    }

    /// Where QEMU has its first byte, if that is in memory.
    pub(crate) fn host_address(&self) -> *mut c_void {
        // SAFETY: as in `vaddr`.
        unsafe { sys::qemu_plugin_insn_haddr(self.handle) }
    }

    /// Runs `H` whenever this instruction starts.
    pub(crate) fn on_start<H: OnStart>(&self, data: u64) {
        // SAFETY: the handle as in `vaddr`; the data is a number in a pointer's clothes, which is never followed.
        unsafe {
            sys::qemu_plugin_register_vcpu_insn_exec_cb(
                self.handle,
                Some(started::<H>),
                sys::qemu_plugin_cb_flags::QEMU_PLUGIN_CB_NO_REGS,
                data as *mut c_void,
            );
        }
    }

    /// Runs `H` after each write of this instruction.
    pub(crate) fn on_write<H: OnAccess>(&self, data: u64) {
        unsafe extern "C" fn call<H: OnAccess>(
            _cpu: c_uint,
            _info: sys::qemu_plugin_meminfo_t,
            vaddr: u64,
            data: *mut c_void,
        ) {
            H::run(vaddr, data as u64);
        }
        // SAFETY: as in `on_start`.
        unsafe {
            sys::qemu_plugin_register_vcpu_mem_cb(
                self.handle,
                Some(call::<H>),
                sys::qemu_plugin_cb_flags::QEMU_PLUGIN_CB_NO_REGS,
                version::ON_WRITES,
                data as *mut c_void,
            );
        }
    }
}

impl Instruction<'_> {
    /// Runs `H` after each write of this instruction, and says whether it was to memory.
    pub(crate) fn on_store<H: OnStore>(&self, data: u64) {
        unsafe extern "C" fn call<H: OnStore>(
            _cpu: c_uint,
            info: sys::qemu_plugin_meminfo_t,
            vaddr: u64,
            data: *mut c_void,
        ) {
            // SAFETY: QEMU passes a description that is valid during this call, for which the handle of its
            // address is too.
            let is_memory = unsafe {
                let address = sys::qemu_plugin_get_hwaddr(info, vaddr);
                !address.is_null() && !sys::qemu_plugin_hwaddr_is_io(address)
            };
            H::run(vaddr, is_memory, data as u64);
        }
        // SAFETY: as in `on_start`.
        unsafe {
            sys::qemu_plugin_register_vcpu_mem_cb(
                self.handle,
                Some(call::<H>),
                sys::qemu_plugin_cb_flags::QEMU_PLUGIN_CB_NO_REGS,
                version::ON_WRITES,
                data as *mut c_void,
            );
        }
    }

    /// Runs `H` after each read of memory by this instruction; devices are left out.
    pub(crate) fn on_read<H: OnRead>(&self, data: u64) {
        unsafe extern "C" fn call<H: OnRead>(
            _cpu: c_uint,
            info: sys::qemu_plugin_meminfo_t,
            vaddr: u64,
            data: *mut c_void,
        ) {
            // SAFETY: QEMU passes a description that is valid during this call, for which the handle of its
            // address is too.
            let physical = unsafe {
                if sys::qemu_plugin_mem_is_store(info) {
                    return;
                }
                let address = sys::qemu_plugin_get_hwaddr(info, vaddr);
                if address.is_null() || sys::qemu_plugin_hwaddr_is_io(address) {
                    return;
                }
                sys::qemu_plugin_hwaddr_phys_addr(address)
            };
            H::run(vaddr, physical, data as u64);
        }
        // SAFETY: as in `on_start`. Both kinds are asked for: QEMU 7.2 calls for reads alone on writes only.
        unsafe {
            sys::qemu_plugin_register_vcpu_mem_cb(
                self.handle,
                Some(call::<H>),
                sys::qemu_plugin_cb_flags::QEMU_PLUGIN_CB_NO_REGS,
                sys::qemu_plugin_mem_rw::QEMU_PLUGIN_MEM_RW,
                data as *mut c_void,
            );
        }
    }
}

impl Instruction<'_> {
    /// Runs `H` after each access of this instruction.
    pub(crate) fn on_touch<H: OnTouch>(&self, data: u64) {
        unsafe extern "C" fn call<H: OnTouch>(
            _cpu: c_uint,
            info: sys::qemu_plugin_meminfo_t,
            vaddr: u64,
            data: *mut c_void,
        ) {
            H::run(&Access { info, vaddr }, data as u64);
        }
        // SAFETY: as in `on_start`.
        unsafe {
            sys::qemu_plugin_register_vcpu_mem_cb(
                self.handle,
                Some(call::<H>),
                sys::qemu_plugin_cb_flags::QEMU_PLUGIN_CB_NO_REGS,
                sys::qemu_plugin_mem_rw::QEMU_PLUGIN_MEM_RW,
                data as *mut c_void,
            );
        }
    }
}

unsafe extern "C" fn started<H: OnStart>(_cpu: c_uint, data: *mut c_void) {
    H::run(data as u64);
}
