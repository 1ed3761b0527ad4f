//! Samples that fit their checksums and are not those of their record: every command refuses them in one line.

use crate::fixture::{plan_of, raw, result, spec, subject};
use assert_cmd::Command;
use std::fs;
use std::path::Path;
use worstcase_base::digest::sha256_hex;
use worstcase_contract::Nanos;
use worstcase_contract::prng::SplitMix64;
use worstcase_results::record::parquet::{FileLabels, encode};
use worstcase_results::record::samples::digest;
use worstcase_results::record::{CellResult, Record, Run, SampleRow};

/// A cell of 300 samples.
fn honest() -> CellResult {
    let late: Vec<u64> = (0..300).map(|i| 2_000 + i * 7).collect();
    result(&subject("6.1", "rt"), &raw(&spec("shm", 1), &late))
}

/// Writes a run whose samples file holds other `rows`, with the checksums of those.
fn forge(dir: &Path, label: &FileLabels, change: impl Fn(Vec<SampleRow>) -> Vec<SampleRow>) -> Record {
    let honest = honest();
    let run = Run::create(dir, plan_of(std::slice::from_ref(&honest))).unwrap();
    run.write_cell(&honest).unwrap();
    let mut rows = Vec::new();
    run.for_each_sample(&honest.record, |row| rows.push(row)).unwrap();
    let samples = encode(&change(rows), label, &honest.record.accounting).unwrap();
    put(&run.cell_dir(&honest.record.id), &honest.record, &samples);
    honest.record
}

/// Puts other samples beside a record, with all their checksums.
fn put(cell: &Path, record: &Record, samples: &[u8]) {
    let mut record = record.clone();
    record.samples.sha256 = sha256_hex(samples);
    record.samples.bytes = samples.len() as u64;
    let json = serde_json::to_vec_pretty(&record).unwrap();
    let sums = [("record.json", &json[..]), ("samples.parquet", samples)]
        .map(|(name, bytes)| format!("{}  {name}\n", sha256_hex(bytes)));
    fs::write(cell.join("record.json"), &json).unwrap();
    fs::write(cell.join("samples.parquet"), samples).unwrap();
    fs::write(cell.join("SHA256SUMS"), sums.concat()).unwrap();
}

fn commands(run: &Path, cell: &str) -> Vec<Vec<String>> {
    let run = run.to_str().unwrap();
    let page = format!("{run}.html");
    let all: [&[&str]; 10] = [
        &["show", run],
        &["show", run, "--cell", cell],
        &["show", run, "--csv"],
        &["show", run, "--histogram"],
        &["verdict", run, "--criterion", "1ms"],
        &["compare", run, run],
        &["report", run, "-o", &page],
        &["plot", run, "-o", &page],
        &["explain", run, "--cell", cell],
        &["gate", run, "--write-baseline", &page],
    ];
    all.iter()
        .map(|args| args.iter().map(|a| a.to_string()).collect())
        .collect()
}

#[test]
fn samples_of_something_else_are_refused_by_every_command() {
    let of_cell = |record: &Record| FileLabels::new(&record.id, &record.subject);
    let record = honest().record;
    let mut other = record.clone();
    other.id = worstcase_results::record::CellId::new(&record.subject.id(), "fork", "wakeup", 1, None);
    type RowsChange = fn(Vec<SampleRow>) -> Vec<SampleRow>;
    let late: RowsChange = |mut rows| {
        rows.iter_mut()
            .for_each(|row| row.latency = Nanos(row.latency.0 * 1_000));
        rows
    };
    let swapped: RowsChange = |mut rows| {
        rows.iter_mut()
            .for_each(|row| (row.due, row.latency) = (row.latency, row.due));
        rows
    };
    let twice: RowsChange = |rows| [rows.clone(), rows].concat();
    let cases: [(&str, FileLabels, RowsChange); 5] = [
        ("it has 0 rows, not 300", of_cell(&record), |_| Vec::new()),
        ("it has 600 rows, not 300", of_cell(&record), twice),
        ("the digest of its samples is another", of_cell(&record), late),
        ("the digest of its samples is another", of_cell(&record), swapped),
        (
            "its worstcase.cell is '6.1.rt.fork.wakeup.s1'",
            of_cell(&other),
            |rows| rows,
        ),
    ];
    for (says, label, change) in cases {
        let dir = tempfile::tempdir().unwrap();
        let run = dir.path().join("run");
        let record = forge(&run, &label, change);
        for args in commands(&run, record.id.as_str()) {
            let out = Command::cargo_bin("worstcase").unwrap().args(&args).output().unwrap();
            let told = String::from_utf8_lossy(&out.stderr);
            assert_eq!(out.status.code(), Some(2), "{args:?}: {told}");
            assert!(told.contains("is damaged") && told.contains(says), "{args:?}: {told}");
            assert_eq!((told.lines().count(), out.stdout.len()), (1, 0), "{args:?}: {told}");
        }
    }
}

/// For some seconds, or for as many thousand files as `WORSTCASE_FUZZ` says.
#[test]
fn whatever_is_changed_in_samples_is_refused_or_harmless() {
    let dir = tempfile::tempdir().unwrap();
    let record = forge(
        dir.path(),
        &FileLabels::new(&honest().record.id, &honest().record.subject),
        |rows| rows,
    );
    let run = Run::open(dir.path()).unwrap();
    let file = run.cell_dir(&record.id).join("samples.parquet");
    let whole = fs::read(&file).unwrap();
    let thousands: u64 = std::env::var("WORSTCASE_FUZZ").map_or(3, |n| n.parse().unwrap());
    let mut random = SplitMix64::new(7);
    let mut refused = 0;
    for _ in 0..thousands * 1_000 {
        fs::write(&file, mutated(&whole, &mut random)).unwrap();
        let mut rows = Vec::new();
        match run.for_each_sample(&record, |row| rows.push(row)) {
            Ok(()) => assert_eq!(digest(record.cell.periods, &rows), record.digest),
            Err(error) => {
                assert_eq!(error.to_string().lines().count(), 1, "{error}");
                refused += 1;
            }
        }
    }
    assert!(refused > thousands * 500, "{refused}");
}

/// One to three bytes are flipped, replaced, left out or put in.
fn mutated(whole: &[u8], random: &mut SplitMix64) -> Vec<u8> {
    let mut changed = whole.to_vec();
    for _ in 0..=random.below(3) {
        let at = random.below(changed.len() as u64) as usize;
        match random.below(4) {
            0 => changed[at] ^= 1 << random.below(8),
            1 => changed[at] = [0, 1, 0x7f, 0x80, 0xff][random.below(5) as usize],
            2 => drop(changed.remove(at)),
            _ => changed.insert(at, random.below(256) as u8),
        }
    }
    changed
}
