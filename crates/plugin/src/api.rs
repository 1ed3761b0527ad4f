//! QEMU's plugin interface as the rest of the plugin sees it: blocks, instructions, one counter.
//!
//! The only module that knows the interface's version, and the only one with `unsafe`. Version 1 (QEMU 7.2)
//! adds to any address; version 4 (QEMU 10) adds to a "scoreboard", an array with one element for each CPU.

use crate::count::Access;
#[cfg(feature = "api-v1")]
use crate::decode;
use crate::mark::NOP_LEN;
use crate::{plugin, watch};
use qemu_plugin_sys as sys;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

/// The machine that QEMU is about to run.
pub struct Machine {
    /// The guest's architecture, in QEMU's words.
    pub target: String,
    /// A whole machine, not a single program.
    pub whole_system: bool,
    /// Virtual CPUs at the start.
    pub cpus: c_int,
}

/// Runs when an instruction starts; `data` is what was given at registration.
pub trait OnStart {
    /// Called on the CPU's thread.
    fn run(data: u64);
}

/// Runs after a memory access of an instruction; `data` is what was given at registration.
pub trait OnAccess {
    /// Called on the CPU's thread with the virtual address accessed.
    fn run(vaddr: u64, data: u64);
}

/// Instructions counted so far.
pub fn count() -> u64 {
    counter::get()
}

/// A block during its translation.
pub struct Block(*mut sys::qemu_plugin_tb);

/// An instruction of a block during the block's translation.
pub struct Instruction<'block> {
    handle: *mut sys::qemu_plugin_insn,
    bytes: [u8; MAX_LEN],
    len: usize,
    block: std::marker::PhantomData<&'block Block>,
}

/// The longest instruction of x86.
const MAX_LEN: usize = 15;

impl Block {
    /// The block's instructions in order.
    pub fn instructions(&self) -> Vec<Instruction<'_>> {
        // SAFETY: a `Block` exists only during the callback that QEMU passed its handle to.
        let n = unsafe { sys::qemu_plugin_tb_n_insns(self.0) };
        #[cfg_attr(feature = "api-v4", allow(unused_mut))]
        let mut instructions: Vec<_> = (0..n)
            .map(|i| {
                // SAFETY: as above, and `i` is below the number of instructions.
                let handle = unsafe { sys::qemu_plugin_tb_get_insn(self.0, i) };
                // SAFETY: the handle is valid as long as the block's.
                let (bytes, len) = unsafe { copy_bytes(handle) };
                Instruction {
                    handle,
                    bytes,
                    len,
                    block: std::marker::PhantomData,
                }
            })
            .collect();
        // QEMU 7.2 begins to translate an instruction that reaches into the next page, puts it off to the next
        // block, and still lists what it has read of it. It is not executed here: to count with it is wrong.
        #[cfg(feature = "api-v1")]
        instructions.pop_if(|last| n > 1 && last.may_cross_pages() && decode::is_cut_short(last.bytes()));
        instructions
    }
}

impl Instruction<'_> {
    /// The machine code.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// The virtual address.
    pub fn vaddr(&self) -> u64 {
        // SAFETY: the handle is valid during the translation callback, which `Block` stands for.
        unsafe { sys::qemu_plugin_insn_vaddr(self.handle) }
    }

    /// Whether an instruction from here may reach into the next page.
    #[cfg(feature = "api-v1")]
    fn may_cross_pages(&self) -> bool {
        self.vaddr() % 4096 > 4096 - MAX_LEN as u64
    }

    /// The seven bytes before this instruction, the first of its block, if they lie on the same page.
    pub fn bytes_before(&self) -> Option<[u8; NOP_LEN]> {
        if self.vaddr() % 4096 < NOP_LEN as u64 {
            return None;
        }
        // SAFETY: as in `vaddr`.
        let host = unsafe { sys::qemu_plugin_insn_haddr(self.handle) }.cast::<u8>();
        if host.is_null() {
            return None;
        }
        // SAFETY: a block's first instruction lies in guest RAM at `host`; a guest page is contiguous there, and
        // at least seven bytes of this page come before. The guest's CPU, the only writer, is translating.
        Some(unsafe { host.sub(NOP_LEN).cast::<[u8; NOP_LEN]>().read() })
    }

    /// Adds to the counter whenever this instruction starts.
    pub fn add_when_started(&self, n: u64) {
        counter::add_when_started(self.handle, n);
    }

    /// Adds one to the counter after each such access of this instruction.
    pub fn add_one_after(&self, access: Access) {
        counter::add_one_after(self.handle, access);
    }

    /// Runs `H` whenever this instruction starts.
    pub fn on_start<H: OnStart>(&self, data: u64) {
        unsafe extern "C" fn call<H: OnStart>(_cpu: c_uint, data: *mut c_void) {
            H::run(data as u64);
        }
        // SAFETY: the handle as in `vaddr`; the data is a number in a pointer's clothes, which is never followed.
        unsafe {
            sys::qemu_plugin_register_vcpu_insn_exec_cb(
                self.handle,
                Some(call::<H>),
                sys::qemu_plugin_cb_flags::QEMU_PLUGIN_CB_NO_REGS,
                data as *mut c_void,
            );
        }
    }

    /// Runs `H` after each write of this instruction.
    pub fn on_write<H: OnAccess>(&self, data: u64) {
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
                ON_WRITES,
                data as *mut c_void,
            );
        }
    }
}

