//! A program of the user's own as the probe: the cycles of its control thread are the samples.

use crate::controller::{GENERIC, folder, shared};
use crate::failures::one_line;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use worstcase_results::record::{FOLLOW_FILE, Record, Run};

/// contrib/control.c, as its head says.
pub fn control(folder: &Path) -> PathBuf {
    changed_control(folder, &[])
}

/// The same after a commit: each text is another one.
fn changed_control(folder: &Path, changes: &[(&str, &str)]) -> PathBuf {
    compiled("cc", folder, &["-static"], changes)
}

/// contrib/control.c for arm64, where its compiler is.
pub fn control_for_arm64(folder: &Path, how: &[&str]) -> PathBuf {
    compiled("aarch64-linux-gnu-gcc", folder, how, &[])
}

fn compiled(compiler: &str, folder: &Path, how: &[&str], changes: &[(&str, &str)]) -> PathBuf {
    let (program, changed) = (folder.join("control"), folder.join("control.c"));
    let mut source = include_str!("../../../../contrib/control.c").to_string();
    for (old, new) in changes {
        assert!(source.contains(old), "{old}");
        source = source.replace(old, new);
    }
    std::fs::write(&changed, source).unwrap();
    let mut compiler = Command::new(compiler);
    compiler
        .args(how)
        .args(["-O2", "-pthread", "-o"])
        .args([&program, &changed]);
    assert!(compiler.status().expect("the compiler is there").success());
    program
}

fn words(program: &Path) -> String {
    format!(
        "--kernel {GENERIC} --preempt full --program {} --seed 1 --time 300ms",
        program.display()
    )
}

fn measured(run: &Path) -> Vec<Record> {
    Run::open(run).unwrap().records().unwrap()
}

