//! Entries into one CPU, by cause and sender.

use super::senders::Sender;
use crate::trace::Name;
use std::collections::HashMap;
use worstcase_contract::Nanos;

/// What ran in place of the CPU's own program. A function is 0 where it is not known, or there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
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
    Vector(Name),
    /// A device's interrupt.
    Device {
        /// Its number.
        irq: u32,
        /// Its handler.
        name: Name,
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
        name: Name,
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
pub struct Figures {
    /// How often.
    pub count: u64,
    /// All of its time, without what interrupted it.
    pub total: Nanos,
    /// The longest.
    pub worst: Nanos,
}

impl Figures {
    /// One more.
    pub fn add(&mut self, time: Nanos) {
        self.count += 1;
        self.total = self.total + time;
        self.worst = self.worst.max(time);
    }

    /// Those of another.
    pub fn join(&mut self, other: Figures) {
        self.count += other.count;
        self.total = self.total + other.total;
        self.worst = self.worst.max(other.worst);
    }
}

/// A cause with its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// What.
    pub cause: Cause,
    /// From whom, where that is known.
    pub sender: Option<Sender>,
    /// How often, how long.
    pub figures: Figures,
}

/// Entries that were alike: from leaving the CPU's program to coming back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Numbers of rows: what came first, then the others.
    pub rows: Vec<u32>,
    /// How often, how long.
    pub figures: Figures,
}

/// What a program did on the CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// Its thread that ran first.
    pub name: Name,
    /// Who woke it first, where that is known.
    pub sender: Option<Sender>,
    /// How often and how long it ran.
    pub runs: Figures,
    /// Its page faults.
    pub faults: u64,
}

/// All entries into one CPU.
#[derive(Debug, Default)]
pub struct Tally {
    numbers: HashMap<(Cause, Option<Sender>), u32>,
    rows: Vec<Row>,
    gaps: HashMap<Vec<u32>, Figures>,
}

impl Tally {
    /// Counts a cause; gives its number.
    pub fn add(&mut self, cause: Cause, sender: Option<Sender>, time: Nanos) -> u32 {
        let mut figures = Figures::default();
        figures.add(time);
        self.join(cause, sender, figures)
    }

    fn join(&mut self, cause: Cause, sender: Option<Sender>, figures: Figures) -> u32 {
        let rows = &mut self.rows;
        let number = *self.numbers.entry((cause, sender)).or_insert_with(|| {
            rows.push(Row {
                cause,
                sender,
                figures: Figures::default(),
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
    pub fn enter_alike(&mut self, cause: Cause, sender: Option<Sender>, figures: Figures) {
        let number = self.join(cause, sender, figures);
        self.gaps.entry(vec![number]).or_default().join(figures);
    }

    /// All of it: the most frequent entries first.
    pub fn finish(self) -> (Vec<Row>, Vec<Gap>) {
        let mut gaps: Vec<Gap> = self
            .gaps
            .into_iter()
            .map(|(rows, figures)| Gap { rows, figures })
            .collect();
        gaps.sort_by(|a, b| b.figures.count.cmp(&a.figures.count).then(a.rows.cmp(&b.rows)));
        (self.rows, gaps)
    }
}
