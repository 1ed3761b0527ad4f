//! The census of the probe's measuring time: the tracked state, and the file that its sections go to.

use super::audit::Audit;
use super::own::Pending;
use super::packed::PackedInstruction;
use super::preempt_count;
use super::tasks::{self, Probe};
use super::tracker::{Thread, Tracker};
use crate::arch;
use crate::args::CensusArgs;
use crate::counts;
use crate::guest_memory::{GuestMemory, LateMemory};
use crate::scheduler;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use worstcase_logs::census::facts::Facts;
use worstcase_logs::census::log::{Row, header};
use worstcase_logs::mark::MarkKind;
use worstcase_logs::units::Instructions;

const NO_THREAD: &str = "a thread is not in the guest's memory";
const NO_COUNT: &str = "the kernel's count is not in the guest's memory";

static CENSUS: Mutex<Option<Census>> = Mutex::new(None);

/// See the module.
pub(super) struct Census {
    pub(super) facts: Facts,
    memory: LateMemory,
    out: BufWriter<File>,
    rows: u64,
    pub(super) audit: Option<Audit>,
    /// While the probe measures, once the state of the CPU that is followed is known.
    tracker: Option<Tracker>,
    measuring: bool,
    observed: Option<(u64, u64)>,
    /// The probe's thread.
    pub(super) probe: Probe,
    /// What is known in part.
    pub(super) pending: Pending,
    /// Why the census cannot become whole.
    pub(super) failed: Option<String>,
}

/// The census, if one is taken.
pub(super) fn lock() -> MutexGuard<'static, Option<Census>> {
    CENSUS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Begins; a failure is one line for the user.
pub fn start(args: CensusArgs) -> Result<(), String> {
    let text = std::fs::read_to_string(&args.facts).map_err(|e| format!("{}: {e}", args.facts.display()))?;
    let facts = text.parse().map_err(|e| format!("{}: {e}", args.facts.display()))?;
    let create = || {
        let mut out = BufWriter::with_capacity(1 << 16, File::create(&args.out)?);
        out.write_all(&header())?;
        Ok::<_, std::io::Error>(out)
    };
    *lock() = Some(Census {
        facts,
        memory: LateMemory::of_file(args.memory),
        out: create().map_err(|e| format!("cannot write {}: {e}", args.out.display()))?,
        rows: 0,
        audit: if args.audit { Some(Audit::find()?) } else { None },
        tracker: None,
        measuring: false,
        observed: None,
        probe: Probe::default(),
        pending: Pending::new()?,
        failed: None,
    });
    Ok(())
}

/// Runs with the state, while the probe measures.
pub(super) fn step(run: impl FnOnce(&mut Tracker)) {
    if let Some(census) = lock().as_mut() {
        census.step(|tracker, _, _| run(tracker));
    }
}

impl Census {
    pub(super) fn step(&mut self, run: impl FnOnce(&mut Tracker, &Facts, &GuestMemory)) {
        let Some(tracker) = self.tracker.as_mut().filter(|_| scheduler::is_followed()) else {
            return;
        };
        let memory = match self.memory.get() {
            Ok(memory) => memory,
            Err(why) => {
                self.failed.get_or_insert(why);
                return;
            }
        };
        run(tracker, &self.facts, memory);
        for row in tracker.tally().take_fresh() {
            self.rows += 1;
            if let Err(e) = self.out.write_all(&row.encode()) {
                self.failed.get_or_insert(e.to_string());
            }
        }
    }

    /// The thread that is known to run.
    pub(super) fn task(&self) -> Option<u64> {
        self.tracker.as_ref().map(|tracker| tracker.thread().task)
    }

    pub(super) fn count_written(&mut self, place: PackedInstruction, long: bool) {
        let (now, at) = (place.end(), place.address());
        self.step(|tracker, facts, memory| {
            if let Some(word) = preempt_count::read(memory, facts, tracker.thread().task, long) {
                tracker.count(now, at, word);
            }
        });
    }

