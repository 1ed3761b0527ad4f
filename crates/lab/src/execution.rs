//! What ran around one sample: every block in order, the symbols to name it, and the tasks it ran for.
//!
//! All counts are instructions since QEMU started, as in the cell's events; `Execution::time_of` turns a distance
//! into virtual time.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;
use worstcase_contract::costs::log::CountedEvent;
use worstcase_contract::costs::{CostEvent, EventCounts, WARM_UP};
use worstcase_contract::symbols::{CodeSymbol, SymbolTable};
pub use worstcase_contract::window::{Block, ContextFrom, Elsewhere, LockWrite, Step, TaskFrom, Why};
use worstcase_contract::{Instructions, Nanos};
use worstcase_plan::Arch;

/// A window of one execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execution {
    /// The distinct blocks of code that ran.
    pub blocks: Vec<Block>,
    /// The executed blocks, in order; the difference of adjacent steps' counts is the number of instructions of a block
    /// that were executed (a fault or an interrupt may leave a block early).
    pub steps: Vec<Step>,
    /// One past the last executed instruction of the window.
    pub end: Instructions,
    /// The current task from each instant on; the first entry is at or before the first step.
    pub tasks: Vec<TaskFrom>,
    /// The kernel's context from each instant on; the first entry is at or before the first step.
    pub contexts: Vec<ContextFrom>,
    /// What other CPUs did, at the moments at which it matters.
    pub elsewhere: Vec<Elsewhere>,
    /// The locks that the kernel's lock functions wrote to, in order.
    pub lock_writes: Vec<LockWrite>,
    /// What its instructions consist of, in the order of their counts, if that was asked for.
    pub costs: Option<Vec<CountedEvent>>,
    /// When the probe's timer was due.
    pub due: Instructions,
    /// The first entry of the timer interrupt at or after the due time, if there was one before the sample.
    pub timer_entry: Option<Instructions>,
    /// The instant that the sample shows: one past the instruction that reads the clock.
    pub sample: Instructions,
    /// The sample's latency as measured; equals `time_of(sample - due)`.
    pub latency: Nanos,
    /// QEMU's icount shift: an instruction takes 2^shift ns of virtual time.
    pub shift: u32,
}

impl Execution {
    /// Virtual time of a distance in instructions.
    pub fn time_of(&self, instructions: u64) -> Nanos {
        Nanos(instructions << self.shift)
    }

    /// The instructions that step `i` executed.
    pub fn span(&self, i: usize) -> Range<u64> {
        let end = self.steps.get(i + 1).map_or(self.end, |next| next.count);
        self.steps[i].count.0..end.0
    }

    /// What another CPU did until that moment, as an execution of its own.
    pub fn of_other(&self, other: &Elsewhere) -> Execution {
        Execution {
            blocks: self.blocks.clone(),
            steps: other.steps.clone(),
            end: other.count,
            tasks: vec![TaskFrom {
                count: other.steps.first().map_or(other.count, |step| step.count),
                pid: other.task.0,
                comm: other.task.1.clone(),
            }],
            contexts: Vec::new(),
            elsewhere: Vec::new(),
            lock_writes: Vec::new(),
            costs: None,
            due: other.count,
            timer_entry: None,
            sample: other.count,
            latency: Nanos(0),
            shift: self.shift,
        }
    }

    /// What a range of instructions consists of, if that was asked for.
    pub fn costs_in(&self, range: Range<u64>) -> Option<EventCounts> {
        let events = self.costs.as_ref()?;
        let first = events.partition_point(|event| event.at < range.start);
        let within = events[first..].iter().take_while(|event| event.at < range.end);
        let mut counts: EventCounts = within.map(|event| (event.event, event.n)).collect();
        counts[CostEvent::Instruction] = (range.end - range.start).saturating_sub(counts[CostEvent::StringRound]);
        Some(counts)
    }

    /// For how many instructions caches had been in use at this count, where that is fewer than they should: the cell begins there.
    pub fn short_warm_up(&self, count: u64) -> Option<u64> {
        (self.costs.is_some() && count < WARM_UP).then_some(count)
    }

    /// The first instruction in a range at which the kernel's preempt count is zero.
    pub fn preemptible_in(&self, range: Range<u64>) -> Option<u64> {
        if self.contexts.is_empty() {
            return Some(range.start);
        }
        let mut contexts = self.contexts_in(range);
        contexts
            .find(|(_, context)| !context.preempt_off)
            .map(|(at, _)| at.start)
    }

