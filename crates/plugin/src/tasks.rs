//! Which task the guest's CPU runs, and what the kernel is in for it, read from the guest's memory.

use crate::context;
use crate::guest_memory::GuestMemory;
use crate::paging::PageTable;
use worstcase_logs::window::ask::TaskPlaces;

/// A task as the log names it: id, name as the kernel keeps it.
pub(crate) type Task = (u32, [u8; TaskPlaces::COMM_LEN]);

/// The address of the current task.
pub(crate) fn current_pointer(memory: &GuestMemory, places: &TaskPlaces) -> Option<u64> {
    memory.read(places.current).map(u64::from_le_bytes)
}

/// The current task; none if the pointers lead out of memory.
pub(crate) fn current(memory: &GuestMemory, places: &TaskPlaces) -> Option<Task> {
    let task = places.physical(current_pointer(memory, places)?)?;
    let pid = u32::from_le_bytes(memory.read(task.checked_add(places.pid)?)?);
    Some((pid, memory.read(task.checked_add(places.comm)?)?))
}

/// The places of a CPU, from those of the CPU `of`; none if the list of CPUs is not where it should be.
pub(crate) fn places_of(memory: &GuestMemory, places: &TaskPlaces, of: usize, cpu: usize) -> Option<TaskPlaces> {
    let own = |cpu: usize| Some(u64::from_le_bytes(memory.read(places.per_cpu + 8 * cpu as u64)?));
    let distance = own(cpu)?.wrapping_sub(own(of)?);
    let mut other = *places;
    other.current = places.current.wrapping_add(distance);
    context::move_preempt_count(&mut other, distance);
    Some(other)
}

/// What the kernel is in: the system call that the current task has made, and whether something beside interrupts keeps it
/// from being preempted.
pub(crate) type Context = (Option<u32>, bool);

/// Of the count of reasons not to preempt: those of preemption itself and of soft interrupts.
const REASONS: u32 = 0xffff;
/// A task's stack in the kernel.
const STACK: u64 = 16 << 10;
/// The last word of a stack.
const LAST: u64 = STACK - 8;
/// No number of a system call is as high; -1 is no system call.
const MOST_CALLS: u64 = 1 << 12;

/// Reads contexts.
pub(crate) struct Contexts {
    places: TaskPlaces,
    table: PageTable,
    /// The current task, and the physical address of the top of its stack.
    top: Option<(u64, Option<u64>)>,
}

impl Contexts {
    /// Of this kernel.
    pub(crate) fn new(places: TaskPlaces) -> Contexts {
        let table = PageTable {
            root: places.page_table,
            levels: places.page_levels(),
            page_bits: places.page_bits as u32,
        };
        Contexts {
            places,
            table,
            top: None,
        }
    }

    /// The context now; in user code there is no system call.
    pub(crate) fn now(&mut self, memory: &GuestMemory, in_user: bool) -> Option<Context> {
        let count = u32::from_le_bytes(memory.read(context::preempt_count(memory, &self.places)?)?);
        let call = if in_user { None } else { self.system_call(memory) };
        Some((call, count & REASONS != 0))
    }

    fn system_call(&mut self, memory: &GuestMemory) -> Option<u32> {
        let task = current_pointer(memory, &self.places)?;
        let top = match self.top {
            Some((known, top)) if known == task => top,
            _ => {
                let top = self.stack_top(memory, task);
                self.top = Some((task, top));
                top
            }
        }?;
        let word = |below: u64| Some(u64::from_le_bytes(memory.read(top.checked_sub(below)?)?));
        let call = context::system_call(&self.places, word)?;
        (call < MOST_CALLS).then_some(call as u32)
    }

    fn stack_top(&self, memory: &GuestMemory, task: u64) -> Option<u64> {
        let task = self.places.physical(task)?;
        let stack = u64::from_le_bytes(memory.read(task.checked_add(self.places.stack)?)?);
        let last = self.table.physical(memory, stack.checked_add(LAST)?)?;
        last.checked_add(STACK - LAST)
    }
}

/// A task's name as text.
pub(crate) fn name(comm: &[u8]) -> String {
    let end = comm.iter().position(|b| *b == 0).unwrap_or(comm.len());
    String::from_utf8_lossy(&comm[..end]).into_owned()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The context of a kernel whose current task's stack is one mapped page, with these words at its end; so much at the
    /// current task, and so much at the place of the count, is what does not let it be preempted.
    pub(crate) fn context(words: &[u64], [in_task, at_place]: [u64; 2], regs: u64) -> Context {
        let (mut bytes, table) = crate::paging::tests::mapped();
        let mut put = |at: usize, value: u64| bytes[at..][..8].copy_from_slice(&value.to_le_bytes());
        put(0x8000, 0x9000);
        put(0x9008, in_task);
        put(0x9010, 0xffff_c000_0000_0000);
        for (i, word) in words.iter().rev().enumerate() {
            put(0x6000 - 8 * (i + 1), *word);
        }
        put(0x8, at_place);
        let places = TaskPlaces {
            current: 0x8000,
            stack: 0x10,
            preempt_count: 8,
            page_table: table.root,
            image: u64::MAX,
            page_bits: 12,
            regs,
            ..TaskPlaces::default()
        };
        let mut contexts = Contexts::new(places);
        contexts.table.levels = 4;
        contexts.now(&GuestMemory::of_bytes(bytes), false).unwrap()
    }

    #[test]
    fn a_name_ends_at_its_nul() {
        assert_eq!(name(b"swapper/0\0\0\0\0\0\0\0"), "swapper/0");
        assert_eq!(name(b"sixteen letters!"), "sixteen letters!");
    }
}
