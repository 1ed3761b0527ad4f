//! How `io` is asked for: `io[:SIZE][+WORK][+bsSIZE][+direct][+readersN][+writersN][+seekersN]`.

use crate::names::{bytes, product};
use worstcase_instruments::bench::io::{ALIGNED, Beside, Io, MIX, WORKS, Work, has_seekers};
use worstcase_instruments::bench::spelling::show_bytes;

/// What stands for bonnie++'s whole set.
pub(crate) const BONNIE: &str = "bonnie";
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

/// What [`MIX`] stands for.
const MIX_IS: [&str; 4] = ["randread", "direct", "readers1", "writers1"];

/// What is done if nothing else is said.
const USUAL: [&str; 2] = ["write", "read"];
const SIZE: u64 = 256 << 20;
const SMALLEST: u64 = 1 << 20;
const LARGEST: u64 = 1 << 40;
const LARGEST_BLOCK: u32 = 16 << 20;
const MOST_OTHERS: u8 = 32;

fn work_of(word: &str) -> Option<Work> {
    WORKS.iter().find(|row| row.0 == word).map(|row| row.1)
}

/// Whether the options are one of the set: its size is that of the files that it has.
fn is_bonnie(options: &[String]) -> bool {
    options.iter().any(|option| option == BONNIE)
}

/// Every choice of options that a text's options ask for.
pub(crate) fn chosen(options: &[Vec<String>]) -> Vec<Vec<String>> {
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
        .flat_map(|row| match row.iter().any(|option| work_of(option).is_some()) {
            true => vec![row],
            false => product(&[row], &USUAL),
        })
        .collect()
}

/// One of these: its size, and its options with its work.
pub(crate) fn parse(dimensions: &[String], options: &[String]) -> Result<Io, String> {
    let (mut work, mut block, mut direct) = (None, None, false);
    let mut beside = None;
    for option in options {
        if let Some(asked) = work_of(option) {
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
        block: block.unwrap_or(work.usual_block()),
        direct,
        beside,
    })
}

/// Refuses what no machine is asked for.
pub(crate) fn check(io: &Io) -> Result<(), String> {
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
            ("io+write+read", "one work at a time"),
            ("io:1m+unpack+seekers1", "unpack has no seekers"),
            ("io:1m+mix+readers99", "readers: 0 to 32, not '99'"),
            ("io:12k+start", "a file's size: 1m to 1024g, not 12k"),
            ("io+wirte", "no option 'wirte'; there are cached, buffered, write"),
        ] {
            let error = names::expand(text).unwrap_err().0;
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
