//! The log's file: a header, then entries in the order in which they happened (postcard, an enum), then one that
//! closes it.
//!
//! Counts are kept as differences: most blocks run whole, and then a step is two or three bytes. The closing entry holds
//! the number of steps and a checksum of everything before it, so that what is cut short or damaged is refused.

use super::{Block, ContextFrom, Elsewhere, LockWrite, Step, TaskFrom};
use crate::units::Instructions;
use serde::{Deserialize, Serialize};
use std::io::{self, Write};

/// The header: what the file is, and the version of its form.
const HEADER: [u8; 8] = *b"wcwndow\x05";

#[derive(Debug, Serialize, Deserialize)]
enum Entry {
    /// The next block was started, after the step before ran all of its block.
    Step(u32),
    /// The next block was started, after so many instructions of the block before.
    StepAfter(u32, u64),
    /// Defines the next number for a block: address, lengths, code.
    Block(u64, Vec<u8>, Vec<u8>),
    /// From the next step on, another task (id, name) is current.
    Task(u32, String),
    /// From the next step on: the system call, and whether preemption is off.
    Context(Option<u32>, bool),
    /// What another CPU did, in the window that is open.
    Elsewhere(Elsewhere),
    /// The last step's block writes to the lock at this address.
    LockWrite(u64),
    /// A window begins; the count of its first step.
    Open(u64),
    /// The window ends, after so many instructions of the last block.
    End(u64),
    /// The log is whole: steps, CRC-32 of all bytes before this entry.
    Close(u64, u32),
}

/// What ran in one window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// In order; adjacent windows of a log share their blocks.
    pub steps: Vec<Step>,
    /// One past the last executed instruction.
    pub end: Instructions,
    /// Who was current; the first from the first step on.
    pub tasks: Vec<TaskFrom>,
    /// What the kernel was in; the first from the first step on.
    pub contexts: Vec<ContextFrom>,
    /// What other CPUs did.
    pub elsewhere: Vec<Elsewhere>,
    /// The locks that lock functions wrote to.
    pub lock_writes: Vec<LockWrite>,
}

/// A whole log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// The distinct blocks.
    pub blocks: Vec<Block>,
    /// The windows that were reached, in order.
    pub windows: Vec<Window>,
}

/// Why a log cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogError {
    /// Not a log of this version.
    #[error("not a window log of this version")]
    NotALog,
    /// The closing entry is missing.
    #[error("the window log is cut short")]
    CutShort,
    /// The checksum or the contents do not fit.
    #[error("the window log is damaged")]
    Damaged,
}

/// Writes a log; only [`Writer::close`] makes it whole.
pub struct Writer<W: Write> {
    out: W,
    sum: crc32fast::Hasher,
    buffer: Vec<u8>,
    blocks: u32,
    steps: u64,
    /// Count and length of the block of the last step of this window.
    last: Option<(u64, u64)>,
    /// Instructions of each block.
    lengths: Vec<u64>,
    /// The first failure; nothing is written after it.
    failed: Option<io::Error>,
}

impl<W: Write> Writer<W> {
    /// Begins a log.
    pub fn new(out: W) -> Writer<W> {
        let mut writer = Writer {
            out,
            sum: crc32fast::Hasher::new(),
            buffer: Vec::new(),
            blocks: 0,
            steps: 0,
            last: None,
            lengths: Vec::new(),
            failed: None,
        };
        writer.write(&HEADER);
        writer
    }

    /// Defines a block and gives its number.
    pub fn block(&mut self, block: &Block) -> u32 {
        let number = self.blocks;
        self.blocks += 1;
        self.lengths.push(block.lengths.len() as u64);
        self.entry(&Entry::Block(block.address, block.lengths.clone(), block.code.clone()));
        number
    }

    /// From the next step on this task is current.
    pub fn task(&mut self, pid: u32, comm: &str) {
        self.entry(&Entry::Task(pid, comm.to_string()));
    }

    /// From the next step on; to be said anew in each window.
    pub fn context(&mut self, system_call: Option<u32>, preempt_off: bool) {
        self.entry(&Entry::Context(system_call, preempt_off));
    }

    /// What another CPU did; left out where no window is open.
    pub fn elsewhere(&mut self, elsewhere: Elsewhere) {
        if self.last.is_some() {
            self.entry(&Entry::Elsewhere(elsewhere));
        }
    }

    /// The last step's block writes to a lock; left out where no window is open.
    pub fn lock_write(&mut self, lock: u64) {
        if self.last.is_some() {
            self.entry(&Entry::LockWrite(lock));
        }
    }

