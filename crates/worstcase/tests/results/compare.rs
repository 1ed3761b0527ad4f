//! `worstcase compare`, as users type it.

use crate::fixture::{ensemble, of_model, write_cells};
use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;
use std::path::{Path, PathBuf};
use worstcase_plan::NOT_ONE_UNIT;
use worstcase_results::record::CellResult;

fn worstcase(arguments: &[&str], paths: &[&Path]) -> Command {
    let mut command = Command::cargo_bin("worstcase").unwrap();
    command
        .env_remove("NO_COLOR")
        .arg("compare")
        .args(paths)
        .args(arguments);
    command
}

fn kept(results: &[CellResult]) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    write_cells(&path, results);
    (dir, path)
}

/// Two loads; of the second run one is 1.5 times as late.
fn two(seeds: std::ops::RangeInclusive<u64>) -> [Vec<CellResult>; 2] {
    let of = |shm: f64| {
        [
            ensemble("6.1", "shm", seeds.clone(), shm),
            ensemble("6.1", "fork", seeds.clone(), 1.0),
        ]
        .concat()
    };
    [of(1.0), of(1.5)]
}

fn json(arguments: &[&str], paths: &[&Path]) -> serde_json::Value {
    let out = worstcase(&[arguments, &["--json"]].concat(), paths).assert().success();
    serde_json::from_slice(&out.get_output().stdout).unwrap()
}

/// An instruction of one architecture is not one of another.
#[test]
fn two_architectures_have_ranks_and_no_ratio() {
    let of = |label: &str, shm: f64, fork: f64| {
        [ensemble(label, "shm", 1..=8, shm), ensemble(label, "fork", 1..=8, fork)].concat()
    };
    let ((_a, a), (_b, b)) = (kept(&of("6.1", 1.0, 2.0)), kept(&of("6.1-arm64", 3.0, 1.0)));
    for form in [&[][..], &["--markdown"]] {
        let out = worstcase(form, &[&a, &b]).assert().success();
        let text = String::from_utf8(out.get_output().stdout.clone()).unwrap();
        assert!(text.contains(NOT_ONE_UNIT) && !text.contains("Hodges"), "{text}");
        assert!(text.contains("shm, wakeup: maximum 2 of 2 in A, 1 of 2 in B"), "{text}");
    }
    let told = json(&[], &[&a, &b]);
    assert_eq!(told["cells"], serde_json::json!([]));
    assert_eq!(told["across"][0]["ranks"], serde_json::json!([1, 2]));
    let mut gate = Command::cargo_bin("worstcase").unwrap();
    gate.arg("gate").arg(&b).arg("--baseline").arg(&a);
    gate.assert().code(10).stdout(contains(NOT_ONE_UNIT));
    let mut show = Command::cargo_bin("worstcase").unwrap();
    show.arg("show").arg(&b);
    show.assert().stdout(contains(NOT_ONE_UNIT).not());
    let (_both, both) = kept(&[of("6.1", 1.0, 2.0), of("6.1-arm64", 3.0, 1.0)].concat());
    let mut show = Command::cargo_bin("worstcase").unwrap();
    show.arg("show").arg(&both);
    show.assert().success().stdout(contains(NOT_ONE_UNIT));
}

#[test]
fn the_change_comes_first_and_what_is_the_same_is_said_to_the_bit() {
    let [a, b] = two(1..=8);
    let ((_a, a), (_b, b)) = (kept(&a), kept(&b));
    let out = worstcase(&[], &[&a, &b]).assert().success();
    let text = String::from_utf8(out.get_output().stdout.clone()).unwrap();
    assert!(text.lines().all(|l| l.chars().count() <= 150), "too wide:\n{text}");
    let [worse, same] = ["shm, wakeup", "fork, wakeup"].map(|cell| text.find(cell).unwrap());
    assert!(worse < same, "{text}");
    for words in [
        "2 cells compared: 1 with something worse, 0 with something better, 1 identical to the bit, 0 not compared",
        "exact: different, 8 seeds of 8",
        "exact: identical to the bit, 8 seeds of 8",
        "--explain",
    ] {
        assert!(text.contains(words), "no '{words}' in:\n{text}");
    }
    let shm = &json(&[], &[&a, &b])["cells"][0];
    assert_eq!((&shm["load"], &shm["exact"]["identical"]), (&"shm".into(), &0.into()));
    let max = shm["changes"]
        .as_array()
        .unwrap()
        .iter()
        .find(|c| c["measure"] == "max")
        .unwrap();
    assert_eq!(max["word"], "worse");
    // Each of eight seeds against itself, two-sided, one of three tests whose p are equal.
    assert!(
        (max["p_corrected"].as_f64().unwrap() - 2.0 / 256.0).abs() < 1e-9,
        "{max}"
    );
    assert_eq!(shm["design"], "paired");
    let ratio = &max["ratio"];
    assert!(
        ratio["low"].as_f64() <= Some(1.501) && ratio["high"].as_f64() >= Some(1.499),
        "{ratio}"
    );
    let markdown = worstcase(&["--markdown"], &[&a, &b]).assert().success();
    let text = String::from_utf8(markdown.get_output().stdout.clone()).unwrap();
    let is_max = |line: &&str| line.starts_with("| 6.1.full | shm, wakeup | max |");
    let max = text.lines().find(is_max).unwrap_or_else(|| panic!("{text}"));
    assert!(max.ends_with("| worse |"), "{max}");
    // The other way round it is an improvement.
    assert_eq!(json(&[], &[&b, &a])["cells"][0]["changes"][0]["word"], "better");
}

