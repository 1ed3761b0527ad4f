//! `worstcase show --samples` and `--histogram`.

use crate::fixture::write;
use assert_cmd::Command;
use std::fs;
use std::path::Path;
use worstcase_results::record::Quantity;

fn show(dir: &Path, args: &[&str]) -> String {
    let mut command = Command::cargo_bin("worstcase").unwrap();
    let assert = command.arg("show").arg(dir).args(args).assert().success();
    String::from_utf8(assert.get_output().stdout.clone()).unwrap()
}

#[test]
fn every_sample_is_a_line() {
    let dir = tempfile::tempdir().unwrap();
    let run = write(&dir.path().join("run"));
    let records = run.records().unwrap();
    let text = show(run.dir(), &["--samples"]);
    let mut lines = text.lines();
    assert_eq!(
        lines.next(),
        Some("id,index,due_ns,latency_ns,irq_latency_ns,after_irq_ns,jitter_ns")
    );
    let all: u64 = records.iter().map(|r| r.samples.rows).sum();
    assert_eq!(lines.count() as u64, all);

    let first = &records[0];
    let text = show(run.dir(), &["--samples", "--cell", first.id.as_str()]);
    let mut expected = Vec::new();
    run.for_each_sample(first, |row| {
        expected.push(format!("{},{},{},{}", first.id, row.index, row.due.0, row.latency.0));
    })
    .unwrap();
    let beginnings: Vec<String> = text
        .lines()
        .skip(1)
        .map(|line| line.split(',').take(4).collect::<Vec<_>>().join(","))
        .collect();
    assert_eq!(beginnings, expected);
}

/// What is printed in cyclictest's form is read as cyclictest's, to the microsecond.
#[test]
fn a_histogram_can_be_imported_again() {
    let dir = tempfile::tempdir().unwrap();
    let run = write(&dir.path().join("run"));
    let record = run.records().unwrap().remove(0);
    let text = show(run.dir(), &["--histogram", "--cell", record.id.as_str()]);
    assert!(text.starts_with("# Histogram\n# column 2: "), "{text}");
    let file = dir.path().join("printed.txt");
    fs::write(&file, &text).unwrap();
    let again = dir.path().join("again");
    let mut command = Command::cargo_bin("worstcase").unwrap();
    command
        .arg("import")
        .arg(&file)
        .arg("-o")
        .arg(&again)
        .assert()
        .success();
    let imported = worstcase_results::record::Run::open(&again).unwrap().records().unwrap();
    let (ours, theirs) = (
        record.summary(Quantity::Latency).unwrap(),
        imported[0].summary(Quantity::Latency).unwrap(),
    );
    let whole = |ns: u64| ns / 1_000 * 1_000;
    assert_eq!(theirs.count, ours.count);
    assert_eq!(
        (theirs.min_ns, theirs.max_ns),
        (ours.min_ns.map(whole), whole(ours.max_ns))
    );
    assert_eq!(theirs.median_ns, ours.median_ns.map(whole));
    // A column a cell.
    let all = show(run.dir(), &["--histogram"]);
    let row = all.lines().find(|line| !line.starts_with('#')).unwrap();
    assert_eq!(row.split_whitespace().count(), 1 + run.records().unwrap().len());
}
