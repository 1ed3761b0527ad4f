//! Study files: the built-in one, and what is said of files that are wrong.

use std::fs;
use worstcase_lab::study::{self, Variant, built_in, load};

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
        assert!(!study.published.is_empty() || study.source == "our own");
        for variant in [Variant::Quick, Variant::Full] {
            let plan = study.plan(variant);
            assert!(plan.iter().all(|cell| cell.spec.to_text().is_ok()), "{}", study.name);
        }
    }
}

#[test]
fn the_quick_form_is_small_and_boots_each_subject_once() {
    let study = load("preemption-models").unwrap();
    let quick = study.plan(Variant::Quick);
    assert_eq!(quick.len(), 4 * 3 * 2 * 3);
    assert_eq!(study.plan(Variant::Full).len(), 5 * 2 * 2 * 10);
    let mut subjects: Vec<_> = quick.iter().map(|c| (&c.kernel, &c.preempt)).collect();
    subjects.dedup();
    assert_eq!(subjects.len(), 4);
    // What it does not change is as in the full form.
    assert_eq!(Some(quick[0].spec.period), study.full[0].period);
    assert_eq!(quick[0].spec.periods, 2_000);
}

#[test]
fn errors_name_line_and_what_is_allowed() {
    let lines = [
        said_of("\"voluntary\"", "\"maximal\""),
        said_of("probes = [\"response\"", "probes = [\"nothing\""),
        said_of("period = \"251us\"", "period = \"251\""),
        said_of("period = \"251us\"", "period = \"1ns\""),
        said_of("priority = 98", "priority = 100"),
        said_of("mips = 1000", "mips = 999"),
        said_of("seeds = 10", "seeds = 0"),
        said_of("seeds = 10", "sedes = 20"),
        said_of("seeds = 10", ""),
        said_of("loads = [\"shm\", \"blockread\"]", "loads = []"),
        said_of("\"blockread\"]", "\" blockread\"]"),
        said_of("samples = 4_000", "samples = \"many\""),
        said_of("worstcase-study/1", "worstcase-study/9"),
        said_of("\n[full]\n", "\n[full\n"),
        said_of("name = \"preemption-models\"", "name = \"../x\""),
    ];
    insta::assert_snapshot!(lines.join("\n"), @r#"
    , line 19: unknown preemption model 'maximal'; allowed: none, voluntary, full, lazy, rt, and all
    , line 24: unknown probe 'nothing'; known: wakeup, response, switch, hackbench, inversion
    , line 30: '251' is not a duration: write a number and ns, us, ms, s, m or h, whole nanoseconds at the end, e.g. 100us or 2.5ms
    , line 30: a period is 10 us to 60 s, not 1ns
    , line 32: priority is 1 to 99, not 100
    , line 34: mips is 1000, 500, 250 or 125, not 999
    , line 26: seeds is 1 to 10000, not 0
    , line 26: unknown field `sedes`, expected one of `kernels`, `loads`, `probes`, `seeds`, `samples`, `period`, `warmup`, `priority`, `mips`, `memory_mb`, `part`
    , line 17: [full] has no 'seeds'
    , line 23: 'loads' is empty
    , line 23: unknown load ' blockread'; known: idle, shm, fork, blockread, procread, find, apps:N, sockets, compile, cmd:PROGRAM [ARGUMENT...]
    , line 28: invalid type: string "many", expected u32
    , line 5: the schema is 'worstcase-study/9', this worstcase reads 'worstcase-study/1'
    , line 17: unclosed table, expected `]`
    , line 6: the name '../x' may have lower-case letters, digits and '-'
    "#);
}

#[test]
fn a_study_that_does_not_exist() {
    insta::assert_snapshot!(load("preemption").unwrap_err(), @"there is no study 'preemption'; built in: preemption-models, realfeel-jitter, scheduler-scaling, interrupt-and-switch, kernel-flavours, kernel-history; or name a file, e.g. ./preemption.toml");
    insta::assert_snapshot!(load("./no.toml").unwrap_err(), @"cannot read the study ./no.toml: No such file or directory (os error 2)");
}

fn parsed(cells: &str) -> worstcase_lab::study::Study {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.toml");
    let head = "schema = \"worstcase-study/1\"\nname = \"s\"\ntitle = \"t\"\nquestion = \"q\"\nsource = \"me\"\n";
    std::fs::write(&path, format!("{head}{cells}")).unwrap();
    load(path.to_str().unwrap()).unwrap()
}

#[test]
fn parts_differ_from_the_whole_in_what_they_say() {
    let study = parsed(
        "[full]\nkernels = [{ kernel = \"debian:6.1\", preempt = [\"all\"] }]\nloads = [\"idle\"]\nprobes = [\"wakeup\"]\nseeds = 2\n\
         [[full.part]]\nloads = [\"shm\", \"idle\"]\n[[full.part]]\nprobes = [\"switch:2/4x0\"]\nmemory_mb = 523\n\
         [quick]\nseeds = 1\n\
         [host]\nprobes = [\"jitter\"]\ntime = \"60s\"\n[host.quick]\ntime = \"5s\"\n",
    );
    let names = |variant| -> Vec<String> {
        let cells = study.plan(variant);
        let name = |c: &worstcase_lab::study::PlannedCell| {
            format!("{} {} {} {}", c.memory_mb, c.spec.load, c.spec.probe, c.spec.seed)
        };
        cells.iter().map(name).collect()
    };
    assert_eq!(names(Variant::Full).len(), 2 * 2 + 2 * 2);
    assert_eq!(
        names(Variant::Quick),
        [
            "256 shm wakeup 1",
            "256 idle wakeup 1",
            "523 idle switch:2x0 1",
            "523 idle switch:4x0 1"
        ]
    );
    let host = study.host.unwrap();
    assert_eq!(host.full, ["--probe", "jitter", "--time", "60s"]);
    assert_eq!(host.quick, ["--probe", "jitter", "--time", "5s"]);
}
