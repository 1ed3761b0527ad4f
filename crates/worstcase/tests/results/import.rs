//! `worstcase import`, and what the other commands make of its runs.

use crate::fixture::{host_raw, on_cpu, write_cells};
use assert_cmd::Command;
use std::fs;
use std::path::{Path, PathBuf};
use worstcase_results::record::Run;

fn data(name: &str) -> PathBuf {
    let foreign = Path::new(env!("CARGO_MANIFEST_DIR")).join("../foreign/tests/data");
    foreign.join(name).canonicalize().unwrap()
}

/// In `dir`, with the exit code: standard output and standard error.
fn worstcase(dir: &Path, args: &[&str], code: i32) -> (String, String) {
    let mut command = Command::cargo_bin("worstcase").unwrap();
    let output = command.args(args).current_dir(dir).output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{args:?}: {output:?}");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr))
}

fn import(dir: &Path, names: &[&str], more: &[&str]) -> String {
    let files: Vec<PathBuf> = names.iter().map(|name| data(name)).collect();
    let files = files.iter().map(|file| file.to_str().unwrap());
    let args: Vec<&str> = ["import"]
        .into_iter()
        .chain(files)
        .chain(more.iter().copied())
        .collect();
    worstcase(dir, &args, 0).0
}

#[test]
fn what_a_file_does_not_hold_is_a_dash_and_told() {
    let dir = tempfile::tempdir().unwrap();
    let said = import(dir.path(), &["cyclictest-lines.txt"], &[]);
    let line = |of: &str| said.lines().find(|line| line.starts_with(of)).unwrap().to_string();
    let words = |line: String| line.split_whitespace().map(str::to_string).collect::<Vec<_>>();
    assert_eq!(
        words(line("CPU 0")),
        ["CPU", "0", "20.0", "-", "-", "-", "-", "1594", "2", "000", "-", "-"]
    );
    assert_eq!(words(line("CPU 1"))[8..], ["1", "341", "0", "-"]);
    for told in [
        "by cyclictest, 2.012 s, every 1 ms",
        "values in steps of 1 us, rounded down",
        "not in the file: the distribution",
        "not in the file: missed periods",
        "kept in import-cyclictest-lines",
    ] {
        assert!(said.contains(told), "{told}: {said}");
    }
    assert!(!said.contains("no load"), "{said}");
    // Its folder is taken now.
    let file = data("cyclictest-lines.txt");
    let (_, error) = worstcase(dir.path(), &["import", file.to_str().unwrap()], 2);
    assert!(error.contains("import-cyclictest-lines is there already"), "{error}");
}

#[test]
fn a_histogram_s_end_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let said = import(dir.path(), &["cyclictest-histogram.txt"], &["--output", "run"]);
    assert!(
        said.contains("15 samples of 3 000 fell out of its histogram: latency from 200 us up"),
        "{said}"
    );
    let cell = "cyclictest-histogram.unknown.cyclictest.unknown.wakeup.s1.c0";
    let (said, _) = worstcase(dir.path(), &["show", "run", "--cell", cell], 0);
    for told in [
        "missed: not known",
        "median 46.000",
        "Histogram (us",
        "none: its samples",
    ] {
        assert!(said.contains(told), "{told}: {said}");
    }
    let (csv, _) = worstcase(dir.path(), &["show", "run", "--csv"], 0);
    let line = csv.lines().nth(1).unwrap();
    assert!(
        line.contains(",foreign,,unknown,wakeup,latency,1,3000,3000,,0,21000,"),
        "{line}"
    );
}

