//! Entries into one CPU, by cause and sender.

use super::senders::EntrySender;
use crate::trace::ShortName;
use std::collections::HashMap;
use worstcase_contract::Nanos;

/// What ran in place of the CPU's own program. A function is 0 where it is not known, or there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EntryCause {
    /// The CPU's timer interrupt, for the function of one timer.
    Timer {
        /// Its address.
        function: u64,
    },
    /// An interrupt by which another CPU has a function called.
    Call {
        /// Its address.
        function: u64,
    },
    /// An interrupt after which a thread is to be chosen.
    Reschedule,
    /// An interrupt for work that cannot be done where it arose.
    IrqWork,
    /// Another vector of the architecture.
    Vector(ShortName),
    /// A device's interrupt.
    Device {
        /// Its number.
        irq: u32,
        /// Its handler.
        name: ShortName,
    },
    /// A soft interrupt.
    Soft {
        /// Which.
        vector: u8,
        /// The function of a timer, or a callback of RCU.
        function: u64,
    },
    /// A thread.
    Thread {
        /// What it is called.
        name: ShortName,
        /// The function of the work it did.
        function: u64,
    },
    /// A fault of the program itself.
    PageFault,
    /// A non-maskable interrupt.
    Nmi,
}

/// How often, how long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DurationFigures {
    /// How often.
    pub count: u64,
    /// All of its time, without what interrupted it.
    pub total: Nanos,
    /// The longest.
    pub worst: Nanos,
}

impl DurationFigures {
    /// One more.
    pub fn add(&mut self, time: Nanos) {
        self.count += 1;
        self.total = self.total + time;
        self.worst = self.worst.max(time);
    }

    /// Those of another.
    pub fn join(&mut self, other: DurationFigures) {
        self.count += other.count;
        self.total = self.total + other.total;
        self.worst = self.worst.max(other.worst);
    }
}

/// A cause with its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CauseBySender {
    /// What.
    pub cause: EntryCause,
    /// From whom, where that is known.
    pub sender: Option<EntrySender>,
    /// How often, how long.
    pub figures: DurationFigures,
}

/// Entries that were alike: from leaving the CPU's program to coming back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryGap {
    /// Numbers of rows: what came first, then the others.
    pub rows: Vec<u32>,
    /// How often, how long.
    pub figures: DurationFigures,
}

/// What a program did on the CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgramRun {
    /// Its thread that ran first.
    pub name: ShortName,
    /// Who woke it first, where that is known.
    pub sender: Option<EntrySender>,
    /// How often and how long it ran.
    pub runs: DurationFigures,
    /// Its page faults.
    pub faults: u64,
}

/// All entries into one CPU.
#[derive(Debug, Default)]
pub struct EntryTally {
    numbers: HashMap<(EntryCause, Option<EntrySender>), u32>,
    rows: Vec<CauseBySender>,
    gaps: HashMap<Vec<u32>, DurationFigures>,
}

impl EntryTally {
    /// Counts a cause; gives its number.
    pub fn add(&mut self, cause: EntryCause, sender: Option<EntrySender>, time: Nanos) -> u32 {
        let mut figures = DurationFigures::default();
        figures.add(time);
        self.join(cause, sender, figures)
    }

    fn join(&mut self, cause: EntryCause, sender: Option<EntrySender>, figures: DurationFigures) -> u32 {
        let rows = &mut self.rows;
        let number = *self.numbers.entry((cause, sender)).or_insert_with(|| {
            rows.push(CauseBySender {
                cause,
                sender,
                figures: DurationFigures::default(),
            });
            rows.len() as u32 - 1
        });
        self.rows[number as usize].figures.join(figures);
        number
    }

    /// Counts an entry: what came first, and all that came.
    pub fn enter(&mut self, first: u32, mut others: Vec<u32>, time: Nanos) {
        others.sort_unstable();
        others.dedup();
        others.retain(|other| *other != first);
        others.insert(0, first);
        self.gaps.entry(others).or_default().add(time);
    }

    /// Entries so far.
    pub fn entries(&self) -> u64 {
        self.gaps.values().map(|figures| figures.count).sum()
    }

    /// Counts entries of one cause, each with nothing else in it.
    pub fn enter_alike(&mut self, cause: EntryCause, sender: Option<EntrySender>, figures: DurationFigures) {
        let number = self.join(cause, sender, figures);
        self.gaps.entry(vec![number]).or_default().join(figures);
    }

    /// All of it: the most frequent entries first.
    pub fn finish(self) -> (Vec<CauseBySender>, Vec<EntryGap>) {
        let mut gaps: Vec<EntryGap> = self
            .gaps
            .into_iter()
            .map(|(rows, figures)| EntryGap { rows, figures })
            .collect();
        gaps.sort_by(|a, b| b.figures.count.cmp(&a.figures.count).then(a.rows.cmp(&b.rows)));
        (self.rows, gaps)
    }
}