/// How to ask for writes only. QEMU 7.2 compares the wanted kinds (reads 1, writes 2, both 3) with the access's
/// kind plus one: code generated for reads runs on writes only, code generated for writes on both.
const ON_WRITES: sys::qemu_plugin_mem_rw = if cfg!(feature = "api-v1") {
    sys::qemu_plugin_mem_rw::QEMU_PLUGIN_MEM_R
} else {
    sys::qemu_plugin_mem_rw::QEMU_PLUGIN_MEM_W
};

/// SAFETY: `handle` must be valid, that is, of the block that is being translated.
unsafe fn copy_bytes(handle: *mut sys::qemu_plugin_insn) -> ([u8; MAX_LEN], usize) {
    let mut bytes = [0; MAX_LEN];
    // SAFETY: the caller's promise.
    let len = unsafe { sys::qemu_plugin_insn_size(handle) }.min(MAX_LEN);
    #[cfg(feature = "api-v1")]
    // SAFETY: version 1 returns a pointer to as many bytes as the instruction has.
    unsafe {
        let data = sys::qemu_plugin_insn_data(handle).cast::<u8>();
        bytes[..len].copy_from_slice(std::slice::from_raw_parts(data, len));
    }
    #[cfg(feature = "api-v4")]
    // SAFETY: version 4 copies at most `len` bytes, which `bytes` has.
    unsafe {
        sys::qemu_plugin_insn_data(handle, bytes.as_mut_ptr().cast(), len);
    }
    (bytes, len)
}

#[cfg(feature = "api-v1")]
mod counter {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Advanced by the code that QEMU generates, on the one CPU's thread; read on the same thread, and at exit.
    static COUNTER: AtomicU64 = AtomicU64::new(0);

    /// Where additions of nothing go.
    static NOTHING: AtomicU64 = AtomicU64::new(0);

    pub fn set_up() {}

    pub fn get() -> u64 {
        COUNTER.load(Ordering::Relaxed)
    }

    pub fn add_when_started(handle: *mut sys::qemu_plugin_insn, n: u64) {
        // SAFETY: the handle is of the block being translated; the counter lives as long as the process.
        unsafe {
            sys::qemu_plugin_register_vcpu_insn_exec_inline(
                handle,
                sys::qemu_plugin_op::QEMU_PLUGIN_INLINE_ADD_U64,
                COUNTER.as_ptr().cast(),
                n,
            );
        }
    }

    /// QEMU 7.2 forgets, after a block that ends in a branch, that this instruction's additions are over: they are
    /// also made for what the CPU's helpers access later (interrupt delivery, `iret`). The helpers match kinds as
    /// documented and stop at the first that does not match, generated code does as [`ON_WRITES`] says. Hence
    /// lists that add one in generated code and nothing, in sum, in helpers.
    pub fn add_one_after(handle: *mut sys::qemu_plugin_insn, access: Access) {
        use sys::qemu_plugin_mem_rw::*;
        const MINUS_ONE: u64 = u64::MAX;
        let additions: &[_] = match access {
            // Helpers: a write stops at the first; a read adds nothing and stops at the second.
            Access::Only => &[(&NOTHING, QEMU_PLUGIN_MEM_R, 0), (&COUNTER, QEMU_PLUGIN_MEM_W, 1)],
            // Code: a read adds -1 and 1, a write all three. Helpers: a read the first two, a write none.
            Access::Write => &[
                (&COUNTER, QEMU_PLUGIN_MEM_R, 1),
                (&COUNTER, QEMU_PLUGIN_MEM_RW, MINUS_ONE),
                (&COUNTER, QEMU_PLUGIN_MEM_W, 1),
            ],
        };
        for (to, rw, n) in additions {
            // SAFETY: as in `add_when_started`; both numbers live as long as the process.
            unsafe {
                sys::qemu_plugin_register_vcpu_mem_inline(
                    handle,
                    *rw,
                    sys::qemu_plugin_op::QEMU_PLUGIN_INLINE_ADD_U64,
                    to.as_ptr().cast(),
                    *n,
                );
            }
        }
    }
}

