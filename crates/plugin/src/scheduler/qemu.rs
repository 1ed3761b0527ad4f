//! QEMU's own functions, by name; `stand_ins`: those that stand for some of them.
//!
//! Debian's builds export what is not static. Where names differ, [`version`] has those of 7.2 and 8.2, or those of 10 and 11.

mod allow;
mod exclusive;
mod kicks;
mod stand_ins;
#[cfg_attr(feature = "api-v1", path = "qemu/v1.rs")]
#[cfg_attr(feature = "api-v4", path = "qemu/v4.rs")]
mod version;

use super::budget::{Budget, Fields};
use super::clocks::VIRTUAL;
use super::disk;
use super::extra_time::{PAUSE, PAUSED, await_words, port_time};
use super::finder::{Finder, functions};
use super::lone_pause::LONE_PAUSE;
use super::patch::{copy, replace};
use super::running::SLICE;
use super::settings::settings;
use super::slices::{Exit, Machine, Ran, Time};
use crate::arch::{LEFT_AT_PAUSE, is_due};
use crate::counts::{self, COUNTS};
pub(crate) use kicks::begin_kicks;
use stand_ins::{INLINED, REPLACEMENTS};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicPtr, AtomicU64, AtomicUsize, Ordering::Relaxed};
use worstcase_logs::machine::MOST_CPUS;

/// A CPU of QEMU's.
type Cpu = *mut c_void;

/// Timers of every kind.
const ALL_TIMERS: c_int = -1;
/// What a CPU stops for.
const EXCP_INTERRUPT: c_int = 0x1_0000;
const EXCP_DEBUG: c_int = 0x1_0002;
const EXCP_ATOMIC: c_int = 0x1_0005;
/// Of `TimersState`: `qemu_icount_bias`, what virtual time has more than the instructions executed.
const BIAS: usize = 40;

functions! {
    icount_get: fn() -> i64;
    icount_get_raw: fn() -> i64;
    icount_to_ns: fn(i64) -> i64;
    icount_prepare_for_run: fn(Cpu, i64);
    icount_process_data: fn(Cpu);
    cpu_exec_start: fn(Cpu);
    cpu_exec_end: fn(Cpu);
    cpu_exec: fn(Cpu) -> c_int;
    cpu_can_run: fn(Cpu) -> bool;
    cpu_work_list_empty: fn(Cpu) -> bool;
    cpu_thread_is_idle: fn(Cpu) -> bool;
    cpu_exit: fn(Cpu);
    tcg_handle_interrupt: fn(Cpu, c_int);
    qemu_in_vcpu_thread: fn() -> bool;
    runstate_is_running: fn() -> bool;
    qemu_get_cpu: fn(c_int) -> Cpu;
    qemu_clock_deadline_ns_all: fn(c_int, c_int) -> i64;
    qemu_clock_run_timers: fn(c_int) -> bool;
    cpu_memory_rw_debug: fn(Cpu, u64, *mut c_void, usize, bool) -> c_int;
}

/// Those whose names differ between QEMUs.
struct Versioned {
    /// Of 8.2 alone.
    exclusive: Option<exclusive::Calls>,
    lock: unsafe extern "C" fn(*const c_char, c_int),
    unlock: unsafe extern "C" fn(),
}

struct Qemu {
    call: Functions,
    versioned: Versioned,
    bias: &'static AtomicI64,
    budget: OnceLock<Budget>,
    /// An instruction takes 2^shift ns; QEMU knows when its CPUs run.
    shift: OnceLock<u32>,
}

// SAFETY: functions and one place of memory of this process, which stay until it ends.
unsafe impl Send for Qemu {}
// SAFETY: as above; the place is atomic.
unsafe impl Sync for Qemu {}

