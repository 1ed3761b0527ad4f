//! `--break`, `--on-break` and `--on-end`. Every wake-up takes longer than a nanosecond, and none takes a minute.

use crate::run::MeasuringController;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// A program that writes what it finds in its environment.
fn teller(controller: &MeasuringController, name: &str) -> (PathBuf, PathBuf) {
    let (program, said) = (controller.path(name), controller.path(&format!("{name}.said")));
    let script = format!(
        "#!/bin/sh\necho hello from {name}\nenv | grep ^WORSTCASE_ > '{}'\n",
        said.display()
    );
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    (program, said)
}

#[test]
fn the_first_sample_above_ends_the_run_and_the_commands_know_it() {
    let controller = MeasuringController::new();
    let (on_break, broke) = teller(&controller, "on break");
    let (on_end, ended) = teller(&controller, "on-end");
    let quoted = format!("'{}'", on_break.display());
    let output = controller.run(&[
        "-a",
        "0",
        "-D",
        "1m",
        "--seeds",
        "2",
        "-q",
        "-b",
        "1ns",
        "--on-break",
        &quoted,
        "--on-end",
        on_end.to_str().unwrap(),
    ]);
    let (out, error) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert_eq!(output.status.code(), Some(1), "{out}{error}");
    assert!(
        out.starts_with("ended by sample ") && out.contains(" us, above 0.001 us ("),
        "{out}"
    );
    // The second seed is not measured, and the first is not of a minute.
    let records = controller.records();
    assert_eq!(
        (records.len(), &records[0]["environment"]["ended_early"]),
        (1, &"break".into())
    );
    let taken = records[0]["accounting"]["taken"].as_u64().unwrap();
    assert!((1..60_000).contains(&taken), "{taken}");
    assert!(
        error.contains("hello from on break") && error.contains("hello from on-end"),
        "{error}"
    );
    let (broke, ended) = (fs::read_to_string(broke).unwrap(), fs::read_to_string(ended).unwrap());
    let run = format!("WORSTCASE_RUN={}", controller.path("run").display());
    for told in [
        run.as_str(),
        "WORSTCASE_CPU=0",
        "WORSTCASE_SAMPLE=",
        "WORSTCASE_LATENCY_NS=",
    ] {
        assert!(broke.contains(told), "{told}: {broke}");
    }
    assert!(
        ended.contains(&run) && ended.contains("WORSTCASE_OUTCOME=break"),
        "{ended}"
    );
    assert_eq!(controller.left(), Vec::<PathBuf>::new());
}

#[test]
fn a_run_without_such_a_sample_is_complete_and_a_command_s_failure_loses_nothing() {
    let controller = MeasuringController::new();
    let arguments = [
        "--cpus",
        "0",
        "--samples",
        "50",
        "--quiet",
        "--break",
        "60s",
        "--captures",
        "0",
    ];
    let output = controller.run(&[&arguments[..], &["--on-break", "false", "--on-end", "false"]].concat());
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{error}");
    assert!(
        error.contains("--on-end") && error.contains("the run is kept") && !error.contains("--on-break"),
        "{error}"
    );
    let records = controller.records();
    assert_eq!(records[0]["accounting"]["expected"], 50);
    assert!(records[0]["environment"].get("ended_early").is_none());
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_measured() {
    for (arguments, says) in [
        (&["--on-break", "true"][..], "--on-break needs --break"),
        (
            &["--break", "1ms", "--on-end", "a 'b"],
            "--on-end: a quote in 'a 'b' is not closed",
        ),
        (
            &["--break", "1ms", "--on-break", " "],
            "--on-break: the command is empty",
        ),
        (
            &["--break", "1ms", "--probe", "jitter"],
            "--break: jitter has no latency",
        ),
        (&["--break", "1ms", "--probe", "switch:2x0"], "--break: is for wakeup"),
    ] {
        let controller = MeasuringController::new();
        let output = controller.run(arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(says) && !controller.path("run").exists(), "{error}");
    }
}