#[test]
fn every_command_takes_such_a_run_or_says_why_not() {
    let dir = tempfile::tempdir().unwrap();
    let files = [
        "cyclictest.json",
        "timerlat-hist.txt",
        "osnoise-top.txt",
        "oslat.json",
        "jitterdebugger.raw",
        "timerlat-top.txt",
    ];
    import(
        dir.path(),
        &files,
        &["--load", "idle", "--interval", "1ms", "-o", "run"],
    );
    let run = |args: &[&str], code| worstcase(dir.path(), args, code);
    let (shown, _) = run(&["show", "run"], 0);
    assert!(shown.contains("| rtla timerlat hit stop tracing"), "{shown}");
    run(&["show", "run", "--json"], 0);
    run(&["report", "run", "-o", "page.html"], 0);
    let page = fs::read_to_string(dir.path().join("page.html")).unwrap();
    assert!(page.contains("measured by rtla timerlat"));
    run(&["plot", "run", "-o", "pictures"], 0);
    let (verdict, _) = run(&["verdict", "run", "--criterion", "1s"], 10);
    assert!(
        verdict.contains("how many periods were missed is not known"),
        "{verdict}"
    );
    let (verdict, _) = run(&["verdict", "run", "--criterion", "1us"], 1);
    assert!(verdict.contains("FAIL"), "{verdict}");
    let (_, error) = run(&["explain", "run"], 2);
    assert!(error.contains("which keeps no trace of its samples"), "{error}");
    let (_, error) = run(&["census", "run"], 2);
    assert!(error.contains("not measured in the lab"), "{error}");
    let (_, error) = run(&["verdict", "run", "--tail", "--criterion", "1s"], 10);
    assert_eq!(error, "");
}

#[test]
fn two_files_of_a_kernel_compare() {
    let dir = tempfile::tempdir().unwrap();
    for out in ["a", "b"] {
        import(dir.path(), &["oslat.json"], &["-o", out]);
    }
    let (said, _) = worstcase(dir.path(), &["compare", "a", "b"], 0);
    assert!(said.contains("2 cells compared"), "{said}");
    let text = import(dir.path(), &["cyclictest-histogram.json"], &["-o", "c"]);
    assert!(text.contains("6.18.44, by cyclictest 2.40"), "{text}");
}

#[test]
fn tools_for_files_stand_in_the_table_of_io() {
    let dir = tempfile::tempdir().unwrap();
    let files = [
        "fio.json",
        "fio-plain.json",
        "fio-mixed.json",
        "bonnie.csv",
        "hdparm.txt",
    ];
    for (name, columns) in [
        ("bonnie.csv", "1536m+write+bs8k - - - 4066 393 216 117 874 965.6"),
        ("hdparm.txt", "256m+cached - - - - 0 - 9719.3"),
    ] {
        let said = import(dir.path(), &[name], &["-o", name]);
        let work = columns.split_once(' ').unwrap().0;
        let line = said.lines().find(|line| line.contains(&format!(" {work} "))).unwrap();
        let words: Vec<&str> = line.split_whitespace().skip(2).collect();
        assert_eq!(words.join(" "), columns, "{said}");
        assert!(
            said.contains("its file does not tell how many requests waited"),
            "{said}"
        );
    }
    import(dir.path(), &files, &["--load", "idle", "-o", "all"]);
    let run = |args: &[&str]| worstcase(dir.path(), args, 0).0;
    let shown = run(&["show", "all"]);
    for told in [
        "fio-mixed-read under idle",
        "time of an operation (us)",
        "32m+randread+direct",
        "| mixed, write: ",
    ] {
        assert!(shown.contains(told), "{told}: {shown}");
    }
    let json: serde_json::Value = serde_json::from_str(&run(&["show", "all", "--json"])).unwrap();
    let io = json["runs"][0]["io"].as_array().or(json["io"].as_array()).unwrap();
    let bonnie = |point: &&serde_json::Value| point["probe"] == "io:1536m+read+bs8k";
    let bonnie = io.iter().find(bonnie).unwrap();
    assert!(
        bonnie["min_ns"].is_null() && bonnie["bytes_a_second"].is_null(),
        "{bonnie}"
    );
    assert_eq!(bonnie["max_ns"], 2_196_000);
    run(&["report", "all", "-o", "page.html"]);
    assert!(run(&["plot", "all", "-o", "pictures"]).contains("io-schedulers.svg"));
    assert!(run(&["show", "all", "--csv"]).contains("io:1536m+putc"));
    assert!(run(&["compare", "bonnie.csv", "bonnie.csv"]).contains("cells compared"));
}

