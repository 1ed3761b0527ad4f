//! What machines of several CPUs cannot be, and what is not done with their cells, is said before anything is started.

use crate::fixture::{plan_of, raw, result, spec, subject};
use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;
use std::fs;
use worstcase_plan::{Smp, study};
use worstcase_results::record::{CellResult, Run, SubjectMachine};

fn worstcase() -> Command {
    Command::cargo_bin("worstcase").unwrap()
}

#[test]
fn what_cannot_be_is_one_line_before_a_kernel_or_qemu_is_looked_for() {
    let dir = tempfile::tempdir().unwrap();
    let refused = |words: &[&str], said: &str| {
        let assert = worstcase()
            .args(["lab", "run", "--kernel", "debian:6.1"])
            .args(words)
            .env("PATH", dir.path())
            .env("WORSTCASE_CACHE", dir.path())
            .current_dir(dir.path())
            .assert();
        let line = contains(said).and(contains('\n').count(1));
        assert.code(2).stdout("").stderr(line);
    };
    for (words, said) in [
        (&["--cpus", "0"][..], "the lab's machine has 1 to 16 CPUs, not 0"),
        (&["--cpus", "2,17"], "the lab's machine has 1 to 16 CPUs, not 17"),
        (
            &["--cpus", "2", "--probe-cpu", "2"],
            "the probe cannot run on CPU 2: the machine has CPUs 0 to 1",
        ),
        (
            &["--cpus", "1,2", "--probe-cpu", "1"],
            "the probe cannot run on CPU 1: the machine has CPU 0 only",
        ),
        (
            &["--cpus", "2", "--load-cpus", "0,5"],
            "the load cannot run on CPU 5: the machine has CPUs 0 to 1",
        ),
        (
            &["--cpus", "2", "--load-cpus", ""],
            "the load needs a CPU; write it like 0-1",
        ),
        (&["--quantum", "10ns"], "the quantum is 50 ns to 1 ms, not 10 ns"),
        (&["--quantum", "2s"], "the quantum is 50 ns to 1 ms, not 2 s"),
    ] {
        refused(words, said);
    }
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 0, "nothing is begun");
}

#[test]
fn what_is_not_understood() {
    for (words, said) in [
        (&["--cpus", "x"][..], "invalid value 'x' for '--cpus <NUMBER>'"),
        (&["--cpus", "1-2"], "invalid value '1-2' for '--cpus <NUMBER>'"),
        (&["--probe-cpu", "0-1"], "invalid value '0-1' for '--probe-cpu <CPU>'"),
        (
            &["--load-cpus", "1-0"],
            "\"1-0\" is no list of CPUs; write it like 0-3,8",
        ),
        (&["--quantum", "1"], "'1' is not a duration"),
        (&["--quantum", "10s"], "the quantum is 50 ns to 1 ms"),
    ] {
        let mut lab = worstcase();
        lab.args(["lab", "run", "--kernel", "debian:6.1"]).args(words);
        lab.assert().code(2).stdout("").stderr(contains(said));
    }
    for option in ["--quantum", "--probe-cpu"] {
        let mut host = worstcase();
        host.args(["host", "run", option, "1"]);
        let said = format!("unexpected argument '{option}'");
        host.assert().code(2).stdout("").stderr(contains(said));
    }
}

/// The same of study files, with the line.
#[test]
fn what_cannot_be_in_a_study() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("mine.toml");
    let built_in = study::text("preemption-models").unwrap();
    let at = built_in.lines().position(|line| line == "samples = 4_000").unwrap() + 1;
    for (key, said) in [
        ("cpus = \"0\"", "FIRST: the lab's machine has 1 to 16 CPUs, not 0"),
        ("cpus = \"17\"", "FIRST: the lab's machine has 1 to 16 CPUs, not 17"),
        (
            "cpus = \"0-1\"",
            "FIRST: in the lab 'cpus' is how many, like \"1,2,4\", not '0-1'",
        ),
        (
            "cpus = 2.5",
            "FIRST: invalid type: floating point `2.5`, expected a text",
        ),
        (
            "cpus = \"2\"\nprobe_cpu = 2",
            "SECOND: the probe cannot run on CPU 2: the machine has CPUs 0 to 1",
        ),
        (
            "load_cpus = \"5\"",
            "FIRST: the load cannot run on CPU 5: the machine has CPU 0 only",
        ),
        ("load_cpus = \"\"", "FIRST: the load needs a CPU; write it like 0-1"),
        (
            "load_cpus = \"x\"",
            "FIRST: \"x\" is no list of CPUs; write it like 0-3,8",
        ),
        ("quantum = \"10ns\"", "FIRST: the quantum is 50 ns to 1 ms, not 10 ns"),
        ("quantum = \"2s\"", "FIRST: the quantum is 50 ns to 1 ms, not 2 s"),
        ("quantum = \"10s\"", "FIRST: the quantum is 50 ns to 1 ms"),
    ] {
        fs::write(&path, built_in.replacen("samples = 4_000", key, 1)).unwrap();
        let said = said
            .replace("SECOND", &format!("line {}", at + 1))
            .replace("FIRST", &format!("line {at}"));
        let line = contains(said).and(contains('\n').count(1));
        let show = worstcase().args(["study", "show"]).arg(&path).assert();
        show.code(2).stdout("").stderr(line);
    }
}

/// A cell that was measured on a machine of so many CPUs.
fn cell(cpus: u32) -> CellResult {
    let mut subject = subject("6.1", "full");
    if let SubjectMachine::Lab(lab) = &mut subject.machine {
        lab.machine.smp = Smp { cpus, ..Smp::default() };
    }
    result(&subject, &raw(&spec("shm", 1), &[1_000, 2_000, 9_000]))
}

#[test]
fn a_census_of_an_ordinary_thread_is_refused() {
    let mut subject = subject("6.1", "full");
    if let SubjectMachine::Lab(lab) = &mut subject.machine {
        lab.machine.policy = Some("other".parse().unwrap());
    }
    let cell = result(&subject, &raw(&spec("shm", 1), &[1_000, 2_000, 9_000]));
    let dir = tempfile::tempdir().unwrap();
    let run = Run::create(dir.path(), plan_of(std::slice::from_ref(&cell))).unwrap();
    run.write_cell(&cell).unwrap();
    let census = worstcase().arg("census").arg(dir.path()).assert();
    let said = contains("--policy fifo or rr").and(contains('\n').count(1));
    census.code(2).stdout("").stderr(said);
}

#[test]
fn a_census_of_a_cpu_that_the_machine_has_not_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let cells = [cell(1), cell(4)];
    let run = Run::create(dir.path(), plan_of(&cells)).unwrap();
    cells.iter().for_each(|cell| run.write_cell(cell).unwrap());
    for (id, cpu, last) in [
        ("6.1.full.4cpus.shm.wakeup.s1", "4", 3),
        ("6.1.full.shm.wakeup.s1", "1", 0),
    ] {
        let words = ["--cell", id, "--cpu", cpu];
        let census = worstcase().arg("census").arg(dir.path()).args(words).assert();
        let said = format!("{id}: --cpu {cpu}: its machine has CPUs 0 to {last}");
        census
            .code(2)
            .stdout("")
            .stderr(contains(said).and(contains('\n').count(1)));
    }
}
