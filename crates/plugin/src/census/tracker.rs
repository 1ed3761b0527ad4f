//! From what the CPU does to sections: a state, and for each kind the section that is open.
//!
//! Times are instructions completed. Every step is called in the order of time.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use worstcase_probe::census::Kind;
use worstcase_probe::census::log::{LONG, Length, Row, Section, Site};
use worstcase_probe::units::Instructions;

type Map<K, V> = HashMap<K, V, BuildHasherDefault<rustc_hash::FxHasher>>;

/// How the kernel's count of reasons not to preempt is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// Until 7.2.
    Bits32(u32),
    /// From 7.3 on.
    Bits64(u64),
}

impl Word {
    /// Whether the kernel may be preempted: the highest bit says only that nobody asked.
    fn is_preemptible(self) -> bool {
        match self {
            Word::Bits32(word) => word << 1 == 0,
            Word::Bits64(word) => word << 1 == 0,
        }
    }

    /// Whether a hard or soft interrupt is being handled.
    fn in_interrupt(self) -> bool {
        match self {
            Word::Bits32(word) => word & 0x00ff_0100 != 0,
            Word::Bits64(word) => word & 0xff00_0100 != 0,
        }
    }

    /// The count, if it has that value apart from what its highest bit says.
    pub fn is(self, count: u64) -> bool {
        match self {
            Word::Bits32(word) => u64::from(word & (u32::MAX >> 1)) == count,
            Word::Bits64(word) => word & (u64::MAX >> 1) == count,
        }
    }
}

#[derive(Clone, Copy)]
struct Open {
    start: u64,
    nested: u64,
    from: u64,
}

/// The state and what was found so far.
pub struct Tracker {
    preemptible: bool,
    /// The CPU's flag, and until when `sti` delays what it allows.
    interrupts: bool,
    shadow_ends: Option<(u64, u64)>,
    delayed: bool,
    /// The kernel's count, once it was written.
    pub word: Word,
    pub counted: bool,
    /// Not in user mode.
    pub kernel: bool,
    nested_since: Option<u64>,
    nested: u64,
    open: [Option<Open>; Kind::ALL.len()],
    /// Long sections not handed over yet.
    long: Vec<Section>,
    sites: Map<(Kind, u64, u64), Site>,
    lengths: Map<(Kind, u64), u64>,
}

impl Tracker {
    /// In user mode: interrupts on, nothing held.
    pub fn new(preemptible: bool) -> Tracker {
        Tracker {
            preemptible,
            interrupts: true,
            shadow_ends: None,
            delayed: false,
            word: Word::Bits32(0),
            counted: false,
            kernel: false,
            nested_since: None,
            nested: 0,
            open: [None; Kind::ALL.len()],
            long: Vec::new(),
            sites: Map::default(),
            lengths: Map::default(),
        }
    }

    /// The CPU's interrupt flag.
    pub fn interrupts(&self) -> bool {
        self.interrupts
    }

    /// `cli` at this address is complete.
    pub fn cli(&mut self, now: u64, at: u64) {
        if self.shadow_ends.is_some_and(|(end, _)| now <= end) {
            self.shadow_ends = None;
        }
        self.set_interrupts(now, at, false);
    }

    /// `sti` at this address is complete; interrupts come after one more instruction.
    pub fn sti(&mut self, now: u64, at: u64) {
        self.settle(now);
        if !self.interrupts {
            self.interrupts = true;
            self.delayed = true;
            self.shadow_ends = Some((now + 1, at));
        }
    }

    /// An instruction that loads the flags is complete.
    pub fn set_interrupts(&mut self, now: u64, at: u64, on: bool) {
        self.settle(now);
        self.interrupts = on;
        self.delayed &= on;
        self.update(now, at);
    }

    /// An interrupt or exception begins.
    pub fn enter(&mut self, now: u64, at: u64) {
        self.settle(now);
        self.kernel = true;
        self.set_interrupts(now, at, false);
    }

    /// The kernel is left, or an interrupt within it.
    pub fn leave(&mut self, now: u64, at: u64, interrupts: bool, kernel: bool) {
        self.settle(now);
        self.kernel = kernel;
        self.set_interrupts(now, at, interrupts);
    }