fn told(words: &[&str], run: &Path) -> String {
    let mut command = shared().worstcase(&words.join(" "));
    let output = command.arg(run).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn its_cycles_are_the_samples_and_the_same_bits_every_time() {
    let folder = folder();
    let words = words(&control(folder.path()));
    let run = folder.path().join("run");
    shared()
        .run(&format!("{words} --load idle,fork"), &run)
        .assert()
        .success();
    let records = measured(&run);
    assert_eq!(records.len(), 2);
    for record in &records {
        assert_eq!(record.cell.probe, "follow:control");
        assert_eq!((record.cell.period_ns, record.cell.priority), (1_000_000, 50));
        let followed = record.followed.as_ref().unwrap();
        assert_eq!(
            (followed.program.as_str(), followed.thread.as_str()),
            ("control", "control")
        );
        let periods = record.accounting.periods().unwrap();
        assert!((280..=300).contains(&periods.expected), "{periods:?}");
        assert_eq!((periods.missed, periods.lost), (0, 0));
        // It computes ten thousand turns in each.
        let latency = record.summary.latency.as_ref().unwrap();
        assert!((10_000..500_000).contains(&latency.median_ns.unwrap()), "{latency:?}");
        let unexplained = record.summary.unexplained.as_ref().unwrap();
        assert_eq!(unexplained.max_ns, 0);
        assert_eq!(record.warnings, [""; 0]);
    }
    assert_ne!(records[0].digest, records[1].digest, "the load is felt");

    let mut verify = shared().worstcase("lab verify --runs 2 --load fork");
    let verify = verify.args(words.split_whitespace()).assert().success();
    let said = String::from_utf8_lossy(&verify.get_output().stdout).into_owned();
    assert!(said.contains(&records[1].digest), "{said}");

    let shown = told(&["show"], &run);
    assert!(shown.contains("follow:control"), "{shown}");
    let verdict = told(&["verdict", "--criterion", "900us"], &run);
    assert!(verdict.contains("PASS"), "{verdict}");
}

/// The logger keeps the mutex for longer than a period, now and then.
#[test]
fn late_cycles_are_named_with_the_thread_that_held_the_mutex() {
    let folder = folder();
    let words = words(&control(folder.path())).replace("--seed 1", "--seeds 2");
    let run = folder.path().join("run");
    let mut command = shared().run(&format!("{words} --load idle"), &run);
    command.args(["--program-args", "1000 1500"]).assert().success();
    let record = &measured(&run)[0];
    let found = Run::open(&run).unwrap().beside(&record.id, FOLLOW_FILE).unwrap();
    let found: Value = serde_json::from_slice(&found.unwrap()).unwrap();
    assert!(found["late"].as_u64().unwrap() > 0, "{found:#}");
    let cause = found["causes"][0]["sentence"].as_str().unwrap();
    assert!(cause.contains("futex") && cause.contains("logger"), "{cause}");
    let page = |more: &str| {
        let words = format!("report --jobs 1 -o - {more}");
        told(&[words.trim_end()], &run)
    };
    let found_then = page("");
    assert!(found_then.contains("\"sentences\":[\"") && found_then.contains("logger"));
    assert!(!found_then.contains("The functions of this cycle"));
    assert!(page("--breakdowns").contains("The functions of this cycle"));
    let explained = told(&["explain"], &run);
    assert!(explained.contains("logger"), "{explained}");
    // How many cycles there were is each seed's own result: they are one cell.
    let compared = told(&["compare", &run.display().to_string()], &run);
    assert!(
        compared.starts_with("1 cell compared") || compared.contains("\n1 cell compared"),
        "{compared}"
    );
}

/// Later commits of the program that make it worse.
const REGRESSIONS: [(&str, &[(&str, &str)]); 5] = [
    ("a loop that is 3 % longer", &[("work(10000)", "work(10300)")]),
    (
        "a policy that is lost",
        &[
            (".sched_priority = 50", ".sched_priority = 0"),
            ("SCHED_FIFO", "SCHED_OTHER"),
        ],
    ),
    (
        "memory that is neither locked nor touched before",
        &[
            ("mlockall(MCL_CURRENT | MCL_FUTURE)", "0"),
            (
                "static volatile long position;",
                "static volatile long position;\nstatic char history[1000][4096];",
            ),
            (
                "\t\twork(10000);\n",
                "\t\twork(10000);\n\t\thistory[due.tv_nsec / 1000000][0]++;\n",
            ),
        ],
    ),
    (
        "a mutex that is held more often",
        &[("sleep_for(7300)", "sleep_for(700)")],
    ),
    (
        // One line costs less than the load varies: of 300 cycles of one seed the maximum shows it or not.
        "lines that are written now and then",
        &[(
            "\t\twork(10000);\n",
            "\t\twork(10000);\n\t\tfor (int i = 0; i < 20 && due.tv_nsec / 1000000 % 16 == 0; i++)\n\t\t\tdprintf(1, \"late\\n\");\n",
        )],
    ),
];

#[test]
fn each_small_regression_of_a_program_fails_an_exact_gate() {
    let folder = folder();
    let run_of = |name: &str, changes: &[(&str, &str)]| {
        let place = folder.path().join(name.replace(' ', "-"));
        std::fs::create_dir(&place).unwrap();
        let words = words(&changed_control(&place, changes));
        let run = place.join("run");
        let mut command = shared().run(&format!("{words} --load fork"), &run);
        command.args(["--program-args", "1000 60"]).assert().success();
        run
    };
    let baseline = run_of("baseline", &[]);
    let gate = |run: &Path| {
        let mut gate = shared().worstcase("gate --exact");
        let output = gate.arg("--baseline").arg(&baseline).arg(run).output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, said) = gate(&run_of("the same", &[]));
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("identical to the bit"), "{said}");
    for (name, changes) in REGRESSIONS {
        let (code, said) = gate(&run_of(name, changes));
        assert_eq!(code, 1, "{name}: {said}");
        let is_told = |line: &str| line.contains("worst seed: ") && line.contains("above its limit");
        assert!(said.lines().any(is_told), "{name}: {said}");
    }
}

/// What holds a thread of the example up, as its worst cycle tells.
fn explained(words: &str, program_args: &str, time: &str) -> String {
    let folder = folder();
    let run = folder.path().join("run");
    let mut command = shared().run(
        &format!("--kernel {GENERIC} --preempt full --seed 1 --load idle --time {time} {words}"),
        &run,
    );
    command.args(["--program-args", program_args]).assert().success();
    told(&["explain"], &run)
}

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contrib").join(name)
}

