//! The disk's memory: what was read and what follows it, and what is still to be written.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

/// What was read, in pieces of which the longest unused is given up.
#[derive(Clone, Debug)]
pub struct Segments {
    pieces: VecDeque<Range<u64>>,
    most: usize,
}

impl Segments {
    pub fn new(most: usize) -> Segments {
        Segments {
            pieces: VecDeque::new(),
            most,
        }
    }

    /// Whether one piece has all of it; that piece was used now.
    pub(crate) fn have(&mut self, sectors: &Range<u64>) -> bool {
        let has = |piece: &Range<u64>| piece.start <= sectors.start && sectors.end <= piece.end;
        let Some(at) = self.pieces.iter().position(has) else {
            return false;
        };
        if let Some(piece) = self.pieces.remove(at) {
            self.pieces.push_front(piece);
        }
        true
    }

    pub fn keep(&mut self, sectors: Range<u64>) {
        self.pieces.push_front(sectors);
        self.pieces.truncate(self.most);
    }

    /// What is written over is no longer what was read.
    pub(crate) fn forget(&mut self, sectors: &Range<u64>) {
        self.pieces
            .retain(|piece| piece.end <= sectors.start || sectors.end <= piece.start);
    }
}

/// What is to be written, by its first sector.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dirty {
    extents: BTreeMap<u64, Extent>,
    /// How many there are of each age.
    ages: BTreeMap<u64, usize>,
    sectors: u64,
}

/// To be written in one go.
#[derive(Clone, Copy, Debug)]
struct Extent {
    sectors: u64,
    /// Flushes that came before it.
    age: u64,
}

impl Dirty {
    pub(crate) fn sectors(&self) -> u64 {
        self.sectors
    }

    pub fn is_empty(&self) -> bool {
        self.extents.is_empty()
    }

    /// Whether anything is of that age or older.
    pub(crate) fn has_of(&self, age: u64) -> bool {
        self.ages.first_key_value().is_some_and(|(oldest, _)| *oldest <= age)
    }

    /// Whether all of it is here.
    pub fn has(&self, sectors: &Range<u64>) -> bool {
        let before = self.extents.range(..=sectors.start).next_back();
        before.is_some_and(|(start, extent)| start + extent.sectors >= sectors.end)
    }

    /// One more; joined with what ends where it begins.
    pub fn add(&mut self, sectors: Range<u64>, age: u64) {
        let overlapping: Vec<u64> = self
            .extents
            .range(..sectors.end)
            .rev()
            .take_while(|(start, extent)| *start + extent.sectors > sectors.start)
            .map(|(start, _)| *start)
            .collect();
        for start in overlapping {
            self.cut(start, &sectors);
        }
        self.sectors += sectors.end - sectors.start;
        let length = sectors.end - sectors.start;
        if let Some((_, before)) = self
            .extents
            .range_mut(..sectors.start)
            .next_back()
            .filter(|(start, extent)| **start + extent.sectors == sectors.start && extent.age == age)
        {
            before.sectors += length;
            return;
        }
        self.insert(sectors.start, Extent { sectors: length, age });
    }

    fn insert(&mut self, start: u64, extent: Extent) {
        self.extents.insert(start, extent);
        *self.ages.entry(extent.age).or_default() += 1;
    }

    fn remove(&mut self, start: u64) -> Option<Extent> {
        let extent = self.extents.remove(&start)?;
        if let Some(count) = self.ages.get_mut(&extent.age) {
            *count -= 1;
            if *count == 0 {
                self.ages.remove(&extent.age);
            }
        }
        Some(extent)
    }

    /// Takes these sectors out of the extent that begins there.
    fn cut(&mut self, start: u64, sectors: &Range<u64>) {
        let Some(extent) = self.remove(start) else {
            return;
        };
        self.sectors -= extent.sectors;
        let end = start + extent.sectors;
        for left in [start..sectors.start.min(end), sectors.end.max(start)..end] {
            if !left.is_empty() {
                self.sectors += left.end - left.start;
                let sectors = left.end - left.start;
                self.insert(left.start, Extent { sectors, ..extent });
            }
        }
    }

    /// The first sectors of a few extents about a place, of that age or older.
    pub fn near(&self, sector: u64, age: u64, few: usize) -> Vec<u64> {
        let of_age = |(start, extent): (&u64, &Extent)| (extent.age <= age).then_some(*start);
        let behind = self.extents.range(sector..).filter_map(of_age).take(few);
        let before = self.extents.range(..sector).rev().filter_map(of_age).take(few);
        behind.chain(before).collect()
    }

    /// Takes what is to be written from there on, at most so many sectors.
    pub fn take(&mut self, start: u64, most: u64) -> Range<u64> {
        let Some(extent) = self.remove(start) else {
            return start..start;
        };
        let taken = extent.sectors.min(most);
        self.sectors -= taken;
        if taken < extent.sectors {
            let sectors = extent.sectors - taken;
            self.insert(start + taken, Extent { sectors, ..extent });
        }
        start..start + taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_unused_piece_goes_first() {
        let mut segments = Segments::new(2);
        segments.keep(0..10);
        segments.keep(20..30);
        assert!(segments.have(&(2..5)) && !segments.have(&(5..15)));
        segments.keep(40..50);
        assert!(segments.have(&(0..10)) && !segments.have(&(20..21)));
        segments.forget(&(9..12));
        assert!(!segments.have(&(0..1)));
    }

    #[test]
    fn what_is_written_twice_is_there_once() {
        let mut dirty = Dirty::default();
        dirty.add(0..10, 0);
        dirty.add(10..20, 0);
        assert!(dirty.has(&(3..18)) && dirty.extents.len() == 1);
        dirty.add(5..8, 1);
        assert_eq!((dirty.sectors(), dirty.extents.len()), (20, 3));
        dirty.add(0..100, 1);
        assert_eq!((dirty.sectors(), dirty.extents.len()), (100, 1));
        assert!(!dirty.has_of(0) && dirty.has_of(1));
    }

    #[test]
    fn pieces_are_taken_from_the_front() {
        let mut dirty = Dirty::default();
        dirty.add(100..200, 0);
        dirty.add(300..301, 1);
        assert_eq!(dirty.near(150, 0, 4), [100]);
        assert_eq!(dirty.near(150, 1, 4), [300, 100]);
        assert_eq!(dirty.take(100, 30), 100..130);
        assert_eq!((dirty.take(130, 500), dirty.sectors()), (130..200, 1));
        assert!(!dirty.is_empty() && dirty.take(7, 1).is_empty());
    }
}
