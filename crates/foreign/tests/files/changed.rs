//! Every file, changed as it is on its way: one behind another, with something before every line, without its last end.

use super::all_files;
use super::cases::imported;
use std::collections::BTreeSet;
use std::fs;
use worstcase_contract::Nanos;
use worstcase_results::record::{Quantity, Record};

/// Longer files are read more slowly than they tell more.
const SHORT: usize = 5_000;

/// The texts, with their names; binary files aside.
fn texts() -> Vec<(String, String)> {
    let name = |path: &std::path::Path| path.file_name().unwrap().to_string_lossy().into_owned();
    let read = |path: std::path::PathBuf| Some((name(&path), fs::read_to_string(&path).ok()?));
    all_files().into_iter().filter_map(read).collect()
}

/// What is told of each thread: instrument, number of samples, and maximum.
fn figures(records: &[Record]) -> BTreeSet<(String, u64, u64)> {
    let of = |record: &Record| {
        let max = record.summary(Quantity::Latency).map_or(0, |s| s.max_ns);
        let max = record.accounting.gaps().map_or(max, |gaps| gaps.max_single_ns);
        (record.cell.probe.clone(), record.accounting.taken(), max)
    };
    records.iter().map(of).collect()
}

fn read(text: &str) -> Result<BTreeSet<(String, u64, u64)>, String> {
    imported(text, None).map(|records| figures(&records))
}

#[test]
fn of_two_files_in_one_both_are_there_or_it_is_refused() {
    let texts: Vec<(String, String)> = texts().into_iter().filter(|(_, text)| text.len() < SHORT).collect();
    let (mut taken, mut refused) = (0, 0);
    for (first, one) in &texts {
        for (second, other) in &texts {
            let (Ok(one_told), Ok(other_told)) = (read(one), read(other)) else {
                continue;
            };
            let apart = if one.ends_with('\n') { "" } else { "\n" };
            match read(&format!("{one}{apart}{other}")) {
                Ok(told) => {
                    let all: BTreeSet<_> = one_told.union(&other_told).cloned().collect();
                    // Two jobs of fio with one name are told apart only in their own document.
                    assert_eq!(told, all, "{first} and {second}");
                    taken += 1;
                }
                Err(_) => refused += 1,
            }
        }
    }
    assert!(taken > 20 * refused, "{taken} taken, {refused} refused");
}

#[test]
fn on_its_way_a_file_stays_the_same() {
    for (name, text) in texts() {
        let Ok(told) = read(&text) else { continue };
        let each = |before: &str| text.lines().map(|line| format!("{before}{line}\n")).collect::<String>();
        for (how, changed) in [
            ("mail", each("> ")),
            ("indented", each("      ")),
            ("CRI", each("2026-02-03T04:05:06.789012345Z stdout F ")),
            ("CI", each("2026-02-03T04:05:06.7890123Z ")),
            ("journal", each("Feb  3 04:05:06 box run[77]: ")),
            ("console", each("[   61.123456] ")),
            ("fences", format!("```\n{text}\n```\n")),
            ("CRLF", text.replace('\n', "\r\n")),
            ("words around", format!("see below\n\n{text}\nthat was it\n")),
        ] {
            match read(&changed) {
                Ok(again) => assert_eq!(again, told, "{name}, {how}"),
                // Strict readers refuse words behind a table that has no end of its own.
                Err(error) => assert_eq!(how, "words around", "{name}: {error}"),
            }
        }
        let cut = text.trim_end();
        if let Ok(again) = read(cut) {
            assert_eq!(again, told, "{name} without its last end");
        }
    }
}

/// What stands before one line alone hides it from no reader.
#[test]
fn a_line_with_something_before_it_is_not_left_out() {
    let told = |text: &str| -> Result<Vec<String>, String> {
        let of = |record: &Record| format!("{:?} {:?} {:?}", record.summary, record.accounting, record.warnings);
        imported(text, None).map(|records| records.iter().map(of).collect())
    };
    let mut halved = Vec::new();
    for (name, text) in texts().into_iter().filter(|(_, text)| text.len() < SHORT) {
        let Ok(whole) = told(&text) else { continue };
        let lines: Vec<&str> = text.lines().collect();
        let step = lines.len().div_ceil(60);
        for at in (0..lines.len()).step_by(step) {
            for before in ["> ", "[ 61.2] ", "x: "] {
                let line = format!("{before}{}", lines[at]);
                let changed = [&lines[..at], &[line.as_str()], &lines[at + 1..], &[""]]
                    .concat()
                    .join("\n");
                if told(&changed).is_ok_and(|again| again != whole) {
                    halved.push(format!("{name}, line {}: {line}", at + 1));
                }
            }
        }
    }
    assert!(halved.is_empty(), "{halved:#?}");
}

/// A number at the end that lost a digit is another number: the text is refused, or what it tells is the same.
#[test]
fn a_last_number_that_lost_a_digit_is_not_taken() {
    for (name, text) in texts() {
        let Ok(told) = read(&text) else { continue };
        let whole = text.trim_end();
        for lost in 1..whole.len().min(12) {
            let Some(cut) = whole.get(..whole.len() - lost) else {
                continue;
            };
            if let Ok(again) = read(cut) {
                assert_eq!(again, told, "{name} without its last {lost} bytes");
            }
        }
    }
    assert!(
        imported(
            "T: 0 (1) P:9 I:1000 C: 7 Min: 1 Act: 1 Avg: 1 Max: 123",
            Some(Nanos(1_000))
        )
        .is_err()
    );
}