    /// The parts of a range in which the kernel's preempt count is not zero.
    pub fn preempt_off_in(&self, range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
        let mut contexts = self.contexts_in(range).peekable();
        std::iter::from_fn(move || {
            let (mut section, _) = contexts.find(|(_, context)| context.preempt_off)?;
            while let Some((at, _)) = contexts.next_if(|(_, context)| context.preempt_off) {
                section.end = at.end;
            }
            Some(section)
        })
    }

    /// The system call in which most of a range ran.
    pub fn system_call_in(&self, range: Range<u64>) -> Option<u32> {
        let mut lengths: BTreeMap<Option<u32>, u64> = BTreeMap::new();
        for (at, context) in self.contexts_in(range) {
            *lengths.entry(context.system_call).or_default() += at.end - at.start;
        }
        let most = lengths.into_iter().max_by_key(|(_, length)| *length);
        most.and_then(|(call, _)| call)
    }

    /// The contexts in a range, each with the part of the range in which it holds.
    fn contexts_in(&self, range: Range<u64>) -> impl Iterator<Item = (Range<u64>, &ContextFrom)> {
        let first = self.contexts.partition_point(|c| c.count.0 <= range.start);
        let held = &self.contexts[first.saturating_sub(1)..];
        let ends = held.iter().skip(1).map(|c| c.count.0).chain([u64::MAX]);
        let within = held.iter().zip(ends).map(move |(context, end)| {
            let at = context.count.0.max(range.start)..end.min(range.end);
            (at, context)
        });
        within.take_while(|(at, _)| !at.is_empty())
    }

    /// The address of each instruction in a range, in order.
    pub fn for_each_address(&self, range: Range<u64>, mut each: impl FnMut(u64)) {
        self.for_each_instruction(range, |_, address| each(address));
    }

    /// The block and the address of each instruction in a range, in order.
    pub fn for_each_instruction(&self, range: Range<u64>, mut each: impl FnMut(usize, u64)) {
        let after = self.steps.partition_point(|s| s.count.0 <= range.start);
        for number in after.saturating_sub(1)..self.steps.len() {
            let span = self.span(number);
            if span.start >= range.end {
                break;
            }
            let place = self.steps[number].block as usize;
            let block = &self.blocks[place];
            let mut address = block.address;
            for (count, length) in span.zip(&block.lengths) {
                if range.contains(&count) {
                    each(place, address);
                }
                address = address.wrapping_add(u64::from(*length));
            }
        }
    }
}

/// The kernel and each module have pages of their own.
const PAGE: u64 = 4096;

/// Names of code addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Symbols {
    /// Of the machine whose code they name.
    pub arch: Arch,
    entries: Vec<Symbol>,
    /// The kernel's functions of system calls, by number.
    system_calls: Vec<String>,
}

/// One function or entry point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its first address.
    pub address: u64,
    /// Its name.
    pub name: String,
    /// The module that holds it; none for the kernel itself.
    pub module: Option<String>,
}

impl Symbols {
    /// Symbols from a list in any order.
    pub fn new(mut entries: Vec<Symbol>) -> Symbols {
        entries.sort_by_key(|s| s.address);
        Symbols {
            arch: Arch::default(),
            entries,
            system_calls: Vec::new(),
        }
    }

    /// Of code of a machine of this architecture.
    pub fn of(self, arch: Arch) -> Symbols {
        Symbols { arch, ..self }
    }

    /// Adds the kernel's functions of system calls, by number.
    pub fn with_system_calls(self, system_calls: Vec<String>) -> Symbols {
        Symbols { system_calls, ..self }
    }

    /// The kernel's function of a system call.
    pub fn system_call(&self, number: u32) -> Option<&str> {
        self.system_calls.get(number as usize).map(String::as_str)
    }

    /// The modules with symbols.
    pub fn modules(&self) -> BTreeSet<&str> {
        self.entries.iter().filter_map(|s| s.module.as_deref()).collect()
    }

    /// The symbols of a module.
    pub fn of_module(&self, module: &str) -> impl Iterator<Item = &Symbol> {
        self.entries.iter().filter(move |s| s.module.as_deref() == Some(module))
    }

    /// Takes in the modules of another list; symbols of the same modules are replaced.
    pub(crate) fn add_modules(&mut self, found: Symbols) {
        let is_there = |s: &Symbol| s.module.is_some() && found.entries.iter().any(|f| f.module == s.module);
        self.entries.retain(|s| !is_there(s));
        self.entries.extend(found.entries);
        self.entries.sort_by_key(|s| s.address);
    }

