//! Records that have the largest of their samples: figures are of all samples, and what needs them all says that it does not
//! have them.

use crate::fixture::{host_raw, latencies, on_cpu, plan_of, refitted};
use assert_cmd::Command;
use std::path::{Path, PathBuf};
use worstcase_results::record::build::samples_file;
use worstcase_results::record::parquet::{FileLabels, encode};
use worstcase_results::record::{CellResult, Run, SampleRow, SampleSelection, SamplesFile, folder};

/// A cell of a host of which only the samples above 40 us are kept, and the whole one.
fn selected() -> (CellResult, CellResult) {
    let whole = refitted(&on_cpu(0, &host_raw(1, &latencies(1, 90_000))));
    let dir = tempfile::tempdir().unwrap();
    let run = written(dir.path(), &whole);
    let mut rows: Vec<SampleRow> = Vec::new();
    run.for_each_sample(&whole.record, |row| rows.push(row)).unwrap();
    rows.retain(|row| row.latency.0 > 40_000);
    let mut record = whole.record.clone();
    let samples = encode(&rows, &FileLabels::new(&record.id, &record.subject), &record.accounting).unwrap();
    record.samples = SamplesFile {
        selection: Some(SampleSelection { largest: 9, around: 0 }),
        ..samples_file(&samples, rows.len() as u64)
    };
    assert!(!rows.is_empty() && record.samples.rows < record.accounting.rows());
    (
        refitted(&CellResult {
            record,
            samples,
            found: None,
        }),
        whole,
    )
}

fn written(dir: &Path, result: &CellResult) -> Run {
    let run = Run::create(dir, plan_of(std::slice::from_ref(result))).unwrap();
    run.write_cell(result).unwrap();
    run
}

fn worstcase(args: &[&str], dir: &Path) -> String {
    let mut command = Command::cargo_bin("worstcase").unwrap();
    let output = command.args(args).arg(dir).output().unwrap();
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

#[test]
fn tables_and_histograms_are_of_all_samples() {
    let dir = tempfile::tempdir().unwrap();
    let (part, whole) = selected();
    let places: [PathBuf; 2] = ["part", "whole"].map(|name| dir.path().join(name));
    written(&places[0], &part);
    written(&places[1], &whole);
    let counts = |place: &PathBuf| {
        let text = worstcase(&["show", "--histogram"], place);
        let lines = text
            .lines()
            .filter(|l| l.starts_with("# Total") || l.starts_with("# Max"));
        lines.map(str::to_string).collect::<Vec<_>>()
    };
    assert_eq!(counts(&places[0]), counts(&places[1]));
    let figures = |place: &PathBuf| {
        let csv = worstcase(&["show", "--csv"], place);
        csv.lines().map(str::to_string).collect::<Vec<_>>()
    };
    assert_eq!(figures(&places[0]), figures(&places[1]));
    let samples = worstcase(&["show", "--samples"], &places[0]);
    assert!(samples.contains("samples are kept, the largest"), "{samples}");
    let details = worstcase(&["show", "--cell", part.record.id.as_str()], &places[0]);
    for words in [
        "samples kept",
        "the 9 largest",
        "Worst samples",
        "an estimate needs all of them",
    ] {
        assert!(details.contains(words), "{words}: {details}");
    }
}

#[test]
fn a_record_that_does_not_say_that_it_selects_is_another_versions() {
    let dir = tempfile::tempdir().unwrap();
    let (mut part, _) = selected();
    part.record.samples.selection = None;
    written(dir.path(), &part);
    let said = worstcase(&["show"], dir.path());
    assert!(said.contains("was written by another version"), "{said}");
}

#[test]
fn a_cell_takes_the_place_of_what_was_kept_of_it() {
    let dir = tempfile::tempdir().unwrap();
    let (part, whole) = selected();
    let run = Run::create(dir.path(), plan_of(std::slice::from_ref(&whole))).unwrap();
    for (result, beside) in [
        (&part, None),
        (&whole, Some(("captures.json", "[]".as_bytes()))),
        (&part, None),
    ] {
        let mut group = run.group().unwrap();
        group.replace(result, beside.as_slice()).unwrap();
        group.publish().unwrap();
        let cell = run.cell_dir(&result.record.id);
        assert_eq!(folder::read_cell(&cell).unwrap(), *result);
        assert_eq!(cell.join("captures.json").exists(), beside.is_some());
        assert_eq!(std::fs::read_dir(cell.parent().unwrap()).unwrap().count(), 1);
    }
    assert!(Run::open(dir.path()).unwrap().group().is_err());
}