#[test]
fn files_of_different_length_make_no_baseline_and_it_is_said_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let files = ["cyclictest.json", "cyclictest-histogram.json"];
    import(dir.path(), &files, &["-o", "run"]);
    let (_, error) = worstcase(dir.path(), &["gate", "run", "--write-baseline", "b.json"], 2);
    assert!(
        error.contains("this run makes no baseline") && error.contains("is there twice, with "),
        "{error}"
    );
    assert!(!dir.path().join("b.json").exists());
    import(dir.path(), &files[..1], &["-o", "one"]);
    worstcase(dir.path(), &["gate", "one", "--write-baseline", "b.json"], 0);
    let (said, _) = worstcase(dir.path(), &["gate", "one", "--baseline", "b.json"], 10);
    assert!(said.contains("INCONCLUSIVE 2 cells against the baseline"), "{said}");
}

#[test]
fn a_run_names_the_command_that_imports_it_again() {
    let dir = tempfile::tempdir().unwrap();
    import(
        dir.path(),
        &["cyclictest-verbose.txt"],
        &["--interval", "2ms", "-o", "run"],
    );
    let run = Run::open(&dir.path().join("run")).unwrap();
    let file = data("cyclictest-verbose.txt").display().to_string();
    let output = dir.path().join("run").display().to_string();
    let expected = [
        "worstcase",
        "import",
        &file,
        "--interval",
        "2000000ns",
        "--output",
        &output,
    ];
    assert_eq!(run.command(), expected);
    assert_eq!(run.to_go_on(), expected);
    let samples = |record| {
        let mut rows = Vec::new();
        run.for_each_sample(&record, |row| rows.push((row.index, row.due.0, row.latency.0)))
            .unwrap();
        rows
    };
    let rows = samples(run.records().unwrap().remove(0));
    assert_eq!((rows.len(), rows[1]), (100, (1, 2_000_000, 42_000)));
}

/// Numbers that no tool measures: of one file, and of several together.
#[test]
fn what_overflows_is_an_error_in_one_line() {
    let dir = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(data("cyclictest.json")).unwrap();
    for (count, says) in [
        (
            u64::MAX,
            "the number of samples of wakeup, CPU or thread 0 is 18446744073709551615",
        ),
        (1 << 63, "more than any measurement has; it is damaged, write it anew"),
    ] {
        let damaged = text.replacen("\"cycles\": 2000", &format!("\"cycles\": {count}"), 1);
        fs::write(dir.path().join("damaged.json"), damaged).unwrap();
        let (_, told) = worstcase(dir.path(), &["import", "damaged.json"], 2);
        assert!(told.contains(says) && told.lines().count() == 1, "{told}");
    }
    let large = text.replacen("\"cycles\": 2000", &format!("\"cycles\": {}", 1_u64 << 62), 1);
    let names: Vec<String> = (0..5).map(|n| format!("large-{n}.json")).collect();
    for name in &names {
        fs::write(dir.path().join(name), &large).unwrap();
    }
    let words: Vec<&str> = ["import"].into_iter().chain(names.iter().map(String::as_str)).collect();
    let (_, told) = worstcase(dir.path(), &words, 2);
    assert!(
        told.contains("too large to add up") && told.lines().count() == 1,
        "{told}"
    );
}

