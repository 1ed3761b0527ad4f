//! Common parts of the tools that work with files: sizes, and worstcase's name of the same work.

use worstcase_contract::Nanos;
use worstcase_contract::bench::{Bench, Io, IoDetails};
use worstcase_contract::names;

const UNKNOWN: &str = "unknown";

/// Bytes of `64m`, `8k`, `1GiB`; a `k` is 1024.
pub(crate) fn bytes(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let unit = unit.to_ascii_lowercase();
    let shift = match unit.trim_end_matches('b').trim_end_matches('i') {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// Worstcase's name of this work, `SIZE+WORK...` or `+WORK...`, if it takes it.
pub(crate) fn work(what: &str) -> Option<String> {
    let name = match what.starts_with('+') {
        true => format!("io{what}"),
        false => format!("io:{what}"),
    };
    let io = names::parse(&name).ok()?;
    Some(io.to_string())
}

/// A name that is the tool's own.
pub(crate) fn own_name(words: &[&str]) -> String {
    let usual = |c: char| {
        if c.is_ascii_alphanumeric() || "_.".contains(c) {
            c
        } else {
            '-'
        }
    };
    words.join("-").chars().map(usual).collect()
}

/// The work of a probe `io`, if it is one.
pub(crate) fn io(probe: &str) -> Option<Io> {
    match names::parse(probe) {
        Ok(Bench::Io(io)) => Some(io),
        _ => None,
    }
}

/// The details of a work of worstcase's; nothing for another work.
pub(crate) fn details(probe: &str, bytes: u64, elapsed: Nanos) -> Option<Box<IoDetails>> {
    io(probe)?;
    Some(Box::new(IoDetails {
        bytes,
        elapsed,
        sync: None,
        file_system: UNKNOWN.to_string(),
        device: None,
        begun: Nanos(0),
        longest_from: Nanos(0),
        longest_at: Vec::new(),
        beside: None,
        disk: None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        let read = ["64m", "8192", "1GiB", "4K", "48M", "x", "4x", "99999999999999999999t"].map(bytes);
        let [m, plain, gib, k, bonnie, rest @ ..] = read;
        assert_eq!((m, plain, gib), (Some(64 << 20), Some(8_192), Some(1 << 30)));
        assert_eq!((k, bonnie, rest), (Some(4_096), Some(48 << 20), [None; 3]));
    }

    #[test]
    fn the_same_work_has_our_name() {
        assert_eq!(work("67108864+write+bs1048576").as_deref(), Some("io:64m+write"));
        assert_eq!(
            work("64m+randread+bs4096+direct").as_deref(),
            Some("io:64m+randread+direct")
        );
        assert_eq!(work("+create").as_deref(), Some("io+create"));
        assert_eq!(work("64m+nothing"), None);
        assert_eq!(own_name(&["fio", "a/b c"]), "fio-a-b-c");
    }
}
