//! Arguments that make no sense are refused before anything is booted, and in words that say what would.

use crate::controller::{GENERIC, RT, folder, shared};
use crate::failures::{failure, one_line};

/// Refused while the command line is read: the line, and a pointer to the help.
const NOT_UNDERSTOOD: &[(&str, &str)] = &[
    ("--jobs 0", "write a whole number of at least 1"),
    ("--jobs two", "write a whole number of at least 1"),
    ("--seed 1 --seeds 2", "cannot be used with"),
    ("--samples -1", "-1"),
    (
        "--probe response,bonnie",
        "unknown probe 'bonnie'; worstcase probes lists all",
    ),
    (
        "--interval 251",
        "'251' is not a duration: write a number and ns, us, ms, s, m, h or d",
    ),
    ("--warmup 20000000000s", "is not a duration"),
    (
        "--preempt maybe",
        "unknown preemption model, maybe; take none, voluntary, full, lazy or rt",
    ),
    ("--samples 2 --time 1s", "cannot be used with"),
    ("--load smh", "unknown load 'smh'; did you mean shm"),
    ("--load apps", "load 'apps' is written apps:N"),
    ("--timeout 0", "0 is not in 1..="),
    ("--add /bin/true:/init", "the destination '/init'"),
    ("--criterion 100", "100us or 2.5ms"),
    ("--cpu pentium", "'pentium' is not one of max, skylake, rome"),
    ("--append preempt=full", "use --preempt"),
];

/// Understood, and impossible.
const IMPOSSIBLE: &[(&str, &str)] = &[
    ("--load idle,idle", "name each kernel, load and probe once"),
    ("--seeds 0", "seeds is 1 to 10000, not 0"),
    ("--priority 0", "a real-time priority is 1 to 99, not 0"),
    (
        "--add /no/such/program",
        "--add /no/such/program: there is no such file",
    ),
    ("--samples 0", "the number of samples is 1 to 10000000, not 0"),
    ("--interval 5us", "an interval is 10 us to 60 s, not 5 us"),
    ("--interval 61s", "an interval is 10 us to 60 s, not 61 s"),
    (
        "--probe switch:2x0 --time 1s",
        "switch and hackbench take a number of samples",
    ),
    ("--probe timerlat", "probe 'timerlat' is there on the host only"),
    (
        "--probe jitter --interval 251us",
        "the probe jitter needs an interval that the RTC has: 251.004 us, not 251 us",
    ),
    ("--load desktop", "'desktop'"),
    ("--mips 300", "mips is 1000, 500, 250 or 125, not 300"),
    ("--warmup 2000000s", "a warm-up is at most"),
    ("--memory 16", "memory is 192 to 2048 MiB, not 16"),
    ("--memory 4096", "memory is 192 to 2048 MiB, not 4096"),
    ("--preempt full,rt", "no preemption model rt, kernel 6.1"),
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
