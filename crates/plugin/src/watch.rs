//! What the plugin watches for: marks, the user's clock reads and timer interrupts, each to an event, and halts.
//!
//! Callbacks are registered whether or not a log is written, so that a run with a log and one without execute
//! the same translated code. All run on the one CPU's thread; the lock is never contended.

use crate::api::{Instruction, OnAccess, OnStart, OnStore};
use crate::arch::{self, USER_END};
use crate::census;
use crate::count::Place;
use crate::counts;
use crate::decode;
use crate::events::Log;
#[cfg(feature = "guest-arm64")]
use crate::interrupts::Interrupts;
use crate::mark::Marks;
use crate::modules;
use crate::record;
use crate::scheduler;
use crate::untimed::{count_at, count_of_all_at};
use std::sync::{Mutex, MutexGuard, PoisonError};
use worstcase_logs::mark::MarkKind;
use worstcase_logs::trace::EventKind;
use worstcase_logs::units::Instructions;

/// In place of what a mark stored, if that is not memory.
const NOT_IN_MEMORY: u64 = u64::MAX;

struct Watch {
    log: Option<Log>,
    timer_entry: Option<u64>,
    #[cfg(feature = "guest-arm64")]
    interrupts: Interrupts,
    marks: Marks,
    /// What the last clock read since the last mark read, and its count.
    clock_read: Option<(u64, Instructions)>,
}

static WATCH: Mutex<Option<Watch>> = Mutex::new(None);

fn lock() -> MutexGuard<'static, Option<Watch>> {
    WATCH.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Watch {
    fn push(&mut self, kind: EventKind, arg: u64, count: Instructions) {
        if let Some(log) = &mut self.log {
            log.push(kind, arg, count);
        }
    }
}

/// Begins watching.
pub fn start(log: Option<Log>, timer_entry: Option<u64>) {
    *lock() = Some(Watch {
        log,
        timer_entry,
        #[cfg(feature = "guest-arm64")]
        interrupts: Interrupts::default(),
        marks: Marks::default(),
        clock_read: None,
    });
}

/// Where interrupts begin that share one entry.
#[cfg(feature = "guest-arm64")]
pub fn set_vectors(vectors: Option<u64>) {
    if let Some(watch) = lock().as_mut() {
        watch.interrupts = Interrupts::at(vectors);
    }
}

/// Registers what is to be watched in a freshly translated block.
pub(crate) fn observe(instructions: &[Instruction], places: impl Iterator<Item = Place>) {
    let mut guard = lock();
    let (Some(watch), Some(first)) = (guard.as_mut(), instructions.first()) else {
        return;
    };
    watch.marks.begin_block(first.vaddr(), first.bytes_before().as_ref());
    for (instruction, place) in instructions.iter().zip(places) {
        let (vaddr, at) = (instruction.vaddr(), place.bits());
        if let Some(kind) = watch.marks.instruction(vaddr, instruction.bytes()) {
            instruction.on_store::<MarkStore>(u64::from(kind as u8) << Place::BITS | at);
        }
        if watch.timer_entry == Some(vaddr) {
            instruction.on_start::<TimerEntry>(at);
        }
        #[cfg(feature = "guest-arm64")]
        if watch.interrupts.begin_at(vaddr) {
            instruction.on_start::<InterruptEntry>(at);
        }
        if vaddr < USER_END && arch::reads_clock(instruction.bytes()) {
            instruction.on_start::<ClockRead>(at);
        }
        if arch::pauses(instruction.bytes()) {
            match scheduler::is_alone() {
                true => instruction.on_start::<LonePause>(at),
                false => instruction.on_start::<Pause>(u64::from(vaddr >= USER_END) << Place::BITS | at),
            }
        }
        if let Some(words) = decode::words_from_port(instruction.bytes()).filter(|_| scheduler::is_port_slow()) {
            instruction.on_start::<PortRead>(words);
            instruction.on_write::<PortData>(0);
        }
    }
}

