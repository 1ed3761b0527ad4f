//! What is no file where a file should be, and records that hold what would flood or steer a terminal.

use crate::fixture::{host_raw, on_cpu, plan_of, raw, refitted, result, spec, subject, write_cells};
use assert_cmd::Command;
use std::fs;
use std::path::Path;
use std::process::Output;
use std::time::Duration;
use worstcase_results::record::{CellResult, Run};

fn worstcase(args: &[&str]) -> Output {
    let mut command = Command::cargo_bin("worstcase").unwrap();
    command.args(args).timeout(Duration::from_secs(60)).output().unwrap()
}

fn honest() -> CellResult {
    result(&subject("6.1", "rt"), &raw(&spec("shm", 1), &[1_000, 2_000, 9_000]))
}

fn one_line(out: &Output, says: &str) {
    let told = String::from_utf8_lossy(&out.stderr);
    assert!(matches!(out.status.code(), Some(2 | 3 | 5)), "{}: {told}", out.status);
    assert!(told.contains(says) && told.lines().count() == 1, "{told}");
}

/// Puts a FIFO, then /dev/zero in the place of a file.
fn in_its_place(file: &Path, look: &dyn Fn()) {
    let _ = fs::remove_file(file);
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, file, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    look();
    fs::remove_file(file).unwrap();
    std::os::unix::fs::symlink("/dev/zero", file).unwrap();
    look();
    fs::remove_file(file).unwrap();
}

#[test]
fn fifos_and_devices_are_not_read() {
    const SAYS: &str = "it is not a regular file";
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let cell = write_cells(&path, &[honest()]).cell_dir(&honest().record.id);
    let run = path.to_str().unwrap();
    for file in [
        cell.join("samples.parquet"),
        cell.join("record.json"),
        cell.join("SHA256SUMS"),
        path.join("run.json"),
    ] {
        let whole = fs::read(&file).unwrap();
        in_its_place(&file, &|| {
            let out = worstcase(&["show", run]);
            one_line(&out, SAYS);
            assert_eq!(out.status.code(), Some(2), "damage, not a failure of the disk");
        });
        fs::write(&file, whole).unwrap();
    }
    assert!(worstcase(&["show", run]).status.success());
    let odd = dir.path().join("odd.toml");
    let odd_name = odd.to_str().unwrap();
    in_its_place(&odd, &|| {
        one_line(&worstcase(&["gate", "--baseline", odd_name, run]), SAYS);
        one_line(&worstcase(&["study", "show", odd_name]), SAYS);
        one_line(&worstcase(&["import", odd_name]), SAYS);
    });
}

#[test]
fn damaged_recordings_are_damage_and_no_failure_of_the_disk() {
    let dir = tempfile::tempdir().unwrap();
    let cell = refitted(&on_cpu(0, &host_raw(1, &[1_000, 2_000, 9_000])));
    let run = Run::create(dir.path(), plan_of(std::slice::from_ref(&cell))).unwrap();
    let mut group = run.group().unwrap();
    group.replace(&cell, &[("captures.json", b"[]\n")]).unwrap();
    group.publish().unwrap();
    let folder = run.cell_dir(&cell.record.id);
    let captures = folder.join("captures.json");
    let explained = || worstcase(&["explain", dir.path().to_str().unwrap()]);
    let refused = |says: &str| {
        let out = explained();
        one_line(&out, says);
        assert_eq!(out.status.code(), Some(2), "{out:?}");
    };
    // Whole: it only has no sample.
    refused("has no sample");
    for damage in [&b"["[..], b"", b"[]\n\n"] {
        fs::write(&captures, damage).unwrap();
        refused(&format!(
            "{} is damaged: it does not fit its checksum in SHA256SUMS; put {} aside",
            captures.display(),
            folder.display()
        ));
    }
    in_its_place(&captures, &|| refused("it is not a regular file"));
    refused(&format!("{} is damaged: it is missing", captures.display()));
    // Sums that fit, but nothing that this version reads.
    fs::write(&captures, "{}").unwrap();
    let sums = fs::read_to_string(folder.join("SHA256SUMS")).unwrap();
    let sums = sums.replace(
        &worstcase_base::digest::sha256_hex(b"[]\n"),
        &worstcase_base::digest::sha256_hex(b"{}"),
    );
    fs::write(folder.join("SHA256SUMS"), sums).unwrap();
    refused("was written by another version of worstcase");
}

#[test]
fn a_million_warnings_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let mut flood = honest();
    flood.record.warnings = (0..1_000_000).map(|n| format!("warning {n}")).collect();
    let path = dir.path().join("run");
    Run::create(&path, plan_of(std::slice::from_ref(&flood)))
        .unwrap()
        .write_cell(&flood)
        .unwrap();
    one_line(
        &worstcase(&["show", path.to_str().unwrap()]),
        "its list 'warnings' has 1000000 entries",
    );
}

#[test]
fn what_a_record_holds_does_not_steer_the_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let evil = "\x1b[2J\x1b]0;title\x07\u{9b}1m\u{202e}";
    let mut steering = honest();
    let record = &mut steering.record;
    record.warnings.push(format!("warning {evil}"));
    record.console.push(format!("console {evil}"));
    record
        .environment
        .insert(format!("key {evil}"), format!("value {evil}"));
    record.work[0].unit = format!("unit {evil}");
    record.subject.kernel.release = format!("6.1{evil}");
    record.subject.kernel.version = format!("6.1{evil}");
    let path = dir.path().join("run");
    write_cells(&path, &[refitted(&steering)]);
    let (run, id) = (path.to_str().unwrap(), steering.record.id.to_string());
    for args in [
        &["show", run][..],
        &["show", run, "--cell", &id],
        &["show", run, "--csv"],
        &["verdict", run, "--criterion", "1ms"],
        &["history", run],
        &["compare", run, run],
    ] {
        let out = worstcase(args);
        for (name, bytes) in [("stdout", out.stdout), ("stderr", out.stderr)] {
            let text = String::from_utf8(bytes).unwrap();
            let steers = |c: char| (c.is_control() && !"\n\t".contains(c)) || c == '\u{202e}';
            assert!(!text.contains(steers), "{args:?} {name}: {text:?}");
        }
    }
}