    /// A defined block starts; the first step after [`Writer::end`] opens a window.
    pub fn step(&mut self, block: u32, count: Instructions) {
        match self.last {
            None => {
                self.entry(&Entry::Open(count.0));
                self.entry(&Entry::Step(block));
            }
            Some((from, length)) if count.0 - from == length => self.entry(&Entry::Step(block)),
            Some((from, _)) => self.entry(&Entry::StepAfter(block, count.0 - from)),
        }
        self.last = Some((count.0, self.lengths[block as usize]));
        self.steps += 1;
    }

    /// The window ends before the instruction at this count; without a step in it, it never was.
    pub fn end(&mut self, count: Instructions) {
        if let Some((from, _)) = self.last.take() {
            self.entry(&Entry::End(count.0 - from));
        }
    }

    /// Ends the log; tells of any failure since its beginning.
    pub fn close(mut self) -> io::Result<()> {
        let sum = self.sum.clone().finalize();
        let steps = self.steps;
        self.entry(&Entry::Close(steps, sum));
        match self.failed {
            Some(error) => Err(error),
            None => self.out.flush(),
        }
    }

    fn entry(&mut self, entry: &Entry) {
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        buffer = postcard::to_extend(entry, buffer).expect("plain values are serialised");
        self.write(&buffer);
        self.buffer = buffer;
    }

    fn write(&mut self, bytes: &[u8]) {
        self.sum.update(bytes);
        if self.failed.is_none() {
            self.failed = self.out.write_all(bytes).err();
        }
    }
}

/// Reads a whole log.
pub fn decode(bytes: &[u8]) -> Result<Log, LogError> {
    let mut rest = bytes.strip_prefix(&HEADER).ok_or(LogError::NotALog)?;
    let mut reader = Reader::default();
    loop {
        let at = bytes.len() - rest.len();
        let (entry, after) = postcard::take_from_bytes(rest).map_err(|e| match e {
            postcard::Error::DeserializeUnexpectedEnd => LogError::CutShort,
            _ => LogError::Damaged,
        })?;
        rest = after;
        if let Entry::Close(steps, sum) = entry {
            let whole = rest.is_empty() && sum == crc32fast::hash(&bytes[..at]) && steps == reader.steps;
            let closed = whole && reader.count.is_none();
            return if closed { Ok(reader.log) } else { Err(LogError::Damaged) };
        }
        reader.take(entry).ok_or(LogError::Damaged)?;
    }
}

#[derive(Default)]
struct Reader {
    log: Log,
    steps: u64,
    /// A task to note at the next step.
    task: Option<(u32, String)>,
    /// A context to note at the next step.
    context: Option<(Option<u32>, bool)>,
    /// The next step's count if the block before ran whole; none outside of windows.
    count: Option<u64>,
}

impl Reader {
    /// Takes one entry in; none if it makes no sense here.
    fn take(&mut self, entry: Entry) -> Option<()> {
        match entry {
            Entry::Block(address, lengths, code) => {
                let length: usize = lengths.iter().map(|l| usize::from(*l)).sum();
                self.log.blocks.push(Block { address, lengths, code });
                (length == self.log.blocks.last()?.code.len()).then_some(())
            }
            Entry::Task(pid, comm) => {
                self.task = Some((pid, comm));
                Some(())
            }
            Entry::Context(system_call, preempt_off) => {
                self.context = Some((system_call, preempt_off));
                Some(())
            }
            Entry::Elsewhere(elsewhere) => {
                let is_known = |step: &Step| (step.block as usize) < self.log.blocks.len();
                let fits = self.count.is_some() && elsewhere.steps.iter().all(is_known);
                self.log.windows.last_mut()?.elsewhere.push(elsewhere);
                fits.then_some(())
            }
            Entry::LockWrite(lock) => {
                let count = self.last()?.count;
                let window = self.log.windows.last_mut()?;
                window.lock_writes.push(LockWrite { count, lock });
                self.count.map(|_| ())
            }
            Entry::Open(count) => {
                // Who is not named again is who was current when the window before ended.
                let known = self.log.windows.last().and_then(|window| window.tasks.last());
                self.task = self.task.take().or(known.map(|t| (t.pid, t.comm.clone())));
                self.log.windows.push(Window::default());
                self.count.replace(count).is_none().then_some(())
            }
            Entry::Step(block) => self.step(block, self.count?),
            Entry::StepAfter(block, executed) => {
                let count = self.last()?.count.0.checked_add(executed)?;
                self.step(block, count)
            }
            Entry::End(executed) => {
                self.count.take()?;
                let end = self.last()?.count.0.checked_add(executed)?;
                self.log.windows.last_mut()?.end = Instructions(end);
                Some(())
            }
            Entry::Close(..) => None,
        }
    }

    fn last(&self) -> Option<&Step> {
        self.log.windows.last()?.steps.last()
    }

