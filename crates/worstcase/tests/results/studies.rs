//! Study files: the built-in one, and what is said of files that are wrong.

use std::fs;
use worstcase::study::{self, Variant, built_in, load};

/// The built-in study with one line changed, as a file; returns what is said of it, without the file's name.
fn said_of(from: &str, to: &str) -> String {
    let text = study::text("preemption-models").unwrap();
    assert!(text.contains(from), "{from}");
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("mine.toml");
    fs::write(&path, text.replacen(from, to, 1)).unwrap();
    let path = path.to_str().unwrap();
    let error = load(path).unwrap_err().to_string();
    error
        .strip_prefix(path)
        .unwrap_or_else(|| panic!("{error}"))
        .to_string()
}

#[test]
fn built_in_studies_are_valid() {
    for study in built_in() {
        assert_eq!(load(&study.name).unwrap(), study);
        assert!(!study.published.is_empty());
    }
}

#[test]
fn the_quick_form_is_small_and_boots_each_subject_once() {
    let study = load("preemption-models").unwrap();
    let quick = study.plan(Variant::Quick);
    assert_eq!(quick.len(), 4 * 3 * 2 * 3);
    assert_eq!(study.plan(Variant::Full).len(), 4 * 2 * 2 * 20);
    let mut subjects: Vec<_> = quick.iter().map(|c| (&c.kernel, &c.preempt)).collect();
    subjects.dedup();
    assert_eq!(subjects.len(), 4);
    // What it does not change is as in the full form.
    assert_eq!(Some(quick[0].spec.period), study.full.period);
    assert_eq!(quick[0].spec.periods, 2_000);
}

#[test]
fn errors_name_line_and_what_is_allowed() {
    let lines = [
        said_of("\"voluntary\"", "\"maximal\""),
        said_of("probes = [\"wakeup\"", "probes = [\"nothing\""),
        said_of("period = \"251us\"", "period = \"251\""),
        said_of("period = \"251us\"", "period = \"1ns\""),
        said_of("priority = 98", "priority = 100"),
        said_of("mips = 1000", "mips = 999"),
        said_of("seeds = 20", "seeds = 0"),
        said_of("seeds = 20", "sedes = 20"),
        said_of("seeds = 20", ""),
        said_of("loads = [\"shm\", \"blockread\"]", "loads = []"),
        said_of("\"blockread\"]", "\" blockread\"]"),
        said_of("samples = 10_000", "samples = \"many\""),
        said_of("worstcase-study/1", "worstcase-study/9"),
        said_of("\n[full]\n", "\n[full\n"),
        said_of("name = \"preemption-models\"", "name = \"../x\""),
    ];
    insta::assert_snapshot!(lines.join("\n"), @r#"
    , line 19: unknown preemption model 'maximal'; allowed: none, voluntary, full, lazy, rt
    , line 23: unknown probe 'nothing'; known: wakeup, response
    , line 29: '251' is not a duration: write a number and ns, us, ms, s, m or h, whole nanoseconds at the end, e.g. 100us or 2.5ms
    , line 29: a period is 10 us to 60 s, not 1ns
    , line 31: priority is 1 to 99, not 100
    , line 33: mips is 1000, 500, 250 or 125, not 999
    , line 25: seeds is 1 to 10000, not 0
    , line 25: unknown field `sedes`, expected one of `kernels`, `loads`, `probes`, `seeds`, `samples`, `period`, `warmup`, `priority`, `mips`, `memory_mb`
    , line 17: [full] has no 'seeds'
    , line 22: 'loads' is empty
    , line 22: unknown load ' blockread'; known: idle, shm, fork, blockread, procread, find, apps:N, sockets, compile, cmd:PROGRAM [ARGUMENT...]
    , line 27: invalid type: string "many", expected u32
    , line 5: the schema is 'worstcase-study/9', this worstcase reads 'worstcase-study/1'
    , line 17: unclosed table, expected `]`
    , line 6: the name '../x' may have lower-case letters, digits and '-'
    "#);
}

#[test]
fn a_study_that_does_not_exist() {
    insta::assert_snapshot!(load("preemption").unwrap_err(), @"there is no study 'preemption'; built in: preemption-models; or name a file, e.g. ./preemption.toml");
    insta::assert_snapshot!(load("./no.toml").unwrap_err(), @"cannot read the study ./no.toml: No such file or directory (os error 2)");
}
