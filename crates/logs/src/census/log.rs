//! What the plugin found: long sections one by one, in order of their ends; all of them by place and by length; when the probe
//! gave the CPU away.
//!
//! A file of little-endian words: `MAGIC`, `VERSION`, then rows of eight words (tag and seven), the last of them
//! [`Row::Close`], which proves that the file is whole.

use super::Kind;
use crate::units::Instructions;
use std::ops::Range;

/// First word ("wccensus" as bytes).
pub const MAGIC: u64 = u64::from_le_bytes(*b"wccensus");
/// Version of the form.
pub const VERSION: u64 = 3;
/// Sections at least this long are kept one by one.
pub const LONG: u64 = 1000;

const WORDS: usize = 8;

/// One section, from the first instruction that ran in it to the one that ended it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    /// What was off.
    pub kind: Kind,
    /// Instructions completed when it began.
    pub start: Instructions,
    /// Instructions that ran in it.
    pub length: u64,
    /// Of these, in hard interrupts and soft interrupts.
    pub nested: u64,
    /// Address of the instruction that began it.
    pub from: u64,
    /// Address of the instruction that ended it.
    pub to: u64,
    /// Address of the thread that ran when it began, in the kernel's memory.
    pub task: u64,
}

/// All sections that began at one instruction and ended at another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    /// What was off.
    pub kind: Kind,
    /// Address of the instruction that began them.
    pub from: u64,
    /// Address of the instruction that ended them.
    pub to: u64,
    /// How many.
    pub count: u64,
    /// Instructions in all.
    pub total: u64,
    /// Instructions of the longest.
    pub longest: u64,
    /// The longest net of nested interrupts.
    pub longest_net: u64,
}

/// How many sections of a kind had a length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Length {
    /// What was off.
    pub kind: Kind,
    /// Instructions.
    pub length: u64,
    /// How many sections.
    pub count: u64,
}

/// A census of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Census {
    /// The counts between which it looked: from the probe's first sample to its last.
    pub observed: Range<Instructions>,
    /// Blocks whose tracked state was compared with the true one; 0 without an audit.
    pub audited: u64,
    /// Sections of at least [`LONG`] instructions, in order of their ends.
    pub sections: Vec<Section>,
    /// By place.
    pub sites: Vec<Site>,
    /// By length.
    pub lengths: Vec<Length>,
    /// When the probe gave the followed CPU to another thread, in order.
    pub asleep: Vec<Instructions>,
}

/// One row of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row {
    /// A long section.
    Section(Section),
    /// A place.
    Site(Site),
    /// A length.
    Length(Length),
    /// The probe gave the CPU away.
    Asleep(Instructions),
    /// The end: what was observed, blocks audited, and the number of rows before.
    Close {
        /// From this count.
        from: Instructions,
        /// To this count.
        to: Instructions,
        /// See [`Census::audited`].
        audited: u64,
        /// Rows before this one.
        rows: u64,
    },
}

/// Why a census cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CensusError {
    /// Other file.
    #[error("not a census of version {VERSION}")]
    NotACensus,
    /// Not whole.
    #[error("the census is cut short")]
    CutShort,
    /// Unknown row.
    #[error("the census holds an unknown row {0}")]
    UnknownRow(u64),
}

/// The file's beginning.
pub fn header() -> [u8; 16] {
    let mut out = [0; 16];
    out[..8].copy_from_slice(&MAGIC.to_le_bytes());
    out[8..].copy_from_slice(&VERSION.to_le_bytes());
    out
}

impl Row {
    /// The row's words.
    pub fn encode(&self) -> [u8; WORDS * 8] {
        let words = match *self {
            Row::Section(s) => [1, s.kind as u64, s.start.0, s.length, s.nested, s.from, s.to, s.task],
            Row::Site(s) => [
                2,
                s.kind as u64,
                s.from,
                s.to,
                s.count,
                s.total,
                s.longest,
                s.longest_net,
            ],
            Row::Length(l) => [3, l.kind as u64, l.length, l.count, 0, 0, 0, 0],
            Row::Asleep(at) => [4, at.0, 0, 0, 0, 0, 0, 0],
            Row::Close {
                from,
                to,
                audited,
                rows,
            } => [255, from.0, to.0, audited, rows, 0, 0, 0],
        };
        let mut out = [0; WORDS * 8];
        for (place, word) in out.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        out
    }

