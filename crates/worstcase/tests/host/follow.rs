//! `worstcase host follow` as a user types it. Nothing here asserts a time but one that is far beyond: this machine is shared.

mod marks;
mod planted;

use crate::program::copy_to;
use assert_cmd::cargo::cargo_bin;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A program that waits again and again.
const WAITS: &str = "while sleep 0.01; do :; done";

fn follow(arguments: &[&str]) -> Command {
    let mut command = Command::new(cargo_bin("worstcase"));
    command.args(["host", "follow"]).args(arguments).stdin(Stdio::null());
    command
}

fn output(arguments: &[&str]) -> Output {
    follow(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn document(said: &Output) -> Value {
    let json = serde_json::from_slice(&said.stdout);
    let document: Value = json.unwrap_or_else(|_| panic!("{}{}", text(&said.stdout), text(&said.stderr)));
    assert_eq!(document["schema"], "worstcase-follow/1");
    document
}

#[test]
fn what_cannot_be_followed_is_refused() {
    let refused = |arguments: &[&str], why: &str| {
        let said = output(arguments);
        let line = text(&said.stderr);
        assert_eq!(said.status.code(), Some(2), "{arguments:?}: {line}");
        assert!(line.contains(why), "{arguments:?}: {line}");
        line
    };
    refused(&[], "required");
    refused(&["--pid", "1", "--comm", "init"], "cannot be used with");
    refused(&["--pid", "1", "--", "true"], "cannot be used with");
    refused(
        &["--wait", "clock_nanosleeep", "--", "true"],
        "did you mean clock_nanosleep",
    );
    refused(&["--comm", ""], "a thread has a name");
    refused(&["--thread", " ", "--", "true"], "a thread has a name");
    refused(&["--wait", "marker:", "--", "true"], "as in marker:cycle");
    refused(
        &["--wait", "read:five", "--", "true"],
        "is no argument of a system call",
    );
    for (arguments, why) in [
        (
            &["--pid", "1073741824"][..],
            "no process or thread has the id 1073741824",
        ),
        (&["--pid", "2"], "a thread of the kernel"),
        (
            &["--comm", "nobody-has-this"],
            "no process or thread is called nobody-has-this",
        ),
        (&["--", ""], "the command to follow is empty"),
        (&["--time", "0s", "--", "true"], "--time 0s asks for nothing"),
        (&["--deadline", "0s", "--", "true"], "--deadline 0s asks for nothing"),
        (&["--thread", "7", "--", "true"], "give the thread's name"),
    ] {
        let line = refused(arguments, why);
        assert_eq!(line.lines().count(), 1, "{line}");
    }
    let own = std::process::id().to_string();
    let line = refused(&["--pid", &own, "--thread", "1073741824"], "has no such thread");
    assert_eq!(line.lines().count(), 1, "{line}");
}

#[test]
fn a_command_that_there_is_not_is_one_line() {
    worstcase_skips::needs_root!();
    let said = output(&["--", "/no/such/program"]);
    let line = text(&said.stderr);
    assert_eq!(line.lines().count(), 1, "{line}");
    assert!(line.contains("cannot run /no/such/program: No such file"), "{line}");
    assert_eq!(said.status.code(), Some(3));
}

#[test]
fn a_command_is_followed_until_it_ends() {
    worstcase_skips::needs_root!();
    let said = output(&["--json", "--", "sh", "-c", "echo of the program; exit 7"]);
    let document = document(&said);
    assert_eq!(said.status.code(), Some(0));
    assert!(text(&said.stderr).contains("of the program"));
    assert_eq!(document["program"]["name"], "sh");
    assert_eq!(document["notes"][0], "the program ended with exit code 7");
    assert!(document["cost"]["events"].as_u64() > Some(0), "{document:#}");
    assert!(document["cost"]["bytes"].as_u64() > Some(0), "{document:#}");
    assert_eq!(document["verdict"], Value::Null);

    let said = output(&["--", "sh", "-c", "echo of the program; kill -KILL $$"]);
    let words = text(&said.stdout);
    assert!(words.starts_with("of the program\n"), "{words}");
    assert!(words.contains("note: signal 9 ended the program"), "{words}");
}

/// More happens than can be read: what is not read is a loss, and nobody waits for it.
#[test]
fn a_program_that_makes_calls_without_end_is_followed_for_its_time() {
    worstcase_skips::needs_root!();
    const FAR_BEYOND: Duration = Duration::from_secs(90);
    let began = Instant::now();
    let said = output(&[
        "--json",
        "--time",
        "1s",
        "--",
        "sh",
        "-c",
        "while :; do kill -0 $$; done",
    ]);
    assert!(began.elapsed() < FAR_BEYOND, "{:?}", began.elapsed());
    let document = document(&said);
    assert_eq!(said.status.code(), Some(0));
    assert!(
        (1_000_000_000..30_000_000_000).contains(&document["time_ns"].as_u64().unwrap()),
        "{document:#}"
    );
    assert!(document["cost"]["events"].as_u64() > Some(10_000), "{document:#}");
}

#[test]
fn without_cycles_a_deadline_is_inconclusive() {
    worstcase_skips::needs_root!();
    let said = output(&["--deadline", "1ms", "--", "true"]);
    assert_eq!(said.status.code(), Some(10), "{}", text(&said.stderr));
    assert!(text(&said.stdout).contains("INCONCLUSIVE"), "{}", text(&said.stdout));
    assert!(
        text(&said.stdout).contains("the program ended before a loop was seen: follow one that runs longer"),
        "{}",
        text(&said.stdout)
    );
}

/// A process that ran before.
struct RunningProgram(Child);

impl RunningProgram {
    fn new() -> RunningProgram {
        RunningProgram(Command::new("sh").args(["-c", WAITS]).process_group(0).spawn().unwrap())
    }

    fn runs(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for RunningProgram {
    fn drop(&mut self) {
        // What it started last ends by itself.
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn a_program_that_ran_already_is_left_alone() {
    worstcase_skips::needs_root!();
    let mut program = RunningProgram::new();
    let id = program.0.id().to_string();
    let said = output(&["--pid", &id, "--time", "300ms", "--json"]);
    assert!(program.runs());
    let document = document(&said);
    assert_eq!(document["program"]["pid"].to_string(), id);
    assert_eq!(document["program"]["threads"][0]["policy"], "other");
    assert_eq!(document["is_ended_early"], false);
    let child = interrupted(follow(&["--pid", &id]).stdout(Stdio::piped()).spawn().unwrap());
    assert_eq!(child.status.code(), Some(130));
    assert!(program.runs());
    assert!(
        text(&child.stdout).contains("it was ended early"),
        "{}",
        text(&child.stdout)
    );
}

#[test]
fn the_end_of_a_program_that_ran_already_ends_it() {
    worstcase_skips::needs_root!();
    let mut program = Command::new("sleep").arg("2").spawn().unwrap();
    let said = output(&["--pid", &program.id().to_string(), "--time", "600s"]);
    program.wait().unwrap();
    assert_eq!(said.status.code(), Some(0));
    assert!(
        text(&said.stdout).contains("note: the program ended"),
        "{}",
        text(&said.stdout)
    );
}

fn interrupted(child: Child) -> Output {
    sleep(Duration::from_secs(2));
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    child.wait_with_output().unwrap()
}

fn is_there(id: &str) -> bool {
    fs::read_to_string(format!("/proc/{id}/cmdline")).is_ok_and(|line| !line.is_empty())
}

/// A shell that keeps its id and that of a child in a file.
fn with_ids(ids: &Path) -> String {
    format!(
        "exec >/dev/null 2>&1; sleep 1000 & echo $! >{0}; echo $$ >>{0}; {WAITS}",
        ids.display()
    )
}

#[test]
fn what_it_started_ends_with_it() {
    worstcase_skips::needs_root!();
    let folder = tempfile::tempdir().unwrap();
    let ids = folder.path().join("ids");
    let script = with_ids(&ids);
    let check = |said: Output, code| {
        let ids = fs::read_to_string(&ids).unwrap();
        assert_eq!(ids.lines().count(), 2);
        assert!(!ids.lines().any(is_there), "{ids}");
        assert_eq!(said.status.code(), Some(code), "{}", text(&said.stderr));
    };
    check(output(&["--time", "1s", "--", "sh", "-c", &script]), 0);
    let mut command = follow(&["--", "sh", "-c", &script]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    check(interrupted(child), 130);
}

#[test]
fn a_second_ctrl_c_kills_what_does_not_want_to_end() {
    worstcase_skips::needs_root!();
    let folder = tempfile::tempdir().unwrap();
    let ids = folder.path().join("ids");
    let script = format!(
        "exec >/dev/null 2>&1; trap '' TERM INT; echo $$ >{}; while :; do sleep 1; done",
        ids.display()
    );
    let mut command = follow(&["--", "sh", "-c", &script]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let id = written(&ids);
    let interrupt = || kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    interrupt();
    sleep(Duration::from_millis(300));
    assert!(is_there(id.trim()), "it was killed before it could end");
    interrupt();
    let said = child.wait_with_output().unwrap();
    assert_eq!(said.status.code(), Some(130), "{}", text(&said.stderr));
    assert!(!is_there(id.trim()), "{id}");
}

/// The line that a program writes once it runs.
fn written(file: &Path) -> String {
    loop {
        match fs::read_to_string(file) {
            Ok(line) if line.ends_with('\n') => return line,
            _ => sleep(Duration::from_millis(10)),
        }
    }
}

/// Whether these processes end within some seconds.
fn end(ids: &str) -> bool {
    (0..300).any(|_| {
        sleep(Duration::from_millis(20));
        !ids.lines().any(is_there)
    })
}

#[test]
fn kill_9_leaves_no_program() {
    worstcase_skips::needs_root!();
    let folder = tempfile::tempdir().unwrap();
    let ids = folder.path().join("ids");
    let mut child = follow(&["--", "sh", "-c", &with_ids(&ids)]).spawn().unwrap();
    while written(&ids).lines().count() < 2 {
        sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(end(&written(&ids)));
}

#[test]
fn what_a_command_leaves_in_the_background_ends_with_it() {
    worstcase_skips::needs_root!();
    let folder = tempfile::tempdir().unwrap();
    let ids = folder.path().join("ids");
    let script = format!(
        "exec >/dev/null 2>&1; setsid sh -c 'trap \"\" TERM; echo $$ >{}; {WAITS}' & sleep 0.5",
        ids.display()
    );
    let said = output(&["--", "sh", "-c", &script]);
    assert_eq!(said.status.code(), Some(0), "{}", text(&said.stderr));
    assert!(!is_there(written(&ids).trim()));
}

/// A command of the shell in a mount of its own, which has tracefs in its usual place alone.
fn in_own_mounts(command: &str) -> Command {
    let mut own = Command::new("unshare");
    let place = "cd /; umount -q /sys/kernel/tracing /sys/kernel/debug/tracing; \
                 mount -t tracefs tracefs /sys/kernel/tracing && ";
    own.args(["--mount", "sh", "-c", &format!("{place}{command}")])
        .arg(cargo_bin("worstcase"))
        .stdin(Stdio::null());
    own
}

/// The instances of the kernel's trace that this process has made.
fn instances(child: &Child) -> Vec<String> {
    let own = format!("worstcase-{}-", child.id());
    let all = in_own_mounts("ls /sys/kernel/tracing/instances").output().unwrap();
    let names = text(&all.stdout).lines().map(String::from).collect::<Vec<_>>();
    names.into_iter().filter(|name| name.starts_with(&own)).collect()
}

#[test]
fn however_it_ends_its_instances_of_the_trace_are_removed() {
    worstcase_skips::needs_root!();
    let folder = tempfile::tempdir().unwrap();
    for signal in [Signal::INT, Signal::TERM, Signal::HUP, Signal::KILL] {
        let runs = folder.path().join(format!("{}", signal.as_raw()));
        let script = format!("echo $$ >{}; exec sleep 1000 >/dev/null 2>&1", runs.display());
        let mut child = follow(&["--", "sh", "-c", &script])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        written(&runs);
        let made = instances(&child);
        assert_eq!(made.len(), 2, "{signal:?}: {made:?}");
        kill_process(Pid::from_child(&child), signal).unwrap();
        child.wait().unwrap();
        // The process that outlives it takes its time.
        for _ in 0..500 {
            if !instances(&child).is_empty() {
                assert_eq!(signal, Signal::KILL, "{made:?}");
                sleep(Duration::from_millis(20));
            }
        }
        assert_eq!(instances(&child), [""; 0], "{signal:?}");
    }
}

#[test]
fn where_no_instance_can_be_made_perf_records_and_it_is_told() {
    worstcase_skips::needs_root!();
    let recorded = |change: &str| {
        let mut command = in_own_mounts(&format!(
            "{change} && exec \"$0\" host follow --json -- sh -c 'sleep 0.1'"
        ));
        let document = document(&command.output().unwrap());
        (document["cost"]["recorder"].clone(), document["notes"].to_string())
    };
    for change in ["true", "umount /sys/kernel/tracing"] {
        let (recorder, notes) = recorded(change);
        assert!(
            recorder == "tracefs" && !notes.contains("perf"),
            "{change}: {recorder} {notes}"
        );
    }
    let (recorder, notes) = recorded("mount -o remount,bind,ro /sys/kernel/tracing");
    assert!(
        recorder == "perf" && notes.contains("/sys/kernel/tracing/instances is not writable"),
        "{recorder} {notes}"
    );
}

#[test]
fn without_root_it_is_refused_in_one_line() {
    worstcase_skips::needs_root!();
    let state = tempfile::tempdir().unwrap();
    std::os::unix::fs::chown(state.path(), Some(65534), Some(65534)).unwrap();
    let program = state.path().join("worstcase");
    copy_to(&program);
    let said = Command::new(program)
        .args(["host", "follow", "--", "true"])
        .uid(65534)
        .gid(65534)
        .env("WORSTCASE_STATE", state.path())
        .output()
        .unwrap();
    let line = text(&said.stderr);
    assert_eq!(said.status.code(), Some(3), "{line}");
    assert_eq!(line.lines().count(), 1, "{line}");
    assert!(line.contains("as root"), "{line}");
}
