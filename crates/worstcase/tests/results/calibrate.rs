//! `worstcase host calibrate`, as far as it goes without measuring: what is refused, and why.

use crate::program::copy_to;
use assert_cmd::cargo::cargo_bin;
use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::process::{Command, Output};
use worstcase_skips::is_root;

/// The user without rights, where the tests run as root.
const NOBODY: u32 = 65_534;

fn one_line(output: &Output, code: i32, says: &[&str]) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{said}");
    assert!(output.stdout.is_empty());
    let lines = said.lines().filter(|line| !line.starts_with("worstcase: note: "));
    assert_eq!(lines.count(), 1, "{said}");
    for text in says {
        assert!(said.contains(text), "{said}");
    }
}

#[test]
fn a_cpu_that_is_not_there() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = Command::new(cargo_bin("worstcase"));
    let words = ["host", "calibrate", "--cpu", "4095"];
    let output = command.args(words).current_dir(dir.path()).output().unwrap();
    one_line(&output, 2, &["CPUs 4095 are not online"]);
    assert_eq!(dir.path().read_dir().unwrap().count(), 0);
}

#[test]
fn without_the_right_to_a_real_time_priority() {
    let dir = tempfile::tempdir().unwrap();
    set_permissions(dir.path(), Permissions::from_mode(0o755)).unwrap();
    let program = dir.path().join("worstcase");
    copy_to(&program);
    let place = dir.path().join("place");
    std::fs::create_dir(&place).unwrap();
    let mut command = Command::new(&program);
    command.args(["host", "calibrate"]).current_dir(&place);
    if is_root() {
        chown(&place, Some(NOBODY), Some(NOBODY)).unwrap();
        command.uid(NOBODY).gid(NOBODY);
    }
    // SAFETY: setrlimit is async-signal-safe, and its argument lives long enough.
    unsafe {
        command.pre_exec(|| {
            let none = libc::rlimit {
                rlim_cur: 0,
                rlim_max: 0,
            };
            libc::setrlimit(libc::RLIMIT_RTPRIO, &raw const none);
            Ok(())
        });
    }
    one_line(&command.output().unwrap(), 3, &["SCHED_FIFO", "run as root"]);
    assert_eq!(place.read_dir().unwrap().count(), 0);
}