static QEMU: OnceLock<Qemu> = OnceLock::new();
/// The CPU that runs, as QEMU has it; null if none does.
static RUNNING: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
/// The CPUs that are there.
static CPUS: [AtomicPtr<c_void>; MOST_CPUS] = [const { AtomicPtr::new(std::ptr::null_mut()) }; MOST_CPUS];
static FOUND: AtomicUsize = AtomicUsize::new(0);
/// What each may still execute.
static BUDGETS: [OnceLock<Fields>; MOST_CPUS] = [const { OnceLock::new() }; MOST_CPUS];
/// What the virtual clock shows, and had been executed by the CPU that runs, when it began to run.
static BEGAN_AT: AtomicI64 = AtomicI64::new(0);
static BEGAN_WITH: AtomicU64 = AtomicU64::new(0);
/// The CPU that runs has sent another one an interrupt.
static SENT: AtomicBool = AtomicBool::new(false);

fn qemu() -> &'static Qemu {
    QEMU.get().expect("set before a function is replaced")
}

/// Takes QEMU's scheduling over; a failure is one line for the user.
pub(crate) fn take_over() -> Result<(), String> {
    let finder = Finder::new();
    let mut call = Functions::find(&finder)?;
    let cpu_exec = finder.find(c"cpu_exec")?;
    // SAFETY: QEMU's function, which is longer.
    let copied = unsafe { copy(cpu_exec)? };
    if let Some(copied) = copied {
        // SAFETY: it does the same.
        call.cpu_exec = unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn(Cpu) -> c_int>(copied) };
    }
    let versioned = Versioned {
        exclusive: exclusive::Calls::find(&finder)?,
        // SAFETY: functions of these names have these forms.
        lock: unsafe {
            std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*const c_char, c_int)>(finder.find(version::LOCK)?)
        },
        // SAFETY: as above.
        unlock: unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn()>(finder.find(version::UNLOCK)?) },
    };
    let bias = finder.find(c"timers_state")?.cast::<u8>().wrapping_add(BIAS);
    // SAFETY: eight bytes of QEMU's that are aligned and stay; whoever else uses them does so by atomic operations.
    let bias = unsafe { AtomicI64::from_ptr(bias.cast()) };
    let mut replaced: Vec<_> = REPLACEMENTS
        .iter()
        .map(|(name, by)| Ok((finder.find(name)?, *by)))
        .collect::<Result<_, String>>()?;
    replaced.extend(copied.map(|_| (cpu_exec, INLINED)));
    let qemu = Qemu {
        call,
        versioned,
        bias,
        budget: OnceLock::new(),
        shift: OnceLock::new(),
    };
    qemu.check_bias()?;
    QEMU.set(qemu).map_err(|_| "set up twice")?;
    if let Some(latency) = settings().disk {
        disk::take_over(&finder, latency)?;
    }
    for (function, by) in replaced {
        // SAFETY: each stands for one of the same form. No thread is in one of them: QEMU has not begun to run its CPUs, and
        // its main loop calls them with QEMU's lock only, which this thread has. (It is the main loop's own in 7.2 and 8.2,
        // and that of the CPUs in 10 and 11.)
        unsafe { replace(function, by.0)? };
    }
    self::qemu().find_budget()
}

impl Qemu {
    /// The place that was taken for the clock's must move the clock.
    fn check_bias(&self) -> Result<(), String> {
        const STEP: i64 = 0x1234_5000;
        let before = self.bias.load(Relaxed);
        // SAFETY: called without arguments, as it is meant.
        let show = || unsafe { (self.call.icount_get)() };
        let at = show();
        self.bias.store(before + STEP, Relaxed);
        let moved = show();
        self.bias.store(before, Relaxed);
        if moved - at == STEP && show() == at {
            Ok(())
        } else {
            Err("this QEMU keeps its virtual clock elsewhere than 7.2, 8.2, 10 and 11 do".into())
        }
    }

