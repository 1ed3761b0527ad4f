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

/// Files with holes, as long as one likes: they cost nothing to write. None is read through before it is refused.
#[test]
fn a_samples_file_of_another_length_is_refused_before_it_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let mut forged = honest();
    let cell = write_cells(&path, &[honest()]).cell_dir(&forged.record.id);
    let run = path.to_str().unwrap();
    let file = fs::File::options()
        .write(true)
        .open(cell.join("samples.parquet"))
        .unwrap();
    file.set_len(20 << 30).unwrap();
    one_line(
        &worstcase(&["show", run]),
        "is damaged: it is 21474836480 bytes long, its record says",
    );
    // A record that says so itself.
    forged.record.samples.bytes = 20 << 30;
    let json = serde_json::to_vec_pretty(&forged.record).unwrap();
    let sums = format!(
        "{}  record.json\n{}  samples.parquet\n",
        worstcase_base::digest::sha256_hex(&json),
        forged.record.samples.sha256
    );
    fs::write(cell.join("record.json"), json).unwrap();
    fs::write(cell.join("SHA256SUMS"), sums).unwrap();
    one_line(
        &worstcase(&["show", run]),
        "21474836480 bytes are too many for 3 samples",
    );
}

/// Puts another run.json into a run's folder, with a checksum that fits.
fn planned(path: &Path, json: &[u8]) {
    fs::write(path.join("run.json"), json).unwrap();
    let sum = worstcase_base::digest::sha256_hex(json);
    fs::write(path.join("SHA256SUMS"), format!("{sum}  run.json\n")).unwrap();
}

#[test]
fn texts_and_cells_of_a_run_have_an_end() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    write_cells(&path, &[honest()]);
    let run = path.to_str().unwrap();
    let plan = plan_of(&[honest()]);
    let mut long = plan.clone();
    long.title = "x".repeat(30 << 20);
    planned(&path, &serde_json::to_vec(&long).unwrap());
    one_line(
        &worstcase(&["show", run]),
        "a text of 31457280 bytes, more than 1048576",
    );
    long.title = "x".repeat(10_001);
    planned(&path, &serde_json::to_vec(&long).unwrap());
    one_line(&worstcase(&["show", run]), "its title has more than 10000 characters");
    let mut many = plan.clone();
    many.cells = vec![plan.cells[0].clone(); 100_001];
    planned(&path, &serde_json::to_vec(&many).unwrap());
    one_line(&worstcase(&["show", run]), "it has 100001 cells, more than 100000");
    // Each alternative doubles what the word stands for.
    let word = format!("switch:2{}", "+spin1us/2us".repeat(60));
    let mut wide = plan;
    wide.cells[0].probe = word;
    planned(&path, &serde_json::to_vec(&wide).unwrap());
    one_line(&worstcase(&["show", run]), "stands for more than 4096 probes");
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

/// They are counted, and not made: a load, a seed or a machine more would be so many.
#[test]
fn a_command_of_too_many_cells_is_refused() {
    let loads = ["idle"; 11].join(",");
    let mips = ["100"; 400].join(",");
    for args in [
        &[
            "lab",
            "run",
            "--kernel",
            "debian:6.1",
            "--load",
            &loads,
            "--seeds",
            "10000",
        ][..],
        &["host", "run", "--load", &loads, "--seeds", "10000"],
        &[
            "lab",
            "run",
            "--kernel",
            "debian:6.1",
            "--mips",
            &mips,
            "--memory",
            &mips,
        ],
    ] {
        one_line(
            &worstcase(args),
            "cells, and an experiment has at most 100 000: ask for fewer",
        );
    }
}
