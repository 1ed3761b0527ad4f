//! Schedules the machine's CPUs in QEMU's stead, so that several run side by side and every run is the same.
//!
//! Under instruction-counted time QEMU runs all CPUs on one thread, one after the other, and its main loop, another
//! thread, moves virtual time while they sleep. What comes when then depends on which thread is quicker. Here only the
//! CPUs' thread moves time, by [`slices`]: nothing that happens outside of it can change what the guest sees.
//!
//! QEMU has no interface for that. So a few of its functions are replaced in memory ([`patch`], [`qemu`]), after a check
//! that this QEMU is one of those that are known.

#[cfg(not(test))]
mod disk;
#[cfg(any(test, feature = "api-v4"))]
mod index;
#[cfg(not(test))]
mod patch;
#[cfg(not(test))]
mod qemu;
mod slices;

#[cfg(not(test))]
pub use qemu::{begin_kicks, take_over, time_at, word_at};
use std::ffi::c_void;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering::Relaxed};
use worstcase_logs::machine::MOST_CPUS;

/// How CPUs are scheduled.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The machine's CPUs.
    pub cpus: usize,
    /// How far a CPU may be ahead of another, in ns.
    pub quantum: i64,
    /// For tests: the seed of a thread that interrupts CPUs at random.
    pub kicks: Option<u32>,
    /// The CPU that replays follow, if not the one that measures.
    pub follow: Option<usize>,
    /// How long the machine's disk takes for a request, in ns, if there is one.
    pub disk: Option<i64>,
    /// How long a word of 16 bits takes that INS fetches from a port, in ns, if longer than an instruction.
    pub port: Option<i64>,
}

static SETTINGS: OnceLock<Settings> = OnceLock::new();

/// How CPUs are to be scheduled, before there are any.
pub fn set(settings: Settings) {
    // It is set once: QEMU installs a plugin once.
    let _ = SETTINGS.set(settings);
}

fn settings() -> Settings {
    SETTINGS.get().copied().unwrap_or(Settings {
        cpus: 1,
        quantum: 1,
        kicks: None,
        follow: None,
        disk: None,
        port: None,
    })
}

/// Whether there is one CPU only.
pub fn is_alone() -> bool {
    settings().cpus == 1
}

/// A PAUSE, which a CPU executes while it waits for another one, takes as long as so many instructions. On hardware it is
/// 40 to 140 cycles. It also ends the slice: the other CPU's turn comes sooner.
const PAUSE: i64 = 50;

/// The CPU that runs has executed a PAUSE.
static PAUSED: AtomicBool = AtomicBool::new(false);

/// Words that an INS which has started is to fetch, and those that it has fetched.
static TO_FETCH: AtomicU64 = AtomicU64::new(0);
static FETCHED: AtomicU64 = AtomicU64::new(0);

/// Whether a word that INS fetches takes longer than an instruction.
pub fn is_port_slow() -> bool {
    settings().port.is_some()
}

/// An INS starts, or the next round of one that is repeated. Its slice is interrupted after it, to account for it.
#[cfg(not(test))]
pub fn fetches(words: u64) {
    TO_FETCH.store(words, Relaxed);
    qemu::interrupt_running();
}

/// A write to memory by what comes after the start of an INS. What follows the INS itself is passed over: QEMU 7.2 calls for
/// more than was asked for. QEMU makes two writes of one.
pub fn fetched() {
    FETCHED.store(TO_FETCH.load(Relaxed), Relaxed);
}

/// What a CPU executed last took so many ns more than its instructions.
fn port_time() -> i64 {
    TO_FETCH.store(0, Relaxed);
    let words = FETCHED.swap(0, Relaxed);
    words.cast_signed() * settings().port.unwrap_or(0)
}

/// What each CPU has executed.
struct Counts {
    own: [AtomicU64; MOST_CPUS],
    /// What the counter of all CPUs shows more than that of the CPU that runs.
    others: AtomicU64,
    running: AtomicUsize,
    /// Whether a CPU has run.
    begun: AtomicBool,
}

static COUNTS: Counts = Counts {
    own: [const { AtomicU64::new(0) }; MOST_CPUS],
    others: AtomicU64::new(0),
    running: AtomicUsize::new(0),
    begun: AtomicBool::new(false),
};

impl Counts {
    /// A CPU begins to run while the counter of all shows `all`.
    fn begin(&self, cpu: usize, all: u64) {
        self.begun.store(true, Relaxed);
        self.running.store(cpu, Relaxed);
        self.others
            .store(all.wrapping_sub(self.own[cpu].load(Relaxed)), Relaxed);
    }

    /// It stops, and has waited as long as `more` instructions take.
    fn end(&self, cpu: usize, all: u64, more: u64) {
        let own = all.wrapping_sub(self.others.load(Relaxed)) + more;
        self.own[cpu].store(own, Relaxed);
        self.others.store(all.wrapping_sub(own), Relaxed);
    }
}

/// Of what the counter of all CPUs shows, the part of the CPU that runs, or ran last.
pub fn own(all: u64) -> u64 {
    all.wrapping_sub(COUNTS.others.load(Relaxed))
}

/// The CPU that runs, or ran last.
pub fn running() -> usize {
    COUNTS.running.load(Relaxed)
}

/// The CPU that runs, as QEMU has it; null if none does.
static RUNNING: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

/// QEMU's handle of the CPU that runs.
pub fn handle() -> *mut c_void {
    RUNNING.load(Relaxed)
}

/// What a CPU that does not run has executed.
pub fn executed(cpu: usize) -> u64 {
    COUNTS.own.get(cpu).map_or(0, |own| own.load(Relaxed))
}

/// Whether the CPUs are scheduled here.
pub fn has_begun() -> bool {
    COUNTS.begun.load(Relaxed)
}

/// The CPU that runs executes a PAUSE.
pub fn paused() {
    PAUSED.store(true, Relaxed);
}

/// The CPU that measures; none before the first mark.
static MEASURES: AtomicUsize = AtomicUsize::new(usize::MAX);

/// The CPU that runs begins to measure.
pub fn measures() {
    MEASURES.store(running(), Relaxed);
}

/// The CPU that a replay follows: the one that measures, once one does, or the one that was asked for.
pub fn followed() -> Option<usize> {
    let measures = Some(MEASURES.load(Relaxed)).filter(|cpu| *cpu < MOST_CPUS);
    settings().follow.or(measures)
}

/// Whether the CPU that runs is the one that a replay follows.
pub fn is_followed() -> bool {
    is_alone() || followed() == Some(running())
}

/// Whether the CPU that runs is the one that measures; of one CPU alone that is known before it does. Counts of several CPUs
/// would not be in order in a log, so none is told of before one begins to measure.
pub fn is_measured() -> bool {
    is_alone() || running() == MEASURES.load(Relaxed)
}
