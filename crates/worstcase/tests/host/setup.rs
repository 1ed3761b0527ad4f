//! `worstcase host` as a user types it: what it changes on a machine is undone, whoever is killed.
//!
//! The machine is a folder with a few files of /proc and /sys. With root's rights one harmless setting of the real
//! machine is changed too.

use crate::run::until;
use assert_cmd::cargo::cargo_bin;
use predicates::prelude::*;
use predicates::str::contains;
use rustix::process::Signal;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use tempfile::TempDir;

/// Held by a test that changes a setting of the real machine, or needs them to stay.
pub static MACHINE: Mutex<()> = Mutex::new(());

/// A setting of the real machine that the doctor could make, if there is one.
pub fn a_setting() -> Option<String> {
    let mut doctor = Command::new(cargo_bin("worstcase"));
    let told = doctor.args(["host", "doctor", "--json"]).output().unwrap().stdout;
    let findings: Vec<serde_json::Value> = serde_json::from_slice(&told).unwrap();
    let can_be_made = |finding: &&serde_json::Value| finding["changes"].as_array().is_some_and(|c| !c.is_empty());
    let finding = findings.iter().find(can_be_made)?;
    Some(finding["id"].as_str().unwrap().to_string())
}

const MIGRATION: &str = "proc/sys/kernel/timer_migration";
const HUGE_PAGES: &str = "sys/kernel/mm/transparent_hugepage/enabled";

struct SetupController {
    dir: TempDir,
}

impl SetupController {
    fn new() -> SetupController {
        let controller = SetupController {
            dir: tempfile::tempdir().unwrap(),
        };
        controller.write("sys/devices/system/cpu/online", "0-3\n");
        controller.write(MIGRATION, "1\n");
        controller.write(HUGE_PAGES, "[always] madvise never\n");
        controller
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path("root").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        let text = fs::read_to_string(self.path("root").join(name)).unwrap();
        text.trim().to_string()
    }

    fn host(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(cargo_bin("worstcase"));
        command
            .arg("host")
            .args(arguments)
            .env("WORSTCASE_STATE", self.path("state"));
        command
    }

    fn assert(&self, arguments: &[&str]) -> assert_cmd::assert::Assert {
        assert_cmd::Command::from_std(self.host(arguments)).assert()
    }

