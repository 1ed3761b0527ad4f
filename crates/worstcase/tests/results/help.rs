//! The help texts: short and in groups, each of its own place; lists of loads and probes with a page each.

use assert_cmd::Command;
use clap::Parser;
use std::collections::BTreeSet;
use worstcase::cli::Cli;
use worstcase_contract::loads::LOADS;
use worstcase_contract::probe::PROBES;

/// Options and lines that a short help may have, what every command has not counted.
const OPTIONS: usize = 10;
const LINES: usize = 42;
/// A command with more has its options in groups.
const BIG: usize = 8;
const OF_ALL: [&str; 3] = ["--quiet", "--help", "--version"];

fn said(args: &[&str]) -> String {
    let output = Command::cargo_bin("worstcase").unwrap().args(args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn help_of(words: &[String], flag: &str) -> String {
    let words: Vec<&str> = words.iter().map(String::as_str).chain([flag]).collect();
    said(&words)
}

/// Each option, with the heading above it.
fn options(help: &str) -> Vec<(String, String)> {
    let mut heading = String::new();
    let mut found = Vec::new();
    for line in help.lines() {
        if let Some(title) = line.strip_suffix(':').filter(|_| !line.starts_with(' ')) {
            heading = title.to_string();
        }
        let is_option = line.starts_with("  -") || line.starts_with("      --");
        let name = line
            .split([' ', ',', '=', '['])
            .find(|word| word.starts_with('-'))
            .filter(|_| is_option);
        let long = line.split([' ', '=', '[']).find(|word| word.starts_with("--"));
        if let Some(name) = name {
            found.push((heading.clone(), long.unwrap_or(name).to_string()));
        }
    }
    found.retain(|(heading, name)| heading != "Examples" && !OF_ALL.contains(&name.as_str()));
    found
}

#[test]
fn the_short_help_fits_a_screen_and_the_long_one_is_in_groups() {
    let mut big = 0;
    for words in crate::manual::listed() {
        let (short, long) = (help_of(&words, "-h"), help_of(&words, "--help"));
        let first = options(&short);
        assert!(first.len() <= OPTIONS, "{words:?} -h: {first:?}");
        let lines = short.lines().count();
        assert!(lines <= LINES, "{words:?} -h has {lines} lines:\n{short}");
        let all = options(&long);
        if all.len() > BIG {
            big += 1;
            let bare: Vec<&(String, String)> = all.iter().filter(|(heading, _)| heading == "Options").collect();
            assert!(bare.is_empty(), "{words:?}: of no group: {bare:?}");
            assert!(first.len() >= 4, "{words:?} -h: {first:?}");
        } else {
            assert_eq!(first.len(), all.len(), "{words:?}");
        }
        let known: BTreeSet<&(String, String)> = all.iter().collect();
        assert!(
            first.iter().all(|option| known.contains(option)),
            "{words:?}: {first:?}"
        );
    }
    assert!(big >= 8, "{big}");
}

/// Words of a help text.
fn words(text: &str) -> BTreeSet<String> {
    let apart = |c: char| !c.is_alphanumeric();
    text.split(apart).map(str::to_lowercase).collect()
}

#[test]
fn help_of_one_place_tells_nothing_of_the_other() {
    let of_lab = ["qemu", "lab", "mips", "virtual", "debian"];
    let of_host = ["host", "setitimer"];
    let of = |words: &Vec<String>| match words.first().map(String::as_str) {
        Some("host") => Some(&of_lab[..]),
        Some("lab") => Some(&of_host[..]),
        _ => None,
    };
    let all = crate::manual::listed().into_iter().filter(|words| words.len() == 2);
    let places = all.filter_map(|words| of(&words).map(|foreign| (words, foreign)));
    let mut seen = 0;
    for (command, foreign) in places {
        seen += 1;
        for flag in ["-h", "--help"] {
            let said = words(&help_of(&command, flag));
            let wrong: Vec<&&str> = foreign.iter().filter(|word| said.contains(**word)).collect();
            assert!(wrong.is_empty(), "{command:?} {flag}: {wrong:?}");
        }
    }
    assert!(seen > 8, "{seen}");
}

/// The lines that begin a page's examples.
fn examples(page: &str) -> Vec<&str> {
    page.lines()
        .filter(|line| line.starts_with("  worstcase "))
        .map(str::trim)
        .collect()
}

fn typed(line: &str) -> Result<(), String> {
    // Files that need not be here.
    let line = line
        .replace("/usr/bin/stress-ng", "/bin/sh")
        .replace("--add ./fill-and-query", "");
    let cli = Cli::try_parse_from(shlex::split(&line).unwrap()).map_err(|e| format!("{line}: {e}"))?;
    match cli.plan() {
        Some(Err(error)) => Err(format!("{line}: {error}")),
        _ => Ok(()),
    }
}

#[test]
fn each_load_and_probe_is_listed_and_has_a_page_whose_examples_can_be_typed() {
    let mut names: Vec<(&str, &str, &str)> = LOADS.iter().map(|load| ("loads", load.name(), load.about)).collect();
    names.extend(PROBES.iter().map(|probe| ("probes", probe.name, probe.about)));
    for (command, name, about) in names {
        let list = said(&[command]);
        let row = |line: &str| line.starts_with(name) && line.contains(&about[..about.len().min(30)]);
        assert!(list.lines().any(row), "{command} {name}:\n{list}");
        let page = said(&[command, name]);
        assert!(page.starts_with(name) && page.contains("\n  where "), "{page}");
        assert!(!examples(&page).is_empty(), "{page}");
        for line in examples(&page) {
            assert_eq!(typed(line), Ok(()));
        }
    }
    assert!(said(&["loads", "compile"]).contains("compile:PATH"));
    assert_eq!(said(&["loads", "fork@100"]), said(&["loads", "fork"]));
}

#[test]
fn an_unknown_name_is_answered_by_what_was_meant_in_one_line() {
    for (line, meant) in [
        ("loads frok", "unknown load 'frok'; did you mean fork?"),
        ("probes swich", "unknown probe 'swich'; did you mean switch?"),
        (
            "lab run --kernel a --load dsk",
            "unknown load 'dsk'; did you mean disk? worstcase loads lists all",
        ),
        (
            "host run --probe wakup",
            "unknown probe 'wakup'; did you mean wakeup? worstcase probes lists all",
        ),
        (
            "host run --probe io+randwrit",
            "no option 'randwrit'; did you mean randwrite",
        ),
        (
            "study show preemption",
            "unknown study 'preemption'; did you mean preemption-models or preemption-today?",
        ),
        ("man lab rnu", "unknown command 'lab rnu'; did you mean lab run?"),
        ("shwo run", "'show'"),
        ("host run --prob wakeup", "'--probe'"),
        ("host try --only no-such-setting", "'no-such-setting'"),
        ("host run --criterion p99.9=50us", "verdict RUN --criterion p99.9=50us"),
        ("lab run --criterion p99.9=50us", "verdict RUN --criterion p99.9=50us"),
        ("plot a --criterion p99.9=50us", "verdict RUN --criterion p99.9=50us"),
    ] {
        let output = Command::cargo_bin("worstcase")
            .unwrap()
            .args(line.split(' '))
            .output()
            .unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{line}: {error}");
        let told = error.lines().find(|said| said.contains(meant));
        let told = told.unwrap_or_else(|| panic!("{line}: {error}"));
        assert!(told.len() < 260, "{told}");
    }
}

#[test]
fn a_list_is_given_with_commas_or_again() {
    for (one, other) in [
        (
            "lab run --kernel debian:6.1,debian:6.12-rt",
            "lab run --kernel debian:6.1 --kernel debian:6.12-rt",
        ),
        (
            "lab run --kernel a --load shm,fork",
            "lab run --kernel a --load shm --load fork",
        ),
        (
            "lab run --kernel a --probe wakeup,pick:1",
            "lab run --kernel a --probe wakeup --probe pick:1",
        ),
        (
            "lab run --kernel a --preempt none,full",
            "lab run --kernel a --preempt none --preempt full",
        ),
        (
            "lab run --kernel a --mips 500,1000",
            "lab run --kernel a --mips 500 --mips 1000",
        ),
        (
            "lab run --kernel a --cpus 1,2 --memory 512,1024",
            "lab run --kernel a --cpus 1 --cpus 2 --memory 512 --memory 1024",
        ),
        (
            "lab run --kernel a --disk hdd,ssd --scheduler eevdf,o-1",
            "lab run --kernel a --disk hdd --disk ssd --scheduler eevdf --scheduler o-1",
        ),
        (
            "host run --io-scheduler none,bfq",
            "host run --io-scheduler none --io-scheduler bfq",
        ),
    ] {
        let experiment = |line: &str| {
            let words = ["worstcase"].into_iter().chain(line.split(' '));
            let plan = Cli::try_parse_from(words)
                .unwrap_or_else(|e| panic!("{line}: {e}"))
                .plan();
            plan.unwrap().unwrap_or_else(|e| panic!("{line}: {e}")).0.experiment
        };
        assert_eq!(experiment(one), experiment(other), "{one}");
    }
}
