//! `worstcase gate`, as CI types it.

use crate::fixture::{ensemble, host_raw, latencies, of_model, on_cpu, raw, result, spec, subject, write_cells};
use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;
use std::fs;
use std::path::{Path, PathBuf};
use worstcase_contract::prng::SplitMix64;
use worstcase_results::record::{CellResult, SubjectMachine};

fn gate(run: &Path) -> Command {
    let mut command = Command::cargo_bin("worstcase").unwrap();
    command.env_remove("NO_COLOR").arg("gate").arg(run);
    command
}

/// A baseline of some cells, and a run of others.
struct GateFolders {
    _dir: tempfile::TempDir,
    baseline: PathBuf,
    run: PathBuf,
}

impl GateFolders {
    fn new(baseline: &[CellResult], run: &[CellResult]) -> GateFolders {
        let dir = tempfile::tempdir().unwrap();
        let path = |name| dir.path().join(name);
        write_cells(&path("before"), baseline);
        write_cells(&path("run"), run);
        let wrote = gate(&path("before"))
            .arg("--write-baseline")
            .arg(path("baseline.json"))
            .assert();
        wrote.success().stdout(contains("wrote"));
        GateFolders {
            baseline: path("baseline.json"),
            run: path("run"),
            _dir: dir,
        }
    }

    fn gate(&self) -> Command {
        let mut command = gate(&self.run);
        command.arg("--baseline").arg(&self.baseline);
        command
    }
}

/// Two loads, of which `shm` is so many times as late.
fn cells(seeds: std::ops::RangeInclusive<u64>, shm: f64) -> Vec<CellResult> {
    [
        ensemble("6.1", "shm", seeds.clone(), shm),
        ensemble("6.1", "fork", seeds, 1.0),
    ]
    .concat()
}

#[test]
fn a_rerun_never_fails_however_few_its_seeds() {
    for seeds in [1, 2, 6] {
        let controller = GateFolders::new(&cells(1..=seeds, 1.0), &cells(1..=seeds, 1.0));
        controller
            .gate()
            .assert()
            .code(0)
            .stdout(contains(format!("PASS          identical to the bit ({seeds} seeds)")));
    }
}

#[test]
fn a_planted_regression_fails() {
    let controller = GateFolders::new(&cells(1..=6, 1.0), &cells(1..=6, 1.3));
    let said = contains("FAIL 2 cells against the baseline: 1 worse, 0 inconclusive, 1 pass")
        .and(contains("6.1.full: shm, wakeup   FAIL"))
        .and(contains("max 8"))
        .and(contains("x1.30"));
    controller.gate().assert().code(1).stdout(said);
    // A faster kernel does not.
    let faster = GateFolders::new(&cells(1..=6, 1.3), &cells(1..=6, 1.0));
    faster.gate().assert().code(0);
    // Nor does what is within the tolerance.
    controller.gate().args(["--tolerance", "40%"]).assert().code(0);
    let slight = GateFolders::new(&cells(1..=6, 1.0), &cells(1..=6, 1.08));
    slight.gate().assert().code(0);
    slight.gate().args(["--tolerance", "5%"]).assert().code(1);
}

#[test]
fn other_seeds_of_the_same_do_not_fail() {
    let controller = GateFolders::new(&cells(1..=6, 1.0), &cells(7..=12, 1.0));
    controller
        .gate()
        .assert()
        .code(0)
        .stdout(contains("2 pass").and(contains("identical").not()));
    let worse = GateFolders::new(&cells(1..=6, 1.0), &cells(7..=12, 1.3));
    worse.gate().assert().code(1);
}

