//! Censuses for tests.

use super::top::OwnedSection;
use super::{About, CellCensus};
use crate::breakdown::spans::KernelTask;
use worstcase_contract::census::Kind;
use worstcase_contract::census::log::{Census, Length, Section, Site};
use worstcase_contract::{Instructions, Nanos};
use worstcase_lab::execution::{Symbol, Symbols};
use worstcase_lab::moments::SampleMoment;
use worstcase_results::record::SubjectId;

/// Functions of the kernel.
pub const A: u64 = 0xffff_ffff_8100_0000;
/// The address of a second function.
pub const B: u64 = A + 0x100;
/// The address of a third one.
pub(crate) const LOCK: u64 = A + 0x200;

/// The entry of an interrupt.
pub(crate) const INTERRUPT: u64 = A + 0x300;

/// A cell in which nothing happened.
pub fn taken() -> CellCensus {
    let symbol = |address, name: &str| Symbol {
        address,
        name: name.into(),
        module: None,
    };
    CellCensus {
        about: About {
            of: None,
            cell: "6.1.full.shm.wakeup.s1".into(),
            subject: SubjectId::lab("6.1", "full", &worstcase_plan::VirtualMachine::default()),
            load: "shm".into(),
            probe: "wakeup".into(),
            seed: 1,
            preempt: "full".into(),
            unit: "virtual us at 1000 MIPS".into(),
            period_ns: 251_000,
            missed: 0,
            is_program: false,
        },
        census: Census {
            observed: Instructions(0)..Instructions(100_000_000),
            audited: 0,
            sections: Vec::new(),
            sites: Vec::new(),
            lengths: Vec::new(),
            asleep: Vec::new(),
        },
        polls_known: true,
        symbols: Symbols::new(vec![
            symbol(A, "a"),
            symbol(B, "b"),
            symbol(LOCK, "_raw_spin_lock"),
            symbol(INTERRUPT, "asm_sysvec_apic_timer_interrupt"),
        ]),
        moments: Vec::new(),
        shift: 0,
    }
}

/// A section of the first execution.
pub fn section(kind: Kind, start: u64, length: u64) -> Section {
    Section {
        kind,
        start: Instructions(start),
        length,
        nested: 0,
        from: A,
        to: B,
        task: 0,
    }
}

/// The counts of a pair of instructions.
pub fn site(kind: Kind, from: u64, to: u64, count: u64, total: u64, longest: u64, longest_net: u64) -> Site {
    Site {
        kind,
        from,
        to,
        count,
        total,
        longest,
        longest_net,
    }
}

/// How many sections had this length.
pub fn length(kind: Kind, length: u64, count: u64) -> Length {
    Length { kind, length, count }
}

/// A sample on a machine of 1000 MIPS.
pub fn moment(index: usize, due: u64, latency: u64) -> SampleMoment {
    SampleMoment {
        index,
        due: Instructions(due),
        timer_entry: None,
        sample: Instructions(due + latency),
        latency: Nanos(latency),
    }
}

/// A replayed section.
pub fn owned(from: &str, to: &str, length: u64) -> OwnedSection {
    OwnedSection {
        waited_for: Vec::new(),
        from: from.into(),
        to: to.into(),
        inside: None,
        length_ns: Nanos(length),
        net_ns: Nanos(length),
        start: 0,
        task: KernelTask::default(),
        chain: Vec::new(),
        common: Vec::new(),
        functions: Vec::new(),
        lines: Vec::new(),
        irregular: false,
    }
}