    fn step(&mut self, block: u32, count: u64) -> Option<()> {
        let length = self.log.blocks.get(block as usize)?.lengths.len() as u64;
        self.count.replace(count.checked_add(length)?)?;
        let count = Instructions(count);
        let window = self.log.windows.last_mut()?;
        if let Some((pid, comm)) = self.task.take() {
            window.tasks.push(TaskFrom { count, pid, comm });
        }
        if let Some((system_call, preempt_off)) = self.context.take() {
            window.contexts.push(ContextFrom {
                count,
                system_call,
                preempt_off,
            });
        }
        window.steps.push(Step { block, count });
        self.steps += 1;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Why;
    use super::*;

    fn block(address: u64, instructions: usize) -> Block {
        Block {
            address,
            lengths: vec![2; instructions],
            code: vec![0x90; 2 * instructions],
        }
    }

    /// Another CPU has run the second block twice.
    fn elsewhere() -> Elsewhere {
        let step = |count| Step {
            block: 1,
            count: Instructions(count),
        };
        Elsewhere {
            why: Why::Sends,
            at: Instructions(105),
            cpu: 2,
            count: Instructions(7_010),
            task: (83, "load".into()),
            system_call: Some(1),
            steps: vec![step(7_000), step(7_005)],
            goes_on: false,
        }
    }

    /// Three windows; the second block is left after two of its five instructions.
    fn written() -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes);
        let first = writer.block(&block(0x1000, 3));
        writer.task(1, "init");
        writer.context(Some(28), false);
        writer.step(first, Instructions(100));
        let second = writer.block(&block(0x2000, 5));
        writer.context(Some(28), true);
        writer.step(second, Instructions(103));
        writer.lock_write(0xffff_8880_0012_3400);
        writer.task(0, "swapper/0");
        writer.elsewhere(elsewhere());
        writer.step(first, Instructions(105));
        writer.end(Instructions(108));
        writer.elsewhere(elsewhere());
        writer.end(Instructions(109));
        writer.task(7, "probe");
        writer.step(second, Instructions(900));
        writer.end(Instructions(901));
        writer.step(second, Instructions(950));
        writer.end(Instructions(955));
        writer.close().unwrap();
        bytes
    }

    #[test]
    fn a_log_is_read_back() {
        let log = decode(&written()).unwrap();
        let step = |block, count| Step {
            block,
            count: Instructions(count),
        };
        let task = |count, pid, comm: &str| TaskFrom {
            count: Instructions(count),
            pid,
            comm: comm.into(),
        };
        let context = |count, preempt_off| ContextFrom {
            count: Instructions(count),
            system_call: Some(28),
            preempt_off,
        };
        assert_eq!(log.blocks, [block(0x1000, 3), block(0x2000, 5)]);
        let first = Window {
            steps: vec![step(0, 100), step(1, 103), step(0, 105)],
            end: Instructions(108),
            tasks: vec![task(100, 1, "init"), task(105, 0, "swapper/0")],
            contexts: vec![context(100, false), context(103, true)],
            elsewhere: vec![elsewhere()],
            lock_writes: vec![LockWrite {
                count: Instructions(103),
                lock: 0xffff_8880_0012_3400,
            }],
        };
        let second = Window {
            steps: vec![step(1, 900)],
            end: Instructions(901),
            tasks: vec![task(900, 7, "probe")],
            contexts: Vec::new(),
            elsewhere: Vec::new(),
            lock_writes: Vec::new(),
        };
        let third = Window {
            steps: vec![step(1, 950)],
            end: Instructions(955),
            tasks: vec![task(950, 7, "probe")],
            contexts: Vec::new(),
            elsewhere: Vec::new(),
            lock_writes: Vec::new(),
        };
        assert_eq!(log.windows, [first, second, third]);
    }

    #[test]
    fn every_cut_and_every_changed_byte_is_refused() {
        let bytes = written();
        for n in 0..bytes.len() {
            assert!(decode(&bytes[..n]).is_err(), "{n} bytes were taken for a log");
            let mut changed = bytes.clone();
            changed[n] ^= 0x11;
            assert!(decode(&changed).is_err(), "byte {n} was changed unseen");
        }
        assert_eq!(decode(b"hello"), Err(LogError::NotALog));
        assert_eq!(decode(&bytes[..bytes.len() - 8]), Err(LogError::CutShort));
        assert_eq!(decode(&[&bytes[..], &[0]].concat()), Err(LogError::Damaged));
    }

    #[test]
    fn a_full_disk_is_told_at_the_end() {
        let mut space = [0; 30];
        let mut writer = Writer::new(&mut space[..]);
        let number = writer.block(&block(0, 1));
        for count in 0..100 {
            writer.step(number, Instructions(count));
        }
        assert!(writer.close().is_err());
    }
}