#[cfg(feature = "api-v4")]
mod counter {
    use super::*;
    use std::sync::atomic::{AtomicPtr, Ordering};

    /// The scoreboard, one number for each CPU; there is one CPU.
    static BOARD: AtomicPtr<sys::qemu_plugin_scoreboard> = AtomicPtr::new(std::ptr::null_mut());

    pub fn set_up() {
        // SAFETY: called once, while QEMU installs the plugin; the scoreboard is never freed.
        let board = unsafe { sys::qemu_plugin_scoreboard_new(size_of::<u64>()) };
        BOARD.store(board, Ordering::Relaxed);
    }

    fn entry() -> sys::qemu_plugin_u64 {
        sys::qemu_plugin_u64 {
            score: BOARD.load(Ordering::Relaxed),
            offset: 0,
        }
    }

    pub fn get() -> u64 {
        // SAFETY: the scoreboard was made at installation and has an element for CPU 0.
        unsafe { sys::qemu_plugin_u64_get(entry(), 0) }
    }

    pub fn add_when_started(handle: *mut sys::qemu_plugin_insn, n: u64) {
        // SAFETY: the handle is of the block being translated; the scoreboard lives as long as the process.
        unsafe {
            sys::qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(
                handle,
                sys::qemu_plugin_op::QEMU_PLUGIN_INLINE_ADD_U64,
                entry(),
                n,
            );
        }
    }

    pub fn add_one_after(handle: *mut sys::qemu_plugin_insn, access: Access) {
        let rw = match access {
            Access::Only => sys::qemu_plugin_mem_rw::QEMU_PLUGIN_MEM_RW,
            Access::Write => ON_WRITES,
        };
        // SAFETY: as in `add_when_started`.
        unsafe {
            sys::qemu_plugin_register_vcpu_mem_inline_per_vcpu(
                handle,
                rw,
                sys::qemu_plugin_op::QEMU_PLUGIN_INLINE_ADD_U64,
                entry(),
                1,
            );
        }
    }
}

/// The interface's version that this build speaks; QEMU refuses the plugin if it does not.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "QEMU looks for this name")]
pub static qemu_plugin_version: c_int = sys::QEMU_PLUGIN_VERSION as c_int;

/// QEMU's entry; anything but 0 makes QEMU end.
///
/// # Safety
/// Only QEMU calls this, with its own description and `argc` strings in `argv`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qemu_plugin_install(
    id: sys::qemu_plugin_id_t,
    info: *const sys::qemu_info_t,
    argc: c_int,
    argv: *const *const c_char,
) -> c_int {
    // SAFETY: QEMU passes a valid description; `system` is the only member of its union.
    let machine = unsafe {
        Machine {
            target: text((*info).target_name),
            whole_system: (*info).system_emulation,
            cpus: (*info).__bindgen_anon_1.system.smp_vcpus,
        }
    };
    let arguments: Vec<String> = (0..usize::try_from(argc).unwrap_or(0))
        // SAFETY: QEMU passes `argc` strings.
        .map(|i| unsafe { text(*argv.add(i)) })
        .collect();
    if let Err(message) = plugin::install(&machine, &arguments) {
        eprintln!("worstcase-plugin: {message}");
        return -1;
    }
    counter::set_up();
    // SAFETY: called during installation with this plugin's id and functions of the right form.
    unsafe {
        sys::qemu_plugin_register_vcpu_tb_trans_cb(id, Some(on_translation));
        sys::qemu_plugin_register_atexit_cb(id, Some(on_exit), std::ptr::null_mut());
    }
    0
}

/// SAFETY: `string` must be a valid C string.
unsafe fn text(string: *const c_char) -> String {
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(string) }.to_string_lossy().into_owned()
}

unsafe extern "C" fn on_translation(_id: sys::qemu_plugin_id_t, block: *mut sys::qemu_plugin_tb) {
    plugin::translated(&Block(block));
}

unsafe extern "C" fn on_exit(_id: sys::qemu_plugin_id_t, _data: *mut c_void) {
    watch::finish();
}