#[test]
fn three_seeds_tell_nothing_but_that_the_samples_differ() {
    let [a, b] = two(1..=3);
    let ((_a, a), (_b, b)) = (kept(&a), kept(&b));
    let said = contains("too few seeds, needs 6")
        .and(contains("different, 3 seeds of 3"))
        .and(contains("  worse").not());
    worstcase(&[], &[&a, &b]).assert().success().stdout(said);
}

#[test]
fn other_seeds_of_the_same_are_no_change() {
    let ((_a, a), (_b, b)) = (kept(&two(1..=6)[0]), kept(&two(7..=12)[0]));
    let said = contains("0 with something worse, 0 with something better, 0 identical")
        .and(contains("no seed is on both sides"));
    worstcase(&[], &[&a, &b]).assert().success().stdout(said);
}

#[test]
fn subjects_find_each_other() {
    let all = [ensemble("6.1", "shm", 1..=4, 1.0), ensemble("6.12", "shm", 1..=4, 2.0)].concat();
    let ((_a, a), (_b, b), (_both, both)) = (kept(&all[..4]), kept(&all[4..]), kept(&all));
    // The only one on each side.
    assert_eq!(json(&[], &[&a, &b])["cells"][0]["b"], "6.12.full");
    // Of one run, by a part of the name.
    let within = json(&["--subject", "6.1.", "--with", "6.12"], &[&both]);
    assert_eq!(
        (&within["cells"][0]["a"], &within["cells"][0]["b"]),
        (&"6.1.full".into(), &"6.12.full".into())
    );
    let words = worstcase(&["--subject", "6.1.", "--with", "6.12"], &[&both])
        .output()
        .unwrap()
        .stdout;
    let words = String::from_utf8(words).unwrap();
    let run = both.display();
    assert!(words.starts_with(&format!("A: {run}: 6.1 full; ")), "{words}");
    assert!(words.contains(&format!("\nB: {run}: 6.12 full; ")), "{words}");
    assert!(
        words.contains("\nbetter, worse: not said"),
        "four seeds are too few: {words}"
    );
    let crossed = json(&["--map", "6.1.full=6.12.full"], &[&both, &both]);
    assert_eq!(crossed["cells"].as_array().unwrap().len(), 2);
    // A word of a version is not the beginning of another.
    let whole = json(&["--subject", "6.1", "--with", "6.12"], &[&both]);
    assert_eq!(whole["cells"][0]["b"], "6.12.full");
    worstcase(&["--subject", "7", "--with", "6.12"], &[&both])
        .assert()
        .code(2)
        .stderr(contains("no subject is called '7'"));
}

#[test]
fn two_words_find_the_subjects_that_differ_in_nothing_else() {
    let of = of_model;
    let (_one, one) = kept(&[of("6.1", "none"), of("6.12", "none"), of("6.12", "full")].concat());
    let found = json(&["--subject", "6.1", "--with", "6.12"], &[&one]);
    assert_eq!(
        (&found["cells"][0]["a"], &found["cells"][0]["b"]),
        (&"6.1.none".into(), &"6.12.none".into())
    );
    let found = json(&["--subject", "6.12 none", "--with", "full"], &[&one]);
    assert_eq!(found["cells"][0]["b"], "6.12.full");
    let all = [
        of("6.1", "none"),
        of("6.1", "full"),
        of("6.12", "none"),
        of("6.12", "full"),
    ];
    let (_two, two) = kept(&all.concat());
    let said = "'6.1' and '6.12' are 2 pairs of subjects: 6.1.none and 6.12.none, 6.1.full and 6.12.full; add a word";
    let asked = worstcase(&["--subject", "6.1", "--with", "6.12"], &[&two]);
    { asked }.assert().code(2).stderr(contains(said));
}

