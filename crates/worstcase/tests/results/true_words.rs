//! What is said of a wrong word is true, and names nothing that only the source knows.

use crate::fixture::write;
use crate::program::copy_to;
use assert_cmd::cargo::cargo_bin;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

const NOBODY: u32 = 65_534;

const STUDY: &str = r#"schema = "worstcase-study/4"
name = "words"
title = "Are they true?"
question = "A short one."
source = "a test"
[full]
kernels = KERNELS
loads = LOADS
probes = PROBES
"#;

fn refused(file: &Path) -> String {
    let output = Command::new(cargo_bin("worstcase"))
        .args(["study", "show"])
        .arg(file)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_study_with_a_wrong_form_is_told_the_right_one() {
    let dir = tempfile::tempdir().unwrap();
    let good = [
        r#"[{ kernel = "debian:6.1", preempt = ["full"] }]"#,
        r#"["idle"]"#,
        r#"["wakeup"]"#,
    ];
    let bad = [
        r#"["debian:6.1"]"#,
        r#""debian:6.1""#,
        "[[1]]",
        "[{ kernel = 1 }]",
        "7",
        "{ a = 1 }",
        "[]",
    ];
    for wrong in 0..good.len() {
        for value in bad {
            let mut values = good;
            values[wrong] = value;
            let [kernels, loads, probes] = values;
            let text = STUDY
                .replace("KERNELS", kernels)
                .replace("LOADS", loads)
                .replace("PROBES", probes);
            let file = dir.path().join("study.toml");
            fs::write(&file, text).unwrap();
            let output = Command::new(cargo_bin("worstcase"))
                .args(["study", "show"])
                .arg(&file)
                .output()
                .unwrap();
            let said = String::from_utf8(output.stderr).unwrap();
            assert!(
                !said.contains("struct ") && !said.contains("enum ") && !said.contains("Raw"),
                "{value}: {said}"
            );
        }
    }
    let file = dir.path().join("study.toml");
    fs::write(
        &file,
        STUDY
            .replace("KERNELS", bad[0])
            .replace("LOADS", good[1])
            .replace("PROBES", good[2]),
    )
    .unwrap();
    let said = refused(&file);
    assert!(
        said.contains("line 7") && said.contains("{ kernel = \"debian:6.1\""),
        "{said}"
    );
}

#[test]
fn a_folder_that_may_not_be_read_is_not_said_to_be_no_run() {
    worstcase_skips::needs_root!();
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).unwrap();
    let (program, closed) = (dir.path().join("worstcase"), dir.path().join("closed"));
    copy_to(&program);
    write(&closed.join("run"));
    fs::set_permissions(&closed, Permissions::from_mode(0o700)).unwrap();
    for command in ["show", "report", "verdict", "explain", "census", "plot", "history"] {
        let mut typed = Command::new(&program);
        typed.arg(command).arg(closed.join("run")).current_dir(dir.path());
        let output = typed.uid(NOBODY).gid(NOBODY).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{command}: {said}");
        assert!(
            said.contains("Permission denied") && !said.contains("not a run"),
            "{command}: {said}"
        );
    }
}

#[test]
fn a_closed_output_is_no_success() {
    let dir = tempfile::tempdir().unwrap();
    write(&dir.path().join("run"));
    let shell = |words: &str| {
        let program = cargo_bin("worstcase").display().to_string();
        let mut command = Command::new("sh");
        command
            .arg("-c")
            .arg(format!("exec '{program}' {words}"))
            .current_dir(dir.path());
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    for words in [
        "show run",
        "show run --json",
        "show run --csv",
        "study list",
        "history run",
    ] {
        let (code, said) = shell(&format!("{words} >&-"));
        assert_eq!(code, Some(5), "{words}: {said}");
        assert!(
            said.contains("cannot write the output: it is closed"),
            "{words}: {said}"
        );
        assert_eq!(shell(&format!("{words} >/dev/null")).0, Some(0), "{words}");
    }
}

#[test]
fn a_name_that_is_no_text_is_taken_for_a_file_and_told_elsewhere() {
    use std::os::unix::ffi::OsStrExt;
    let dir = tempfile::tempdir().unwrap();
    write(&dir.path().join("run"));
    let odd = std::ffi::OsStr::from_bytes(b"r\xe9s.svg");
    let typed = |words: &[&str]| {
        let mut command = Command::new(cargo_bin("worstcase"));
        let output = command.args(words).arg(odd).current_dir(dir.path()).output().unwrap();
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    for words in [
        &["report", "run", "-o"][..],
        &["plot", "run", "-o"],
        &["history", "run", "-o"],
        &["gate", "run", "--write-baseline"],
    ] {
        assert_eq!(typed(words).0, Some(0), "{words:?}");
        let (file, folder) = (dir.path().join(odd), dir.path().join(odd));
        let _ = fs::remove_file(file).or_else(|_| fs::remove_dir_all(folder));
    }
    let (code, said) = typed(&["lab", "run", "--kernel"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("r\u{fffd}s.svg is no UTF-8"), "{said}");
}

#[test]
fn an_address_without_a_number_is_told_what_to_write() {
    for address in ["localhost:9100", "9100", "127.0.0.1", "127.0.0.1:port"] {
        let mut command = Command::new(cargo_bin("worstcase"));
        command.args(["host", "watch", "--time", "1s", "--metrics", address]);
        let output = command.output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("127.0.0.1:9750"), "{said}");
    }
}