    /// The kernel's count was written.
    pub fn count(&mut self, now: u64, at: u64, word: Word) {
        self.settle(now);
        if word.in_interrupt() != self.word.in_interrupt() {
            match self.nested_since.take() {
                Some(since) => self.nested += now - since,
                None => self.nested_since = Some(now),
            }
        }
        self.word = word;
        self.counted = true;
        self.update(now, at);
    }

    /// The kernel asks whether it is to reschedule, where it would; an interrupt, hard or soft, goes on to its end.
    pub fn poll(&mut self, now: u64, at: u64) {
        self.settle(now);
        if self.interrupts && !self.delayed && !self.word.in_interrupt() {
            self.cut(now, at);
        }
    }

    /// The scheduler begins, or the CPU halts with interrupts on.
    pub fn cut(&mut self, now: u64, at: u64) {
        self.settle(now);
        let kind = Kind::NonPreemptible;
        if self.open[kind as usize].is_some() {
            self.close(kind, now, at);
            self.begin(kind, now, at);
        }
    }

    /// Long sections since the last call.
    pub fn take_long(&mut self) -> impl Iterator<Item = Section> {
        std::mem::take(&mut self.long).into_iter()
    }

    /// Everything by place and by length.
    pub fn summary(&self) -> impl Iterator<Item = Row> {
        let mut sites: Vec<&Site> = self.sites.values().collect();
        sites.sort_by_key(|s| (s.kind, s.from, s.to));
        let mut lengths: Vec<_> = self.lengths.iter().collect();
        lengths.sort();
        let sites: Vec<Row> = sites.into_iter().map(|s| Row::Site(*s)).collect();
        let lengths = lengths.into_iter().map(|((kind, length), count)| {
            Row::Length(Length {
                kind: *kind,
                length: *length,
                count: *count,
            })
        });
        sites.into_iter().chain(lengths.collect::<Vec<_>>())
    }

    /// Ends the shadow of an `sti` that is over by now.
    fn settle(&mut self, now: u64) {
        if let Some((end, at)) = self.shadow_ends
            && end <= now
        {
            self.shadow_ends = None;
            self.delayed = false;
            self.update(end, at);
        }
    }

    fn update(&mut self, now: u64, at: u64) {
        let off = !self.interrupts || self.delayed;
        let counted = !self.word.is_preemptible();
        let held = off || counted || (self.kernel && !self.preemptible);
        for (kind, is) in Kind::ALL.into_iter().zip([off, counted, held]) {
            match (self.open[kind as usize].is_some(), is) {
                (false, true) => self.begin(kind, now, at),
                (true, false) => self.close(kind, now, at),
                _ => {}
            }
        }
    }

    fn nested_at(&self, now: u64) -> u64 {
        self.nested + self.nested_since.map_or(0, |since| now - since)
    }

    fn begin(&mut self, kind: Kind, now: u64, from: u64) {
        self.open[kind as usize] = Some(Open {
            start: now,
            nested: self.nested_at(now),
            from,
        });
    }