#[test]
fn a_program_in_rust_is_one_too() {
    let folder = folder();
    let program = folder.path().join("control");
    let mut compiler = Command::new("rustc");
    compiler
        .args(["-O", "-C", "target-feature=+crt-static", "-o"])
        .args([&program, &example("control.rs")]);
    assert!(compiler.status().unwrap().success());
    let words = format!("--program {}", program.display());
    let said = explained(&words, "1000 1500", "300ms");
    for part in ["1 ms, the period", "control waited in futex", "for logger"] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn a_program_in_python_comes_with_its_interpreter() {
    let python = "/usr/bin/python3";
    let mut asked = Command::new(python);
    asked.args(["-c", "import os; print(os.path.dirname(os.__file__))"]);
    let library = asked.output().expect("scripts/prepare-tests installs Python").stdout;
    let library = String::from_utf8(library).unwrap();
    let words = format!(
        "--program {python} --add {} --add {}:/control.py",
        library.trim(),
        example("control.py").display()
    );
    let said = explained(&words, "/control.py", "500ms");
    for part in ["1 ms, the period", "python3 waited in futex", "for python3"] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

/// A part of a cycle, or all of it: its functions' times with what else adds up to its length.
fn times(of: &Value) -> u64 {
    let functions = of["functions"].as_array().unwrap();
    let own = |function: &Value| function["self_ns"].as_u64().unwrap();
    let others = [&of["idle_ns"], &of["unseen_ns"]];
    functions.iter().map(own).sum::<u64>() + others.iter().map(|ns| ns.as_u64().unwrap()).sum::<u64>()
}

/// The longest function of a cycle that is the kernel's, or the program's.
fn longest<'d>(document: &'d Value, owner: &str) -> &'d Value {
    let mut functions = document["functions"].as_array().unwrap().iter();
    functions.find(|own| own["owner"] == owner).unwrap()
}

#[test]
fn its_worst_cycle_is_told_down_to_functions_that_add_up() {
    let folder = folder();
    let words = words(&control(folder.path()));
    let run = folder.path().join("run");
    shared().run(&format!("{words} --load fork"), &run).assert().success();
    let explained = told(&["explain", "--json"], &run);
    assert_eq!(told(&["explain", "--json"], &run), explained, "the same bits again");
    let document: Value = serde_json::from_str(&explained).unwrap();
    assert_eq!(document["schema"], "worstcase-cycle/1");
    let latency = measured(&run)[0].summary.latency.as_ref().unwrap().max_ns;
    assert_eq!(document["response_ns"], latency);
    let parts = document["parts"].as_array().unwrap().iter();
    let parts: Vec<&Value> = parts.filter(|part| part["sum"] == false).collect();
    for part in &parts {
        assert_eq!(times(part), part["length_ns"].as_u64().unwrap(), "{part:#}");
        // A busy CPU does not idle, and there is no other.
        assert_eq!(
            (&part["idle_ns"], &part["unseen_ns"]),
            (&json!(0), &json!(0)),
            "{part:#}"
        );
        // The trace says to the nanosecond when the program's own code ran, and so do the functions.
        let functions = part["functions"].as_array().unwrap();
        let is_own = part["thread"] == "control" && part["words"] == "ran its own code";
        assert_eq!(
            functions.iter().any(|own| own["function"] == "main"),
            is_own,
            "{part:#}"
        );
    }
    assert!(!explained.contains("ring_buffer"), "the tracer takes no time");
    assert_eq!(parts.iter().map(|part| times(part)).sum::<u64>(), latency);
    assert_eq!(times(&document), latency);
    // The loop of work() is inlined, and takes 10 000 turns.
    let own = longest(&document, "program");
    assert_eq!((&own["function"], &own["file"]), (&json!("main"), &json!("control")));
    assert!((20_000..latency).contains(&own["self_ns"].as_u64().unwrap()), "{own}");
    // In the timer's interrupt the kernel runs the timer's function, and not the program.
    let interrupt = |part: &&&Value| part["words"].as_str().unwrap().contains("timer function");
    let interrupt = parts.iter().find(interrupt).unwrap();
    let functions = interrupt["functions"].as_array().unwrap();
    assert!(functions.iter().all(|own| own["owner"] == "kernel"), "{interrupt:#}");
    assert!(explained.contains("hrtimer_wakeup"), "{explained}");
    assert_eq!(document["found"]["schema"], "worstcase-follow/1");

    let text = told(&["explain", "--sample", "p50"], &run);
    assert!(text.contains("main (control)"), "{text}");
    let files = ["folded", "perfetto", "flame"].map(|form| (format!("--{form}"), folder.path().join(form)));
    let mut command = shared().worstcase("explain");
    let asked = files
        .iter()
        .flat_map(|(option, file)| [option.into(), file.as_os_str().to_owned()]);
    command.args(asked).arg(&run).assert().success();
    let [folded, perfetto, flame] = files.map(|(_, file)| std::fs::read_to_string(file).unwrap());
    let ns = |line: &str| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap();
    assert_eq!(folded.lines().map(ns).sum::<u64>(), latency);
    for text in [&folded, &perfetto, &flame] {
        assert!(text.contains("[user] control") && text.contains("main"), "{text}");
    }

    let one_line = |words: &str, says: &[&str]| {
        let mut command = shared().worstcase(words);
        command.arg(&run);
        one_line(command, 2, says);
    };
    let id = document["cell"].as_str().unwrap();
    let compared = told(&["explain", "--compare", id], &run);
    assert!(
        compared.contains("late cycles of 1 000") && compared.contains("0.000"),
        "{compared}"
    );
    let all = told(&["explain", "--all"], &run);
    assert!(
        all.starts_with("Why cycles were late on ") || all == "no cycle was late\n",
        "{all}"
    );
    let asks = format!("explain --compare {id} --sample p50");
    one_line(&asks, &["all cycles are compared", "--sample"]);
    one_line("explain --sample 100000", &["has no sample 100000"]);

    // What of the kernel can delay it, whoever runs.
    let census = told(&["census"], &run);
    assert!(
        census.contains("the kernel lets the program's thread wait: an interrupt up to "),
        "{census}"
    );
    let census: Value = serde_json::from_str(&told(&["census", "--json"], &run)).unwrap();
    let kinds = census["kinds"].as_array().unwrap();
    let of = |kind: &str| kinds.iter().find(|row| row["kind"] == kind).unwrap();
    assert_eq!(of("higher-priority")["count"], 0, "{census:#}");
    let non_preemptible = of("non-preemptible")["longest_ns"].as_u64().unwrap();
    assert!((1..1_000_000).contains(&non_preemptible), "{census:#}");
}

