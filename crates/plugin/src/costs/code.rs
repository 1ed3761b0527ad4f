//! A block of code, with what is counted when it runs.

use super::meaning::{CountedBytes, Way, meaning};
use worstcase_costs::{CostEvent, LINE};

/// A block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CountedBlock {
    /// Its address.
    pub(super) address: u64,
    /// Its instructions.
    pub(super) instructions: u64,
    /// The address behind it.
    pub(super) end: u64,
    /// What some of its instructions are, in order: their place, and the event.
    pub(super) events: Vec<(u64, CostEvent)>,
    /// Where it begins to use a line of code: at which instruction, and the physical line.
    pub(super) lines: Vec<(u64, u64)>,
    /// The line of addresses that its last instruction uses.
    line: Option<u64>,
    /// How the block after it is found.
    pub(super) way: Way,
    /// The address of its last instruction, if that is repeated.
    pub(super) string: Option<u64>,
    /// The address of its last instruction.
    pub(super) last: u64,
    /// After it addresses may lead elsewhere.
    pub(super) changes_addresses: bool,
}

/// Whether an instruction's accesses to memory can be observed, and which of its bytes are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Observed {
    /// They can.
    Accesses,
    /// The same; these bytes are counted.
    Bytes(CountedBytes),
    /// They cannot.
    Nothing,
}

impl CountedBlock {
    /// An instruction follows; `physical` gives the physical address of one of its bytes.
    pub(super) fn add(&mut self, address: u64, bytes: &[u8], physical: impl Fn() -> Option<u64>) -> Observed {
        let meaning = meaning(bytes);
        let place = self.instructions;
        if place == 0 {
            self.address = address;
        }
        self.instructions += 1;
        self.events.extend(meaning.event.map(|event| (place, event)));
        self.add_lines(place, address, bytes.len() as u64, physical);
        self.way = meaning.way;
        self.string = meaning.string.map(|_| address);
        self.changes_addresses = meaning.changes_addresses;
        (self.last, self.end) = (address, address + bytes.len() as u64);
        match (meaning.way, meaning.string) {
            (Way::Usual, Some(bytes)) => Observed::Bytes(bytes),
            (Way::Usual, None) => Observed::Accesses,
            _ => Observed::Nothing,
        }
    }

    fn add_lines(&mut self, place: u64, address: u64, length: u64, physical: impl Fn() -> Option<u64>) {
        let (first, last) = (address / LINE, (address + length - 1) / LINE);
        let physical = || physical().unwrap_or(address) / LINE;
        if self.line != Some(first) {
            self.lines.push((place, physical()));
            self.line = Some(first);
        }
        // What reaches into another page is taken to end with its own: the next instruction uses that page's line.
        if last != first && last % LINES_OF_PAGE != 0 {
            self.lines.push((place, physical() + 1));
            self.line = Some(last);
        }
    }
}

/// Lines of a page.
const LINES_OF_PAGE: u64 = 4096 / LINE;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_knows_its_lines_and_what_it_consists_of() {
        let mut block = CountedBlock::default();
        let start = 0xffff_ffff_8100_003c;
        let physical = |at: u64| move || Some(at - 0xffff_ffff_8000_0000);
        assert_eq!(block.add(start, &[0x0f, 0x31], physical(start)), Observed::Accesses);
        let crosses = [0x48, 0x8b, 0x47, 0x08];
        assert_eq!(block.add(start + 2, &crosses, physical(start + 2)), Observed::Accesses);
        let add = |block: &mut CountedBlock, at: u64, bytes: &[u8]| block.add(at, bytes, physical(at));
        assert_eq!(add(&mut block, start + 6, &[0xf0, 0xff, 0x07]), Observed::Accesses);
        assert_eq!(add(&mut block, start + 9, &[0xff, 0xd0]), Observed::Nothing);
        assert_eq!(block.events, [(0, CostEvent::Timestamp), (2, CostEvent::Locked)]);
        assert_eq!(block.lines, [(0, 0x4_0000), (1, 0x4_0001)]);
        assert_eq!((block.instructions, block.way), (4, Way::Call));
        assert_eq!((block.address, block.last, block.end), (start, start + 9, start + 11));
    }
}
