//! `io[:SIZE][+WORK][+bsSIZE][+direct][+readersN][+writersN][+seekersN]`.

use super::info::{Extreme, ProbeForm, ProbeInfo};
use crate::grammar::{Dimension, Grammar, NumberRange, OptionChoice, Preset, ProbeWords, Unsaid, ValueKind};
use worstcase_cell::bench::{Bench, Details};
use worstcase_instruments::bench::spelling::show_bytes;
use worstcase_io::{ALIGNED, Beside, Io, MIX, WORKS, Work, has_seekers};

/// The preset for bonnie++'s whole set.
const BONNIE: &str = "bonnie";
const BONNIE_SET: &[&[&str]] = &[
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

/// One reads, one writes, one reads a little now and then: which of them suffers?
const MIX_SET: &[&[&str]] = &[&["randread", "direct", "readers1", "writers1"]];

const SIZE: u64 = 256 << 20;
const SMALLEST: u64 = 1 << 20;
const LARGEST: u64 = 1 << 40;
const LARGEST_BLOCK: u32 = 16 << 20;

pub(super) const IO: ProbeInfo = ProbeInfo {
    name: "io",
    sample: Some("time of an operation"),
    about: "what work with files takes, e.g. io:1g+write/read+direct, io+unpack, io:1g+bonnie",
    details: "WORK is one operation after the other on a file of BYTES; +direct goes past the page \
              cache; +readersN, +writersN and +seekersN do something else beside it. +bonnie is bonnie++'s set, +mix what \
              a scheduler of I/O has to sort. What each WORK is: docs/probe-io.md.",
    samples: |bench| match bench {
        Some(Bench::Io(work)) => work.usual_samples(),
        _ => 0,
    },
    needs_disk: true,
    extreme: Extreme::Largest("Longest operation"),
    fits: |details, _, _| match details {
        Details::Io(d) => d.sync.is_none_or(|sync| sync <= d.elapsed),
        _ => false,
    },
    elapsed: |details| match details {
        Details::Io(d) => Some(d.elapsed),
        _ => None,
    },
    form: ProbeForm::Parameters(Grammar {
        dimensions: &[Dimension {
            range: NumberRange {
                what: "bytes of a file",
                least: 0,
                most: u64::MAX,
            },
            usual: SIZE,
        }],
        grid: "",
        example: "io:1g+write",
        options: &[
            OptionChoice::Word(
                || WORKS.iter().map(|row| row.0).collect(),
                Unsaid::All(&["write", "read"]),
            ),
            OptionChoice::Value {
                prefix: "bs",
                kind: ValueKind::Bytes,
                range: NumberRange {
                    what: "bs in bytes",
                    least: 0,
                    most: u32::MAX as u64,
                },
            },
            OptionChoice::Word(|| vec!["direct"], Unsaid::Nothing),
            others("readers"),
            others("writers"),
            others("seekers"),
        ],
        presets: &[
            Preset {
                word: BONNIE,
                sets: BONNIE_SET,
                can_be_changed: false,
            },
            Preset {
                word: MIX,
                sets: MIX_SET,
                can_be_changed: true,
            },
        ],
        make: |words| {
            let io = io(words)?;
            check(&io)?;
            Ok(Bench::Io(io))
        },
    }),
    ..ProbeInfo::ONE_AFTER_THE_OTHER
};

const fn others(kind: &'static str) -> OptionChoice {
    OptionChoice::Value {
        prefix: kind,
        kind: ValueKind::Number,
        range: NumberRange {
            what: kind,
            least: 0,
            most: 32,
        },
    }
}

fn io(words: &ProbeWords) -> Result<Io, String> {
    let row = WORKS.iter().find(|row| words.has(row.0)).expect("one was chosen");
    let (word, work) = (row.0, row.1);
    let [readers, writers, seekers] = ["readers", "writers", "seekers"].map(|kind| words.value::<u8>(kind));
    let said = [readers, writers, seekers].iter().any(Option::is_some);
    let beside = match said {
        true => Beside {
            readers: readers.unwrap_or(0),
            writers: writers.unwrap_or(0),
            seekers: seekers.unwrap_or(0),
        },
        // `start` asks how long a program takes to start while another one writes.
        false if work == Work::Start => Beside::WRITER,
        false => Beside::NONE,
    };
    if beside.seekers > 0 && !has_seekers(work) {
        return Err(format!("{word} has no seekers; randread, randwrite and seeks have"));
    }
    let size = words.dimension(0);
    let (block, direct) = (words.value("bs"), words.has("direct"));
    if work.is_with_many() {
        let has_size = words.said > 0 && beside.files() == 0;
        if words.preset != Some(BONNIE) && (has_size || block.is_some() || direct) {
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
        block: block.unwrap_or(work.usual_block()),
        direct,
        beside,
    })
}

/// Refuses sizes that no machine should be asked for.
fn check(io: &Io) -> Result<(), String> {
    let (size, block) = (io.size, io.block);
    if io.work.is_with_many() && size == 0 {
        return Ok(());
    }
    if !(SMALLEST..=LARGEST).contains(&size) {
        return Err(format!("a file's size: 1m to 1024g, not {}", show_bytes(size)));
    }
    if io.work.is_with_many() {
        return Ok(());
    }
    if !(1..=LARGEST_BLOCK).contains(&block) || !size.is_multiple_of(block.into()) {
        return Err(format!(
            "bs: a whole part of the file's {}, at most 16m, not {}",
            show_bytes(size),
            show_bytes(block.into())
        ));
    }
    if io.direct && !block.is_multiple_of(ALIGNED) {
        return Err(format!(
            "direct takes a bs of whole 4k, not {}",
            show_bytes(block.into())
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::names;

    fn names(text: &str) -> Vec<String> {
        let all = names::expand(text).unwrap();
        all.iter().map(ToString::to_string).collect()
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
            ("io+write+read", "not 'read' beside 'write'"),
            ("io:1m+unpack+seekers1", "unpack has no seekers"),
            ("io:1m+mix+readers99", "readers: 0 to 32, not 99"),
            ("io:12k+start", "a file's size: 1m to 1024g, not 12k"),
            ("io+wirte", "no option 'wirte'; did you mean write or rewrite?"),
        ] {
            let error = names::expand(text).unwrap_err().0;
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
