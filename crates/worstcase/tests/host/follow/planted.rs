//! A control loop with one fault each: the sentence names it, and what to change. The loop itself is `planted.c`.

use super::{document, follow, text};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A fault, a deadline that it breaks, and what the sentence and the line to change must hold.
struct PlantedFault {
    name: &'static str,
    deadline: &'static str,
    sentence: &'static [&'static str],
    change: &'static str,
}

const fn long(name: &'static str, sentence: &'static [&'static str], change: &'static str) -> PlantedFault {
    PlantedFault {
        name,
        deadline: "5ms",
        sentence,
        change,
    }
}

const FAULTS: [PlantedFault; 12] = [
    long(
        "mutex",
        &["ctl waited in futex", "for logger", "while hog", "higher"],
        "PTHREAD_PRIO_INHERIT",
    ),
    long("fault", &["ctl had page faults"], "mlockall"),
    long("allocation", &["ctl ran in mmap"], "allocate before the loop"),
    long(
        "pipe",
        &[
            "ctl waited in write(descriptor",
            "for reader",
            "slept in clock_nanosleep",
        ],
        "O_NONBLOCK",
    ),
    long("helper", &["ctl waited in futex", "for helper"], "helper"),
    long("chain", &["for end", "which waited in futex", "for middle"], "middle"),
    long(
        "slack",
        &["ctl had its timer put off in clock_nanosleep by its timer slack"],
        "PR_SET_TIMERSLACK",
    ),
    long("affinity", &["while above", "higher"], "keep it on another one"),
    PlantedFault {
        name: "fsync",
        deadline: "300us",
        sentence: &["in fsync(descriptor"],
        change: "outside",
    },
    long(
        "collector",
        &["in its handler of SIGUSR2", "for collector"],
        "garbage collector",
    ),
    long(
        "signal",
        &["ctl ran its handler of SIGUSR1", "signaller"],
        "pthread_sigmask",
    ),
    long(
        "map",
        &["ctl waited in mmap for a lock of the kernel, held by mapper"],
        "memory map",
    ),
];

/// A fault is done some thirty times in this time; as often it must be named. (`map` depends on when the other thread unmaps.)
const SECONDS: &str = "2.5";
const LEAST: u64 = 3;
/// Where the machine is busy most cycles are late because of what else runs, or their events are lost: then the loop runs again.
const MOST_RUNS: usize = 8;

fn compiled(folder: &Path) -> PathBuf {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/host/follow/planted.c");
    let program = folder.join("planted");
    let built = Command::new("cc")
        .args(["-O2", "-Wall", "-Wno-return-type", "-Werror", "-pthread", "-o"])
        .args([&program, Path::new(source)])
        .status()
        .unwrap();
    assert!(built.success());
    program
}

/// Every cycle that is told adds up, and its sums are those of the parts below them.
fn adds_up(cycle: &Value) {
    let parts = cycle["parts"].as_array().unwrap();
    let number = |part: &Value, key: &str| part[key].as_u64().unwrap();
    let mut at = 0;
    for part in parts.iter().filter(|part| part["sum"] == false) {
        assert_eq!(number(part, "at_ns"), at, "{cycle:#}");
        at += number(part, "length_ns");
    }
    assert_eq!(at, number(cycle, "response_ns"));
    for (nth, sum) in parts.iter().enumerate().filter(|(_, part)| part["sum"] == true) {
        let depth = number(sum, "depth");
        let below = parts[nth + 1..].iter().take_while(|part| number(part, "depth") > depth);
        let of_parts: u64 = below
            .filter(|part| part["sum"] == false)
            .map(|part| number(part, "length_ns"))
            .sum();
        assert_eq!(of_parts, number(sum, "length_ns"), "{cycle:#}");
    }
}

/// The causes of one run of a fault's loop.
fn causes_of(program: &str, fault: &PlantedFault) -> Vec<Value> {
    let options = ["--json", "--show", "50", "--deadline", fault.deadline];
    let said = follow(&options)
        .args(["--", program, fault.name, SECONDS])
        .output()
        .unwrap();
    let document = document(&said);
    let (name, printed) = (fault.name, text(&said.stderr));
    assert_eq!(document["thread"]["name"], "ctl", "{name}: {printed}");
    assert_eq!(document["verdict"]["outcome"], "FAIL", "{name}");
    document["slowest"].as_array().unwrap().iter().for_each(adds_up);
    document["causes"].as_array().unwrap().clone()
}

/// The cycles whose cause is the fault's, with its line to change.
fn cycles_named(causes: &[Value], fault: &PlantedFault) -> u64 {
    let holds = |cause: &Value, key: &str, part: &str| cause[key].as_str().is_some_and(|words| words.contains(part));
    let is_named = |cause: &&Value| {
        fault.sentence.iter().all(|part| holds(cause, "sentence", part)) && holds(cause, "change", fault.change)
    };
    let cycles = |cause: &Value| cause["cycles"].as_u64().unwrap();
    causes.iter().filter(is_named).map(cycles).sum()
}

#[test]
fn each_planted_fault_is_named_with_the_line_to_change() {
    worstcase_skips::needs_root!();
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        worstcase_skips::skip!("one CPU: the loop and what it waits for need two");
    }
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path());
    let program = program.to_str().unwrap();
    let mut wrong = Vec::new();
    for fault in &FAULTS {
        let mut told = Vec::new();
        let is_named = (0..MOST_RUNS).any(|_| {
            let causes = causes_of(program, fault);
            let named = cycles_named(&causes, fault);
            told.push(format!("{named} cycles: {causes:#?}"));
            named >= LEAST
        });
        if !is_named {
            wrong.push(format!("{}: {}", fault.name, told.join("\n")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_mutex_that_lends_its_priority_is_no_cause() {
    worstcase_skips::needs_root!();
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path());
    let said = follow(&["--json", "--deadline", "6ms", "--"])
        .args([program.to_str().unwrap(), "inherit", SECONDS])
        .output()
        .unwrap();
    let document = document(&said);
    let causes = document["causes"].to_string();
    assert!(!causes.contains("PTHREAD_PRIO_INHERIT"), "{causes}");
}

#[test]
fn a_late_cycle_ends_it_or_is_answered_by_a_command_or_a_signal() {
    worstcase_skips::needs_root!();
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path());
    let planted = ["--", program.to_str().unwrap(), "fault", "20"];
    let ended = |options: &[&str]| {
        let said = follow(&["--show", "0", "--deadline", "500us"])
            .args(options)
            .args(planted)
            .output()
            .unwrap();
        assert_eq!(said.status.code(), Some(1), "{}", text(&said.stderr));
        (text(&said.stdout), text(&said.stderr))
    };
    let (told, _) = ended(&["--break"]);
    assert!(
        told.contains("note: it ended with the first late cycle (--break)"),
        "{told}"
    );
    let (told, printed) = ended(&[
        "--break",
        "--on-late",
        "sh -c 'echo late cycle $WORSTCASE_CYCLE of $WORSTCASE_PID'",
    ]);
    assert!(
        printed.contains("late cycle ") && printed.contains(" of "),
        "{told}{printed}"
    );
    let (told, _) = ended(&["--signal", "TERM"]);
    assert!(told.contains("note: signal 15 ended the program"), "{told}");
}

#[test]
fn a_kept_run_is_explained_with_its_cycle_and_written_as_files() {
    worstcase_skips::needs_root!();
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path());
    let run = folder.path().join("run");
    let followed = follow(&["--deadline", "5ms", "-o"])
        .arg(&run)
        .args(["--", program.to_str().unwrap(), "fault", SECONDS])
        .output()
        .unwrap();
    assert_eq!(followed.status.code(), Some(1), "{}", text(&followed.stderr));
    let [trace, folded] = ["trace.json", "folded"].map(|name| folder.path().join(name));
    let explained = Command::new(assert_cmd::cargo::cargo_bin("worstcase"))
        .args([
            "explain",
            "--perfetto",
            trace.to_str().unwrap(),
            "--folded",
            folded.to_str().unwrap(),
        ])
        .arg(&run)
        .output()
        .unwrap();
    let told = text(&explained.stdout);
    assert!(
        told.contains("ctl had page faults") && told.contains("Cycle "),
        "{told}"
    );
    let trace: Value = serde_json::from_slice(&std::fs::read(trace).unwrap()).unwrap();
    assert!(!trace["traceEvents"].as_array().unwrap().is_empty());
    assert!(std::fs::read_to_string(folded).unwrap().contains("ctl had page faults"));
    // A folder that holds a run is not written over.
    let again = follow(&["-o"]).arg(&run).args(["--", "true"]).output().unwrap();
    assert_eq!(again.status.code(), Some(2));
    assert!(
        text(&again.stderr).contains("name another folder with --output"),
        "{}",
        text(&again.stderr)
    );
}
