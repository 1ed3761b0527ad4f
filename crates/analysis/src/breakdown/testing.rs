//! Executions for tests: a machine that writes its code while it runs it, and knows its call chains by itself.

use super::spans::{ExplainedSample, Since};
use worstcase_contract::{Instructions, Nanos};
use worstcase_lab::execution::{Block, ContextFrom, Execution, LockWrite, Step, Symbol, Symbols, TaskFrom};

/// User code is here.
pub const USER: u64 = 0x40_0000;
const KERNEL: u64 = 0xffff_ffff_8100_0000;
/// Each function has this much room.
const ROOM: u64 = 0x1_0000;

/// The kernel's functions of system calls.
const CALLS: [&str; 2] = ["__x64_sys_read", "__x64_sys_munmap"];

/// A sample of a kernel with this preemption model, under no load, that is due by a timer.
pub fn sample(preempt: &str, latency: u64) -> ExplainedSample {
    ExplainedSample {
        cell: String::new(),
        subject: String::new(),
        load: "idle".into(),
        preempt: preempt.into(),
        preempt_fixed: false,
        unit: String::new(),
        index: 0,
        latency_ns: Nanos(latency),
        since: Since::Due,
        scheduler: None,
    }
}

/// See the module.
pub struct SyntheticMachine {
    names: Vec<String>,
    blocks: Vec<Block>,
    steps: Vec<Step>,
    tasks: Vec<TaskFrom>,
    contexts: Vec<ContextFrom>,
    /// The address of the next instruction.
    pub at: u64,
    /// Instructions so far.
    pub count: u64,
    stack: Vec<u64>,
    parked: std::collections::HashMap<u32, (Vec<u64>, u64)>,
    pid: u32,
    due: u64,
    timer_entry: Option<u64>,
    lock: u64,
    lock_writes: Vec<LockWrite>,
}

impl SyntheticMachine {
    /// A machine that runs user code of a task.
    pub fn in_user(pid: u32, comm: &str) -> SyntheticMachine {
        SyntheticMachine::begin(pid, comm, USER)
    }

    fn begin(pid: u32, comm: &str, at: u64) -> SyntheticMachine {
        let count = 1_000;
        SyntheticMachine {
            names: Vec::new(),
            blocks: Vec::new(),
            steps: Vec::new(),
            tasks: vec![TaskFrom {
                count: Instructions(count),
                pid,
                comm: comm.into(),
            }],
            contexts: Vec::new(),
            at,
            count,
            stack: Vec::new(),
            parked: Default::default(),
            pid,
            due: count,
            timer_entry: None,
            lock: 0x1000,
            lock_writes: Vec::new(),
        }
    }

    /// Address of a function.
    pub fn function(&mut self, name: &str) -> u64 {
        let known = self.names.iter().position(|n| n == name);
        let index = known.unwrap_or_else(|| {
            self.names.push(name.into());
            self.names.len() - 1
        });
        KERNEL + index as u64 * ROOM
    }

    fn block(&mut self, instructions: &[&[u8]], executed: usize) {
        self.blocks.push(Block {
            address: self.at,
            lengths: instructions.iter().map(|i| i.len() as u8).collect(),
            code: instructions.concat(),
        });
        self.steps.push(Step {
            block: self.blocks.len() as u32 - 1,
            count: Instructions(self.count),
        });
        self.count += executed as u64;
        self.at += instructions[..executed].iter().map(|i| i.len() as u64).sum::<u64>();
    }

    /// Instructions without any effect.
    pub fn work(&mut self, n: usize) -> &mut Self {
        self.block(&vec![&[0x90][..]; n], n);
        self
    }

    fn relative(&self, opcode: u8, target: u64) -> Vec<u8> {
        let offset = target.wrapping_sub(self.at + 5) as u32;
        [vec![opcode], offset.to_le_bytes().to_vec()].concat()
    }

    /// Calls a function.
    pub fn call(&mut self, name: &str) -> &mut Self {
        let target = self.function(name);
        self.call_to(target);
        if name.starts_with("_raw_") {
            self.lock_writes.push(LockWrite {
                count: Instructions(self.count),
                lock: self.lock,
            });
        }
        self
    }

    /// From here on, lock functions write to this lock.
    #[cfg(test)]
    pub(crate) fn lock(&mut self, lock: u64) -> &mut Self {
        self.lock = lock;
        self
    }

    fn call_to(&mut self, target: u64) -> &mut Self {
        let code = self.relative(0xe8, target);
        self.block(&[&code], 1);
        self.stack.push(self.at);
        self.at = target;
        self
    }

    /// A function from its first to its last instruction.
    pub fn calls(&mut self, name: &str, work: usize) -> &mut Self {
        self.call(name).work(work).ret()
    }

    /// Jumps to a function, as a tail call does.
    pub fn jump(&mut self, name: &str) -> &mut Self {
        let target = self.function(name);
        let code = self.relative(0xe9, target);
        self.block(&[&code], 1);
        self.at = target;
        self
    }

    /// Returns.
    pub fn ret(&mut self) -> &mut Self {
        self.block(&[&[0xc3]], 1);
        self.at = self.stack.pop().expect("something to return to");
        self
    }

    /// Enters the kernel by a system call.
    pub fn syscall(&mut self) -> &mut Self {
        self.block(&[&[0x0f, 0x05]], 1);
        self.stack.push(self.at);
        self.at = self.function("entry_SYSCALL_64");
        self
    }

    /// Leaves it again.
    pub fn sysret(&mut self) -> &mut Self {
        self.block(&[&[0x48, 0x0f, 0x07]], 1);
        self.at = self.stack.pop().expect("something to return to");
        self
    }

