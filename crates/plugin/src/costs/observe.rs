//! When counting begins and ends, and what QEMU is asked to tell until then.

use super::code::{CountedBlock, Observed};
use super::counting::{Counting, Target};
use super::meaning::CountedBytes;
use crate::api::{Access, Block, Instruction, OnStart, OnTouch, Touched};
use crate::args::CostArgs;
use crate::count::Place;
use crate::registers::{FIRST_ARGUMENT, Registers};
use crate::scheduler::Translation;
use crate::untimed::count_at;
use std::fs::File;
use std::io::BufWriter;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use worstcase_costs::LINE;
use worstcase_costs::log::CostWriter;

/// Blocks that start at this count or later are looked at.
static FROM: AtomicU64 = AtomicU64::new(u64::MAX);
/// Counting is on.
static ON: AtomicBool = AtomicBool::new(false);
/// By the lowest bits of a line of virtual addresses: the one of the first level that was used last there, plus one. It is the
/// last used of its set, so that using it again changes nothing.
static LATEST: [AtomicU64; SETS] = [const { AtomicU64::new(0) }; SETS];
/// As many as the first level has: a page's lines, so that they are the same for virtual and physical addresses.
const SETS: usize = worstcase_costs::DATA.sets();

/// So long before counting begins everything is translated anew.
const AHEAD: u64 = 100_000;

/// Longest block of QEMU.
const LONGEST_BLOCK: u64 = 512;

static COUNTER: Mutex<Option<Counter>> = Mutex::new(None);

struct Counter {
    path: PathBuf,
    log: CostWriter<BufWriter<File>>,
    counting: Counting,
    translation: Option<Translation>,
    /// Windows that are not over, the nearest last.
    windows: Vec<Range<u64>>,
    warm_up: u64,
    stretch: Option<(u64, u64)>,
    registers: Option<Registers>,
    /// The block that runs while counting is off and a stretch may begin.
    before: Option<(u32, u64)>,
    /// What is translated now tells of its accesses.
    tells: bool,
    /// Why the log cannot become whole.
    failed: Option<String>,
}

fn lock() -> MutexGuard<'static, Option<Counter>> {
    COUNTER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Begins; a failure is one line for the user.
pub(crate) fn start(asked: CostArgs) -> Result<(), String> {
    let file = File::create(&asked.out).map_err(|e| format!("cannot write {}: {e}", asked.out.display()))?;
    let mut windows: Vec<_> = asked.windows.ranges().map(|range| range.start.0..range.end.0).collect();
    windows.reverse();
    let mut counter = Counter {
        path: asked.out,
        log: CostWriter::new(BufWriter::with_capacity(1 << 16, file)),
        counting: Counting::new(),
        translation: None,
        windows,
        warm_up: asked.warm_up,
        stretch: asked.stretch,
        registers: None,
        before: None,
        tells: asked.stretch.is_some(),
        failed: None,
    };
    counter.tells |= counter.next().is_some_and(|next| next < AHEAD);
    FROM.store(counter.wakes_at(), Relaxed);
    *lock() = Some(counter);
    Ok(())
}

/// Finds what is needed of QEMU, once it is there.
pub(crate) fn find() -> Result<(), String> {
    if let Some(counter) = lock().as_mut() {
        counter.translation = Some(Translation::find()?);
        if counter.stretch.is_some() {
            counter.registers = Some(Registers::find()?);
        }
    }
    Ok(())
}

/// Whether a block tells of its accesses, behind its number.
const TELLS: u64 = 1;

/// Registers a freshly translated block.
pub(crate) fn observe(block: &Block, instructions: &[Instruction], places: impl Iterator<Item = Place> + Clone) {
    let mut guard = lock();
    let (Some(counter), Some(start)) = (guard.as_mut(), places.clone().next()) else {
        return;
    };
    let mut code = CountedBlock::default();
    for (instruction, place) in instructions.iter().zip(places.clone()) {
        let address = instruction.vaddr();
        let physical = || counter.translation.as_ref()?.address(instruction.host_address());
        let observed = code.add(address, instruction.bytes(), physical);
        if counter.tells {
            let which = match observed {
                Observed::Nothing => None,
                Observed::Accesses => Some(0),
                Observed::Bytes(CountedBytes::Written) => Some(WRITTEN),
                Observed::Bytes(CountedBytes::Read) => Some(READ),
            };
            if let Some(which) = which {
                instruction.on_touch::<Touch>(which << Place::BITS | place.bits());
            }
        }
    }
    let data = u64::from(counter.counting.add(code)) << 1 | u64::from(counter.tells);
    block.on_start::<BlockStart>(data << Place::BITS | start.bits());
    let Some((from, to)) = counter.stretch else {
        return;
    };
    for (instruction, place) in instructions.iter().zip(places) {
        if instruction.vaddr() == to {
            instruction.on_start::<StretchEnds>(place.bits());
        }
        if instruction.vaddr() == from {
            instruction.on_start::<StretchBegins>(place.bits());
        }
    }
}

struct BlockStart;

impl OnStart for BlockStart {
    fn run(data: u64) {
        let from = FROM.load(Relaxed);
        if from == u64::MAX {
            return;
        }
        let count = count_at(Place::of_bits(data));
        if count + LONGEST_BLOCK < from {
            return;
        }
        if let Some(counter) = lock().as_mut() {
            let data = data >> Place::BITS;
            counter.start((data >> 1) as u32, count, data & TELLS != 0);
        }
    }
}

