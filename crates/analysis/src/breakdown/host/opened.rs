//! What the kernel executed just before the instruction at which an interrupt came.
//!
//! An interrupt that waits while interrupts are off comes at the first instruction at which they are on again: behind `popf`,
//! or one instruction behind `sti`. At any other one they were on before.

use iced_x86::{Code, Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic};
use worstcase_lab::execution::Symbols;

/// The longest function that is read.
const LONGEST: u64 = 1 << 16;
/// Every kernel has it; its code shows whether this one lets interrupts in by an instruction, or asks its hypervisor.
const ENABLES: &str = "_raw_spin_unlock_irq";
/// Code to which functions jump instead of `ret`.
const RETURNS: &str = "return_thunk";

/// How the interrupted instruction was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reached {
    /// Directly behind the instruction of this name, which lets interrupts in.
    Behind(&'static str),
    /// Behind none: interrupts were on before.
    Open,
    /// The code cannot be read, or does not tell.
    NotKnown,
}

/// The running kernel's code, with names.
pub(crate) struct KernelCode<'a> {
    symbols: &'a Symbols,
    read: &'a dyn Fn(u64, usize) -> Option<Vec<u8>>,
}

impl<'a> KernelCode<'a> {
    /// Code that `read` gives, if this kernel lets interrupts in by an instruction.
    pub(crate) fn new(symbols: &'a Symbols, read: &'a dyn Fn(u64, usize) -> Option<Vec<u8>>) -> Option<KernelCode<'a>> {
        // The running kernel's code is this executable's architecture's.
        if !cfg!(target_arch = "x86_64") {
            return None;
        }
        let code = KernelCode { symbols, read };
        let enables = code.function(symbols.address_of(ENABLES)?)?;
        let is_native = |i: &Instruction| name(i).is_some();
        enables.iter().any(is_native).then_some(code)
    }

    /// How the instruction at this address was reached, in a function that returns to that one.
    pub(crate) fn reached(&self, address: u64, returns_to: Option<u64>) -> Reached {
        let Some(symbol) = self.symbols.lookup(address).filter(|s| !s.name.contains(RETURNS)) else {
            return Reached::NotKnown;
        };
        if symbol.address == address {
            return returns_to.map_or(Reached::NotKnown, |at| self.called(address, at));
        }
        let Some(function) = self.function(address) else {
            return Reached::NotKnown;
        };
        let before = function.iter().find(|i| i.next_ip() == address);
        let Some(before) = before else {
            return Reached::NotKnown;
        };
        if let Some(name) = name(before) {
            return Reached::Behind(name);
        }
        if opened(&function).contains(&address) {
            return Reached::Behind("sti");
        }
        match before.flow_control() {
            FlowControl::Call => match self.function(before.near_branch_target()) {
                Some(called) if returns_open(&called) => Reached::Behind("sti"),
                Some(_) => Reached::Open,
                None => Reached::NotKnown,
            },
            FlowControl::IndirectCall => Reached::NotKnown,
            _ => Reached::Open,
        }
    }

    /// How the first instruction of a function was reached: by the call in front of the address to which it returns, if that
    /// calls it.
    fn called(&self, address: u64, returns_to: u64) -> Reached {
        let caller = self.function(returns_to - 1).unwrap_or_default();
        let call = caller.iter().position(|i| i.next_ip() == returns_to);
        match call.map(|at| (caller[at], at.checked_sub(1).map(|before| caller[before]))) {
            Some((call, before)) if call.is_call_near() && call.near_branch_target() == address => {
                match before.is_some_and(|before| before.code() == Code::Sti) {
                    true => Reached::Behind("sti"),
                    false => Reached::Open,
                }
            }
            _ => Reached::NotKnown,
        }
    }

    /// The instructions of the function that holds an address.
    fn function(&self, address: u64) -> Option<Vec<Instruction>> {
        let start = self.symbols.lookup(address)?.address;
        let is_within = |at: u64| self.symbols.lookup(at).is_some_and(|s| s.address == start);
        let (mut within, mut beyond) = (start, start + LONGEST);
        while beyond - within > 1 {
            let middle = within + (beyond - within) / 2;
            match is_within(middle) {
                true => within = middle,
                false => beyond = middle,
            }
        }
        let code = (self.read)(start, (beyond - start) as usize)?;
        Some(
            Decoder::with_ip(64, &code, start, DecoderOptions::NONE)
                .into_iter()
                .collect(),
        )
    }
}

/// The name of an instruction that lets interrupts in.
fn name(i: &Instruction) -> Option<&'static str> {
    match i.code() {
        Code::Sti => Some("sti"),
        Code::Popfq => Some("popf"),
        _ => None,
    }
}

/// For each `sti` the instruction behind it, which is executed before an interrupt comes.
fn shadows(function: &[Instruction]) -> impl Iterator<Item = &Instruction> {
    let pairs = function.windows(2).filter(|pair| pair[0].code() == Code::Sti);
    pairs.map(|pair| &pair[1])
}

/// Where an interrupt can come that an `sti` of this function lets in. `hlt` waits there for one, with interrupts on.
fn opened(function: &[Instruction]) -> Vec<u64> {
    let shadows = shadows(function).filter(|i| i.mnemonic() != Mnemonic::Hlt);
    let places = shadows.flat_map(|i| match i.flow_control() {
        FlowControl::UnconditionalBranch | FlowControl::Call => vec![i.near_branch_target()],
        FlowControl::ConditionalBranch => vec![i.near_branch_target(), i.next_ip()],
        FlowControl::Return => Vec::new(),
        _ => vec![i.next_ip()],
    });
    places.collect()
}