/// A mark's store was made.
struct MarkStore;

impl OnStore for MarkStore {
    fn run(vaddr: u64, is_memory: bool, data: u64) {
        // A look at a device would change it.
        let value = is_memory.then(|| scheduler::word_at(vaddr)).flatten();
        let Some(kind) = MarkKind::from_u8((data >> Place::BITS) as u8) else {
            return;
        };
        let count = count_at(Place::of_bits(data));
        if kind == MarkKind::Begin {
            scheduler::measures();
        }
        census::marked(kind, count);
        modules::marked(kind);
        let mut guard = lock();
        let Some(watch) = guard.as_mut() else {
            return;
        };
        if !counts::has_begun() {
            watch.push(EventKind::Unscheduled, vaddr, Instructions(count));
        }
        let event = match kind {
            MarkKind::Stop => return watch.push(EventKind::MarkStop, vaddr, Instructions(count)),
            MarkKind::Begin => EventKind::MarkBegin,
            MarkKind::Sample => EventKind::MarkSample,
            MarkKind::End => EventKind::MarkEnd,
        };
        if let Some((time, count)) = watch.clock_read.take() {
            watch.push(EventKind::UserTsc, time, count);
        }
        watch.push(event, value.unwrap_or(NOT_IN_MEMORY), Instructions(count));
    }
}

/// The timer interrupt's first instruction starts.
struct TimerEntry;

impl OnStart for TimerEntry {
    fn run(at: u64) {
        if !scheduler::is_measured() {
            return;
        }
        if let Some(watch) = lock().as_mut() {
            let entry = watch.timer_entry.unwrap_or_default();
            let count = Instructions(count_at(Place::of_bits(at)));
            #[cfg(feature = "guest-arm64")]
            let Some(count) = watch.interrupts.began(count) else {
                return;
            };
            watch.push(EventKind::TimerEntry, entry, count);
        }
    }
}

/// An interrupt's first instruction starts; which one it is shows later.
#[cfg(feature = "guest-arm64")]
struct InterruptEntry;

#[cfg(feature = "guest-arm64")]
impl OnStart for InterruptEntry {
    fn run(at: u64) {
        if scheduler::is_measured()
            && let Some(watch) = lock().as_mut()
        {
            watch.interrupts.begins(Instructions(count_at(Place::of_bits(at))));
        }
    }
}

/// User code reads the clock.
struct ClockRead;

impl OnStart for ClockRead {
    fn run(at: u64) {
        if !scheduler::is_measured() {
            return;
        }
        if let Some(watch) = lock().as_mut() {
            let count = count_at(Place::of_bits(at));
            // A clock shows the time after the instruction that reads it.
            watch.clock_read = Some((scheduler::time_at(count + 1), Instructions(count)));
        }
    }
}

/// The CPU waits in a loop.
struct Pause;

impl OnStart for Pause {
    fn run(data: u64) {
        scheduler::paused();
        let in_kernel = data >> Place::BITS != 0;
        if in_kernel && scheduler::is_followed() {
            record::waits(Instructions(count_at(Place::of_bits(data))));
        }
    }
}

/// The only CPU executes a PAUSE.
struct LonePause;

impl OnStart for LonePause {
    fn run(at: u64) {
        scheduler::pauses_alone(count_of_all_at(Place::of_bits(at)) + 1);
    }
}

/// INS starts.
struct PortRead;

impl OnStart for PortRead {
    fn run(words: u64) {
        scheduler::fetches(words);
    }
}

/// INS has written what it fetched.
struct PortData;

impl OnAccess for PortData {
    fn run(_vaddr: u64, _data: u64) {
        scheduler::fetched();
    }
}

/// QEMU ends: closes the log.
pub(crate) fn finish() {
    let log = lock().take().and_then(|watch| watch.log);
    if let Some(Err(error)) = log.map(|log| log.close()) {
        eprintln!("worstcase-plugin: the event log is incomplete: {error}");
    }
}