    fn close(&mut self, kind: Kind, now: u64, to: u64) {
        let Some(open) = self.open[kind as usize].take() else {
            return;
        };
        let (length, nested) = (now - open.start, self.nested_at(now) - open.nested);
        if length == 0 {
            return;
        }
        let site = self.sites.entry((kind, open.from, to)).or_insert(Site {
            kind,
            from: open.from,
            to,
            count: 0,
            total: 0,
            longest: 0,
            longest_net: 0,
        });
        site.count += 1;
        site.total += length;
        site.longest = site.longest.max(length);
        site.longest_net = site.longest_net.max(length - nested);
        *self.lengths.entry((kind, length)).or_insert(0) += 1;
        if length >= LONG {
            self.long.push(Section {
                kind,
                start: Instructions(open.start),
                length,
                nested,
                from: open.from,
                to,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All sections of a kind as (from, to, count, total).
    fn sites(tracker: &Tracker, kind: Kind) -> Vec<(u64, u64, u64, u64)> {
        let sites = tracker.summary().filter_map(|row| match row {
            Row::Site(s) if s.kind == kind => Some((s.from, s.to, s.count, s.total)),
            _ => None,
        });
        sites.collect()
    }

    #[test]
    fn interrupts_come_one_instruction_after_sti() {
        let mut t = Tracker::new(true);
        t.cli(10, 1);
        t.sti(20, 2);
        t.cli(30, 3);
        t.sti(40, 4);
        t.cli(41, 5);
        t.set_interrupts(50, 6, true);
        assert_eq!(sites(&t, Kind::InterruptsOff), [(1, 2, 1, 11), (3, 6, 1, 20)]);
        assert_eq!(sites(&t, Kind::NonPreemptible), [(1, 2, 1, 11), (3, 6, 1, 20)]);
    }

    #[test]
    fn an_interrupt_taken_behind_sti_ends_the_section() {
        let mut t = Tracker::new(true);
        t.cli(10, 1);
        t.sti(20, 2);
        t.enter(21, 7);
        t.leave(100, 8, true, true);
        assert_eq!(sites(&t, Kind::InterruptsOff), [(1, 2, 1, 11), (7, 8, 1, 79)]);
    }

    #[test]
    fn the_union_goes_on_while_either_is_off() {
        let mut t = Tracker::new(true);
        t.count(10, 1, Word::Bits32(0x8000_0001));
        t.cli(20, 2);
        t.count(30, 3, Word::Bits32(0x8000_0000));
        t.set_interrupts(40, 4, true);
        assert_eq!(sites(&t, Kind::PreemptionOff), [(1, 3, 1, 20)]);
        assert_eq!(sites(&t, Kind::InterruptsOff), [(2, 4, 1, 20)]);
        assert_eq!(sites(&t, Kind::NonPreemptible), [(1, 4, 1, 30)]);
    }

    #[test]
    fn a_poll_cuts_only_where_it_could_answer() {
        let mut t = Tracker::new(true);
        t.count(10, 1, Word::Bits32(1));
        t.poll(20, 9);
        t.cli(30, 2);
        t.poll(40, 9);
        t.set_interrupts(50, 3, true);
        t.count(60, 4, Word::Bits32(0x0001_0001));
        t.poll(70, 9);
        t.count(75, 4, Word::Bits32(0x0000_0101));
        t.poll(77, 9);
        t.count(80, 5, Word::Bits32(1));
        t.count(90, 6, Word::Bits32(0));
        assert_eq!(sites(&t, Kind::NonPreemptible), [(1, 9, 1, 10), (9, 6, 1, 70)]);
        assert_eq!(sites(&t, Kind::PreemptionOff), [(1, 6, 1, 80)]);
    }

    #[test]
    fn a_kernel_that_does_not_preempt_holds_off_from_entry_to_exit() {
        let mut t = Tracker::new(false);
        t.enter(10, 1);
        t.sti(20, 2);
        t.poll(50, 3);
        t.leave(90, 4, true, false);
        assert_eq!(sites(&t, Kind::InterruptsOff), [(1, 2, 1, 11)]);
        assert_eq!(sites(&t, Kind::NonPreemptible), [(1, 3, 1, 40), (3, 4, 1, 40)]);
    }

    #[test]
    fn nested_interrupts_are_told_apart() {
        let mut t = Tracker::new(true);
        t.count(0, 1, Word::Bits32(1));
        t.enter(1000, 2);
        t.count(1010, 2, Word::Bits32(0x0001_0001));
        t.count(1510, 2, Word::Bits32(1));
        t.leave(1520, 3, true, true);
        t.count(2000, 4, Word::Bits32(0));
        let long: Vec<_> = t.take_long().filter(|s| s.kind == Kind::NonPreemptible).collect();
        assert_eq!((long[0].length, long[0].nested), (2000, 500));
        assert_eq!(t.take_long().count(), 0);
    }

    #[test]
    fn both_layouts_of_the_count_are_read() {
        assert!(Word::Bits32(0x8000_0000).is_preemptible() && Word::Bits64(1 << 63).is_preemptible());
        assert!(!Word::Bits32(0x8000_0001).is_preemptible() && !Word::Bits64(1).is_preemptible());
        assert!(Word::Bits32(1 << 16).in_interrupt() && !Word::Bits64(1 << 16).in_interrupt());
        assert!(Word::Bits64(1 << 24).in_interrupt());
        assert!(Word::Bits32(0x8000_0201).is(0x201) && !Word::Bits32(0x8000_0201).is(1));
    }
}
