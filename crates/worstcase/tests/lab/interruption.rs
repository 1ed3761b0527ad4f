//! Commands that are killed: nothing of theirs goes on, nothing half-done is kept, and the next one carries on.

use crate::controller::{Controller, GENERIC, entries, folder, qemu_that, shared, tree};
use crate::failures::machine_failed;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const CELLS: usize = 12;

fn matrix() -> String {
    format!("--kernel {GENERIC} --preempt full --load idle,shm,fork,procread --samples 400 --seeds 3")
}

fn start(controller: &Controller, words: &str) -> Child {
    start_heard(controller, words, Stdio::null())
}

fn start_heard(controller: &Controller, words: &str, errors: Stdio) -> Child {
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin("worstcase"));
    command
        .args(words.split_whitespace())
        .env("WORSTCASE_CACHE", controller.cache());
    command.stdout(Stdio::null()).stderr(errors).spawn().unwrap()
}

/// QEMUs that work below this folder: where /proc has them.
fn found_at(folder: &Path) -> Vec<PathBuf> {
    let all = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let works_there = |process: &PathBuf| fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd.starts_with(folder));
    all.filter(works_there).collect()
}

/// Whether one of them may only make the system calls that a filter lets pass (seccomp).
fn is_filtered(folder: &Path) -> bool {
    let status = |process: &PathBuf| fs::read_to_string(process.join("status")).unwrap_or_default();
    found_at(folder)
        .iter()
        .any(|found| status(found).contains("\nSeccomp:\t2\n"))
}

/// Waits for what a command does on its way; however slow the controller is, the command's own limits end it.
fn wait_until(what: &str, child: &mut Child, mut come: impl FnMut() -> bool) {
    while !come() {
        let ended = child.try_wait().unwrap();
        assert!(ended.is_none(), "the command ended before {what} came: {ended:?}");
        sleep(Duration::from_millis(5));
    }
}

/// Kills a command, and sees that its QEMUs die with it.
fn kill(mut child: Child, controller: &Controller) {
    assert!(child.try_wait().unwrap().is_none(), "it ended before it was killed");
    child.kill().unwrap();
    child.wait().unwrap();
    all_have_ended(controller);
}

