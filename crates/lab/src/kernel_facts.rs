//! Facts about a kernel that a census needs, found in its symbols and its code.

mod arm64;

use super::kernel_memory::{self, KernelMemory};
use super::subject::LabSubject;
use iced_x86::{Decoder, DecoderOptions, Mnemonic, OpKind, Register};
use std::ops::Range;
use worstcase_contract::census::facts::Facts;
use worstcase_contract::symbols::SymbolTable;
use worstcase_contract::window::ask::TaskPlaces;
use worstcase_kernels::preempt::PreemptName;
use worstcase_plan::Arch;

/// Entry points without the common prefix.
const OLD_ENTRIES: [&str; 3] = ["entry_INT80_compat", "asm_int80_emulation", "entry_SYSENTER_compat"];
/// Stubs of device interrupts.
const STUBS: [&str; 2] = ["irq_entries_start", "spurious_entries_start"];
/// Functions that reschedule on request where nothing is held.
const POINTS: [&str; 2] = ["__cond_resched", "_cond_resched"];
/// Beginnings of names of functions that read a task's flags and do not reschedule: for wake-ups and accounting.
const BYSTANDERS: [&str; 16] = [
    "resched_curr",
    "__resched_curr",
    "check_preempt_",
    "wakeup_preempt",
    "try_to_wake_up",
    "ttwu_",
    "update_curr",
    "entity_tick",
    "task_tick_",
    "sched_tick",
    "scheduler_tick",
    "rcu_sched_clock_irq",
    "rcu_flavor_sched_clock_irq",
    "set_nr_and_not_polling",
    "__set_nr_if_polling",
    "put_prev_task",
];
/// Functions of soft interrupts that defer the rest of their work when rescheduling is requested: between two rounds of
/// soft interrupts, and in a batch of RCU callbacks.
const LEAVING: [&str; 3] = ["__do_softirq", "handle_softirqs", "rcu_do_batch"];
/// Most code of one function that is read.
const MOST_CODE: u64 = 16 << 10;

/// Finds the facts; the error says what is missing.
pub fn find(
    memory: &KernelMemory,
    table: &SymbolTable,
    places: &TaskPlaces,
    prio: u64,
    cpu: u32,
    subject: &LabSubject,
) -> Result<Facts, String> {
    let functions = KernelFunctions::of(table);
    let mut facts = Facts {
        tasks: *places,
        prio,
        preemptible: matches!(
            subject.preempt.model,
            PreemptName::Full | PreemptName::Lazy | PreemptName::Rt
        ),
        schedule: functions.starts(|name| name == "__schedule"),
        points: functions.starts(|name| POINTS.contains(&name)),
        bystanders: functions.ranges(|name| BYSTANDERS.iter().any(|begin| name.starts_with(begin))),
        leaving: functions.ranges(|name| LEAVING.contains(&name)),
        ..Facts::default()
    };
    match subject.machine.arch() {
        Arch::X86 => of_x86(&mut facts, memory, table, &functions, cpu)?,
        Arch::Arm64 => arm64::add(&mut facts, memory, &functions)?,
    }
    if facts.entries.is_empty() || facts.schedule.is_empty() {
        return Err("its interrupt entries or its scheduler have other names".into());
    }
    Ok(facts)
}

/// Adds what is so on x86-64.
fn of_x86(
    facts: &mut Facts,
    memory: &KernelMemory,
    table: &SymbolTable,
    functions: &KernelFunctions,
    cpu: u32,
) -> Result<(), String> {
    let places = facts.tasks;
    facts.preempt_offset = kernel_memory::preempt_count(table)?;
    let base = kernel_memory::per_cpu(memory, &places, table, cpu)?;
    facts.current_offset = kernel_memory::current_task(table).ok_or("it has no symbol current_task")?;
    facts.preempt_virtual = facts.preempt_offset.wrapping_add(base);
    facts.preempt_physical = places.preempt_count;
    facts.entries = functions.starts(|name| {
        ["asm_exc_", "asm_sysvec_"].iter().any(|begin| name.starts_with(begin))
            || ["asm_common_interrupt", "asm_spurious_interrupt"].contains(&name)
            || OLD_ENTRIES.contains(&name)
    });
    facts.stubs = functions.ranges(|name| STUBS.contains(&name));
    facts.resched_mask = functions.mask_in(memory, &places, "__schedule", cleared_flags)?;
    Ok(())
}

