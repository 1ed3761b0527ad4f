//! `worstcase host try`: every setting is measured in turns and set back, whoever is killed.

use crate::run::until;
use crate::setup::MACHINE;
use assert_cmd::cargo::cargo_bin;
use predicates::prelude::*;
use predicates::str::contains;
use std::fs;
use std::process::{Command, Stdio};
use std::sync::PoisonError;
use tempfile::TempDir;
use worstcase_results::record::Run;

const MIGRATION: &str = "/proc/sys/kernel/timer_migration";

fn migration() -> String {
    fs::read_to_string(MIGRATION).unwrap_or_default().trim().to_string()
}

/// Whether the one setting that these tests change is there to be changed.
fn can_be_tried() -> Result<(), &'static str> {
    match worstcase_skips::is_root() && migration() == "1" {
        true => Ok(()),
        false => Err("it needs root, and timer migration switched on"),
    }
}

fn trial(folder: &TempDir, words: &str) -> Command {
    let mut command = Command::new(cargo_bin("worstcase"));
    command
        .args(["host", "try"])
        .args(words.split_whitespace())
        .arg("--output")
        .arg(folder.path().join("trial"))
        .env("WORSTCASE_STATE", folder.path().join("state"));
    command
}

#[test]
fn each_variant_is_measured_in_every_round_with_its_settings_alone() {
    let _machine = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    worstcase_skips::or_skip!(can_be_tried());
    let folder = tempfile::tempdir().unwrap();
    let command = trial(
        &folder,
        "--only timer-migration --time 200ms --rounds 2 --criterion 10s --json",
    );
    let done = assert_cmd::Command::from_std(command).assert().success();
    assert_eq!(migration(), "1");
    let told: serde_json::Value = serde_json::from_slice(&done.get_output().stdout).unwrap();
    let names: Vec<_> = told["variants"]
        .as_array()
        .unwrap()
        .iter()
        .map(|v| &v["name"])
        .collect();
    assert_eq!(names, ["as-it-is", "timer-migration"]);
    assert_eq!(told["variants"][1]["says"], "too-few");
    // A limit that everything reaches needs nothing.
    assert_eq!(told["shortest"]["settings"].as_array().unwrap().len(), 0);
    for (variant, set) in [("as-it-is", 0), ("timer-migration", 1)] {
        let run = Run::open(&folder.path().join("trial").join(variant)).unwrap();
        let records = run.records().unwrap();
        assert_eq!(records.iter().map(|r| r.cell.seed).max(), Some(2));
        for record in &records {
            let applied = record.origin.as_ref().unwrap().applied.iter().flatten();
            assert_eq!(applied.map(|one| one.made).sum::<usize>(), set, "{}", record.id);
        }
    }
}

#[test]
fn a_trial_that_is_killed_leaves_the_machine_as_it_was() {
    let _machine = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    worstcase_skips::or_skip!(can_be_tried());
    let folder = tempfile::tempdir().unwrap();
    let mut command = trial(&folder, "--only timer-migration --time 1s --rounds 500");
    let mut process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until("the setting is made", || migration() == "0");
    process.kill().unwrap();
    process.wait().unwrap();
    until("the guard restores", || migration() == "1");
}

#[test]
fn a_setting_that_there_is_not_is_refused_with_those_that_there_are() {
    let folder = tempfile::tempdir().unwrap();
    let command = trial(&folder, "--only wings");
    let refused = assert_cmd::Command::from_std(command).assert().code(2);
    refused.stderr(contains("worstcase: ").and(contains("wings").or(contains("nothing to try"))));
    assert!(!folder.path().join("trial").exists());
}

/// A command of the user's and its opposite, for the setting that [`MIGRATION`] is.
fn switched(command: &mut Command) -> &mut Command {
    command
        .args(["--switch", "sysctl -q kernel.timer_migration=0"])
        .args(["--back", "sysctl -q kernel.timer_migration=1"])
}

#[test]
fn a_command_of_the_users_is_tried_in_turns_and_taken_back() {
    let _machine = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    worstcase_skips::or_skip!(can_be_tried());
    let folder = tempfile::tempdir().unwrap();
    let mut command = trial(&folder, "--time 200ms --rounds 2 --json");
    switched(&mut command);
    let done = assert_cmd::Command::from_std(command).assert().success();
    assert_eq!(migration(), "1");
    let trial: serde_json::Value = serde_json::from_slice(&done.get_output().stdout).unwrap();
    assert_eq!(trial["variants"][1]["name"], "switched");
    let run = Run::open(&folder.path().join("trial/switched")).unwrap();
    assert!(
        run.plan().title.contains("sysctl -q kernel.timer_migration=0"),
        "{}",
        run.plan().title
    );
}

#[test]
fn a_command_of_the_users_is_taken_back_after_a_kill() {
    let _machine = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    worstcase_skips::or_skip!(can_be_tried());
    let folder = tempfile::tempdir().unwrap();
    let mut command = trial(&folder, "--time 1s --rounds 500");
    let mut process = switched(&mut command)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until("the command has run", || migration() == "0");
    process.kill().unwrap();
    process.wait().unwrap();
    until("the guard takes it back", || migration() == "1");
}

#[test]
fn a_command_without_one_that_takes_it_back_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = trial(&folder, "");
    command.args(["--switch", "true"]);
    assert_cmd::Command::from_std(command)
        .assert()
        .code(2)
        .stderr(contains("--back"));
    let mut command = trial(&folder, "");
    command.args(["--switch", "a 'b", "--back", "true"]);
    assert_cmd::Command::from_std(command)
        .assert()
        .code(2)
        .stderr(contains("a quote in"));
}