#[test]
fn what_cannot_be_imported_is_an_error_in_one_line() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("notes.txt"), "hello\n").unwrap();
    fs::write(dir.path().join("cut.txt"), "# Histogram\n000001 000003\n").unwrap();
    for (args, code, says) in [
        (
            &["import", "notes.txt"][..],
            2,
            "cannot import notes.txt: it is no output of a known tool; --format says",
        ),
        (&["import", "cut.txt"], 2, "ends without '# Total:'; the file was cut"),
        (&["import", "gone.txt"], 2, "cannot read gone.txt: No such file"),
        (&["import", "."], 2, "cannot read .: Is a directory"),
        (
            &["import", "notes.txt", "--format", "oslat"],
            2,
            "it holds no result of oslat",
        ),
    ] {
        let (out, error) = worstcase(dir.path(), args, code);
        assert!(
            error.starts_with("worstcase: ") && error.contains(says),
            "{args:?}: {error}"
        );
        assert_eq!((error.lines().count(), out.as_str()), (1, ""));
    }
    let (_, error) = worstcase(dir.path(), &["import", "notes.txt", "--format", "ping"], 2);
    assert!(error.contains("'ping' is not one of cyclictest, timerlat"), "{error}");
    let left: Vec<_> = fs::read_dir(dir.path()).unwrap().collect();
    assert_eq!(left.len(), 2, "nothing is left of an import that failed");
}

#[test]
fn a_foreign_run_compares_with_one_of_worstcase() {
    let dir = tempfile::tempdir().unwrap();
    let latencies: Vec<u64> = (0..20_000).map(|i| 20_000 + i % 7 * 1_000).collect();
    let cell = on_cpu(0, &host_raw(1, &latencies));
    let load = cell.record.cell.load.clone();
    write_cells(&dir.path().join("ours"), &[cell]);
    let (histogram, _) = worstcase(dir.path(), &["show", "ours", "--histogram"], 0);
    fs::write(dir.path().join("theirs.txt"), histogram).unwrap();
    worstcase(
        dir.path(),
        &["import", "theirs.txt", "--load", &load, "-o", "theirs"],
        0,
    );
    let (said, _) = worstcase(dir.path(), &["compare", "ours", "theirs"], 0);
    assert!(
        said.contains("1 cell compared") || said.contains("1 cells compared"),
        "{said}"
    );
    assert!(
        said.contains("B: theirs: theirs unknown cyclictest; imported, measured by cyclictest"),
        "{said}"
    );
    // Fewer samples are another measurement: a maximum grows with their number.
    import(
        dir.path(),
        &["cyclictest-histogram.txt"],
        &["--load", &load, "-o", "short"],
    );
    let (_, error) = worstcase(dir.path(), &["compare", "ours", "short"], 2);
    assert!(
        error.contains("not measured alike: periods 20000 against 3000"),
        "{error}"
    );
}

const TWO_RUNS: &str = "=== stress
T: 0 ( 4101) P:95 I:1000 C:  60000 Min:      3 Act:    5 Avg:    6 Max:     941
T: 1 ( 4102) P:95 I:1000 C:  59998 Min:      3 Act:    4 Avg:    5 Max:     233
=== idle
T: 0 ( 5101) P:95 I:1000 C:  60000 Min:      3 Act:    5 Avg:    6 Max:      41
T: 1 ( 5102) P:95 I:1000 C:  59998 Min:      3 Act:    4 Avg:    5 Max:      33
";

#[test]
fn the_first_of_two_runs_fails_the_verdict() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("two.txt"), TWO_RUNS).unwrap();
    let (said, _) = worstcase(dir.path(), &["import", "two.txt"], 0);
    assert!(said.contains("run 2 of 2 in the file, from line 5 on"), "{said}");
    let (said, _) = worstcase(dir.path(), &["verdict", "import-two", "--criterion", "100us"], 1);
    assert!(
        said.contains("FAIL") && said.contains("941.000 us (unknown, wakeup, seed 1, CPU 0)"),
        "{said}"
    );
}

/// What a tool says against its result is a doubt in the table, the verdict and the page.
#[test]
fn what_a_tool_says_against_itself_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let missed = fs::read_to_string(data("timerlat-hist.txt")).unwrap()
        + "4211 (3.39%) events missed, results might not be accurate\n";
    let starved = "T: 0 (26) P:80 I:1000 C:  60000 Min:     14 Act:   33 Avg:   29 Max:      81