    /// The function that holds an address: the last symbol at or before it. The last symbol of a module, or of the
    /// kernel itself, ends with its page: what follows may belong to a module without symbols.
    pub fn lookup(&self, address: u64) -> Option<&Symbol> {
        let (before, after) = self
            .entries
            .split_at(self.entries.partition_point(|s| s.address <= address));
        let found = before.last()?;
        let is_last = after.first().is_none_or(|next| next.module != found.module);
        (!is_last || address / PAGE == found.address / PAGE).then_some(found)
    }

    /// The names of all functions.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|s| s.name.as_str())
    }

    /// The address of a name.
    pub fn address_of(&self, name: &str) -> Option<u64> {
        self.entries.iter().find(|s| s.name == name).map(|s| s.address)
    }
}

/// Prefix of early code's second name for a function (7.3).
const EARLY: &str = "__pi_";
/// What names begin with that tell where code or data begin in a module of arm64.
const MARKER: char = '$';

/// Of several names at one address the kernel shows the first, and `lookup` takes the last: so names are added in
/// reverse.
impl From<&SymbolTable> for Symbols {
    fn from(table: &SymbolTable) -> Symbols {
        let known: HashSet<(u64, &str)> = table.code().map(|s| (s.address, s.name)).collect();
        let is_second_name = |s: &CodeSymbol| {
            let own = s.name.strip_prefix(EARLY);
            own.is_some_and(|own| known.contains(&(s.address, own)))
        };
        let mut entries: Vec<Symbol> = table
            .code()
            .filter(|s| !s.name.starts_with(MARKER) && !is_second_name(s))
            .map(|s| Symbol {
                address: s.address,
                name: s.name.to_string(),
                module: s.module.map(str::to_string),
            })
            .collect();
        entries.reverse();
        Symbols::new(entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_begins_and_ends_within_blocks() {
        let block = |address, lengths: &[u8]| Block {
            address,
            lengths: lengths.to_vec(),
            code: vec![0x90; 10],
        };
        let step = |block, count| Step {
            block,
            count: Instructions(count),
        };
        let execution = Execution {
            blocks: vec![block(0x10, &[1, 2, 3]), block(0x20, &[4, 4])],
            // The first block was left early once.
            steps: vec![step(0, 100), step(1, 102), step(0, 104)],
            end: Instructions(107),
            tasks: Vec::new(),
            contexts: Vec::new(),
            elsewhere: Vec::new(),
            lock_writes: Vec::new(),
            costs: None,
            due: Instructions(0),
            timer_entry: None,
            sample: Instructions(0),
            latency: Nanos(0),
            shift: 0,
        };
        let of = |range| {
            let mut all = Vec::new();
            execution.for_each_address(range, |address| all.push(address));
            all
        };
        assert_eq!(of(101..105), [0x11, 0x20, 0x24, 0x10]);
        assert_eq!(of(0..200).len(), 7);
    }

    #[test]
    fn what_a_range_consists_of_adds_up_to_it() {
        let event = |at, event, n| CountedEvent { at, event, n };
        let events = vec![
            event(101, CostEvent::DataL3, 1),
            event(101, CostEvent::Locked, 1),
            event(104, CostEvent::StringRound, 1),
            event(104, CostEvent::StringByte, 8),
            event(105, CostEvent::StringRound, 1),
        ];
        let execution = Execution {
            blocks: Vec::new(),
            steps: Vec::new(),
            end: Instructions(110),
            tasks: Vec::new(),
            contexts: Vec::new(),
            elsewhere: Vec::new(),
            lock_writes: Vec::new(),
            costs: Some(events),
            due: Instructions(0),
            timer_entry: None,
            sample: Instructions(0),
            latency: Nanos(0),
            shift: 0,
        };
        let counts = |range| execution.costs_in(range).unwrap();
        assert_eq!(counts(100..105) + counts(105..110), counts(100..110));
        assert_eq!(counts(100..105).lab_instructions(), 5);
        assert_eq!(counts(101..102)[CostEvent::Locked], 1);
        assert_eq!(counts(102..105)[CostEvent::StringByte], 8);
        assert_eq!(counts(106..110), counts(102..104) + counts(102..104));
        let uncounted = Execution {
            costs: None,
            ..execution.clone()
        };
        assert_eq!(uncounted.costs_in(100..105), None);
        assert_eq!(execution.short_warm_up(WARM_UP - 1), Some(WARM_UP - 1));
        assert_eq!(execution.short_warm_up(WARM_UP), None);
        assert_eq!(uncounted.short_warm_up(1), None);
    }

    #[test]
    fn contexts_hold_until_the_next() {
        let context = |count, system_call, preempt_off| ContextFrom {
            count: Instructions(count),
            system_call,
            preempt_off,
        };
        let execution = Execution {
            blocks: Vec::new(),
            steps: Vec::new(),
            end: Instructions(200),
            tasks: Vec::new(),
            contexts: vec![
                context(100, None, true),
                context(110, Some(3), true),
                context(150, Some(3), false),
            ],
            elsewhere: Vec::new(),
            lock_writes: Vec::new(),
            costs: None,
            due: Instructions(0),
            timer_entry: None,
            sample: Instructions(0),
            latency: Nanos(0),
            shift: 0,
        };
        assert_eq!(execution.system_call_in(100..112), None);
        assert_eq!(execution.system_call_in(105..160), Some(3));
        assert_eq!(execution.preemptible_in(105..160), Some(150));
        assert_eq!(execution.preemptible_in(170..180), Some(170));
        assert_eq!(execution.preemptible_in(105..150), None);
        assert!(execution.preempt_off_in(90..160).eq(std::iter::once(100..150)));
        assert!(execution.preempt_off_in(105..120).eq(std::iter::once(105..120)));
        assert_eq!(execution.preempt_off_in(150..180).count(), 0);
        let uncounted = Execution {
            contexts: Vec::new(),
            ..execution
        };
        assert_eq!(uncounted.preemptible_in(105..150), Some(105));
        assert_eq!(uncounted.system_call_in(105..150), None);
    }

    #[test]
    fn the_name_that_the_kernel_shows_is_found_first() {
        let table = SymbolTable::from_kallsyms("10 T __memcpy\n10 W memcpy\n20 T next\t[m]\n");
        let names = Symbols::from(&table);
        assert_eq!(names.lookup(0x15).unwrap().name, "__memcpy");
        assert_eq!(names.address_of("memcpy"), Some(0x10));
        assert_eq!(names.lookup(0x20).unwrap().module.as_deref(), Some("m"));
    }

    #[test]
    fn a_function_keeps_its_name_where_early_code_has_another_for_it() {
        let table = SymbolTable::from_kallsyms("10 T __pi_thunk\n10 T thunk\n20 t __pi_only\n");
        let names = Symbols::from(&table);
        assert_eq!(names.lookup(0x10).unwrap().name, "thunk");
        assert_eq!(names.lookup(0x20).unwrap().name, "__pi_only");
    }

    #[test]
    fn modules_that_came_later_are_taken_in() {
        let of = |text: &str| Symbols::from(&SymbolTable::from_kallsyms(text));
        let mut names = of("10 T a\n5000 t gone\t[m]\n");
        names.add_modules(of("9000 t back\t[m]\n7000 t new\t[n]\n"));
        let name = |address| names.lookup(address).map(|s| s.name.as_str());
        assert_eq!(
            [name(0x10), name(0x5000), name(0x7000), name(0x9001)],
            [Some("a"), None, Some("new"), Some("back")]
        );
    }

    #[test]
    fn the_last_symbol_at_or_before_an_address_holds_it() {
        let symbol = |address, name: &str| Symbol {
            address,
            name: name.into(),
            module: None,
        };
        let symbols = Symbols::new(vec![symbol(200, "b"), symbol(100, "a")]);
        assert_eq!(symbols.lookup(199).unwrap().name, "a");
        assert_eq!(symbols.lookup(200).unwrap().name, "b");
        assert_eq!(symbols.lookup(99), None);
        assert_eq!(symbols.address_of("b"), Some(200));
    }

    #[test]
    fn what_lies_behind_a_module_is_not_its_last_function() {
        let symbol = |address, module: Option<&str>| Symbol {
            address,
            name: format!("f{address:x}"),
            module: module.map(str::to_string),
        };
        let symbols = Symbols::new(vec![
            symbol(0x1000, None),
            symbol(0x1ff0, None),
            symbol(0xc000, Some("m")),
            symbol(0xe000, Some("m")),
        ]);
        let name = |address| symbols.lookup(address).map(|s| s.name.as_str());
        assert_eq!(
            [name(0x1fe0), name(0x1fff), name(0x2000)],
            [Some("f1000"), Some("f1ff0"), None]
        );
        // A long function continues up to the next one of its module, even across pages.
        assert_eq!(
            [name(0xdfff), name(0xefff), name(0xf000)],
            [Some("fc000"), Some("fe000"), None]
        );
    }
}
