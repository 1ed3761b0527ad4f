//! Censuses for tests.

use super::top::Owned;
use super::{About, Taken};
use crate::lab::moments::Moment;
use crate::record::SubjectId;
use crate::story::execution::{Symbol, Symbols};
use crate::story::spans::Task;
use worstcase_probe::census::Kind;
use worstcase_probe::census::log::{Census, Length, Section, Site};
use worstcase_probe::{Instructions, Nanos};

/// Functions of the kernel.
pub const A: u64 = 0xffff_ffff_8100_0000;
pub const B: u64 = A + 0x100;
pub const LOCK: u64 = A + 0x200;

/// A cell in which nothing happened.
pub fn taken() -> Taken {
    let symbol = |address, name: &str| Symbol {
        address,
        name: name.into(),
        module: None,
    };
    Taken {
        about: About {
            cell: "6.1.full.shm.wakeup.s1".into(),
            subject: SubjectId::lab("6.1", "full", 1000, 256),
            load: "shm".into(),
            probe: "wakeup".into(),
            seed: 1,
            preempt: "full".into(),
            unit: "virtual us at 1000 MIPS".into(),
            period_ns: 251_000,
            missed: 0,
        },
        census: Census {
            observed: Instructions(0)..Instructions(100_000_000),
            audited: 0,
            sections: Vec::new(),
            sites: Vec::new(),
            lengths: Vec::new(),
        },
        polls_known: true,
        symbols: Symbols::new(vec![symbol(A, "a"), symbol(B, "b"), symbol(LOCK, "_raw_spin_lock")]),
        moments: Vec::new(),
        shift: 0,
    }
}

pub fn section(kind: Kind, start: u64, length: u64) -> Section {
    Section {
        kind,
        start: Instructions(start),
        length,
        nested: 0,
        from: A,
        to: B,
    }
}

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

pub fn length(kind: Kind, length: u64, count: u64) -> Length {
    Length { kind, length, count }
}

/// A sample on a machine of 1000 MIPS.
pub fn moment(index: usize, due: u64, latency: u64) -> Moment {
    Moment {
        index,
        due: Instructions(due),
        timer_entry: None,
        sample: Instructions(due + latency),
        latency: Nanos(latency),
    }
}

/// A replayed section.
pub fn owned(from: &str, to: &str, length: u64) -> Owned {
    Owned {
        from: from.into(),
        to: to.into(),
        inside: None,
        length_ns: Nanos(length),
        net_ns: Nanos(length),
        start: 0,
        task: Task::default(),
        chain: Vec::new(),
        common: Vec::new(),
        functions: Vec::new(),
        irregular: false,
    }
}
