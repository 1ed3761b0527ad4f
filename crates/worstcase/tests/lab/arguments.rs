//! Arguments that make no sense are refused before anything is booted, and in words that say what would.

use crate::desk::{GENERIC, RT, folder, shared};
use crate::failures::{failure, one_line};

/// Refused while the command line is read: the line, and a pointer to the help.
const NOT_UNDERSTOOD: &[(&str, &str)] = &[
    ("--jobs 0", "write a whole number of at least 1"),
    ("--jobs two", "write a whole number of at least 1"),
    ("--seeds 0", "0 is not in 1..=10000"),
    ("--seed 1 --seeds 2", "cannot be used with"),
    ("--samples -1", "-1"),
    (
        "--probe response,bonnie",
        "unknown probe 'bonnie'; known: wakeup, response, switch, hackbench, inversion",
    ),
    (
        "--period 251",
        "'251' is not a duration: write a number and ns, us, ms, s, m or h",
    ),
    ("--warmup 20000000000s", "is not a duration"),
    ("--mips 300", "--mips is 1000, 500, 250 or 125"),
    ("--timeout 0", "0 is not in 1..="),
    ("--add /no/such/program", "there is no file /no/such/program"),
    ("--add /bin/true:/init", "the destination '/init'"),
    ("--criterion 100", "100us or 2.5ms"),
];

/// Understood, and impossible.
const IMPOSSIBLE: &[(&str, &str)] = &[
    ("--load smh", "unknown load 'smh'; known: idle, shm,"),
    ("--load apps", "load 'apps' is written apps:N"),
    ("--load apps:0", "apps:N runs 1 to 200 processes, not '0'"),
    ("--load apps:x", "apps:N runs 1 to 200 processes, not 'x'"),
    ("--load shm:16", "load 'shm' takes no parameter"),
    ("--load cmd:", "there is no program"),
    ("--load idle,idle", "name each kernel, load and probe once"),
    ("--samples 0", "the number of samples is 1 to 10000000, not 0"),
    ("--period 5us", "a period is 10000 ns to"),
    ("--period 61s", "a period is 10000 ns to"),
    ("--warmup 2000000s", "a warm-up is at most"),
    ("--priority 0", "a real-time priority is 1 to 99, not 0"),
    ("--memory 16", "--memory is 192 to 2048 MiB, not 16"),
    ("--memory 4096", "--memory is 192 to 2048 MiB, not 4096"),
    (
        "--preempt maybe",
        "unknown preemption model, maybe; take none, voluntary, full, lazy or rt",
    ),
    ("--preempt full,rt", "can boot 'rt'; see 'worstcase kernels show'"),
    ("--preempt lazy", "no preemption model lazy, kernel 6.1"),
];

#[test]
fn what_is_not_understood() {
    let folder = folder();
    for (words, says) in NOT_UNDERSTOOD {
        let run = folder.path().join("run");
        let said = failure(shared().run(&format!("--kernel {GENERIC} {words}"), &run), 2);
        assert!(
            said.line.starts_with("error: ") && said.line.contains(says),
            "{words}: {}",
            said.line
        );
        assert!(!run.exists(), "{words}: no run is begun");
    }
}

#[test]
fn what_is_impossible() {
    let folder = folder();
    for (words, says) in IMPOSSIBLE {
        let run = folder.path().join("run");
        one_line(shared().run(&format!("--kernel {GENERIC} {words}"), &run), 2, &[says]);
        assert!(!run.exists(), "{words}: no run is begun");
    }
}

#[test]
fn a_model_that_the_kernel_does_not_have() {
    let folder = folder();
    let none = shared().run(&format!("--kernel {RT} --preempt none"), &folder.path().join("run"));
    one_line(none, 2, &["no preemption model none", "it can boot rt"]);
}

#[test]
fn every_help_text_is_there() {
    for words in [
        "",
        "kernels",
        "kernels list",
        "kernels get",
        "kernels show",
        "lab",
        "lab run",
        "lab verify",
        "census",
        "explain",
        "show",
        "study",
        "study list",
        "study run",
        "study show",
        "verdict",
        "host",
        "host run",
        "host show",
        "host doctor",
        "host restore",
    ] {
        let assert = shared().worstcase(words).arg("--help").assert().success();
        let help = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
        assert!(help.contains("Usage: worstcase"), "{words}: {help}");
    }
}