#[test]
fn what_has_no_partner_is_listed() {
    let [a, mut b] = two(1..=4);
    b.retain(|r| r.record.cell.load == "shm");
    b.extend(ensemble("6.1", "idle", 1..=4, 1.0));
    let ((_a, a), (_b, b)) = (kept(&a), kept(&b));
    let said = contains("A: 6.1.full: fork, wakeup: not in B").and(contains("B: 6.1.full: idle, wakeup: not in A"));
    worstcase(&[], &[&a, &b])
        .assert()
        .success()
        .stdout(said.and(contains("1 cell compared")));
    let ((_x, x), (_y, y)) = (
        kept(&ensemble("6.1", "idle", 1..=4, 1.0)),
        kept(&ensemble("6.1", "fork", 1..=4, 1.0)),
    );
    let mut longer = ensemble("6.1", "fork", 1..=4, 1.0);
    longer.iter_mut().for_each(|r| r.record.cell.period_ns = 1_000_000);
    let ((_both, both), (_longer, longer)) = (kept(&two(1..=4)[0]), kept(&longer));
    let unlike = contains("6.1.full, fork, wakeup: not measured alike: period 251 us against 1 ms");
    worstcase(&[], &[&both, &longer]).assert().code(2).stderr(unlike);
    let why = "no cell of the one side compares with one of the other: no load in common, idle against fork;";
    let one_line = contains(why).and(contains('\n').count(1));
    worstcase(&[], &[&x, &y]).assert().code(2).stdout("").stderr(one_line);
}

#[test]
fn bad_input_is_one_line_and_two() {
    let (dir, run) = kept(&ensemble("6.1", "idle", 1..=4, 1.0));
    let file = dir.path().join("b\n\x1b.json");
    std::fs::write(&file, "{\"schema\": \"worstcase-baseline/0\"}").unwrap();
    let one_line = || predicate::function(|text: &str| text.lines().count() == 1 && !text.contains('\x1b'));
    worstcase(&[], &[&run, &file])
        .assert()
        .code(2)
        .stderr(contains("worstcase-baseline/0"));
    for bad in ["nowhere", "/dev/null"] {
        worstcase(&[], &[&run, bad.as_ref()])
            .assert()
            .code(2)
            .stdout("")
            .stderr(one_line());
    }
    worstcase(&["--explain"], &[&run, &run])
        .assert()
        .code(2)
        .stderr(contains("there is none"));
    worstcase(&[], &[&run]).assert().code(2);
}

/// Each change is a row of the text, of the Markdown and of the JSON, with the same figures.
#[test]
fn each_change_is_in_every_form() {
    let [a, b] = two(1..=6);
    let ((_a, a), (_b, b)) = (kept(&a), kept(&b));
    let text = |more: &[&str]| {
        let out = worstcase(more, &[&a, &b]).assert().success();
        String::from_utf8(out.get_output().stdout.clone()).unwrap()
    };
    let [plain, markdown] = [text(&[]), text(&["--markdown"])];
    let cells = json(&[], &[&a, &b])["cells"].as_array().unwrap().clone();
    let changes: Vec<_> = cells
        .iter()
        .flat_map(|cell| cell["changes"].as_array().unwrap())
        .collect();
    assert!(changes.len() > 2, "{changes:?}");
    for change in changes {
        let us = |key: &str| {
            let ns = change
                .pointer(key)
                .unwrap_or_else(|| panic!("{key}: {change:#}"))
                .as_u64()
                .unwrap();
            worstcase_base::format::micros(worstcase_contract::Nanos(ns))
        };
        let measure = change["measure"].as_str().unwrap();
        if measure == "missed" {
            continue;
        }
        let figures = [us("/a/median"), us("/b/median"), us("/a/lowest"), us("/b/highest")];
        for (form, text) in [("text", &plain), ("Markdown", &markdown)] {
            let has = |line: &str| line.contains(measure) && figures.iter().all(|figure| line.contains(figure));
            assert!(text.lines().any(has), "{measure} {figures:?} in {form}:\n{text}");
        }
        for key in ["difference", "ratio", "p", "p_corrected", "word", "subject", "cell"] {
            assert!(change.get(key).is_some(), "{key}: {change:#}");
        }
    }
}
