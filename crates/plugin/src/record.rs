//! The window log's contents: every block that starts while the count is in a window, who is current then, and what the
//! kernel is in.
//!
//! Of several CPUs one is followed: the one that measures, unless another was asked for. What the others run is kept for a
//! while only: it is written when one of them sends the followed one an interrupt, and when that one has waited in a loop of
//! the kernel's.
//!
//! Only with `windows=` is anything registered here. A block's start is then a call that compares the count with the
//! next window, and no more outside of windows.

use crate::api::{Block, Instruction, OnAccess, OnStart};
use crate::arch::USER_END;
use crate::args::Replay;
use crate::count::Place;
use crate::counts;
use crate::decode;
use crate::guest_memory::{GuestMemory, LateMemory};
use crate::scheduler;
use crate::tasks::{self, Context, Contexts, Task};
use crate::untimed::count_at;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::fs::File;
use std::io::BufWriter;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use worstcase_logs::units::Instructions;
use worstcase_logs::window::ask::{CodeRanges, TaskPlaces};
use worstcase_logs::window::log::Writer;
use worstcase_logs::window::{self, Elsewhere, Step, Why};

/// Blocks that start at this count or later are looked at: the beginning of the window that is open, or comes next.
static FROM: AtomicU64 = AtomicU64::new(u64::MAX);

/// So many instructions without a PAUSE, and the CPU that is followed waits no more: a PAUSE counts as some, and a loop has
/// some around it.
const WAIT_IS_OVER: u64 = 500;

/// A window is open, so what other CPUs run is kept.
static OPEN: AtomicBool = AtomicBool::new(false);

const NO_TASK: &str = "the current task is not where it should be in the guest's memory";
const NO_COUNT: &str = "the count of reasons not to preempt is not where it should be in the guest's memory";

static RECORDER: Mutex<Option<Recorder>> = Mutex::new(None);

struct Recorder {
    /// What is still to come, the nearest last; it may be open.
    windows: Vec<Range<Instructions>>,
    log: Writer<BufWriter<File>>,
    places: TaskPlaces,
    memory: LateMemory,
    current: Option<Task>,
    contexts: Contexts,
    /// The code of the kernel's lock functions.
    locks: CodeRanges,
    /// The locks to which these wrote.
    known_locks: HashSet<u64>,
    /// What the open window was told last.
    context: Option<Context>,
    /// All blocks that were translated, each once, however often that was.
    numbers: HashMap<window::Block, u32>,
    /// By number: the block, and its number in the log once it is there.
    blocks: Vec<(window::Block, Option<u32>)>,
    /// What other CPUs ran last, by their number, the latest at the end.
    others: BTreeMap<usize, Kept>,
    /// The CPU that is followed waits, or did so a moment ago.
    wait: Option<Wait>,
    /// Why the log cannot become whole.
    failed: Option<String>,
}

/// What another CPU ran.
struct Kept {
    places: TaskPlaces,
    ran: VecDeque<Ran>,
    /// Nothing is missing since it sent an interrupt.
    goes_on: bool,
}

/// A block that another CPU ran.
struct Ran {
    /// By its number here.
    block: u32,
    count: Instructions,
    /// The address of its task.
    task: u64,
}

/// The last moment at which the CPU that is followed waited in a loop.
struct Wait {
    at: Instructions,
    others: Vec<Moment>,
}

/// What another CPU did at a moment.
struct Moment {
    cpu: usize,
    count: Instructions,
    task: Task,
    system_call: Option<u32>,
}

fn lock() -> MutexGuard<'static, Option<Recorder>> {
    RECORDER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Begins; a failure is one line for the user.
pub fn start(replay: Replay) -> Result<(), String> {
    let file = File::create(&replay.log).map_err(|e| format!("cannot write {}: {e}", replay.log.display()))?;
    let mut windows: Vec<_> = replay.windows.ranges().collect();
    windows.reverse();
    let recorder = Recorder {
        windows,
        log: Writer::new(BufWriter::with_capacity(1 << 16, file)),
        places: replay.tasks,
        memory: LateMemory::of_file(replay.memory),
        current: None,
        contexts: Contexts::new(replay.tasks),
        locks: replay.locks,
        known_locks: HashSet::new(),
        context: None,
        numbers: HashMap::new(),
        blocks: Vec::new(),
        others: BTreeMap::new(),
        wait: None,
        failed: None,
    };
    recorder.await_next();
    *lock() = Some(recorder);
    Ok(())
}