#[test]
fn too_few_seeds_are_no_pass() {
    // Two tests of each of two cells at 5 %: 1 in 80.
    let controller = GateFolders::new(&cells(1..=3, 1.0), &cells(4..=6, 1.0));
    let said = contains("too few seeds to tell: 3 in the baseline, 3 in the run; needs 5 in each");
    controller.gate().assert().code(10).stdout(said);
    let worse = GateFolders::new(&cells(1..=3, 1.0), &cells(4..=6, 1.3));
    worse.gate().assert().code(10).stdout(contains("2 inconclusive"));
    // Two of the same seeds are above the baseline's worst.
    let two = GateFolders::new(&cells(1..=3, 1.0), &cells(1..=3, 1.3));
    let said = contains("x1.30 (seed 1), and seed 2 is above it too");
    two.gate().assert().code(1).stdout(said);
    // What one seed shows needs no others.
    let late = GateFolders::new(&cells(1..=3, 1.0), &cells(1..=3, 9.0));
    late.gate().assert().code(1).stdout(contains("1 worse, 0 inconclusive"));
}

#[test]
fn what_is_missing_or_not_alike_is_no_pass() {
    let [shm, fork] = ["shm", "fork"].map(|load| ensemble("6.1", load, 1..=6, 1.0));
    let both = [shm.clone(), fork.clone()].concat();
    GateFolders::new(&both, &shm)
        .gate()
        .assert()
        .code(10)
        .stdout(contains("6.1.full: fork, wakeup  INCONCLUSIVE  not in the run"));
    let new = contains("not in the baseline, so not judged: 6.1.full: fork, wakeup");
    GateFolders::new(&shm, &both).gate().assert().code(0).stdout(new);
    let models = ["full", "none"].map(|model| of_model("6.1", model)).concat();
    let elsewhere = contains("the other side's subject of this name is compared with another (--map)");
    let both_models = GateFolders::new(&models, &models);
    let mapped = both_models.gate().args(["--map", "6.1.full=6.1.none"]).assert();
    mapped.code(10).stdout(elsewhere);
    let mut slower = shm.clone();
    slower.iter_mut().for_each(|r| r.record.cell.period_ns = 1_000_000);
    let unlike = contains("not measured alike: period 251 us against 1 ms");
    GateFolders::new(&shm, &slower).gate().assert().code(10).stdout(unlike);
    let controller = GateFolders::new(&shm, &shm);
    fs::remove_dir_all(controller.run.join("cells").join(shm[5].record.id.as_str())).unwrap();
    controller
        .gate()
        .assert()
        .code(10)
        .stdout(contains("1 planned cells of the run were not measured"));
    let dir = controller.baseline.with_file_name("other.json");
    gate(&controller.run)
        .arg("--write-baseline")
        .arg(dir)
        .assert()
        .code(2)
        .stderr(contains("needs a finished run"));
    let spaced = controller.run.with_file_name("a run");
    fs::rename(&controller.run, &spaced).unwrap();
    gate(&spaced)
        .args(["--write-baseline", "never.json"])
        .assert()
        .code(2)
        .stderr(contains(format!("--output '{}'", spaced.display())));
}

#[test]
fn one_machine_that_gives_two_answers_is_no_pass() {
    let mut other = cells(1..=6, 1.01);
    for (result, first) in other.iter_mut().zip(cells(1..=6, 1.0)) {
        result.record.subject = first.record.subject;
    }
    GateFolders::new(&cells(1..=6, 1.0), &other)
        .gate()
        .assert()
        .code(10)
        .stdout(contains("worstcase lab verify"));
}

#[test]
fn a_criterion_may_fail_a_run_that_is_no_worse() {
    let controller = GateFolders::new(&cells(1..=6, 1.0), &cells(1..=6, 1.0));
    controller.gate().args(["--criterion", "1ms"]).assert().code(0);
    controller
        .gate()
        .args(["--criterion", "50us"])
        .assert()
        .code(1)
        .stdout(contains("0 worse"));
}

/// CPUs of the host: latencies of seeds around a level.
fn host(level: u64, salt: u64) -> Vec<CellResult> {
    let of = |seed: u64| {
        let mut random = SplitMix64::new(seed * 31 + salt);
        let latencies: Vec<u64> = (0..20_000).map(|_| level + random.below(level)).collect();
        on_cpu(1, &host_raw(seed, &latencies))
    };
    (1..=5).map(of).collect()
}

