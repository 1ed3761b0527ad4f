//! How `io` is asked for: `io[:SIZE][+WORK][+bsSIZE][+direct]`.

use super::super::names::{bytes, product, show_bytes};
use std::fmt;

/// Work with files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Io {
    /// What is done.
    pub work: Work,
    /// Bytes of the file; 0 for work with many files.
    pub size: u64,
    /// Bytes of an operation; 0 for work with many files.
    pub block: u32,
    /// Past the page cache (O_DIRECT).
    pub direct: bool,
}

/// What is done with a file, or with many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
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
}

/// All of them, with the word that a probe's name has, and the bytes of an operation unless somebody asks for others.
const WORKS: [(&str, Work, u32); 17] = [
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
];

/// What stands for bonnie++'s whole set.
pub(in super::super) const BONNIE: &str = "bonnie";
const BONNIE_SET: [&[&str]; 12] = [
    &["putc"],
    &["write", "bs8k"],
    &["rewrite"],
    &["getc"],
    &["read", "bs8k"],
    &["seeks"],
    &["create"],
    &["stat"],
    &["delete"],
    &["rcreate"],
    &["rstat"],
    &["rdelete"],
];

/// What is done if nothing else is said.
const USUAL: [&str; 2] = ["write", "read"];
const SIZE: u64 = 256 << 20;
const SMALLEST: u64 = 1 << 20;
const LARGEST: u64 = 1 << 40;
const LARGEST_BLOCK: u32 = 16 << 20;
/// What O_DIRECT takes everywhere.
pub(super) const ALIGNED: u32 = 4096;

/// Files made, asked for or removed, unless somebody asks for another number.
const FILES: u32 = 1_024;
/// As bonnie++ seeks.
const SEEKS: u32 = 8_192;
const RANDOM: u32 = 2_000;
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

    fn of(word: &str) -> Option<Work> {
        WORKS.iter().find(|row| row.0 == word).map(|row| row.1)
    }

    /// With many small files.
    pub const fn is_with_many(self) -> bool {
        use Work::*;
        matches!(
            self,
            Create | Stat | Delete | RandomCreate | RandomStat | RandomDelete | Unpack
        )
    }

    /// Whether the file, or files, have to be there before.
    pub const fn needs_written(self) -> bool {
        !matches!(
            self,
            Work::Write | Work::Putc | Work::Create | Work::RandomCreate | Work::Unpack
        )
    }
}

/// Whether the options are one of the set: its size is that of the files that it has.
fn is_bonnie(options: &[String]) -> bool {
    options.iter().any(|option| option == BONNIE)
}

