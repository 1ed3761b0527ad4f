//! The machine's disk answers at a time of the machine's own.
//!
//! QEMU's block layer lets its main loop, another thread, tell a device that a request is done, even one that was done at
//! once. When the guest sees the interrupt then depends on which thread is quicker. Here a timer of the virtual clock tells
//! the device, on the CPUs' thread, a set time after the request: a disk of known speed.
//!
//! This holds for what QEMU's block layer puts off through `replay_bh_schedule_oneshot_event`: the end of every request of a
//! medium that answers at once (`null-co`), and an IDE controller's reset.

use super::clocks::VIRTUAL;
use super::finder::{Finder, functions};
use super::patch::replace;
use std::collections::VecDeque;
use std::ffi::{c_char, c_int, c_void};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// A `QEMUTimer`: 48 bytes in 7.2, 8.2, 10 and 11.
type Timer = *mut [u64; 16];
type Callback = unsafe extern "C" fn(*mut c_void);
type OnState = unsafe extern "C" fn(*mut c_void, bool, c_int);

/// Of a timer: it counts ns.
const SCALE_NS: c_int = 1;

functions! {
    aio_bh_schedule_oneshot_full: fn(*mut c_void, Callback, *mut c_void, *const c_char);
    qemu_add_vm_change_state_handler: fn(OnState, *mut c_void) -> *mut c_void;
    qemu_clock_get_ns: fn(c_int) -> i64;
    runstate_is_running: fn() -> bool;
    timer_init_full: fn(Timer, *mut c_void, c_int, c_int, c_int, Callback, *mut c_void);
    timer_mod_ns: fn(Timer, i64);
}

struct Disk {
    call: Functions,
    latency: i64,
    timer: Timer,
    answers: Mutex<VecDeque<Answer>>,
}

// SAFETY: functions of this process and a timer that stays until it ends; QEMU uses it with its lock, and so does this.
unsafe impl Send for Disk {}
// SAFETY: as above.
unsafe impl Sync for Disk {}

/// A request whose end the device is told of at `due`.
struct Answer {
    due: i64,
    tell: Callback,
    whom: *mut c_void,
}

impl Answer {
    /// SAFETY: with QEMU's lock, on a thread of its own.
    unsafe fn give(self) {
        // SAFETY: what QEMU wanted to be called, with what it wanted to be passed.
        unsafe { (self.tell)(self.whom) }
    }
}

static DISK: OnceLock<Disk> = OnceLock::new();

/// From now on each request takes `latency`. To be called before a CPU runs, with QEMU's lock.
pub(crate) fn take_over(finder: &Finder, latency: i64) -> Result<(), String> {
    let call = Functions::find(finder)?;
    let put_off = finder.find(c"replay_bh_schedule_oneshot_event")?;
    let timer: Timer = Box::into_raw(Box::default());
    // SAFETY: room for a timer, which stays; null is the main loop's list of timers.
    unsafe {
        let none = std::ptr::null_mut();
        (call.timer_init_full)(timer, none, VIRTUAL, SCALE_NS, 0, give_what_is_due, none);
        (call.qemu_add_vm_change_state_handler)(state_changed, none);
    }
    let disk = Disk {
        call,
        latency,
        timer,
        answers: Mutex::default(),
    };
    DISK.set(disk).map_err(|_| "set up twice")?;
    // SAFETY: one of the same form; no device works yet, so no thread is in it.
    unsafe { replace(put_off, answer_later as *const c_void) }
}

impl Disk {
    fn answers(&self) -> MutexGuard<'_, VecDeque<Answer>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the timer to the first answer, if there is one.
    fn set_timer(&self) {
        let first = self.answers().front().map(|answer| answer.due);
        if let Some(due) = first {
            // SAFETY: the timer, with QEMU's lock.
            unsafe { (self.call.timer_mod_ns)(self.timer, due) };
        }
    }

    fn now(&self) -> i64 {
        // SAFETY: called with a clock.
        unsafe { (self.call.qemu_clock_get_ns)(VIRTUAL) }
    }
}

fn disk() -> &'static Disk {
    DISK.get().expect("set before a function is replaced")
}

/// For `replay_bh_schedule_oneshot_event`. A machine that stands still is answered by the main loop: QEMU waits for it.
unsafe extern "C" fn answer_later(context: *mut c_void, tell: Callback, whom: *mut c_void) {
    let disk = disk();
    // SAFETY: called without arguments, as it is meant.
    if unsafe { !(disk.call.runstate_is_running)() } {
        // SAFETY: as QEMU would have done it.
        unsafe { (disk.call.aio_bh_schedule_oneshot_full)(context, tell, whom, c"worstcase".as_ptr()) };
        return;
    }
    let due = disk.now() + disk.latency;
    let mut answers = disk.answers();
    // Of several CPUs one that lags may ask later for an earlier time.
    let at = answers.partition_point(|answer| answer.due <= due);
    answers.insert(at, Answer { due, tell, whom });
    drop(answers);
    disk.set_timer();
}

/// The timer's function.
unsafe extern "C" fn give_what_is_due(_: *mut c_void) {
    let disk = disk();
    loop {
        let now = disk.now();
        let due = disk.answers().pop_front_if(|answer| answer.due <= now);
        let Some(answer) = due else { break };
        // SAFETY: timers run with QEMU's lock.
        unsafe { answer.give() };
    }
    disk.set_timer();
}

/// The machine goes on or stops. While it stands still no timer runs, and QEMU waits for all requests to end.
unsafe extern "C" fn state_changed(_: *mut c_void, running: bool, _state: c_int) {
    if running {
        return;
    }
    loop {
        let next = disk().answers().pop_front();
        let Some(answer) = next else { break };
        // SAFETY: QEMU calls this with its lock.
        unsafe { answer.give() };
    }
}
