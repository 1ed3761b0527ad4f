//! Censuses for tests.

use super::top::OwnedSection;
use super::{About, CellCensus};
use crate::breakdown::spans::KernelTask;
use worstcase_contract::census::Kind;
use worstcase_contract::census::log::{Census, Length, Section, Site};
use worstcase_contract::prng::SplitMix64;
use worstcase_contract::{Instructions, Nanos};
use worstcase_lab::execution::{Symbol, Symbols};
use worstcase_lab::moments::SampleMoment;
use worstcase_results::record::SubjectId;

/// Functions of the kernel.
pub const A: u64 = 0xffff_ffff_8100_0000;
/// The address of a second function.
pub const B: u64 = A + 0x100;
/// The address of a third one.
pub const LOCK: u64 = A + 0x200;

/// The entry of an interrupt.
pub const INTERRUPT: u64 = A + 0x300;

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
        },
        census: Census {
            observed: Instructions(0)..Instructions(100_000_000),
            audited: 0,
            sections: Vec::new(),
            sites: Vec::new(),
            lengths: Vec::new(),
        },
        polls_known: true,
        symbols: Symbols::new(vec![
            symbol(A, "a"),
            symbol(B, "b"),
            symbol(LOCK, "_raw_spin_lock"),
            symbol(INTERRUPT, "asm_sysvec_apic_timer_interrupt"),
        ]),
        moments: Vec::new(),
        asleep: Vec::new(),
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

/// A load that holds wake-ups off, and its run with samples: wake-ups take 2 to 3 us, the probe sleeps 2 us later, and both
/// leave long sections of their own.
pub struct Load {
    random: SplitMix64,
    /// Start and length of its sections, in its own time.
    sections: Vec<(u64, u64)>,
}

impl Load {
    /// A section of 60 us comes after random gaps, and many shorter ones.
    pub fn random(seed: u64) -> Load {
        let mut random = SplitMix64::new(seed);
        let mut now = 0;
        let next = |_| {
            let start = now + 20_000 + random.below(100_000);
            let length = match random.below(10) {
                0 => 60_000,
                _ => 1_500 + random.below(20_000),
            };
            now = start + length;
            (start, length)
        };
        let sections = (0..20_000).map(next).collect();
        Load { random, sections }
    }

    /// A section of 60 us comes ten times as often as due times do; then for a while there is none.
    pub fn in_step(seed: u64) -> Load {
        let mut random = SplitMix64::new(seed);
        let mut now = 0;
        let mut sections = Vec::new();
        for _ in 0..200 {
            now += random.below(3_000_000);
            sections.extend((0..10).map(|i| (now + i * 246_500, 60_000)));
            now += 2_530_000;
        }
        Load { random, sections }
    }

    /// Measured, with a phase of chance.
    pub fn run(mut self, samples: usize) -> CellCensus {
        let mut taken = taken();
        let period = taken.about.period_ns;
        let phase = self.random.below(period);
        let mut sections = self.sections.iter().copied().peekable();
        // The distance by which the clock is ahead of the load's own time.
        let mut ahead = 0;
        for index in 0..samples {
            let due = phase + index as u64 * period;
            let mut rest = 0;
            while let Some((start, length)) = sections.next_if(|(start, _)| start + ahead <= due) {
                rest = (start + ahead + length).saturating_sub(due);
                let begun = section(Kind::NonPreemptible, start + ahead, length);
                taken.census.sections.push(begun);
            }
            let latency = rest + 2_000 + self.random.below(1_000);
            let mut sample = moment(index, due, latency);
            let entry = due + rest.max(50);
            sample.timer_entry = Some(Instructions(entry));
            let asleep = due + latency + 2_000;
            for kind in [Kind::InterruptsOff, Kind::NonPreemptible] {
                taken.census.sections.push(section(kind, entry, 1_500));
            }
            taken
                .census
                .sections
                .push(section(Kind::NonPreemptible, asleep - 1_200, 1_300));
            taken.moments.push(sample);
            taken.asleep.push(Some(Instructions(asleep)));
            ahead += asleep - due - rest;
        }
        taken
    }
}