    fn decode(words: [u64; WORDS]) -> Result<Row, CensusError> {
        let unknown = CensusError::UnknownRow(words[0]);
        let [tag, first, ..] = words;
        if tag == 255 {
            return Ok(Row::Close {
                from: Instructions(words[1]),
                to: Instructions(words[2]),
                audited: words[3],
                rows: words[4],
            });
        }
        if tag == 4 {
            return Ok(Row::Asleep(Instructions(first)));
        }
        let kind = Kind::from_u64(first).ok_or(unknown.clone())?;
        match tag {
            1 => Ok(Row::Section(Section {
                kind,
                start: Instructions(words[2]),
                length: words[3],
                nested: words[4],
                from: words[5],
                to: words[6],
                task: words[7],
            })),
            2 => Ok(Row::Site(Site {
                kind,
                from: words[2],
                to: words[3],
                count: words[4],
                total: words[5],
                longest: words[6],
                longest_net: words[7],
            })),
            3 => Ok(Row::Length(Length {
                kind,
                length: words[2],
                count: words[3],
            })),
            _ => Err(unknown),
        }
    }
}

/// Reads a whole census.
pub fn decode(bytes: &[u8]) -> Result<Census, CensusError> {
    if bytes.get(..16) != Some(&header()) {
        return Err(CensusError::NotACensus);
    }
    let mut census = Census {
        observed: Instructions(0)..Instructions(0),
        audited: 0,
        sections: Vec::new(),
        sites: Vec::new(),
        lengths: Vec::new(),
        asleep: Vec::new(),
    };
    let mut rows = bytes[16..].chunks(WORDS * 8);
    for n in 0.. {
        let row = rows
            .next()
            .filter(|row| row.len() == WORDS * 8)
            .ok_or(CensusError::CutShort)?;
        let mut words = [0; WORDS];
        for (word, bytes) in words.iter_mut().zip(row.chunks_exact(8)) {
            *word = u64::from_le_bytes(bytes.try_into().map_err(|_| CensusError::CutShort)?);
        }
        match Row::decode(words)? {
            Row::Section(section) => census.sections.push(section),
            Row::Site(site) => census.sites.push(site),
            Row::Length(length) => census.lengths.push(length),
            Row::Asleep(at) => census.asleep.push(at),
            Row::Close {
                from,
                to,
                audited,
                rows: before,
            } => {
                if before != n || rows.next().is_some() {
                    return Err(CensusError::CutShort);
                }
                census.observed = from..to;
                census.audited = audited;
                break;
            }
        }
    }
    Ok(census)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Row> {
        vec![
            Row::Section(Section {
                kind: Kind::NonPreemptible,
                start: Instructions(5),
                length: 2000,
                nested: 7,
                from: 1,
                to: 2,
                task: 3,
            }),
            Row::Site(Site {
                kind: Kind::InterruptsOff,
                from: 1,
                to: 2,
                count: 3,
                total: 4000,
                longest: 2000,
                longest_net: 1993,
            }),
            Row::Length(Length {
                kind: Kind::PreemptionOff,
                length: 12,
                count: 3,
            }),
            Row::Asleep(Instructions(8)),
        ]
    }

    fn file() -> Vec<u8> {
        let close = Row::Close {
            from: Instructions(1),
            to: Instructions(9),
            audited: 4,
            rows: 4,
        };
        let mut bytes = header().to_vec();
        bytes.extend(rows().iter().chain([&close]).flat_map(Row::encode));
        bytes
    }

    #[test]
    fn a_census_is_read_back() {
        let census = decode(&file()).unwrap();
        let [
            Row::Section(section),
            Row::Site(site),
            Row::Length(length),
            Row::Asleep(at),
        ] = rows()[..]
        else {
            unreachable!()
        };
        assert_eq!(census.sections, [section]);
        assert_eq!(census.sites, [site]);
        assert_eq!(census.lengths, [length]);
        assert_eq!(census.asleep, [at]);
        assert_eq!(census.observed, Instructions(1)..Instructions(9));
        assert_eq!(census.audited, 4);
    }

    #[test]
    fn what_is_not_whole_is_refused() {
        let whole = file();
        for len in 16..whole.len() {
            assert_eq!(decode(&whole[..len]), Err(CensusError::CutShort), "{len}");
        }
        assert_eq!(decode(&whole[..15]), Err(CensusError::NotACensus));
        let mut twice = whole.clone();
        twice.extend(rows()[0].encode());
        assert_eq!(decode(&twice), Err(CensusError::CutShort));
        let mut unknown = whole;
        unknown[16] = 9;
        assert_eq!(decode(&unknown), Err(CensusError::UnknownRow(9)));
    }
}
