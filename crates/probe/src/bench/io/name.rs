//! How `io` is asked for: `io[:SIZE][+WORK][+bsSIZE][+direct][+readersN][+writersN][+seekersN]`.

use super::super::names::{bytes, product, show_bytes};
use super::beside::{Beside, has_seekers};
use std::fmt;

/// Work with files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
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
    /// What the start of a program reads is read, none of it cached.
    Start,
}

/// All of them, with the word that a probe's name has, and the bytes of an operation unless somebody asks for others.
const WORKS: [(&str, Work, u32); 18] = [
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

/// What stands for bonnie++'s whole set.
pub(in super::super) const BONNIE: &str = "bonnie";
const BONNIE_SET: [&[&str]; 12] = [
    &["putc"],
    &["write", "bs8k"],
    &["rewrite"],
    &["getc"],
    &["read", "bs8k"],
    &["seeks", "seekers4"],
    &["create"],
    &["stat"],
    &["delete"],
    &["rcreate"],
    &["rstat"],
    &["rdelete"],
];

/// Who suffers where one reads, one writes, and one reads a little now and then?
const MIX: &str = "mix";
const MIX_IS: [&str; 4] = ["randread", "direct", "readers1", "writers1"];

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
/// The same, where others make each slow.
const RANDOM_AMONG_OTHERS: u32 = 200;
const STARTS: u32 = 20;
const MOST_OTHERS: u8 = 32;
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
            Create | Stat | Delete | RandomCreate | RandomStat | RandomDelete | Unpack | Start
        )
    }

    /// Whether the file, or files, have to be there before.
    pub const fn needs_written(self) -> bool {
        !matches!(
            self,
            Work::Write | Work::Putc | Work::Create | Work::RandomCreate | Work::Unpack | Work::Start
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

    /// Every choice of options that a text's options ask for.
    pub(in super::super) fn chosen(options: &[Vec<String>]) -> Vec<Vec<String>> {
        let words = |of: &[&str]| of.iter().map(ToString::to_string).collect::<Vec<String>>();
        let with_sets = options.iter().flat_map(|row| match is_bonnie(row) {
            false if row.iter().any(|option| option == MIX) => {
                let others = row.iter().filter(|option| *option != MIX).cloned();
                vec![words(&MIX_IS).into_iter().chain(others).collect()]
            }
            false => vec![row.clone()],
            true => {
                let of = |set: &&[&str]| [row.clone(), words(set)].concat();
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
        let mut beside = None;
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
            } else if let Some((kind, number)) = others(option)? {
                let all = beside.get_or_insert(Beside::NONE);
                *kind(all) = number;
            } else if option != BONNIE {
                let words = WORKS.map(|row| row.0).join(", ");
                return Err(format!(
                    "no option '{option}'; there are {words}, {BONNIE} (bonnie++'s whole set), {MIX}, bsSIZE, direct, readersN, writersN, seekersN"
                ));
            }
        }
        let work = work.expect("one was chosen");
        let word = work.word();
        // A program starts while another writes: that is the question.
        let beside = match (beside, work) {
            (None, Work::Start) => Beside::WRITER,
            (asked, _) => asked.unwrap_or(Beside::NONE),
        };
        if beside.seekers > 0 && !has_seekers(work) {
            return Err(format!("{word} has no seekers; randread, randwrite and seeks have"));
        }
        let size = dimensions.first().map_or(Ok(SIZE), |size| bytes(size))?;
        if work.is_with_many() {
            let has_size = !dimensions.is_empty() && beside.files() == 0;
            if !is_bonnie(options) && (has_size || block.is_some() || direct) {
                return Err(format!(
                    "{word} has no size, bs or direct: --samples is the number of its files"
                ));
            }
            return Ok(Io {
                work,
                size: if beside.files() > 0 { size } else { 0 },
                block: 0,
                direct: false,
                beside,
            });
        }
        if direct && matches!(work, Work::Cached | Work::Buffered | Work::Putc | Work::Getc) {
            return Err(format!("{word} goes through the page cache: leave direct out"));
        }
        Ok(Io {
            work,
            size,
            block: block.unwrap_or(work.row().2),
            direct,
            beside,
        })
    }

    /// Whether it is what [`MIX`] stands for, whatever the size of its operations.
    fn is_mix(&self) -> bool {
        let others = Beside {
            readers: 1,
            ..Beside::WRITER
        };
        (self.work, self.direct, self.beside) == (Work::RandomRead, true, others)
    }

    /// Refuses what no machine is asked for.
    pub(in super::super) fn check(&self) -> Result<(), String> {
        let (size, block) = (self.size, self.block);
        if self.work.is_with_many() && size == 0 {
            return Ok(());
        }
        if !(SMALLEST..=LARGEST).contains(&size) {
            return Err(format!("a file's size: 1m to 1024g, not {}", show_bytes(size)));
        }
        if self.work.is_with_many() {
            return Ok(());
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
        let usual = self.work.row().2;
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

/// Which of the others an option is about, and how many of them it wants.
type Others = (OfOthers, u8);

type OfOthers = fn(&mut Beside) -> &mut u8;

fn others(option: &str) -> Result<Option<Others>, String> {
    let kinds: [(&str, OfOthers); 3] = [
        ("readers", |all| &mut all.readers),
        ("writers", |all| &mut all.writers),
        ("seekers", |all| &mut all.seekers),
    ];
    let Some((kind, of, digits)) = kinds
        .into_iter()
        .find_map(|(kind, of)| Some((kind, of, option.strip_prefix(kind)?)))
    else {
        return Ok(None);
    };
    let number = digits.parse().ok().filter(|number| *number <= MOST_OTHERS);
    match number {
        Some(number) => Ok(Some((of, number))),
        None => Err(format!("{kind}: 0 to {MOST_OTHERS}, not '{digits}'; e.g. {kind}1")),
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
        assert_eq!(names("io:16m+bonnie")[5], "io:16m+seeks+seekers4");
        assert_eq!(names("io:16m+mix"), ["io:16m+mix"]);
        assert_eq!(
            names("io:16m+mix+writers4"),
            ["io:16m+randread+direct+readers1+writers4"]
        );
        assert_eq!(names("io+start"), ["io:256m+start"]);
        for name in [
            "io",
            "io:16m+bonnie/cached/buffered",
            "io+unpack/stat",
            "io:64m+write+bs4k/64k+direct",
            "io:64m+mix/seeks+seekers3",
            "io:64m+unpack+readers1+writers2",
            "io:64m+start",
            "io:64m+mix+bs64k",
            "io:64m+start+writers2",
            "io+start+writers0",
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
            ("io:1m+unpack+seekers1", "unpack has no seekers"),
            ("io:1m+mix+readers99", "readers: 0 to 32, not '99'"),
            ("io:12k+start", "a file's size: 1m to 1024g, not 12k"),
            ("io+wirte", "no option 'wirte'; there are cached, buffered, write"),
        ] {
            let error = Bench::expand(text).unwrap_err().0;
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
