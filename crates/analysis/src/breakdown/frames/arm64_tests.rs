use super::super::stacks::FrameKind;
use super::*;
use worstcase_contract::{Instructions, Nanos};
use worstcase_lab::execution::{Block, Step, Symbol, TaskFrom};
use worstcase_plan::Arch;

const USER: u64 = 0x40_0000;
const MENDS: u64 = 0xffff_8000_8001_0000;
const VECTORS: u64 = 0xffff_8000_8002_0000;
const SYNC: u64 = 0xffff_8000_8003_0000;
const IRQ: u64 = 0xffff_8000_8003_1000;
const CALL: u64 = 0xffff_8000_8004_0000;
const HANDLER: u64 = 0xffff_8000_8005_0000;
const FAULT: u64 = 0xffff_8000_8006_0000;

const NOP: u32 = 0xd503_201f;
const SVC: u32 = 0xd400_0001;
const RET: u32 = 0xd65f_03c0;
const ERET: u32 = 0xd69f_03e0;
const BLR: u32 = 0xd63f_0020;
const ON: u32 = 0xd503_43ff;
const INHERIT: u32 = 0xd51b_4220;

/// `b`
fn jump(from: u64, to: u64) -> u32 {
    0x1400_0000 | (to.wrapping_sub(from) / 4) as u32 & 0x3ff_ffff
}

/// Blocks that run one after the other, at these addresses; each whole.
fn walked(blocks: &[(u64, &[u32])]) -> WindowWalk {
    let mut count = 100;
    let steps = blocks.iter().enumerate().map(|(number, (_, words))| {
        let step = Step {
            block: number as u32,
            count: Instructions(count),
        };
        count += words.len() as u64;
        step
    });
    let steps = steps.collect();
    let block = |(address, words): &(u64, &[u32])| Block {
        address: *address,
        lengths: vec![4; words.len()],
        code: words.iter().flat_map(|word| word.to_le_bytes()).collect(),
    };
    let execution = Execution {
        blocks: blocks.iter().map(block).collect(),
        steps,
        end: Instructions(count),
        tasks: vec![TaskFrom {
            count: Instructions(0),
            pid: 7,
            comm: "load".into(),
        }],
        contexts: Vec::new(),
        elsewhere: Vec::new(),
        lock_writes: Vec::new(),
        costs: None,
        due: Instructions(100),
        timer_entry: None,
        sample: Instructions(count),
        latency: Nanos(0),
        shift: 0,
    };
    let names = [
        (MENDS, "__bp_harden_el1_vectors"),
        (VECTORS, "vectors"),
        (SYNC, "el0t_64_sync"),
        (IRQ, "el1h_64_irq"),
        (CALL, "el0t_64_sync_handler"),
        (HANDLER, "el1h_64_irq_handler"),
        (FAULT, "el1h_64_sync"),
    ];
    let symbols = names.map(|(address, name)| Symbol {
        address,
        name: name.into(),
        module: None,
    });
    walk(&execution, &Symbols::new(symbols.to_vec()).of(Arch::Arm64))
}

fn chains(walk: &WindowWalk) -> Vec<(String, Option<bool>)> {
    let chain = |id| {
        let frames = walk.stacks.chain(id);
        let names: Vec<&str> = frames.iter().map(|frame| frame.function.as_str()).collect();
        names.join(";")
    };
    walk.intervals.iter().map(|i| (chain(i.stack), i.irqs)).collect()
}

#[test]
fn system_calls_and_interrupts_enter_by_their_slots() {
    let walk = walked(&[
        (USER, &[NOP, SVC]),
        // A table that mends the CPU, and returns into the kernel's own, behind a slot's first instruction.
        (MENDS + 0x400, &[NOP, RET]),
        (VECTORS + 0x404, &[NOP, jump(VECTORS + 0x404 + 4, SYNC)]),
        (SYNC, &[NOP, BLR]),
        (CALL, &[ON, NOP]),
        (VECTORS + 0x280, &[NOP, jump(VECTORS + 0x280 + 4, IRQ)]),
        (IRQ, &[NOP, BLR]),
        (HANDLER, &[NOP, RET]),
        (IRQ + 8, &[ERET]),
        (CALL + 8, &[NOP, RET]),
        (SYNC + 8, &[ERET]),
        (USER + 8, &[NOP]),
    ]);
    assert_eq!(walk.irregular, 0);
    let call = "[user] load;el0t_64_sync;el0t_64_sync_handler";
    let expected = [
        ("[user] load", Some(true)),
        ("[user] load;el0t_64_sync", Some(false)),
        (call, Some(false)),
        (call, Some(true)),
        (&format!("{call};el1h_64_irq"), Some(false)),
        (&format!("{call};el1h_64_irq;el1h_64_irq_handler"), Some(false)),
        (&format!("{call};el1h_64_irq"), Some(false)),
        (call, Some(true)),
        ("[user] load;el0t_64_sync", Some(true)),
        ("[user] load", Some(true)),
    ];
    let expected = expected.map(|(chain, irqs)| (chain.to_string(), irqs));
    assert_eq!(chains(&walk), expected);
    let kinds = walk.intervals.iter().map(|i| walk.stacks.frame(i.stack).kind);
    let entries: Vec<FrameKind> = kinds.filter(|kind| kind.is_entry()).collect();
    assert_eq!(
        entries,
        [
            FrameKind::Syscall,
            FrameKind::Interrupt,
            FrameKind::Interrupt,
            FrameKind::Syscall
        ]
    );
}

#[test]
fn a_fault_goes_on_with_the_flag_that_it_found() {
    let walk = walked(&[
        (USER, &[NOP]),
        // No system call led there.
        (VECTORS + 0x400, &[NOP, jump(VECTORS + 0x400 + 4, SYNC)]),
        (SYNC, &[NOP, BLR]),
        (CALL, &[ON, NOP]),
        (VECTORS + 0x200, &[NOP, jump(VECTORS + 0x200 + 4, FAULT)]),
        (FAULT, &[INHERIT, NOP, ERET]),
        (CALL + 8, &[NOP]),
    ]);
    assert_eq!(walk.irregular, 0);
    let kind = |number: usize| walk.stacks.frame(walk.intervals[number].stack).kind;
    assert_eq!(kind(1), FrameKind::Exception);
    let in_fault: Vec<Option<bool>> = chains(&walk)
        .into_iter()
        .filter(|(chain, _)| chain.ends_with("el1h_64_sync"))
        .map(|(_, irqs)| irqs)
        .collect();
    assert_eq!(in_fault, [Some(false), Some(true)]);
}