    /// Finds where QEMU keeps what a CPU may still execute. None runs yet.
    fn find_budget(&self) -> Result<(), String> {
        // SAFETY: any number may be asked for. QEMU allocates its CPUs one by one, and allows what it is told to.
        let found = unsafe {
            let cpu = (self.call.qemu_get_cpu)(0);
            if cpu.is_null() {
                return Err("this QEMU has no CPU 0".into());
            }
            let allow = |instructions| allow::allow_exactly(cpu, instructions);
            let size = libc::malloc_usable_size(cpu);
            Budget::find(cpu, size, allow, || (self.call.icount_process_data)(cpu))
        };
        let found =
            found.ok_or("this QEMU keeps what a CPU may still execute elsewhere than 7.2, 8.2, 10 and 11 do")?;
        self.budget.set(found).map_err(|_| "set up twice".into())
    }

    /// What a CPU may still execute.
    fn budget(&self, number: usize) -> &'static Fields {
        let found = self.budget.get().expect("found before a CPU runs");
        // SAFETY: a CPU that exists.
        BUDGETS[number].get_or_init(|| unsafe { found.of(cpu(number)) })
    }

    fn shift(&self) -> u32 {
        // SAFETY: called with the argument it takes.
        *self
            .shift
            .get_or_init(|| unsafe { (self.call.icount_to_ns)(1) }.trailing_zeros())
    }

    fn deadline(&self) -> Option<Time> {
        // SAFETY: called with a clock and a set of timers.
        let ns = unsafe { (self.call.qemu_clock_deadline_ns_all)(VIRTUAL, ALL_TIMERS) };
        is_due(ns).then_some(ns)
    }

    fn with_lock(&self, work: impl FnOnce()) {
        // SAFETY: taken and given back on the thread of the CPUs, which does not have it here.
        unsafe {
            (self.versioned.lock)(c"worstcase".as_ptr(), 0);
            work();
            (self.versioned.unlock)();
        }
    }
}

fn cpu(number: usize) -> Cpu {
    CPUS[number].load(Relaxed)
}

/// How many CPUs there are by now; all exist before the first one runs.
fn cpus() -> usize {
    let found = FOUND.load(Relaxed);
    if found > 0 {
        return found;
    }
    let mut n = 0;
    while n < MOST_CPUS {
        // SAFETY: any number may be asked for.
        let cpu = unsafe { (qemu().call.qemu_get_cpu)(n as c_int) };
        if cpu.is_null() {
            break;
        }
        CPUS[n].store(cpu, Relaxed);
        n += 1;
    }
    if n >= settings().cpus {
        FOUND.store(n, Relaxed);
    }
    n
}

/// QEMU, on the thread of its CPUs.
struct OnCpuThread;

impl Machine for OnCpuThread {
    fn cpus(&self) -> usize {
        cpus()
    }

    fn interrupted(&self) -> bool {
        let call = &qemu().call;
        // SAFETY: CPUs that exist.
        (0..cpus()).any(|n| unsafe { !(call.cpu_work_list_empty)(cpu(n)) || !(call.cpu_can_run)(cpu(n)) })
    }

    fn is_idle(&self, number: usize) -> bool {
        // SAFETY: a CPU that exists.
        unsafe { (qemu().call.cpu_thread_is_idle)(cpu(number)) }
    }

    fn set_clock(&mut self, now: Time) {
        let qemu = qemu();
        // SAFETY: called without arguments, as it is meant.
        let executed = unsafe { (qemu.call.icount_get_raw)() };
        qemu.bias.store(now - (executed << qemu.shift()), Relaxed);
        BEGAN_AT.store(now, Relaxed);
    }

    fn deadline(&self) -> Option<Time> {
        qemu().deadline()
    }

    fn run_timers(&mut self) {
        let qemu = qemu();
        // SAFETY: with QEMU's lock, as it wants it.
        qemu.with_lock(|| unsafe {
            (qemu.call.qemu_clock_run_timers)(VIRTUAL);
        });
    }