/// Which bytes of a string instruction are counted, above its place.
const WRITTEN: u64 = 1;
const READ: u64 = 2;

struct Touch;

impl OnTouch for Touch {
    #[inline]
    fn run(access: &Access, data: u64) {
        if !ON.load(Relaxed) {
            return;
        }
        let line = access.vaddr / LINE;
        let latest = &LATEST[line as usize % SETS];
        let bytes = data >> Place::BITS;
        if latest.load(Relaxed) == line + 1 && bytes == 0 {
            return;
        }
        if let Some(counter) = lock().as_mut() {
            let at = count_at(Place::of_bits(data));
            let is_memory = counter.touch(at, access);
            latest.store(if is_memory { line + 1 } else { 0 }, Relaxed);
            if bytes != 0 && (bytes == WRITTEN) == access.writes() {
                counter.counting.bytes(at, access.length());
            }
        }
    }
}

struct StretchBegins;

impl OnStart for StretchBegins {
    fn run(data: u64) {
        let at = count_at(Place::of_bits(data));
        if let Some(counter) = lock().as_mut() {
            counter.begin_stretch(at);
        }
    }
}

struct StretchEnds;

impl OnStart for StretchEnds {
    fn run(data: u64) {
        let at = count_at(Place::of_bits(data));
        if let Some(counter) = lock().as_mut()
            && let Some(stretch) = counter.counting.end_stretch(at)
        {
            counter.log.stretch(&stretch);
        }
    }
}

/// QEMU ends: closes the log.
pub(crate) fn finish() {
    let Some(mut counter) = lock().take() else {
        return;
    };
    counter.tell();
    let result = match counter.failed {
        Some(why) => Err(why),
        None => counter.log.close().map_err(|e| e.to_string()),
    };
    if let Err(why) = result {
        eprintln!("worstcase-plugin: {} is incomplete: {why}", counter.path.display());
    }
}

impl Counter {
    /// The count at which the next warm-up begins; none if no window is to come.
    fn next(&self) -> Option<u64> {
        let next = self.windows.last()?;
        Some(next.start.saturating_sub(self.warm_up))
    }

    /// The count at which to look again.
    fn wakes_at(&self) -> u64 {
        let ahead = if self.tells { 0 } else { AHEAD };
        if self.stretch.is_some() {
            return 0;
        }
        self.next().map_or(u64::MAX, |next| next.saturating_sub(ahead))
    }

    /// A block starts.
    fn start(&mut self, number: u32, count: u64, tells: bool) {
        if !ON.load(Relaxed) && !self.turns_on(number, count) {
            return;
        }
        if !tells && self.failed.is_none() {
            self.failed = Some("a block ran that does not tell of its accesses".into());
        }
        if self.counting.start(number, count) {
            forget_latest();
        }
        self.tell();
        self.leave_windows(count);
    }

    /// Counting is off: whether it goes on with a block that starts now.
    fn turns_on(&mut self, number: u32, count: u64) -> bool {
        self.before = Some((number, count));
        let Some(next) = self.next() else {
            return false;
        };
        if !self.tells && count >= self.wakes_at() {
            self.tells = true;
            if let Some(translation) = &self.translation {
                translation.flush();
            }
        }
        if !self.counting.reaches(number, count, next) {
            return false;
        }
        self.turn_on(next);
        true
    }

    fn turn_on(&mut self, at: u64) {
        self.counting.begin(at);
        forget_latest();
        ON.store(true, Relaxed);
        FROM.store(0, Relaxed);
    }

    /// Puts what was found into the log, as far as it is in a window.
    fn tell(&mut self) {
        let window = self.windows.last().cloned().unwrap_or_default();
        for event in self.counting.found() {
            if window.contains(&event.at) {
                self.log.event(event);
            }
        }
    }

    /// Windows that end before this count are over.
    fn leave_windows(&mut self, count: u64) {
        if self.windows.pop_if(|window| window.end <= count).is_none() || self.stretch.is_some() {
            return;
        }
        if self.next().is_none_or(|next| next > count) {
            ON.store(false, Relaxed);
            self.tells = self.next().is_some_and(|next| next < count + AHEAD);
            FROM.store(self.wakes_at(), Relaxed);
        }
    }

    fn touch(&mut self, at: u64, access: &Access) -> bool {
        let target = access.touched();
        match target {
            Some(Touched::Memory(address)) => self.counting.access(at, Target::Line(address / LINE)),
            Some(Touched::Device) => self.counting.access(at, Target::Device),
            None => {}
        }
        matches!(target, Some(Touched::Memory(_)))
    }

    fn begin_stretch(&mut self, at: u64) {
        if !ON.load(Relaxed) {
            self.turn_on(at);
            if let Some((number, start)) = self.before {
                self.counting.start(number, start);
            }
        }
        let id = self
            .registers
            .as_ref()
            .map_or(0, |registers| registers.read(FIRST_ARGUMENT));
        self.counting.begin_stretch(id, at);
    }
}

fn forget_latest() {
    LATEST.iter().for_each(|latest| latest.store(0, Relaxed));
}
