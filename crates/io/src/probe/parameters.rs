//! The parameters of `io`, and its name with them.

use serde::{Deserialize, Serialize};
use std::fmt;
use worstcase_instruments::bench::spelling::show_bytes;

/// Work with files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Io {
    /// What is done.
    pub work: Work,
    /// Bytes of the file, and of those of the others; 0 for work with many files and no others.
    pub size: u64,
    /// Bytes of an operation; 0 for work with many files.
    pub block: u32,
    /// Past the page cache (O_DIRECT).
    pub direct: bool,
    /// Others at work meanwhile.
    pub beside: Beside,
}

/// How many there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Beside {
    /// Read a file from begin to end, again and again, never from the page cache.
    pub readers: u8,
    /// Write a file from begin to end, and then to the device, again and again.
    pub writers: u8,
    /// Do what is measured, in the same file.
    pub seekers: u8,
}

impl Beside {
    /// Nobody.
    pub const NONE: Beside = Beside {
        readers: 0,
        writers: 0,
        seekers: 0,
    };

    /// One that writes.
    pub const WRITER: Beside = Beside {
        writers: 1,
        ..Beside::NONE
    };

    /// Those with a file of their own.
    pub const fn files(&self) -> u64 {
        self.readers as u64 + self.writers as u64
    }
}

/// What is done with a file, or with many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Work {
    /// The same part of a file is read again and again: hdparm -T.
    Cached,
    /// A file that is not cached is read through the page cache: hdparm -t.
    Buffered,
    /// A file is written from begin to end: dd.
    Write,
    /// One that is not cached is read from begin to end: dd.
    Read,
    /// Random places are written.
    RandomWrite,
    /// Random places are read.
    RandomRead,
    /// A file is written byte by byte: bonnie++'s putc.
    Putc,
    /// Each block is read, changed and written again: bonnie++.
    Rewrite,
    /// A file is read byte by byte: bonnie++'s getc.
    Getc,
    /// Random places are read, one in ten is written, too: bonnie++.
    Seeks,
    /// Files are made, in the order of their names: bonnie++.
    Create,
    /// They are asked for their size, and read.
    Stat,
    /// They are removed.
    Delete,
    /// Files are made, their names in no order.
    RandomCreate,
    /// They are asked for their size and read, in another order.
    RandomStat,
    /// They are removed, in another order.
    RandomDelete,
    /// A tree like a kernel's source is unpacked.
    Unpack,
    /// What the start of a program reads is read, none of it cached.
    Start,
}

/// All of them, with the word that a probe's name has, and the bytes of an operation unless somebody asks for others.
pub const WORKS: [(&str, Work, u32); 18] = [
    ("cached", Work::Cached, 2 << 20),
    ("buffered", Work::Buffered, 2 << 20),
    ("write", Work::Write, 1 << 20),
    ("read", Work::Read, 1 << 20),
    ("randwrite", Work::RandomWrite, 4 << 10),
    ("randread", Work::RandomRead, 4 << 10),
    ("putc", Work::Putc, 8 << 10),
    ("rewrite", Work::Rewrite, 8 << 10),
    ("getc", Work::Getc, 8 << 10),
    ("seeks", Work::Seeks, 8 << 10),
    ("create", Work::Create, 0),
    ("stat", Work::Stat, 0),
    ("delete", Work::Delete, 0),
    ("rcreate", Work::RandomCreate, 0),
    ("rstat", Work::RandomStat, 0),
    ("rdelete", Work::RandomDelete, 0),
    ("unpack", Work::Unpack, 0),
    ("start", Work::Start, 0),
];

/// Who suffers where one reads, one writes, and one reads a little now and then?
pub const MIX: &str = "mix";
/// What O_DIRECT takes everywhere.
pub const ALIGNED: u32 = 4096;

/// Files made, asked for or removed, unless somebody asks for another number.
const FILES: u32 = 1_024;
/// As bonnie++ seeks.
const SEEKS: u32 = 8_192;
const RANDOM: u32 = 2_000;
/// The same, where others make each slow.
const RANDOM_AMONG_OTHERS: u32 = 200;
const STARTS: u32 = 20;
/// More than a machine can read from its cache in hdparm's time.
const CACHED: u32 = 100_000;

impl Work {
    /// Its word in a probe's name.
    pub fn word(self) -> &'static str {
        self.row().0
    }

    fn row(self) -> &'static (&'static str, Work, u32) {
        let is_it = |row: &&(&str, Work, u32)| row.1 == self;
        WORKS.iter().find(is_it).expect("every work has its row")
    }

    /// Bytes of an operation unless somebody asks for others.
    pub fn usual_block(self) -> u32 {
        self.row().2
    }

    /// With many small files.
    pub const fn is_with_many(self) -> bool {
        use Work::*;
        matches!(
            self,
            Create | Stat | Delete | RandomCreate | RandomStat | RandomDelete | Unpack | Start
        )
    }

    /// Whether the file, or files, have to be there before.
    pub(crate) const fn needs_written(self) -> bool {
        !matches!(
            self,
            Work::Write | Work::Putc | Work::Create | Work::RandomCreate | Work::Unpack | Work::Start
        )
    }
}

impl Io {
    /// How many operations unless somebody asks for another number: once through the file, bonnie++'s seeks.
    pub const fn usual_samples(&self) -> u32 {
        match self.work {
            Work::Cached => CACHED,
            Work::Start => STARTS,
            Work::RandomRead | Work::RandomWrite if self.beside.files() > 0 => RANDOM_AMONG_OTHERS,
            Work::RandomRead | Work::RandomWrite => RANDOM,
            Work::Seeks => SEEKS / (1 + self.beside.seekers as u32),
            work if work.is_with_many() => FILES,
            _ => {
                let blocks = self.size / self.block as u64;
                if blocks > u32::MAX as u64 {
                    u32::MAX
                } else {
                    blocks as u32
                }
            }
        }
    }

    /// Whether it is what [`MIX`] stands for, whatever the size of its operations.
    fn is_mix(&self) -> bool {
        let others = Beside {
            readers: 1,
            ..Beside::WRITER
        };
        (self.work, self.direct, self.beside) == (Work::RandomRead, true, others)
    }
}

impl fmt::Display for Io {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let usual = self.work.usual_block();
        let word = if self.is_mix() { MIX } else { self.work.word() };
        match self.size {
            0 => write!(f, "io+{word}")?,
            size => write!(f, "io:{}+{word}", show_bytes(size))?,
        }
        if self.block != usual {
            write!(f, "+bs{}", show_bytes(self.block.into()))?;
        }
        if self.direct && !self.is_mix() {
            f.write_str("+direct")?;
        }
        let Beside {
            readers,
            writers,
            seekers,
        } = self.beside;
        match (self.work, self.beside) {
            (Work::Start, Beside::WRITER) => return Ok(()),
            (Work::Start, Beside::NONE) => return f.write_str("+writers0"),
            _ if self.is_mix() => return Ok(()),
            _ => {}
        }
        for (kind, number) in [("readers", readers), ("writers", writers), ("seekers", seekers)] {
            if number > 0 {
                write!(f, "+{kind}{number}")?;
            }
        }
        Ok(())
    }
}

/// Whether others can do the same in the same file at once.
pub const fn has_seekers(work: Work) -> bool {
    matches!(work, Work::RandomRead | Work::RandomWrite | Work::Seeks)
}