#[test]
fn the_host_needs_the_test_and_quiet() {
    GateFolders::new(&host(20_000, 0), &host(20_000, 9))
        .gate()
        .assert()
        .code(0);
    // Seeds of one run say nothing of another run.
    GateFolders::new(&host(20_000, 0), &host(25_000, 9))
        .gate()
        .assert()
        .code(10)
        .stdout(contains("idle, wakeup, CPU 1").and(contains("is one draw")));
    // The same samples are no proof on the host, and two seeds too few.
    GateFolders::new(&host(20_000, 0)[..2], &host(20_000, 0)[..2])
        .gate()
        .assert()
        .code(10);
    let mut disturbed = host(25_000, 9);
    disturbed[0]
        .record
        .environment
        .insert("rt_throttled".into(), "3".into());
    GateFolders::new(&host(20_000, 0), &disturbed)
        .gate()
        .assert()
        .code(10)
        .stdout(contains("throttling"));
    let mut warned = host(25_000, 9);
    warned[0].record.warnings.push("SCHED_FIFO was refused".into());
    GateFolders::new(&host(20_000, 0), &warned)
        .gate()
        .assert()
        .code(10)
        .stdout(contains("the baseline does not have: SCHED_FIFO"));
}

#[test]
fn a_worst_seed_has_its_own_line_and_its_own_limit() {
    let mut bad = cells(1..=6, 1.01);
    let late = latencies(1, 800_000);
    let raw = raw(&spec("shm", 4), &late);
    bad[3] = result(&bad[3].record.subject.clone(), &raw);
    let controller = GateFolders::new(&cells(1..=6, 1.0), &bad);
    let [xml, markdown] = ["gate.xml", "gate.md"].map(|name| controller.run.with_file_name(name));
    let mut command = controller.gate();
    command.arg("--junit").arg(&xml).arg("--markdown").arg(&markdown);
    let line = "worst seed: max 83.0 -> 800 virtual us at 1000 MIPS, x9.64, above its limit (seed 4)";
    command.assert().code(1).stdout(contains(line));
    assert!(fs::read_to_string(xml).unwrap().contains(&line.replace("->", "-&gt;")));
    let row = ", x1.01 | **83.0 → 800, x9.64** |";
    let markdown = fs::read_to_string(markdown).unwrap().replace('\u{a0}', " ");
    assert!(markdown.contains(row), "{markdown}");
    let out = controller.gate().arg("--json").assert().code(1);
    let json: serde_json::Value = serde_json::from_slice(&out.get_output().stdout).unwrap();
    assert_eq!(json["limits"]["worst_seed"], 0.6);
    let measures = json["cells"][0]["measures"].as_array().unwrap();
    let max = measures.iter().find(|m| m["name"] == "max").unwrap();
    assert_eq!(
        (&max["worst_seed"]["seed"], &max["worst_seed"]["beyond"]),
        (&4.into(), &true.into())
    );
    // Every figure of that seed is higher: only a limit above all of them lets it pass.
    controller.gate().args(["--worst-seed", "1000%"]).assert().code(0);
}

/// One seed under `shm` whose latest sample is so late; so many periods passed meanwhile, and the kernel is of this key.
fn latest(key: &str, seed: u64, ns: u64, missed: usize) -> Vec<CellResult> {
    let mut late = latencies(seed, 9_000);
    late[417] = ns;
    late.truncate(late.len() - missed);
    let mut subject = subject("6.1", "full");
    if let SubjectMachine::Lab(lab) = &mut subject.machine {
        lab.key = key.repeat(64);
    }
    vec![result(&subject, &raw(&spec("shm", seed), &late))]
}