T: 1 (27) P:80 I:10001000 C:      0 Min:1000000 Act:    0 Avg:    0 Max:       0
";
    for (name, text, doubt) in [
        (
            "missed",
            missed.as_str(),
            "rtla: 4211 (3.39%) events missed, results might not be accurate",
        ),
        ("starved", starved, "it took no sample"),
    ] {
        let file = format!("{name}.txt");
        fs::write(dir.path().join(&file), text).unwrap();
        let (said, _) = worstcase(dir.path(), &["import", &file, "-o", name], 0);
        assert!(said.contains(doubt), "{said}");
        let (said, _) = worstcase(dir.path(), &["verdict", name, "--criterion", "1s"], 10);
        assert!(said.contains(doubt) && said.contains("lost not known"), "{said}");
        worstcase(dir.path(), &["report", name, "-o", "page.html"], 0);
        assert!(
            fs::read_to_string(dir.path().join("page.html"))
                .unwrap()
                .contains(doubt)
        );
    }
}

#[test]
fn a_percentile_can_be_the_criterion() {
    let dir = tempfile::tempdir().unwrap();
    import(dir.path(), &["cyclictest-histogram.txt"], &["-o", "run"]);
    // p99 of thread 0 is 133 us; of 3 000 samples none bears p99.9.
    let verdict = |limit: &str, code| worstcase(dir.path(), &["verdict", "run", "--criterion", limit], code).0;
    let said = verdict("p99=100us", 1);
    assert!(said.contains("Verdict: is p99 of every cell within 100 us?"), "{said}");
    assert!(
        said.contains("p99 is 133.000 us (unknown, wakeup, seed 1, CPU 0)"),
        "{said}"
    );
    assert!(!verdict("p99=140us", 10).contains("p99 is 133"));
    let said = verdict("p99.9=1s", 10);
    assert!(
        said.contains("whether p99.9 is above the limit is not known in"),
        "{said}"
    );
    let (said, _) = worstcase(dir.path(), &["verdict", "run", "--criterion", "p99=100us", "--json"], 1);
    let json: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!(
        (&json["percentile"], &json["limit_ns"]),
        (&"p99".into(), &100_000.into())
    );
    let (said, _) = worstcase(
        dir.path(),
        &["show", "run", "--criterion", "p99=100us", "--markdown"],
        0,
    );
    assert!(said.contains("**No p99 above 100 us**"), "{said}");
    worstcase(
        dir.path(),
        &["report", "run", "--criterion", "p99=100us", "-o", "page.html"],
        0,
    );
    let page = fs::read_to_string(dir.path().join("page.html")).unwrap();
    assert!(page.contains("does not keep p99 of every cell within 100 us"));
    let (_, error) = worstcase(dir.path(), &["verdict", "run", "--criterion", "p98=1us"], 2);
    assert!(error.contains("unknown percentile 'p98'"), "{error}");
    // Out of the histogram it is at least as large as its end.
    import(dir.path(), &["cyclictest-overflow.txt"], &["-o", "out"]);
    let (said, _) = worstcase(dir.path(), &["verdict", "out", "--criterion", "p99=1us"], 1);
    assert!(said.contains("p99 is at least "), "{said}");
    // A gate asks the same.
    worstcase(dir.path(), &["gate", "run", "--write-baseline", "b.json"], 0);
    let gate = [
        "gate",
        "run",
        "--baseline",
        "b.json",
        "--criterion",
        "p99=100us",
        "--junit",
        "j.xml",
    ];
    let (said, _) = worstcase(dir.path(), &gate, 1);
    assert!(said.contains("p99 is 133.000 us"), "{said}");
    assert!(
        fs::read_to_string(dir.path().join("j.xml"))
            .unwrap()
            .contains("no p99 above 100 us")
    );
}