    fn run(&mut self, number: usize, most: Time) -> Ran {
        let qemu = qemu();
        let (call, handle) = (&qemu.call, cpu(number));
        let shift = qemu.shift();
        let most = (most + (1 << shift) - 1) >> shift;
        SENT.store(false, Relaxed);
        RUNNING.store(handle, Relaxed);
        COUNTS.begin(number);
        BEGAN_WITH.store(counts::executed(number), Relaxed);
        // SAFETY: the order of calls is that of QEMU's own loop, for a CPU that exists and may run.
        let (code, executed, clock) = unsafe {
            let before = (call.icount_get_raw)();
            allow::allow(handle, most);
            COUNTS.begin_slice(|| SLICE.begin(qemu.budget(number)));
            (call.cpu_exec_start)(handle);
            let mut code = (call.cpu_exec)(handle);
            // QEMU leaves for another CPU to run. Where there is none it goes on with what is left of the budget.
            while code == LEFT_AT_PAUSE && LONE_PAUSE.is_why(counts::charged_of_all()) {
                code = (call.cpu_exec)(handle);
            }
            (call.cpu_exec_end)(handle);
            let executed = COUNTS.end_slice(|| SLICE.end());
            (call.icount_process_data)(handle);
            (code, executed, (call.icount_get_raw)() - before)
        };
        if executed.all != clock {
            eprintln!(
                "worstcase-plugin: {} instructions were counted while QEMU counted {clock}",
                executed.all
            );
            std::process::exit(1);
        }
        RUNNING.store(std::ptr::null_mut(), Relaxed);
        let paused = PAUSED.swap(false, Relaxed);
        let waited = if paused && code == LEFT_AT_PAUSE { PAUSE } else { 0 };
        let more = waited + (port_time() >> shift);
        COUNTS.end(number, executed.timed, more);
        Ran {
            time: (executed.timed + more) << shift,
            yields: paused || SENT.load(Relaxed),
            exit: match code {
                EXCP_DEBUG | EXCP_ATOMIC => Exit::Special(code),
                _ => Exit::Any,
            },
        }
    }
}

/// The virtual time at which the CPU that runs has executed so many instructions, in ns; it runs from before that on.
pub(crate) fn time_at(count: u64) -> u64 {
    let since = count.wrapping_sub(BEGAN_WITH.load(Relaxed));
    let began = BEGAN_AT.load(Relaxed).cast_unsigned();
    QEMU.get().map_or(0, |qemu| began.wrapping_add(since << qemu.shift()))
}

/// The CPU that runs executes so many instructions, and its clock stands still.
pub(crate) fn take_no_time(instructions: u64) {
    if let Some(qemu) = QEMU.get() {
        let instructions = instructions.cast_signed();
        SLICE.take_no_time(instructions);
        qemu.bias.fetch_sub(instructions << qemu.shift(), Relaxed);
    }
}

/// The word at a virtual address of the CPU that runs, if memory is mapped there. It must not be a device's, which would
/// see the look.
pub(crate) fn word_at(address: u64) -> Option<u64> {
    let (qemu, running) = (QEMU.get()?, RUNNING.load(Relaxed));
    if running.is_null() {
        return None;
    }
    let mut bytes = [0; 8];
    // SAFETY: the CPU that runs, on its thread; as many bytes are asked for as there is room for.
    let code = unsafe { (qemu.call.cpu_memory_rw_debug)(running, address, bytes.as_mut_ptr().cast(), 8, false) };
    (code == 0).then(|| u64::from_le_bytes(bytes))
}

/// QEMU's handle of the CPU that runs.
pub(crate) fn handle() -> *mut c_void {
    RUNNING.load(Relaxed)
}

/// The only CPU executes a PAUSE, after which the count is `count`.
pub(crate) fn pauses_alone(count: u64) {
    LONE_PAUSE.begins(count);
}

/// An INS starts, or the next round of one that is repeated. Its slice is interrupted after it, to account for it.
pub(crate) fn fetches(words: u64) {
    await_words(words);
    let running = RUNNING.load(Relaxed);
    if !running.is_null() {
        // SAFETY: the CPU that runs.
        unsafe { (qemu().call.cpu_exit)(running) };
    }
}
