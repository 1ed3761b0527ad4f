//! Entries into one CPU, by cause and sender.

use super::senders::EntrySender;
use crate::trace::ShortName;
use std::collections::HashMap;
use worstcase_contract::Nanos;

/// What ran in place of the CPU's own program. `function` is 0 where there is none, or it is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EntryCause {
    /// The CPU's timer interrupt, for the function of one timer.
    Timer {
        /// Its address.
        function: u64,
    },
    /// An interrupt for a function that another CPU calls here.
    Call {
        /// Its address.
        function: u64,
    },
    /// An interrupt that makes the CPU choose a thread again.
    Reschedule,
    /// An interrupt for work that could not be done in its original context.
    IrqWork,
    /// Another interrupt vector of the architecture.
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
        /// Its number.
        vector: u8,
        /// The function of a timer, or a callback of RCU.
        function: u64,
    },
    /// A thread.
    Thread {
        /// Its name.
        name: ShortName,
        /// The function of its work item.
        function: u64,
    },
    /// A fault of the program itself.
    PageFault,
    /// A non-maskable interrupt.
    Nmi,
}

/// Count and durations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DurationFigures {
    /// How often.
    pub count: u64,
    /// Its total time, without interruptions.
    pub total: Nanos,
    /// The longest.
    pub worst: Nanos,
}

impl DurationFigures {
    /// Adds a duration.
    pub fn add(&mut self, time: Nanos) {
        self.count += 1;
        self.total = self.total + time;
        self.worst = self.worst.max(time);
    }

    /// Adds the figures of another.
    pub fn join(&mut self, other: DurationFigures) {
        self.count += other.count;
        self.total = self.total + other.total;
        self.worst = self.worst.max(other.worst);
    }
}

/// A cause with its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CauseBySender {
    /// The cause.
    pub cause: EntryCause,
    /// The sender, where it is known.
    pub sender: Option<EntrySender>,
    /// How often, how long.
    pub figures: DurationFigures,
}

/// Equal entries: from leaving the CPU's program to coming back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryGap {
    /// Row numbers: the first cause, then the others.
    pub rows: Vec<u32>,
    /// How often, how long.
    pub figures: DurationFigures,
}

/// What a program did on the CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProgramRun {
    /// The name of its thread that ran first.
    pub name: ShortName,
    /// The first sender of a wake-up, where it is known.
    pub sender: Option<EntrySender>,
    /// How often and how long it ran.
    pub runs: DurationFigures,
    /// Its page faults.
    pub(crate) faults: u64,
}

/// All entries into one CPU.
#[derive(Debug, Default)]
pub(crate) struct EntryTally {
    numbers: HashMap<(EntryCause, Option<EntrySender>), u32>,
    rows: Vec<CauseBySender>,
    gaps: HashMap<Vec<u32>, DurationFigures>,
}

impl EntryTally {
    /// Adds a duration for a cause; gives the number of its row.
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

    /// Counts an entry: its first cause, and all its causes.
    pub fn enter(&mut self, first: u32, mut others: Vec<u32>, time: Nanos) {
        others.sort_unstable();
        others.dedup();
        others.retain(|other| *other != first);
        others.insert(0, first);
        self.gaps.entry(others).or_default().add(time);
    }

    /// The number of entries so far.
    pub fn entries(&self) -> u64 {
        self.gaps.values().map(|figures| figures.count).sum()
    }

    /// Counts several entries that have this single cause.
    pub(crate) fn enter_alike(&mut self, cause: EntryCause, sender: Option<EntrySender>, figures: DurationFigures) {
        let number = self.join(cause, sender, figures);
        self.gaps.entry(vec![number]).or_default().join(figures);
    }

    /// All rows and entries, the most frequent entries first.
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