/// Whether the instruction behind an `sti` leaves the function, so that the interrupt comes at the caller.
fn returns_open(function: &[Instruction]) -> bool {
    let Some((first, last)) = function.first().zip(function.last()) else {
        return false;
    };
    let within = first.ip()..last.next_ip();
    shadows(function).any(|i| match i.flow_control() {
        FlowControl::Return => true,
        FlowControl::UnconditionalBranch => !within.contains(&i.near_branch_target()),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use worstcase_lab::execution::Symbol;

    const UNLOCK: u64 = 0xffff_ffff_8100_0000;
    const WORK: u64 = UNLOCK + 0x100;
    const CALLEE: u64 = UNLOCK + 0x200;
    const THUNK: u64 = UNLOCK + 0x300;
    const END: u64 = UNLOCK + 0x400;

    fn symbols() -> Symbols {
        let all = [
            (UNLOCK, ENABLES),
            (WORK, "work"),
            (CALLEE, "callee"),
            (THUNK, "srso_return_thunk"),
            (END, "end"),
        ];
        let symbol = |(address, name): (u64, &str)| Symbol {
            address,
            name: name.into(),
            module: None,
        };
        Symbols::new(all.into_iter().map(symbol).collect())
    }

    /// How the instruction at an offset of `work` was reached; all else is `nop`.
    fn reached(work: &[u8], callee: &[u8], at: u64) -> Reached {
        reached_returning(work, callee, at, 5)
    }

    fn reached_returning(work: &[u8], callee: &[u8], at: u64, returns_to: u64) -> Reached {
        let symbols = symbols();
        let mut memory = vec![0x90; (END - UNLOCK) as usize];
        let mut put = |address: u64, code: &[u8]| {
            let at = (address - UNLOCK) as usize;
            memory[at..at + code.len()].copy_from_slice(code);
        };
        put(UNLOCK, &[0xfb, 0xc3]);
        put(WORK, work);
        put(CALLEE, callee);
        let read = |address: u64, length: usize| {
            let at = address.checked_sub(UNLOCK)? as usize;
            memory.get(at..at + length).map(<[u8]>::to_vec)
        };
        let code = KernelCode::new(&symbols, &read).unwrap();
        code.reached(WORK + at, Some(WORK + returns_to))
    }

    /// call from WORK + 0 to CALLEE.
    const CALL: [u8; 5] = [0xe8, 0xfb, 0, 0, 0];

    #[test]
    fn behind_what_lets_interrupts_in() {
        // push; popf; pop
        assert_eq!(reached(&[0x50, 0x9d, 0x58], &[], 2), Reached::Behind("popf"));
        // sti; mov %rax,%rbx; pop
        let code = [0xfb, 0x48, 0x89, 0xc3, 0x58];
        assert_eq!(reached(&code, &[], 4), Reached::Behind("sti"));
        assert_eq!(reached(&code, &[], 5), Reached::Open);
        // nop; sti; jmp to the first nop: the interrupt comes at that place.
        let code = [0x90, 0x90, 0xfb, 0xeb, 0xfc];
        assert_eq!(reached(&code, &[], 1), Reached::Behind("sti"));
        assert_eq!(reached(&code, &[], 2), Reached::Open);
    }

    #[test]
    fn bytes_within_an_instruction_let_nothing_in() {
        // mov $0xfb9dfb,%eax
        assert_eq!(reached(&[0xb8, 0xfb, 0x9d, 0xfb, 0, 0x58], &[], 5), Reached::Open);
        // Not the begin of an instruction.
        assert_eq!(reached(&[0xb8, 0xfb, 0x9d, 0xfb, 0, 0x58], &[], 3), Reached::NotKnown);
    }

    #[test]
    fn behind_a_call_of_what_lets_interrupts_in() {
        assert_eq!(reached(&CALL, &[0xfb, 0xc3], 5), Reached::Behind("sti"));
        // sti; jmp to the thunk
        assert_eq!(reached(&CALL, &[0xfb, 0xe9, 0xfa, 0, 0, 0], 5), Reached::Behind("sti"));
        assert_eq!(reached(&CALL, &[0xfb, 0x90, 0xc3], 5), Reached::Open);
        // call *%rax
        assert_eq!(reached(&[0xff, 0xd0, 0x90], &[], 2), Reached::NotKnown);
    }

    #[test]
    fn a_halted_cpu_has_interrupts_on() {
        assert_eq!(reached(&[0x90, 0xfb, 0xf4, 0xc3], &[], 3), Reached::Open);
    }

    #[test]
    fn where_a_function_begins_its_caller_may_have_let_it_in() {
        let callee = CALLEE - WORK;
        assert_eq!(reached(&CALL, &[], callee), Reached::Open);
        // The same call with sti in front, which returns one byte later.
        let code = [&[0xfb, 0xe8, 0xfa][..], &[0; 3], &[0x90]].concat();
        assert_eq!(reached_returning(&code, &[], callee, 6), Reached::Behind("sti"));
        // call *(%rax): whatever is in front of the place it returns to is no call of it.
        assert_eq!(reached(&[0x90, 0x90, 0x90, 0xff, 0x10], &[], callee), Reached::NotKnown);
        assert_eq!(reached(&[0x50, 0x58], &[], 0), Reached::NotKnown);
        assert_eq!(reached(&[], &[], THUNK + 1 - WORK), Reached::NotKnown);
        assert_eq!(reached(&[], &[], END + 0x2000 - WORK), Reached::NotKnown, "no code");
    }

    #[test]
    fn a_kernel_that_asks_its_hypervisor_tells_nothing() {
        let symbols = symbols();
        // call; ret
        let read = |_: u64, length: usize| Some([&CALL[..], &[0xc3], &vec![0x90; length - 6]].concat());
        assert!(KernelCode::new(&symbols, &read).is_none());
    }
}
