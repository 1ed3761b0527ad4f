//! A mark that the user names ends a cycle: a function of the program, a line of trace_marker. The loop itself is `marked.c`.

use super::{document, follow, in_own_mounts, text};
use rustix::process::{Pid, Signal, kill_process};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

const LOOPS: u64 = 100;

fn compiled(folder: &Path) -> PathBuf {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/host/follow/marked.c");
    // The kernel's own list of uprobes cannot hold a blank.
    let program = folder.join("a loop");
    let built = Command::new("cc")
        .args(["-O2", "-Wall", "-Werror", "-o"])
        .args([&program, Path::new(source)])
        .status()
        .unwrap();
    assert!(built.success());
    program
}

/// The uprobes that this process has made.
fn uprobes(process: u32) -> String {
    let all = in_own_mounts("cat /sys/kernel/tracing/uprobe_events").output().unwrap();
    let own = format!("worstcase_{process}_");
    text(&all.stdout).lines().filter(|line| line.contains(&own)).collect()
}

#[test]
fn a_function_is_a_mark_and_its_uprobe_is_removed_even_after_kill_9() {
    worstcase_skips::needs_root!();
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path());
    let mark = format!("uprobe:{}:step", program.display());
    let arguments = ["--wait", &mark, "--deadline", "1h", "--json", "--"];
    let start = |loops: &str| {
        let mut command = follow(&arguments);
        command
            .arg(&program)
            .arg(loops)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let whole = start(&LOOPS.to_string());
    let process = whole.id();
    let said = whole.wait_with_output().unwrap();
    if text(&said.stderr).contains("CONFIG_UPROBE_EVENTS") {
        worstcase_skips::skip!("this kernel has no uprobes");
    }
    let document = document(&said);
    assert_eq!(document["cycle"]["call"], "call of step");
    assert_eq!(document["cycles"], LOOPS - 1);
    assert_eq!(uprobes(process), "");

    let mut child = start("1000000");
    while uprobes(child.id()).is_empty() {
        assert!(child.try_wait().unwrap().is_none());
        sleep(Duration::from_millis(50));
    }
    kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
    for _ in 0..100 {
        if !uprobes(child.id()).is_empty() {
            sleep(Duration::from_millis(50));
        }
    }
    assert_eq!(uprobes(child.id()), "");
}

#[test]
fn a_line_of_trace_marker_is_a_mark_if_it_begins_as_it_was_named() {
    worstcase_skips::needs_root!();
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path());
    let with = |line: &str| {
        let run = format!(
            "exec \"$0\" host follow --wait marker:{line} --json -- '{}' {LOOPS}",
            program.display()
        );
        in_own_mounts(&run).output().unwrap()
    };
    let said = with("cycle");
    if text(&said.stderr).contains("copy_trace_marker") {
        worstcase_skips::skip!("this kernel gives no instance a copy of trace_marker's lines");
    }
    let cycles = document(&said);
    assert_eq!(cycles["cycle"]["call"], "line 'cycle' in trace_marker");
    assert_eq!(cycles["cycles"], LOOPS - 1);
    let none = document(&with("ycle"));
    assert_eq!((&none["cycles"], &none["cycle"]), (&0.into(), &serde_json::Value::Null));
}

#[test]
fn a_mark_that_there_is_not_is_one_line() {
    worstcase_skips::needs_root!();
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path());
    let wait = format!("uprobe:{}:stop", program.display());
    let said = follow(&["--wait", &wait, "--", "true"]).output().unwrap();
    let line = text(&said.stderr);
    assert_eq!(said.status.code(), Some(2), "{line}");
    assert!(
        line.contains("did you mean step") && line.lines().count() == 1,
        "{line}"
    );
}
