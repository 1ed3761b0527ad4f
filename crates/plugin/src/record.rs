//! The window log's contents: every block that starts while the count is in a window, who is current then, and what the
//! kernel is in.
//!
//! Only with `windows=` is anything registered here. A block's start is then a call that compares the count with the
//! next window, and no more outside of windows.

use crate::api::{self, Block, Instruction, OnStart};
use crate::args::Replay;
use crate::guest_memory::LateMemory;
use crate::paging::USER_END;
use crate::scheduler;
use crate::tasks::{self, Context, Contexts, Task};
use std::collections::HashMap;
use std::fs::File;
use std::io::BufWriter;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use worstcase_probe::units::Instructions;
use worstcase_probe::window;
use worstcase_probe::window::ask::TaskPlaces;
use worstcase_probe::window::log::Writer;

/// Blocks that start at this count or later are looked at: the beginning of the window that is open, or comes next.
static FROM: AtomicU64 = AtomicU64::new(u64::MAX);

static RECORDER: Mutex<Option<Recorder>> = Mutex::new(None);

struct Recorder {
    /// What is still to come, the nearest last; it may be open.
    windows: Vec<Range<Instructions>>,
    log: Writer<BufWriter<File>>,
    places: TaskPlaces,
    memory: LateMemory,
    current: Option<Task>,
    contexts: Contexts,
    /// What the open window was told last.
    context: Option<Context>,
    /// All blocks that were translated, each once, however often that was.
    numbers: HashMap<window::Block, u32>,
    /// By number: the block, and its number in the log once it is there.
    blocks: Vec<(window::Block, Option<u32>)>,
    /// Why the log cannot become whole.
    failed: Option<String>,
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
        context: None,
        numbers: HashMap::new(),
        blocks: Vec::new(),
        failed: None,
    };
    recorder.await_next();
    *lock() = Some(recorder);
    Ok(())
}

/// Registers a freshly translated block.
pub fn observe(block: &Block, instructions: &[Instruction]) {
    let mut guard = lock();
    let (Some(recorder), Some(first)) = (guard.as_mut(), instructions.first()) else {
        return;
    };
    let code = window::Block {
        address: first.vaddr(),
        lengths: instructions.iter().map(|i| i.bytes().len() as u8).collect(),
        code: instructions.iter().flat_map(|i| i.bytes()).copied().collect(),
    };
    // Of several CPUs, the count that QEMU could compare is not that of the one which measures.
    let from = if scheduler::is_alone() {
        FROM.load(Ordering::Relaxed)
    } else {
        0
    };
    block.on_start_from::<BlockStart>(from, recorder.number(code).into());
}

struct BlockStart;

impl OnStart for BlockStart {
    fn run(number: u64) {
        let from = FROM.load(Ordering::Relaxed);
        // After the last window even the count is not asked for.
        if from == u64::MAX || !scheduler::is_measured() {
            return;
        }
        let count = api::count();
        if count >= from
            && let Some(recorder) = lock().as_mut()
        {
            recorder.step(number as usize, Instructions(count));
        }
    }
}

/// QEMU ends: closes the log.
pub fn finish() {
    let Some(mut recorder) = lock().take() else {
        return;
    };
    recorder.log.end(Instructions(api::count()));
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
    fn step(&mut self, number: usize, count: Instructions) {
        while let Some(window) = self.windows.last() {
            if count < window.end {
                break;
            }
            self.log.end(count);
            self.context = None;
            self.windows.pop();
            self.await_next();
        }
        if self.windows.last().is_none_or(|window| count < window.start) || self.failed.is_some() {
            return;
        }
        if let Err(why) = self.look(self.blocks[number].0.address) {
            self.failed = Some(why);
            return;
        }
        let (block, in_log) = &mut self.blocks[number];
        let in_log = *in_log.get_or_insert_with(|| self.log.block(block));
        self.log.step(in_log, count);
    }

    fn await_next(&self) {
        let from = self.windows.last().map_or(u64::MAX, |window| window.start.0);
        FROM.store(from, Ordering::Relaxed);
    }

    /// Notes who is current and what the kernel is in, where that is not what it was before. Asked at every step: some
    /// reads of memory are cheaper than knowing where each kernel switches tasks, changes their names and counts.
    fn look(&mut self, address: u64) -> Result<(), String> {
        let memory = self.memory.get()?;
        let current = tasks::current(memory, &self.places)
            .ok_or("the current task is not where it should be in the guest's memory")?;
        let context = self
            .contexts
            .now(memory, address < USER_END)
            .ok_or("the count of reasons not to preempt is not where it should be in the guest's memory")?;
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