#[test]
fn an_exact_gate_fails_by_a_nanosecond_and_needs_one_seed() {
    let baseline = latest("a", 1, 80_000, 0);
    for (ns, missed, code) in [
        (80_000, 0, 0),
        (79_999, 0, 0),
        (80_001, 0, 1),
        (20_000, 1, 1),
        (79_000, 0, 0),
    ] {
        let controller = GateFolders::new(&baseline, &latest("b", 1, ns, missed));
        let mut command = controller.gate();
        command.arg("--exact").assert().code(code);
    }
    let later = GateFolders::new(&baseline, &latest("b", 1, 80_001, 0));
    later
        .gate()
        .arg("--exact")
        .assert()
        .code(1)
        .stdout(contains(", by +1 ns, above its limit"));
    let later = GateFolders::new(&baseline, &latest("b", 1, 83_000, 0));
    let line = "FAIL          worst seed: max 80.0 -> 83.0 virtual us at 1000 MIPS, x1.04, above its limit (seed 1)";
    let rule = "worse: the highest median, p99, maximum or count of missed periods of the seeds above the baseline's";
    let markdown = later.run.with_file_name("gate.md");
    let mut command = later.gate();
    command.arg("--exact").arg("--markdown").arg(&markdown);
    command.assert().code(1).stdout(contains(line).and(contains(rule)));
    let place = later.run.parent().unwrap().display().to_string();
    let markdown = fs::read_to_string(markdown).unwrap().replace(&place, "PLACE");
    insta::assert_snapshot!("gate_exact_markdown", markdown);
    let allowed = later.gate().args(["--exact", "--worst-seed", "5%"]).assert().code(0);
    allowed.stdout(contains("PASS          worst seed: max 80.0 -> 83.0").and(contains("by more than 5 %")));
    // Without it one seed cannot tell.
    later.gate().assert().code(10);
}

/// One seed of a program of whose cycles every 16th is longer by so much, and none longer than the longest.
fn longer_now_and_then(key: &str, ns: u64) -> Vec<CellResult> {
    let mut late = latencies(1, 9_000);
    late.iter_mut().step_by(16).for_each(|latency| *latency += ns);
    late[417] = 80_000;
    let mut cell = latest(key, 1, 80_000, 0).remove(0);
    cell = result(&cell.record.subject.clone(), &raw(&spec("shm", 1), &late));
    vec![cell]
}

#[test]
fn an_exact_gate_sees_what_comes_now_and_then() {
    let baseline = longer_now_and_then("a", 0);
    for (ns, code) in [(0, 0), (3_000, 1)] {
        let controller = GateFolders::new(&baseline, &longer_now_and_then("b", ns));
        let said = controller.gate().arg("--exact").assert().code(code);
        let said = String::from_utf8_lossy(&said.get_output().stdout).into_owned();
        assert_eq!(said.contains("worst seed: p99 "), ns > 0, "{said}");
        assert!(
            !said.contains("max 80.0 -> 80.0 virtual us at 1000 MIPS, above"),
            "{said}"
        );
    }
}

#[test]
fn an_exact_gate_needs_the_same_seeds_and_the_lab() {
    let baseline = latest("a", 1, 80_000, 0);
    let other = GateFolders::new(&baseline, &latest("b", 2, 70_000, 0));
    let why = contains("an exact gate needs the same seeds: 1 in the baseline, 1 in the run, 0 in both");
    other.gate().arg("--exact").assert().code(10).stdout(why);
    // Another seed's figures are other ones on the same kernel, too.
    let later = GateFolders::new(&baseline, &latest("b", 2, 90_000, 0));
    later.gate().arg("--exact").assert().code(10);
    // The same machine gave another answer: no PASS, even if it is a lower one.
    let doubtful = GateFolders::new(&baseline, &latest("a", 1, 70_000, 0));
    doubtful.gate().arg("--exact").assert().code(10);
    let host = GateFolders::new(&host(20_000, 0), &host(20_000, 9));
    let why = contains("--exact is for runs of the lab, and ").and(contains("real machine"));
    host.gate().arg("--exact").assert().code(2).stdout("").stderr(why);
    for arguments in [["--exact", "--tolerance", "5%"], ["--exact", "--write-baseline", "x"]] {
        host.gate().args(arguments).assert().code(2).stdout("");
    }
}