/// Registers a freshly translated block.
pub(crate) fn observe(block: &Block, instructions: &[Instruction], places: impl Iterator<Item = Place> + Clone) {
    let mut guard = lock();
    let (Some(recorder), Some(first), Some(start)) = (guard.as_mut(), instructions.first(), places.clone().next())
    else {
        return;
    };
    let code = window::Block {
        address: first.vaddr(),
        lengths: instructions.iter().map(|i| i.bytes().len() as u8).collect(),
        code: instructions.iter().flat_map(|i| i.bytes()).copied().collect(),
    };
    for (instruction, place) in instructions.iter().zip(places) {
        let (at, bytes) = (instruction.vaddr(), instruction.bytes());
        let in_lock_function = recorder.locks.contain(at) && decode::writes_to_pointer(bytes);
        if in_lock_function || (at >= USER_END && !recorder.locks.is_empty() && decode::clears_byte(bytes)) {
            instruction.on_write::<LockWrite>(u64::from(in_lock_function) << Place::BITS | place.bits());
        }
    }
    block.on_start::<BlockStart>(u64::from(recorder.number(code)) << Place::BITS | start.bits());
}

struct BlockStart;

impl OnStart for BlockStart {
    fn run(data: u64) {
        let number = (data >> Place::BITS) as u32;
        let from = FROM.load(Ordering::Relaxed);
        // After the last window even the count is not asked for.
        if from == u64::MAX {
            return;
        }
        let count = count_at(Place::of_bits(data));
        if !scheduler::is_followed() {
            if OPEN.load(Ordering::Relaxed)
                && let Some(recorder) = lock().as_mut()
            {
                recorder.or_fail(|recorder| recorder.keep(number, Instructions(count)));
            }
            return;
        }
        if count >= from
            && let Some(recorder) = lock().as_mut()
        {
            recorder.step(number, Instructions(count));
        }
    }
}

/// A lock function has written to a lock, or other code has cleared a byte: where unlocking is no function, that gives a lock back.
struct LockWrite;

impl OnAccess for LockWrite {
    fn run(vaddr: u64, data: u64) {
        if count_at(Place::of_bits(data)) >= FROM.load(Ordering::Relaxed)
            && scheduler::is_followed()
            && let Some(recorder) = lock().as_mut()
        {
            recorder.lock_write(vaddr, data >> Place::BITS != 0);
        }
    }
}

/// The CPU that runs sends the followed one an interrupt.
pub(crate) fn sent() {
    if OPEN.load(Ordering::Relaxed)
        && let Some(recorder) = lock().as_mut()
    {
        recorder.or_fail(Recorder::sent);
    }
}

/// The CPU that is followed waits in a loop of the kernel's.
pub(crate) fn waits(at: Instructions) {
    if OPEN.load(Ordering::Relaxed)
        && let Some(recorder) = lock().as_mut()
    {
        recorder.or_fail(|recorder| recorder.waits(at));
    }
}

/// QEMU ends: closes the log.
pub(crate) fn finish() {
    let Some(mut recorder) = lock().take() else {
        return;
    };
    recorder.tell_of_wait();
    recorder.log.end(Instructions(counts::charged()));
    let result = match recorder.failed {
        Some(why) => Err(why),
        None => recorder.log.close().map_err(|e| e.to_string()),
    };
    if let Err(why) = result {
        eprintln!("worstcase-plugin: the window log is incomplete: {why}");
    }
}

impl Recorder {
    fn number(&mut self, block: window::Block) -> u32 {
        *self.numbers.entry(block).or_insert_with_key(|block| {
            self.blocks.push((block.clone(), None));
            self.blocks.len() as u32 - 1
        })
    }

    /// A block starts at a count that is in or after the nearest window.
    fn step(&mut self, number: u32, count: Instructions) {
        while let Some(window) = self.windows.last() {
            if count < window.end {
                break;
            }
            self.tell_of_wait();
            self.log.end(count);
            self.context = None;
            self.others.clear();
            OPEN.store(false, Ordering::Relaxed);
            self.windows.pop();
            self.await_next();
        }
        if self.windows.last().is_none_or(|window| count < window.start) {
            return;
        }
        if self
            .wait
            .as_ref()
            .is_some_and(|wait| count.0 > wait.at.0 + WAIT_IS_OVER)
        {
            self.tell_of_wait();
        }
        self.or_fail(|recorder| recorder.write(number, count));
        OPEN.store(!scheduler::is_alone(), Ordering::Relaxed);
    }

    /// Something that may be a lock is written to.
    fn lock_write(&mut self, lock: u64, in_lock_function: bool) {
        if in_lock_function {
            self.known_locks.insert(lock);
        }
        if self.known_locks.contains(&lock) {
            self.log.lock_write(lock);
        }
    }

    /// Does this unless the log cannot become whole any more, and no more after it failed.
    fn or_fail(&mut self, it: impl FnOnce(&mut Recorder) -> Result<(), String>) {
        if self.failed.is_none() {
            self.failed = it(self).err();
        }
    }

    fn write(&mut self, number: u32, count: Instructions) -> Result<(), String> {
        self.look(self.blocks[number as usize].0.address)?;
        let in_log = self.in_log(number);
        self.log.step(in_log, count);
        Ok(())
    }

    /// A block's number in the log.
    fn in_log(&mut self, number: u32) -> u32 {
        let (block, in_log) = &mut self.blocks[number as usize];
        *in_log.get_or_insert_with(|| self.log.block(block))
    }