    /// Starts a command under `--apply`, and returns when its settings are in force.
    fn apply(&self, root: &Path) -> Child {
        let started = self.path("started");
        let script = format!("touch {}; exec sleep 60", started.display());
        let root = root.display().to_string();
        let arguments = [
            "doctor", "--root", &root, "--cpus", "0", "--apply", "--", "sh", "-c", &script,
        ];
        let controller = self
            .host(&arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        until("the command runs", || started.exists());
        controller
    }

    fn journals(&self) -> usize {
        let names = fs::read_dir(self.path("state")).unwrap().flatten();
        names
            .filter(|e| e.path().extension().is_some_and(|e| e == "journal"))
            .count()
    }
}

/// The processes that a process started.
fn children(parent: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{parent}/task")).unwrap().flatten();
    let children = |task: fs::DirEntry| fs::read_to_string(task.path().join("children")).unwrap_or_default();
    let texts: Vec<String> = tasks.map(children).collect();
    texts
        .iter()
        .flat_map(|text| text.split_ascii_whitespace())
        .map(|pid| pid.parse().unwrap())
        .collect()
}

/// The guard and the user's command.
fn guard_and_command(controller: &Child) -> (u32, u32) {
    let is_guard = |pid: &u32| {
        let arguments = fs::read(format!("/proc/{pid}/cmdline")).unwrap();
        String::from_utf8_lossy(&arguments).contains("host-guard")
    };
    let (guards, commands): (Vec<u32>, Vec<u32>) = children(controller.id()).into_iter().partition(is_guard);
    (guards[0], commands[0])
}

fn kill(pid: u32, signal: Signal) {
    let pid = rustix::process::Pid::from_raw(pid as i32).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

#[test]
fn settings_hold_while_the_command_runs_and_its_exit_code_is_ours() {
    let controller = SetupController::new();
    let root = controller.path("root").display().to_string();
    let script = format!("cat {root}/{MIGRATION} {root}/{HUGE_PAGES}; exit 7");
    let apply = [
        "doctor", "--root", &root, "--cpus", "0", "--apply", "--", "sh", "-c", &script,
    ];
    controller
        .assert(&apply)
        .code(7)
        .stdout("0madvise")
        .stderr(contains("timer-migration: set").and(contains("huge-pages: set")));
    assert_eq!(
        (controller.read(MIGRATION), controller.read(HUGE_PAGES)),
        ("1".into(), "always".into())
    );
    assert_eq!(controller.journals(), 0);
}

#[test]
fn a_killed_controller_is_cleaned_up_after_by_its_guard() {
    let controller = SetupController::new();
    let mut process = controller.apply(&controller.path("root"));
    let (guard, command) = guard_and_command(&process);
    // What a terminal or a shutdown sends does not end a guard.
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        kill(guard, signal);
    }
    assert_eq!(controller.read(MIGRATION), "0");
    process.kill().unwrap();
    process.wait().unwrap();
    until("the guard restores", || controller.journals() == 0);
    assert_eq!(
        (controller.read(MIGRATION), controller.read(HUGE_PAGES)),
        ("1".into(), "always".into())
    );
    kill(command, Signal::KILL);
    controller.assert(&["restore"]).success().stdout("nothing to restore\n");
}

#[test]
fn when_both_are_killed_the_next_command_restores() {
    for next in [["restore"].as_slice(), &["show", "--root", "/nowhere"]] {
        let controller = SetupController::new();
        let mut process = controller.apply(&controller.path("root"));
        let (guard, command) = guard_and_command(&process);
        kill(guard, Signal::KILL);
        process.kill().unwrap();
        process.wait().unwrap();
        kill(command, Signal::KILL);
        assert_eq!((controller.read(MIGRATION), controller.journals()), ("0".into(), 1));
        let output = controller.host(next).output().unwrap();
        assert!(output.status.success());
        let told = [output.stdout, output.stderr].concat();
        assert!(String::from_utf8_lossy(&told).contains("timer_migration: 1 again (was 0)"));
        assert_eq!(
            (controller.read(MIGRATION), controller.read(HUGE_PAGES)),
            ("1".into(), "always".into())
        );
        controller.assert(&["restore"]).success().stdout("nothing to restore\n");
    }
}

#[test]
fn a_living_run_is_not_undone() {
    let controller = SetupController::new();
    let mut process = controller.apply(&controller.path("root"));
    let running = format!("worstcase host doctor --apply (process {}) is running", process.id());
    controller.assert(&["restore"]).success().stdout(contains(running));
    assert_eq!((controller.read(MIGRATION), controller.journals()), ("0".into(), 1));
    // SIGTERM is passed on to the command, whose end is ours.
    kill(process.id(), Signal::TERM);
    assert_eq!(process.wait().unwrap().code(), Some(128 + 15));
    assert_eq!((controller.read(MIGRATION), controller.journals()), ("1".into(), 0));
}

#[test]
fn a_real_setting_comes_back_after_kill_9() {
    let _machine = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    let file = Path::new("/").join(MIGRATION);
    let before = fs::read_to_string(&file).unwrap();
    worstcase_skips::needs_root!();
    if before.trim() != "1" {
        worstcase_skips::skip!("timer migration is switched off");
    }
    // If this test fails, the machine is as it was all the same.
    struct SetBack<'a>(&'a Path, &'a str);
    impl Drop for SetBack<'_> {
        fn drop(&mut self) {
            fs::write(self.0, self.1).unwrap();
        }
    }
    let _back = SetBack(&file, &before);
    let controller = SetupController::new();
    // The rest of this machine is left as it is: only the one file leads out of the made-up tree.
    let link = controller.path("root").join(MIGRATION);
    fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let mut process = controller.apply(&controller.path("root"));
    let (_, command) = guard_and_command(&process);
    assert_eq!(fs::read_to_string(&file).unwrap(), "0\n");
    process.kill().unwrap();
    process.wait().unwrap();
    kill(command, Signal::KILL);
    until("the guard restores", || fs::read_to_string(&file).unwrap() == before);
}

#[test]
fn advice_is_no_error_and_bad_arguments_are() {
    let controller = SetupController::new();
    let root = controller.path("root").display().to_string();
    let doctor = |more: &[&str]| controller.assert(&[&["doctor", "--root", &root], more].concat());
    doctor(&[])
        .code(0)
        .stdout(contains("harmful    transparent huge pages"));
    doctor(&["--json"]).code(0).stdout(predicate::function(|text: &str| {
        let findings: serde_json::Value = serde_json::from_str(text).unwrap();
        findings[0]["id"] == "huge-pages" && findings[0]["level"] == "harmful"
    }));
    doctor(&["--cpus", "0,9"])
        .code(2)
        .stderr(contains("CPUs 9 are not online; choose from 0-3"));
    doctor(&["--cpus", "x"]).code(2);
    doctor(&["--apply"]).code(2);
    doctor(&["--", "true"]).code(2);
    doctor(&["--apply", "--", "/no/such/program"])
        .code(3)
        .stderr(contains("cannot run /no/such/program"));
    assert_eq!((controller.read(MIGRATION), controller.journals()), ("1".into(), 0));
}

#[test]
fn this_machine_is_shown() {
    let controller = SetupController::new();
    controller
        .assert(&["show"])
        .success()
        .stdout(contains("Kernel\n  release"));
    controller
        .assert(&["show", "--json"])
        .success()
        .stdout(predicate::function(|text: &str| {
            let facts: serde_json::Value = serde_json::from_str(text).unwrap();
            facts["clock"]["read_ns"].as_f64().is_some_and(|ns| ns > 0.0) && facts["kernel"]["release"].is_string()
        }));
}