/// The flags that the scheduler clears in the task it leaves: those that request rescheduling.
fn cleared_flags(code: &[u8], address: u64) -> u64 {
    let mut mask = 0;
    for instruction in &mut Decoder::with_ip(64, code, address, DecoderOptions::NONE) {
        let at_pointer = instruction.op0_kind() == OpKind::Memory
            && instruction.memory_displacement64() == 0
            && instruction.memory_index() == Register::None
            && instruction.memory_segment() != Register::GS;
        if instruction.mnemonic() != Mnemonic::And || !at_pointer {
            continue;
        }
        if let Ok(kept) = instruction.try_immediate(1) {
            let bits = 8 * instruction.memory_size().size();
            let all = if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
            mask |= !kept & all;
        }
    }
    of_flags(mask)
}

/// A mask with more bits is not one of flags.
fn of_flags(mask: u64) -> u64 {
    if mask.count_ones() <= 3 { mask } else { 0 }
}

/// The kernel's own functions by address.
struct KernelFunctions<'a> {
    sorted: Vec<(u64, &'a str)>,
}

impl<'a> KernelFunctions<'a> {
    fn of(table: &'a SymbolTable) -> Self {
        let own = table.code().filter(|s| s.module.is_none());
        let mut sorted: Vec<_> = own.map(|s| (s.address, s.name)).collect();
        sorted.sort();
        KernelFunctions { sorted }
    }

    /// Functions whose names match, ignoring suffixes that compilers append.
    fn named(&self, is: impl Fn(&str) -> bool) -> impl Iterator<Item = usize> {
        (0..self.sorted.len()).filter(move |&i| {
            let name = self.sorted[i].1;
            is(name.split_once('.').map_or(name, |(stem, _)| stem))
        })
    }

    fn starts(&self, is: impl Fn(&str) -> bool) -> Vec<u64> {
        let mut starts: Vec<u64> = self.named(is).map(|i| self.sorted[i].0).collect();
        starts.dedup();
        starts
    }

    fn ranges(&self, is: impl Fn(&str) -> bool) -> Vec<Range<u64>> {
        let end = |start: u64| {
            self.sorted
                .iter()
                .map(|(address, _)| *address)
                .find(|address| *address > start)
        };
        let ranges = self.named(is).filter_map(|i| {
            let start = self.sorted[i].0;
            Some(start..end(start)?)
        });
        ranges.collect()
    }

    /// The bits that the code of this function tells of.
    fn mask_in(
        &self,
        memory: &KernelMemory,
        places: &TaskPlaces,
        function: &str,
        tells: impl Fn(&[u8], u64) -> u64,
    ) -> Result<u64, String> {
        let mut mask = 0;
        for range in self.ranges(|name| name == function) {
            let mut code = vec![0; (range.end - range.start).min(MOST_CODE) as usize];
            memory.read(places, range.start, &mut code)?;
            mask |= tells(&code, range.start);
        }
        Ok(mask)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flags_that_the_scheduler_clears() {
        // lock andb $0xf7,(%rdi), and the same on one CPU, where the lock became a ds prefix.
        assert_eq!(cleared_flags(&[0xf0, 0x80, 0x27, 0xf7], 0), 8);
        assert_eq!(cleared_flags(&[0x90, 0x3e, 0x80, 0x27, 0xf7], 0), 8);
        // lock andq $~0x18,(%rdi)
        assert_eq!(cleared_flags(&[0xf0, 0x48, 0x83, 0x27, 0xe7], 0), 0x18);
        // and $0xf7,%al; andb $0xf7,8(%rdi); andq $0xf,(%rdi)
        for other in [&[0x24, 0xf7][..], &[0x80, 0x67, 0x08, 0xf7], &[0x48, 0x83, 0x27, 0x0f]] {
            assert_eq!(cleared_flags(other, 0), 0, "{other:x?}");
        }
    }

    #[test]
    fn functions_end_where_the_next_begins() {
        let table = SymbolTable::from_kallsyms("10 T a\n10 T b\n20 t a.constprop.0\n28 t c\n30 t d\t[m]\n");
        let functions = KernelFunctions::of(&table);
        assert_eq!(functions.starts(|name| name == "a"), [0x10, 0x20]);
        assert_eq!(functions.ranges(|name| name == "a"), [0x10..0x20, 0x20..0x28]);
    }
}