    /// A block starts on a CPU that is not followed.
    fn keep(&mut self, block: u32, count: Instructions) -> Result<(), String> {
        let (memory, kept) = self.other(counts::running())?;
        let task = tasks::current_pointer(memory, &kept.places).ok_or(NO_TASK)?;
        if kept.ran.len() == Why::IsWaitedFor.blocks() {
            kept.ran.pop_front();
            kept.goes_on = false;
        }
        kept.ran.push_back(Ran { block, count, task });
        Ok(())
    }

    /// What this CPU ran, which is not followed.
    fn other(&mut self, cpu: usize) -> Result<(&GuestMemory, &mut Kept), String> {
        let memory = self.memory.get()?;
        let kept = match self.others.entry(cpu) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let followed = scheduler::followed().ok_or("no CPU measures")?;
                let places = tasks::places_of(memory, &self.places, followed, cpu)
                    .ok_or("the list of CPUs is not where it should be in the guest's memory")?;
                new.insert(Kept {
                    places,
                    ran: VecDeque::new(),
                    goes_on: false,
                })
            }
        };
        Ok((memory, kept))
    }

    /// What another CPU does now.
    fn moment(memory: &GuestMemory, cpu: usize, kept: &Kept, count: u64) -> Result<Moment, String> {
        let task = tasks::current(memory, &kept.places).ok_or(NO_TASK)?;
        let (system_call, _) = Contexts::new(kept.places).now(memory, false).ok_or(NO_COUNT)?;
        Ok(Moment {
            cpu,
            count: Instructions(count),
            task,
            system_call,
        })
    }

    /// The CPU that runs sends an interrupt.
    fn sent(&mut self) -> Result<(), String> {
        self.tell_of_wait();
        let cpu = counts::running();
        let (memory, kept) = self.other(cpu)?;
        // What sends it is its block's last instruction.
        let moment = Recorder::moment(memory, cpu, kept, counts::charged().saturating_sub(1))?;
        let at = Instructions(scheduler::followed().map_or(0, counts::executed));
        self.tell(Why::Sends, at, moment);
        Ok(())
    }

    /// The CPU that is followed executes a PAUSE.
    fn waits(&mut self, at: Instructions) -> Result<(), String> {
        let memory = self.memory.get()?;
        let moments = self.others.iter().map(|(&cpu, kept)| {
            let count = counts::executed(cpu);
            Recorder::moment(memory, cpu, kept, count)
        });
        self.wait = Some(Wait {
            at,
            others: moments.collect::<Result<_, _>>()?,
        });
        Ok(())
    }

    /// The CPU that is followed waits no more: what the others did until then goes into the log.
    fn tell_of_wait(&mut self) {
        if let Some(Wait { at, others }) = self.wait.take() {
            others
                .into_iter()
                .for_each(|moment| self.tell(Why::IsWaitedFor, at, moment));
        }
    }

    /// What another CPU ran for its task until a moment goes into the log. What is written once is not kept.
    fn tell(&mut self, why: Why, at: Instructions, moment: Moment) {
        let Some(kept) = self.others.get_mut(&moment.cpu) else {
            return;
        };
        let until = kept.ran.partition_point(|ran| ran.count < moment.count);
        let ran: Vec<Ran> = kept.ran.drain(..until).collect();
        let goes_on = std::mem::replace(&mut kept.goes_on, true);
        let task = ran.last().map_or(0, |ran| ran.task);
        let other_task = ran.iter().rposition(|ran| ran.task != task);
        let first = other_task
            .map_or(0, |other| other + 1)
            .max(ran.len().saturating_sub(why.blocks()));
        let steps = ran.iter().skip(first).map(|ran| Step {
            block: self.in_log(ran.block),
            count: ran.count,
        });
        let steps = steps.collect();
        let (pid, name) = moment.task;
        self.log.elsewhere(Elsewhere {
            why,
            at,
            cpu: moment.cpu as u32,
            count: moment.count,
            task: (pid, tasks::name(&name)),
            system_call: moment.system_call,
            steps,
            goes_on: goes_on && first == 0,
        });
    }

    fn await_next(&self) {
        let from = self.windows.last().map_or(u64::MAX, |window| window.start.0);
        FROM.store(from, Ordering::Relaxed);
    }

    /// Notes who is current and what the kernel is in, where that is not what it was before. Asked at every step: some
    /// reads of memory are cheaper than knowing where each kernel switches tasks, changes their names and counts.
    fn look(&mut self, address: u64) -> Result<(), String> {
        let memory = self.memory.get()?;
        let current = tasks::current(memory, &self.places).ok_or(NO_TASK)?;
        let context = self.contexts.now(memory, address < USER_END).ok_or(NO_COUNT)?;
        if self.current != Some(current) {
            self.current = Some(current);
            self.log.task(current.0, &tasks::name(&current.1));
        }
        if self.context != Some(context) {
            self.context = Some(context);
            self.log.context(context.0, context.1);
        }
        Ok(())
    }
}