impl Io {
    /// How many operations unless somebody asks for another number: once through the file, bonnie++'s seeks.
    pub const fn usual_samples(&self) -> u32 {
        match self.work {
            Work::Cached => CACHED,
            Work::RandomRead | Work::RandomWrite => RANDOM,
            Work::Seeks => SEEKS,
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

    /// Every choice of options that a text's options ask for.
    pub(in super::super) fn chosen(options: &[Vec<String>]) -> Vec<Vec<String>> {
        let with_sets = options.iter().flat_map(|row| match is_bonnie(row) {
            false => vec![row.clone()],
            true => {
                let of = |set: &&[&str]| [row.clone(), set.iter().map(ToString::to_string).collect()].concat();
                BONNIE_SET.iter().map(of).collect()
            }
        });
        with_sets
            .flat_map(|row| match row.iter().any(|option| Work::of(option).is_some()) {
                true => vec![row],
                false => product(&[row], &USUAL),
            })
            .collect()
    }

    /// One of these: its size, and its options with its work.
    pub(in super::super) fn parse(dimensions: &[String], options: &[String]) -> Result<Io, String> {
        let (mut work, mut block, mut direct) = (None, None, false);
        for option in options {
            if let Some(asked) = Work::of(option) {
                if work.replace(asked).is_some() {
                    return Err(format!("one work at a time, not '{option}' too"));
                }
            } else if let Some(size) = option.strip_prefix("bs") {
                let size = bytes(size)?;
                block = Some(u32::try_from(size).map_err(|_| format!("{size} bytes are too many"))?);
            } else if option == "direct" {
                direct = true;
            } else if option != BONNIE {
                let words = WORKS.map(|row| row.0).join(", ");
                return Err(format!(
                    "no option '{option}'; there are {words}, {BONNIE} (bonnie++'s whole set), bsSIZE, direct"
                ));
            }
        }
        let work = work.expect("one was chosen");
        let word = work.word();
        if work.is_with_many() {
            if !is_bonnie(options) && (!dimensions.is_empty() || block.is_some() || direct) {
                return Err(format!(
                    "{word} has no size, bs or direct: --samples is the number of its files"
                ));
            }
            return Ok(Io {
                work,
                size: 0,
                block: 0,
                direct: false,
            });
        }
        if direct && matches!(work, Work::Cached | Work::Buffered | Work::Putc | Work::Getc) {
            return Err(format!("{word} goes through the page cache: leave direct out"));
        }
        Ok(Io {
            work,
            size: dimensions.first().map_or(Ok(SIZE), |size| bytes(size))?,
            block: block.unwrap_or(work.row().2),
            direct,
        })
    }

    /// Refuses what no machine is asked for.
    pub(in super::super) fn check(&self) -> Result<(), String> {
        if self.work.is_with_many() {
            return Ok(());
        }
        let (size, block) = (self.size, self.block);
        if !(SMALLEST..=LARGEST).contains(&size) {
            return Err(format!("a file's size: 1m to 1024g, not {}", show_bytes(size)));
        }
        if !(1..=LARGEST_BLOCK).contains(&block) || !size.is_multiple_of(block.into()) {
            return Err(format!(
                "bs: a whole part of the file's {}, at most 16m, not {}",
                show_bytes(size),
                show_bytes(block.into())
            ));
        }
        if self.direct && !block.is_multiple_of(ALIGNED) {
            return Err(format!(
                "direct takes a bs of whole 4k, not {}",
                show_bytes(block.into())
            ));
        }
        Ok(())
    }
}

impl fmt::Display for Io {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, usual) = (self.work.word(), self.work.row().2);
        if self.work.is_with_many() {
            return write!(f, "io+{word}");
        }
        write!(f, "io:{}+{word}", show_bytes(self.size))?;
        if self.block != usual {
            write!(f, "+bs{}", show_bytes(self.block.into()))?;
        }
        match self.direct {
            true => f.write_str("+direct"),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::bench::Bench;

    fn names(text: &str) -> Vec<String> {
        let all = Bench::expand(text).unwrap();
        all.iter().map(Bench::to_string).collect()
    }

    #[test]
    fn a_text_is_a_set_of_works() {
        assert_eq!(names("io"), ["io:256m+write", "io:256m+read"]);
        assert_eq!(
            names("io:4m/1g+randread/randwrite+direct"),
            [
                "io:4m+randread+direct",
                "io:1g+randread+direct",
                "io:4m+randwrite+direct",
                "io:1g+randwrite+direct"
            ]
        );
        assert_eq!(names("io:16m+bonnie").len(), 12);
        assert_eq!(names("io:16m/32m+bonnie").len(), 12 + 6);
        assert_eq!(names("io:16m+bonnie")[1], "io:16m+write+bs8k");
        for name in [
            "io",
            "io:16m+bonnie/cached/buffered",
            "io+unpack/stat",
            "io:64m+write+bs4k/64k+direct",
        ]
        .iter()
        .flat_map(|text| names(text))
        {
            assert_eq!(names(&name), [name]);
        }
    }

    #[test]
    fn what_cannot_be_asked_is_refused_in_words() {
        for (text, says) in [
            ("io:1x2", "at most 1 numbers"),
            ("io:12k", "a file's size: 1m to 1024g, not 12k"),
            (
                "io:1m+write+bs3k",
                "bs: a whole part of the file's 1m, at most 16m, not 3k",
            ),
            ("io:1m+write+bs512+direct", "direct takes a bs of whole 4k, not 512"),
            ("io+getc+direct", "getc goes through the page cache"),
            ("io:1m+create", "create has no size"),
            ("io+write+read", "one work at a time"),
            ("io+wirte", "no option 'wirte'; there are cached, buffered, write"),
        ] {
            let error = Bench::expand(text).unwrap_err().0;
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