    /// Another thread may be the current one.
    pub(super) fn task_changes(&mut self, place: PackedInstruction) {
        let (now, at) = (place.end(), place.address());
        let probe = self.probe;
        let mut unknown = false;
        self.step(|tracker, facts, memory| {
            let task = tasks::current(memory, facts);
            match task.and_then(|task| tasks::thread(memory, facts, probe, task)) {
                Some(thread) => {
                    if tracker.thread().task == probe.task && thread.task != probe.task {
                        tracker.tally().asleep(now);
                    }
                    tracker.runs(now, at, thread);
                }
                None => unknown = true,
            }
        });
        if unknown {
            self.failed.get_or_insert(NO_THREAD.into());
        }
    }
}

/// The probe's mark: it begins or ends measuring, in user mode.
pub(crate) fn marked(kind: MarkKind, count: u64) {
    if let Some(census) = lock().as_mut() {
        match kind {
            MarkKind::Begin => {
                census.find_probe();
                census.measuring = true;
                census.rows = 0;
                census.in_user(count);
            }
            MarkKind::Sample | MarkKind::Stop => {}
            MarkKind::End => {
                census.measuring = false;
                if let Some(tracker) = census.tracker.take() {
                    let count = match scheduler::followed() {
                        Some(other) if !scheduler::is_followed() => counts::executed(other),
                        _ => count,
                    };
                    census.end(&tracker, count);
                }
            }
        }
    }
}

impl Census {
    /// The probe's thread, which runs now.
    fn find_probe(&mut self) {
        let found = self.memory.get().and_then(|memory| {
            tasks::probe(memory, &self.facts).ok_or_else(|| "the probe's thread is not in the guest's memory".into())
        });
        match found {
            Ok(probe) => self.probe = probe,
            Err(why) => self.failed = Some(why),
        }
    }

    /// The CPU that runs returns to user mode: that makes its state known.
    pub(super) fn in_user(&mut self, now: u64) {
        self.begin(now, |facts, _, thread| {
            Some(Tracker::in_user(facts.preemptible, thread))
        });
    }

    /// The state of the CPU that runs is known: its thread is the current one.
    fn begin(&mut self, now: u64, tracker: impl FnOnce(&Facts, &GuestMemory, Thread) -> Option<Tracker>) {
        if self.tracker.is_some() || !self.measuring || !scheduler::is_followed() {
            return;
        }
        let begun = self.memory.get().and_then(|memory| {
            let thread = tasks::now(memory, &self.facts, self.probe).ok_or(NO_THREAD)?;
            tracker(&self.facts, memory, thread).ok_or_else(|| NO_COUNT.into())
        });
        match begun {
            Ok(tracker) => {
                self.tracker = Some(tracker);
                self.observed = Some((now, now));
            }
            Err(why) => {
                self.failed.get_or_insert(why);
            }
        }
    }

    /// The CPU is about to halt.
    pub(super) fn halts(&mut self, place: PackedInstruction) {
        let (now, at) = (place.end(), place.address());
        self.begin(now, |facts, memory, thread| {
            let word = preempt_count::read(memory, facts, thread.task, facts.count_is_long)?;
            let interrupts = !arch::HALTS_WITHOUT_INTERRUPTS;
            Some(Tracker::at_halt(facts.preemptible, thread, word, interrupts, now, at))
        });
        self.step(|tracker, _, _| tracker.cut(now, at));
    }

    fn end(&mut self, tracker: &Tracker, count: u64) {
        let from = self.observed.map_or(count, |(from, _)| from);
        self.observed = Some((from, count));
        for row in tracker.summary() {
            self.rows += 1;
            if let Err(e) = self.out.write_all(&row.encode()) {
                self.failed.get_or_insert(e.to_string());
                return;
            }
        }
    }

    fn close(mut self) -> Result<(), String> {
        if let Some(why) = self.failed {
            return Err(why);
        }
        let (from, to) = self.observed.ok_or("the probe did not measure")?;
        let close = Row::Close {
            from: Instructions(from),
            to: Instructions(to),
            audited: self.audit.map_or(0, |audit| audit.blocks),
            rows: self.rows,
        };
        let written = self.out.write_all(&close.encode()).and_then(|()| self.out.flush());
        written.map_err(|e| e.to_string())
    }
}

/// QEMU ends: closes the file.
pub(crate) fn finish() {
    if let Some(Err(why)) = lock().take().map(Census::close) {
        eprintln!("worstcase-plugin: the census is incomplete: {why}");
    }
}
