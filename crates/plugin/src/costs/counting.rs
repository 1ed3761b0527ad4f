//! Counts what runs, instruction by instruction, whatever the blocks are into which QEMU cuts it.
//!
//! What a block's instructions are is counted when the next block starts, which tells how many of them were executed. Lines of
//! code are used in turn with data, so that what both share is the same however blocks are cut.

use super::cache::Caches;
use super::code::CountedBlock;
use super::meaning::Way;
use worstcase_costs::log::{CountedEvent, CountedStretch};
use worstcase_costs::{CostEvent, EventCounts};

/// Calls that a CPU remembers.
const CALLS: usize = 32;

/// Where an access leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// A physical line of memory.
    Line(u64),
    Device,
}

/// A block that runs.
#[derive(Clone, Copy, Debug)]
struct RunningBlock {
    number: u32,
    /// What had been executed when it started.
    start: u64,
    /// The next of its lines.
    line: usize,
    /// The next of its events.
    event: usize,
}

/// What was counted when a stretch began.
#[derive(Clone, Copy, Debug)]
struct BegunStretch {
    id: u64,
    at: u64,
    counts: EventCounts,
}

/// What has been counted.
pub(super) struct Counting {
    blocks: Vec<CountedBlock>,
    caches: Caches,
    calls: [u64; CALLS],
    top: usize,
    running: Option<RunningBlock>,
    /// Nothing before this count is counted.
    begin: u64,
    /// The address of the instruction that was executed last.
    last: u64,
    counts: EventCounts,
    stretch: Option<BegunStretch>,
    /// Events that were found since they were taken last.
    found: Vec<CountedEvent>,
}

impl Counting {
    pub(super) fn new() -> Counting {
        Counting {
            blocks: Vec::new(),
            caches: Caches::new(),
            calls: [0; CALLS],
            top: 0,
            running: None,
            begin: 0,
            last: 0,
            counts: EventCounts::default(),
            stretch: None,
            found: Vec::new(),
        }
    }

    /// Knows a block from now on, by this number.
    pub(super) fn add(&mut self, block: CountedBlock) -> u32 {
        self.blocks.push(block);
        self.blocks.len() as u32 - 1
    }

    /// Begins with empty caches at this count.
    pub(super) fn begin(&mut self, at: u64) {
        self.caches.forget();
        (self.running, self.begin, self.last) = (None, at, 0);
        self.calls = [0; CALLS];
    }

    /// Whether a block that starts now goes beyond a count.
    pub(super) fn reaches(&self, number: u32, start: u64, count: u64) -> bool {
        start + self.blocks[number as usize].instructions > count
    }

    /// A block starts. Whether addresses may lead elsewhere now.
    pub(super) fn start(&mut self, number: u32, start: u64) -> bool {
        let address = self.blocks[number as usize].address;
        let changed = self.end_block(start, address);
        self.running = Some(RunningBlock {
            number,
            start,
            line: 0,
            event: 0,
        });
        changed
    }

    /// The running block has been left before the instruction with this count; the next one is at this address.
    fn end_block(&mut self, at: u64, next: u64) -> bool {
        let Some(running) = self.running else {
            return false;
        };
        let number = running.number as usize;
        let block = &self.blocks[number];
        let executed = (at - running.start).min(block.instructions);
        let (last, is_whole) = (block.last, executed == block.instructions);
        let (way, end, string) = (block.way, block.end, block.string.filter(|_| is_whole));
        let changes = block.changes_addresses && is_whole;
        let of_last = running.start + executed.saturating_sub(1);
        self.advance(running.start + executed);
        if is_whole && of_last >= self.begin {
            if let Some(address) = string {
                self.note(of_last, CostEvent::StringRound, 1);
                if self.last != address || executed > 1 {
                    self.note(of_last, CostEvent::StringStart, 1);
                }
            }
            match way {
                Way::Call => {
                    self.top = (self.top + 1) % CALLS;
                    self.calls[self.top] = end;
                }
                Way::Return => {
                    if self.calls[self.top] != next {
                        self.note(of_last, CostEvent::MispredictedReturn, 1);
                    }
                    self.top = (self.top + CALLS - 1) % CALLS;
                }
                Way::Usual | Way::Other => {}
            }
        }
        if executed > 0 {
            self.last = if is_whole { last } else { 0 };
        }
        changes
    }

    /// The running block has been executed up to the instruction with this count.
    fn advance(&mut self, at: u64) {
        let Some(mut running) = self.running else {
            return;
        };
        let upto = at.saturating_sub(running.start);
        self.fetch(&mut running, upto);
        while let Some(&(place, event)) = self.blocks[running.number as usize].events.get(running.event)
            && place < upto
        {
            running.event += 1;
            if running.start + place >= self.begin {
                self.note(running.start + place, event, 1);
            }
        }
        self.running = Some(running);
    }

    /// Uses the lines of code of the instructions before this place.
    fn fetch(&mut self, running: &mut RunningBlock, upto: u64) {
        while let Some(&(place, line)) = self.blocks[running.number as usize].lines.get(running.line)
            && place < upto
        {
            running.line += 1;
            if running.start + place >= self.begin
                && let Some(event) = self.caches.code(line)
            {
                self.note(running.start + place, event, 1);
            }
        }
    }

    /// The instruction with this count, of the block that runs, has used memory.
    pub(super) fn access(&mut self, at: u64, target: Target) {
        if at < self.begin {
            return;
        }
        self.advance(at);
        if let Some(mut running) = self.running {
            let place = at.saturating_sub(running.start);
            self.fetch(&mut running, place + 1);
            self.running = Some(running);
        }
        match target {
            Target::Device => self.note(at, CostEvent::DeviceMemory, 1),
            Target::Line(line) => {
                if let Some(event) = self.caches.data(line) {
                    self.note(at, event, 1);
                }
            }
        }
    }

    /// The same instruction, a repeated one, has used so many bytes.
    pub(super) fn bytes(&mut self, at: u64, n: u64) {
        if at >= self.begin {
            self.advance(at);
            self.note(at, CostEvent::StringByte, n);
        }
    }

    fn note(&mut self, at: u64, event: CostEvent, n: u64) {
        self.counts[event] += n;
        self.found.push(CountedEvent { at, event, n });
    }

    /// What was found since this was asked last.
    pub(super) fn found(&mut self) -> std::vec::Drain<'_, CountedEvent> {
        self.found.drain(..)
    }

    /// A stretch begins at the instruction with this count.
    pub(super) fn begin_stretch(&mut self, id: u64, at: u64) {
        self.advance(at);
        let counts = self.counts;
        self.stretch = Some(BegunStretch { id, at, counts });
    }

    /// It ends, if one has begun.
    pub(super) fn end_stretch(&mut self, at: u64) -> Option<CountedStretch> {
        self.advance(at);
        let begun = self.stretch.take()?;
        let mut counts = self.counts - begun.counts;
        counts[CostEvent::Instruction] = (at - begun.at).saturating_sub(counts[CostEvent::StringRound]);
        Some(CountedStretch { id: begun.id, counts })
    }
}