#[test]
fn markdown_junit_and_json() {
    let hostile = "cmd:a|b <i>`@x`&\"";
    let cells = |factor: f64| {
        [
            ensemble("6.1", hostile, 1..=8, factor),
            ensemble("6.1", "fork", 1..=5, 1.0),
        ]
        .concat()
    };
    let controller = GateFolders::new(&cells(1.0), &cells(1.5));
    let at = |name| controller.run.with_file_name(name);
    let mut command = controller.gate();
    command
        .arg("--junit")
        .arg(at("gate.xml"))
        .arg("--markdown")
        .arg(at("gate.md"))
        .arg("--json");
    let out = command.assert().code(1);
    let json: serde_json::Value = serde_json::from_slice(&out.get_output().stdout).unwrap();
    assert_eq!(
        (&json["schema"], &json["outcome"]),
        (&"worstcase-gate/7".into(), &"FAIL".into())
    );
    assert_eq!(
        (&json["cells"][0]["load"], &json["cells"][1]["outcome"]),
        (&hostile.into(), &"PASS".into())
    );
    // Why is told in every form, in the same words.
    let told = String::from_utf8(controller.gate().output().unwrap().stdout).unwrap();
    let markdown = fs::read_to_string(at("gate.md")).unwrap();
    for cell in json["cells"].as_array().unwrap() {
        let why = cell["why"]
            .as_array()
            .unwrap()
            .iter()
            .map(|line| line.as_str().unwrap());
        for line in why {
            assert!(told.contains(line), "{line}:\n{told}");
            assert!(markdown.contains(line), "{line}:\n{markdown}");
        }
        assert!(told.contains(cell["cell"].as_str().unwrap()), "{told}");
    }
    let xml = fs::read_to_string(at("gate.xml")).unwrap();
    insta::assert_snapshot!("gate_junit", xml);
    let report = quick_junit::Report::deserialize_from_str(&xml).unwrap();
    assert_eq!((report.tests, report.failures, report.errors), (2, 1, 0));
    assert_eq!(
        report.test_suites[0].test_cases[0].name.as_str(),
        format!("{hostile}, wakeup")
    );
    let markdown = fs::read_to_string(at("gate.md")).unwrap();
    let place = controller.run.parent().unwrap().display().to_string();
    insta::assert_snapshot!("gate_markdown", markdown.replace(&place, "PLACE"));
}

#[test]
fn bad_input_is_one_line_and_two() {
    let controller = GateFolders::new(&cells(1..=2, 1.0), &cells(1..=2, 1.0));
    let one_line = || predicate::function(|text: &str| text.lines().count() == 1 && !text.contains('\x1b'));
    let bad = controller.run.with_file_name("bad\x1b.json");
    let whole = fs::read_to_string(&controller.baseline).unwrap();
    for text in [
        "",
        "[1]",
        &whole[..whole.len() / 2],
        &whole.replace("worstcase-baseline/4", "worstcase-baseline/\x1b"),
        &whole.replace("\"seed\": 2", "\"seed\": 1"),
        &whole.replace("\"subject\": \"6.1.full\"", "\"subject\": \"other\""),
    ] {
        fs::write(&bad, text).unwrap();
        gate(&controller.run)
            .arg("--baseline")
            .arg(&bad)
            .assert()
            .code(2)
            .stdout("")
            .stderr(one_line());
    }
    for arguments in [
        &["--baseline", "/nowhere"][..],
        &[],
        &["--baseline", "x", "--tolerance", "ten"],
    ] {
        gate(&controller.run).args(arguments).assert().code(2).stdout("");
    }
    let full = controller
        .gate()
        .args(["--junit", "/dev/full"])
        .assert()
        .code(5)
        .stdout("");
    full.stderr(one_line());
}