/// The kernel needs a moment to take a machine's memory down; a QEMU that lives on has all the time in the world.
fn all_have_ended(controller: &Controller) {
    let begin = Instant::now();
    while !found_at(controller.cache()).is_empty() {
        let left = found_at(controller.cache());
        assert!(begin.elapsed() < Duration::from_secs(600), "still there: {left:?}");
        sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_killed_run_goes_on_and_ends_with_the_same_bytes() {
    let (controller, folder) = (Controller::fresh(), folder());
    let at = |name: &str| folder.path().join(name);
    let words = format!("lab run --jobs 2 {} --output {}", matrix(), at("killed").display());
    let cells = at("killed/cells");

    let mut child = start(&controller, &words);
    wait_until("a boot", &mut child, || {
        !found_at(&controller.cache().join("snapshots")).is_empty()
    });
    wait_until("its sandbox", &mut child, || {
        is_filtered(&controller.cache().join("snapshots"))
    });
    kill(child, &controller);
    assert!(
        entries(&controller.cache().join("snapshots")).is_empty(),
        "no half-made snapshot"
    );

    let mut child = start(&controller, &words);
    wait_until("a cell", &mut child, || !entries(&cells).is_empty());
    // Anywhere in a cell.
    sleep(Duration::from_millis(u64::from(std::process::id()) % 300));
    kill(child, &controller);
    let done = entries(&cells).len();
    assert!((1..CELLS).contains(&done), "{done} cells were done");

    controller.run(&matrix(), &at("killed")).assert().success();
    shared().run(&matrix(), &at("whole")).assert().success();
    let (killed, whole) = (tree(&at("killed")), tree(&at("whole")));
    assert_eq!(entries(&cells).len(), CELLS);
    assert_eq!(killed.keys().collect::<Vec<_>>(), whole.keys().collect::<Vec<_>>());
    for (name, bytes) in killed {
        assert!(bytes == whole[&name], "{} differs", name.display());
    }

    // Nothing is measured twice: a QEMU that cannot boot anything is enough now, but not for another cell.
    qemu_that("exit 1", &at("qemu"));
    let with_broken_qemu = |words: &str, name: &str| {
        let mut command = controller.run(words, &at(name));
        command.arg("--qemu").arg(at("qemu"));
        command
    };
    with_broken_qemu(&matrix(), "again").assert().success();
    assert!(tree(&at("again")) == tree(&at("whole")));
    let other = matrix().replace("--samples 400", "--samples 401");
    machine_failed(
        with_broken_qemu(&other, "other"),
        &["load idle", "QEMU ended unexpectedly"],
        "",
    );
}

#[test]
fn ctrl_c_ends_a_run_and_the_same_in_other_words_goes_on() {
    let (controller, folder) = (Controller::booted(), folder());
    let run = folder.path().join("run");
    let words = format!("lab run --jobs 1 {} --output {}", matrix(), run.display());
    let mut child = start(&controller, &words);
    wait_until("a cell", &mut child, || !entries(&run.join("cells")).is_empty());
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let done = entries(&run.join("cells")).len();
    assert!((1..CELLS).contains(&done), "{done} cells were done");
    let same = matrix().replace("--seeds 3", "--warmup 0.1s --load idle,shm --seeds 3");
    let same = same.replacen("--load idle,shm,fork,procread ", "", 1) + " --load fork --load procread --jobs 2";
    controller.run(&same, &run).assert().success();
    assert_eq!(entries(&run.join("cells")).len(), CELLS);
}

/// Sends Ctrl-C; gives what is said, once the command has ended.
fn interrupt(child: Child) -> std::process::Output {
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    child.wait_with_output().unwrap()
}

fn said(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Folders and files below, by name, that a killed command would leave.
fn half_made(cache: &Path) -> Vec<PathBuf> {
    let snapshots = cache.join("snapshots");
    fs::read_dir(snapshots)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect()
}

#[test]
fn ctrl_c_while_a_machine_boots_ends_it_in_words_and_leaves_nothing() {
    let (controller, folder) = (Controller::fresh(), folder());
    let run = folder.path().join("above/run");
    let words = format!("lab run --jobs 1 {} --output {}", matrix(), run.display());
    let mut child = start_heard(&controller, &words, Stdio::piped());
    wait_until("a boot", &mut child, || {
        !found_at(&controller.cache().join("snapshots")).is_empty()
    });
    let output = interrupt(child);
    assert_eq!(output.status.code(), Some(130), "{}", said(&output));
    let told = said(&output);
    let lines: Vec<&str> = told.lines().collect();
    let ahead = format!("worstcase: {CELLS} cells to measure, 1 machine to boot: about ");
    assert!(lines[0].starts_with(&ahead), "{told}");
    assert_eq!(lines[1], "worstcase: interrupted");
    let go_on = format!("worstcase: 0 of {CELLS} measurements are kept; to go on: worstcase lab run");
    assert!(lines[2].starts_with(&go_on) && lines.len() == 3, "{told}");
    all_have_ended(&controller);
    assert_eq!(half_made(controller.cache()), Vec::<PathBuf>::new());
    assert!(
        !folder.path().join("above").exists(),
        "nothing is there for the next command"
    );
}

const STUDY: &str = r#"schema = "worstcase-study/4"
name = "waits"
title = "Is something said?"
question = "A short one."
source = "a test"
[full]
kernels = [{ kernel = "KERNEL", preempt = ["full"] }]
loads = ["idle"]
probes = ["wakeup"]
seeds = 1
samples = 50
"#;

#[test]
fn who_waits_in_a_pipe_is_told_that_it_goes_on() {
    let (controller, folder) = (Controller::fresh(), folder());
    let at = |name: &str| folder.path().join(name);
    // A machine that does nothing: no cell and no boot is ever done.
    qemu_that("exec sleep 1000", &at("qemu"));
    fs::write(at("study.toml"), STUDY.replace("KERNEL", GENERIC)).unwrap();
    let ends = "--good debian:6.1@6.1.170 --bad debian:6.1@6.1.192";
    let commands = [
        format!("lab run {} --output {}", matrix(), at("run").display()),
        format!(
            "study run {} --output {}",
            at("study.toml").display(),
            at("study").display()
        ),
        format!(
            "bisect {ends} --load idle --criterion 1us --output {}",
            at("bisect").display()
        ),
    ];
    for words in commands {
        let words = format!("{words} --qemu {}", at("qemu").display());
        let mut child = start_heard(&controller, &words, Stdio::piped());
        let mut lines = BufReader::new(child.stderr.take().unwrap())
            .lines()
            .map_while(Result::ok);
        let goes_on = lines.any(|line| line.contains(" gone: "));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(goes_on, "{words}");
    }
}

#[test]
fn combined_loads_run_at_once() {
    let words = format!("--kernel {GENERIC} --preempt full --load find+compile+compile --samples 1000 --seed 1");
    let record = &shared().measure(&words)[0];
    assert_eq!(record.cell.load, "find+compile+compile");
    for part in ["find.", "compile.", "compile2."] {
        let worked = record
            .work
            .iter()
            .any(|work| work.unit.starts_with(part) && work.count > 0);
        assert!(worked, "{part}: {:?}", record.work);
    }
}

#[test]
fn what_a_killed_verification_leaves_is_removed_by_the_next() {
    let (controller, folder) = (Controller::fresh(), folder());
    let scratch = controller.cache().join("scratch").join(worstcase_base::machine::name());
    let words = format!("lab verify --kernel {GENERIC} --preempt full --samples 200 --seed 1 --fresh-boots");
    let mut child = start(&controller, &format!("{words} --runs 2"));
    wait_until("a boot", &mut child, || !found_at(&scratch).is_empty());
    kill(child, &controller);
    assert_eq!(fs::read_dir(&scratch).unwrap().count(), 1);
    // The next one need not get far for that.
    let broken = folder.path().join("qemu");
    qemu_that("exit 1", &broken);
    let mut next = controller.worstcase(&format!("{words} --runs 1"));
    next.arg("--qemu").arg(&broken);
    machine_failed(next, &["QEMU ended unexpectedly, with exit code 1"], "");
    assert_eq!(fs::read_dir(&scratch).unwrap().count(), 0);
}