    /// The hardware goes to an entry.
    pub fn interrupt(&mut self, name: &str) -> &mut Self {
        self.stack.push(self.at);
        self.at = self.function(name);
        self
    }

    /// Returns from an interrupt.
    pub fn iret(&mut self) -> &mut Self {
        self.block(&[&[0x48, 0xcf]], 1);
        self.at = self.stack.pop().expect("something to return to");
        self
    }

    /// An interrupt return of a new thread, which goes to user code.
    pub fn iret_to_user(&mut self) -> &mut Self {
        self.block(&[&[0x48, 0xcf]], 1);
        self.at = USER;
        self
    }

    /// Sets, from here on, the system call of [`CALLS`] and whether preemption is off.
    pub fn context(&mut self, system_call: Option<u32>, preempt_off: bool) -> &mut Self {
        self.contexts.push(ContextFrom {
            count: Instructions(self.count),
            system_call,
            preempt_off,
        });
        self
    }

    /// Switches interrupts off.
    pub fn cli(&mut self) -> &mut Self {
        self.block(&[&[0xfa]], 1);
        self
    }

    /// Switches interrupts on.
    pub fn sti(&mut self) -> &mut Self {
        self.block(&[&[0xfb]], 1);
        self
    }

    /// Calls `__switch_to_asm` and `__switch_to` from the current place. The other task goes on where an earlier
    /// switch parked it, or else begins at `new`.
    pub fn switch(&mut self, pid: u32, comm: &str, new: &str) -> &mut Self {
        self.call("__switch_to_asm").work(3);
        let old = std::mem::take(&mut self.stack);
        self.parked.insert(self.pid, (old, 0));
        self.jump("__switch_to").work(2);
        self.tasks.push(TaskFrom {
            count: Instructions(self.count),
            pid,
            comm: comm.into(),
        });
        self.pid = pid;
        let begin = self.function(new);
        let (stack, _) = self.parked.remove(&pid).unwrap_or((vec![begin], 0));
        self.stack = stack;
        self.work(1).ret()
    }

    /// A task that has slept since before the window, in functions of which each called the next.
    pub fn park(&mut self, pid: u32, chain: &[(&str, u64)]) -> &mut Self {
        let stack = chain
            .iter()
            .map(|(name, offset)| {
                if name.is_empty() {
                    *offset
                } else {
                    self.function(name) + offset
                }
            })
            .collect();
        self.parked.insert(pid, (stack, 0));
        self
    }

    /// The timer is due here.
    pub fn due(&mut self) -> &mut Self {
        self.due = self.count;
        self
    }

    /// The timer interrupt comes.
    pub fn timer_entry(&mut self) -> &mut Self {
        self.timer_entry = Some(self.count);
        self.interrupt("asm_sysvec_apic_timer_interrupt")
    }

    /// The execution from step `first` on; the sample is the last instruction.
    pub fn execution_from(&self, first: usize) -> (Execution, Symbols) {
        let sample = self.count;
        let mut names: Vec<Symbol> = Vec::new();
        for (i, name) in self.names.iter().enumerate() {
            names.push(Symbol {
                address: KERNEL + i as u64 * ROOM,
                name: name.clone(),
                module: None,
            });
        }
        let execution = Execution {
            blocks: self.blocks.clone(),
            steps: self.steps[first..].to_vec(),
            end: Instructions(self.count + 1),
            tasks: self.tasks.clone(),
            contexts: self.contexts.clone(),
            elsewhere: Vec::new(),
            lock_writes: self.lock_writes.clone(),
            costs: None,
            due: Instructions(self.due),
            timer_entry: self.timer_entry.map(Instructions),
            sample: Instructions(sample),
            latency: Nanos(sample - self.due),
            shift: 0,
        };
        let calls = CALLS.iter().map(|name| (*name).to_string()).collect();
        (execution, Symbols::new(names).with_system_calls(calls))
    }

    /// The execution and its symbols.
    pub fn execution(&self) -> (Execution, Symbols) {
        self.execution_from(0)
    }
}

/// What the tests of this crate alone need.
#[cfg(test)]
impl SyntheticMachine {
    /// Like `work`, but execution leaves the block before its end.
    pub(crate) fn work_of(&mut self, n: usize, of: usize) -> &mut Self {
        self.block(&vec![&[0x90][..]; of], n);
        self
    }

    /// A call through a retpoline: the thunk calls itself, puts the target in place of its return address, returns.
    pub(crate) fn call_by_retpoline(&mut self, name: &str) -> &mut Self {
        let target = self.function(name);
        self.call("__x86_indirect_thunk_rax");
        let inner = self.at + 16;
        self.call_to(inner);
        self.stack.pop();
        self.block(&[&[0x48, 0x89, 0x04, 0x24], &[0xc3]], 2);
        self.at = target;
        self
    }

    /// Calls that only fill the CPU's memory of return addresses, each to the next instruction but one.
    pub(crate) fn fill_return_stack(&mut self, n: usize) -> &mut Self {
        for _ in 0..n {
            self.call_to(self.at + 6);
            self.stack.pop();
        }
        self
    }

    /// A return through the return thunk.
    pub(crate) fn ret_by_thunk(&mut self) -> &mut Self {
        self.jump("__x86_return_thunk").ret()
    }

    /// Reads the clock.
    pub(crate) fn read_clock(&mut self) -> &mut Self {
        self.block(&[&[0x0f, 0x31]], 1);
        self
    }

    /// Blocks so far.
    pub(crate) fn steps(&self) -> usize {
        self.steps.len()
    }
}
