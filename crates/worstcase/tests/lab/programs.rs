//! Programs that the user puts into the machine: one that works, ones that fail, and ones that take the machine down.

use crate::controller::{GENERIC, folder, shared};
use crate::failures::{machine_failed, one_line};
use assert_cmd::Command;
use std::path::Path;

/// One image for all tests here. All of them are dynamically linked, and part of every Debian.
const PROGRAMS: &str = "--add /usr/bin/sha256sum --add /usr/bin/chrt --add /bin/sh:/bin/sh";

fn cell(program: &str, run: &Path) -> Command {
    load_of(&format!("cmd:{program}"), run)
}

fn load_of(load: &str, run: &Path) -> Command {
    let subject = format!("--kernel {GENERIC} --preempt none {PROGRAMS}");
    let mut command = shared().run(&format!("{subject} --samples 200 --seeds 1"), run);
    command.arg("--load").arg(load);
    command
}

#[test]
fn a_dynamically_linked_program_is_a_load() {
    let folder = folder();
    let run = folder.path().join("run");
    cell("sha256sum /usr/bin/sha256sum", &run).assert().success();
    let records = worstcase_results::record::Run::open(&run).unwrap().records().unwrap();
    let count = |unit| records[0].work.iter().find(|w| w.unit == unit).map_or(0, |w| w.count);
    assert!(count("runs") > 0 && count("cpu_time_us") > 0, "{:?}", records[0].work);
}

/// It takes the CPU above the probe's priority again and again until it is ready, and computes from then on.
#[test]
fn what_a_program_does_before_it_is_ready_is_not_measured() {
    let holds = "chrt -f 99 sh -c 'until [ $((i=i+1)) = 999 ]; do :; done'";
    let prepares = format!("until [ $((n=n+1)) = 99 ]; do {holds}; done");
    let missed = |load: &str| {
        let folder = folder();
        let run = folder.path().join("run");
        let program = format!("{prepares}; >${{WORSTCASE_READY:-/x}}; while :; do :; done");
        load_of(&format!("{load}:sh -c \"{program}\""), &run).assert().success();
        let records = worstcase_results::record::Run::open(&run).unwrap().records().unwrap();
        records[0].accounting.periods().unwrap().missed
    };
    assert!(
        missed("cmd") > 0,
        "the program does not hold the CPU while it is measured"
    );
    assert_eq!(missed("cmd-ready"), 0);
}

#[test]
fn a_program_that_is_never_ready() {
    let folder = folder();
    let stops = load_of("cmd-ready:sh -c 'kill -STOP $$'", &folder.path().join("run"));
    let says = ["load 'cmd-ready' was not ready within 120 s", "$WORSTCASE_READY"];
    one_line(stops, 4, &says);
}

#[test]
fn a_program_that_was_not_added() {
    let folder = folder();
    let says = ["load cmd:nothing -x", "cannot run 'nothing': No such file"];
    one_line(cell("nothing -x", &folder.path().join("run")), 4, &says);
}

#[test]
fn a_program_that_fails_is_quoted() {
    let folder = folder();
    let run = folder.path().join("run");
    let says = ["'sh' ended with exit code 3", "out of paper"];
    one_line(cell("sh -c 'echo out of paper >&2; exit 3'", &run), 4, &says);
    assert!(!run.exists(), "nothing was measured, and nothing is left");
}

#[test]
fn a_guest_that_panics_shows_its_last_words() {
    let folder = folder();
    let panic = cell("sh -c 'echo c >/proc/sysrq-trigger'", &folder.path().join("run"));
    machine_failed(
        panic,
        &["it ended before its load was warm"],
        "Kernel panic - not syncing: sysrq triggered crash",
    );
}

#[test]
fn a_guest_that_powers_off_at_once_is_no_result() {
    let folder = folder();
    let off = cell("sh -c 'echo o >/proc/sysrq-trigger'", &folder.path().join("run"));
    machine_failed(off, &["it ended before its load was warm"], "");
}

#[test]
fn a_guest_in_which_nothing_gets_the_cpu_is_stopped() {
    let folder = folder();
    // The snapshot first, so that the short limit is the cell's alone.
    cell("sha256sum /init", &folder.path().join("first")).assert().success();
    // Above the probe's priority: the probe never runs. Real-time throttling stops both.
    let spin = "chrt -f 99 sh -c 'while :; do :; done'";
    let mut hang = cell(spin, &folder.path().join("run"));
    hang.args(["--timeout", "5"]);
    machine_failed(hang, &["time limit of 5 s", "--timeout"], "");
}
