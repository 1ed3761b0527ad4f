//! worstcase in a container: what it can do there it does, and what it cannot is one line.
//!
//! `unshare` makes the name spaces that an engine makes; a container needs no more to be one.

use assert_cmd::cargo::cargo_bin;
use std::process::{Child, Command, Output, Stdio};

/// Types a command in name spaces of its own, unless this machine allows none.
fn inside(spaces: &[&str], arguments: &[&str]) -> Result<Output, &'static str> {
    Ok(begun(spaces, arguments)?.wait_with_output().unwrap())
}

fn begun(spaces: &[&str], arguments: &[&str]) -> Result<Child, &'static str> {
    let unshare = || {
        let mut command = Command::new("unshare");
        command.args(spaces);
        command
    };
    let possible = unshare().arg("true").status().is_ok_and(|status| status.success());
    if !possible {
        return Err("no name spaces can be made here");
    }
    let mut command = unshare();
    command.arg(cargo_bin("worstcase")).args(arguments);
    Ok(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
}

const PROCESSES: [&str; 3] = ["--pid", "--fork", "--mount-proc"];
const ALL: [&str; 4] = ["--map-root-user", "--pid", "--fork", "--mount-proc"];

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn a_trace_of_other_numbers_is_refused_not_misread() {
    worstcase_skips::needs_root!();
    for command in [
        "host isolate --cpus 0 --time 100ms",
        "host run --probe response --time 100ms -o /nowhere/run",
    ] {
        let arguments: Vec<&str> = command.split(' ').collect();
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("run").display().to_string();
        let arguments: Vec<&str> = arguments
            .iter()
            .map(|a| if *a == "/nowhere/run" { &run } else { *a })
            .collect();
        let said = worstcase_skips::or_skip!(inside(&PROCESSES, &arguments));
        let errors = text(&said.stderr);
        assert_eq!(said.status.code(), Some(3), "{errors}");
        assert!(
            errors.contains("this container numbers its processes by itself"),
            "{errors}"
        );
        assert!(errors.contains("--pid=host"), "{errors}");
    }
}

#[test]
fn root_of_a_container_measures_and_is_told_what_it_may_not() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run").display().to_string();
    let arguments = ["host", "run", "--load", "fork@10", "--time", "100ms", "-o", &run];
    let said = worstcase_skips::or_skip!(inside(&ALL, &arguments));
    let (shown, errors) = (text(&said.stdout), text(&said.stderr));
    assert_eq!(said.status.code(), Some(0), "{errors}");
    assert!(shown.contains("latency: timer due to user code"), "{shown}");
    assert!(shown.contains("NOT REAL-TIME"), "{shown}");
    let said = inside(&ALL, &["host", "doctor"]).unwrap();
    let shown = text(&said.stdout);
    assert!(shown.contains("this is a container"), "{shown}");
    assert!(shown.contains("this user may not run real-time threads"), "{shown}");
}

/// In both the process ids are the same, and outside there is one tree of control groups.
#[test]
fn two_containers_leave_each_other_alone() {
    let folder = tempfile::tempdir().unwrap();
    let run = |name: &str| folder.path().join(name).display().to_string();
    let measured = |name: &str, time: &str| {
        let run = run(name);
        let typed = format!("host run --load fork@10 --time {time} -o");
        let arguments: Vec<&str> = typed.split(' ').chain([&*run]).collect();
        begun(&ALL, &arguments)
    };
    let mut long = worstcase_skips::or_skip!(measured("long", "5s"));
    for nth in 0.. {
        let short = measured(&format!("short-{nth}"), "100ms").unwrap();
        let said = short.wait_with_output().unwrap();
        assert_eq!(said.status.code(), Some(0), "{}", text(&said.stderr));
        if long.try_wait().unwrap().is_some() {
            break;
        }
    }
    let said = long.wait_with_output().unwrap();
    assert_eq!(said.status.code(), Some(0), "{}", text(&said.stderr));
}