/// Of a program that lies anywhere in memory, where it waits for another thread, with the lines of both.
#[test]
fn a_program_with_debug_information_is_told_with_its_lines() {
    let folder = folder();
    let words = words(&compiled("cc", folder.path(), &["-static-pie", "-g"], &[]));
    let run = folder.path().join("run");
    let mut command = shared().run(&format!("{words} --load idle"), &run);
    command.args(["--program-args", "1000 1500"]).assert().success();
    let document: Value = serde_json::from_str(&told(&["explain", "--json"], &run)).unwrap();
    let parts = document["parts"].as_array().unwrap();
    let parts = || parts.iter().filter(|part| part["sum"] == false);
    for part in parts() {
        assert_eq!(times(part), part["length_ns"].as_u64().unwrap(), "{part:#}");
    }
    let logger = parts().find(|part| part["thread"] == "logger" && part["words"] == "ran its own code");
    let own = longest(logger.unwrap(), "program");
    assert_eq!(own["function"], "keep_log", "{own}");
    let source = own["source"]["file"].as_str().unwrap();
    assert!(source.ends_with("control.c"), "{own}");
    // The line of the loop, in work().
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contrib/control.c")).unwrap();
    let line = own["source"]["inlined"][0]["line"].as_u64().unwrap();
    let line = text.lines().nth(line as usize - 1).unwrap();
    assert!(line.contains("position += i") || line.contains("i < turns"), "{line}");
}

#[test]
fn a_program_that_cannot_be_followed_is_one_line() {
    let folder = folder();
    let run = folder.path().join("run");
    let with = |words: &str| {
        let subject = format!("--kernel {GENERIC} --preempt full --seed 1 --time 100ms --load idle");
        shared().run(&format!("{subject} {words}"), &run)
    };
    one_line(
        with("--program /nowhere/x"),
        2,
        &["--program /nowhere/x: there is no such file"],
    );
    let file = |name: &str, data: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, data).unwrap();
        format!("--program {}", path.display())
    };
    let path = folder.path().display();
    one_line(with(&format!("--program {path}")), 2, &["this is a folder"]);
    one_line(
        with(&file("script", b"#!/usr/bin/env sh\n")),
        2,
        &["a script", &format!("/sh --add {path}/script:/script")],
    );
    one_line(
        with(&file("text", b"hello")),
        2,
        &["neither an ELF program nor a script"],
    );
    let mut foreign = std::fs::read("/bin/true").unwrap();
    // The header's machine: aarch64.
    foreign[18] = 183;
    let says = [
        "--program",
        "/foreign: it is for arm64",
        "the machine of debian:6.1 is x86-64",
    ];
    one_line(with(&file("foreign", &foreign)), 2, &says);
    // Of riscv.
    foreign[18] = 243;
    one_line(
        with(&file("foreign", &foreign)),
        2,
        &["for Riscv64", "of x86-64 or arm64"],
    );
    one_line(
        with("--program /bin/true --probe wakeup"),
        2,
        &["follow:true", "is the only probe"],
    );
    one_line(with("--probe follow:x"), 2, &["name its file (program)"]);
    one_line(with("--program-args 1"), 2, &["arguments go with a program"]);
    one_line(
        with("--program /bin/true --probe noise"),
        2,
        &["follow:true", "is the only probe"],
    );
    one_line(with("--program /bin/false"), 4, &["ended with exit code 1"]);
    one_line(
        with("--program /bin/true"),
        4,
        &["no thread of true waited again and again"],
    );
}
