//! The run folder on disk: whole or refused, interrupted or not the same bytes.

use crate::fixture::{plan, plan_of, raw, result, results, spec, subject, write};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use worstcase_contract::Nanos;
use worstcase_plan::{CellLength, Seeds};
use worstcase_results::record::{CellEntry, Record, Run, RunError, RunPlan, SampleRow, folder};

/// Every file below `dir` with its bytes.
fn tree(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut dirs = vec![dir.to_path_buf()];
    while let Some(next) = dirs.pop() {
        for entry in fs::read_dir(next).unwrap().map(Result::unwrap) {
            match entry.file_type().unwrap().is_dir() {
                true => dirs.push(entry.path()),
                false => {
                    let name = entry.path().strip_prefix(dir).unwrap().to_path_buf();
                    files.insert(name, fs::read(entry.path()).unwrap());
                }
            }
        }
    }
    files
}

/// All that a reader may do with the run.
fn read_everything(dir: &Path) -> Result<Vec<(Record, Vec<SampleRow>)>, RunError> {
    let run = Run::open(dir)?;
    let read = |record: Record| {
        let mut rows = Vec::new();
        run.for_each_sample(&record, |row| rows.push(row))?;
        Ok((record, rows))
    };
    run.records()?.into_iter().map(read).collect()
}

#[test]
fn what_was_written_is_read() {
    let dir = tempfile::tempdir().unwrap();
    write(&dir.path().join("run"));
    let read = read_everything(&dir.path().join("run")).unwrap();
    assert_eq!(read.len(), results().len());
    for ((record, rows), written) in read.iter().zip(results()) {
        assert_eq!(*record, written.record);
        assert_eq!(worstcase_results::record::samples::digest(1_000, rows), record.digest);
    }
}

#[test]
fn an_interrupted_run_ends_with_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let (whole, resumed) = (dir.path().join("whole"), dir.path().join("resumed"));
    write(&whole);
    let half = results().len() / 2;
    for result in &results()[..half] {
        // A process that dies after each cell, and leaves half a cell behind.
        let run = Run::create(&resumed, plan()).unwrap();
        run.write_cell(result).unwrap();
        fs::create_dir(resumed.join("cells/.writing-x1")).unwrap();
        fs::write(resumed.join("cells/.writing-x1/record.json"), "{\"sch").unwrap();
    }
    assert_eq!(Run::open(&resumed).unwrap().records().unwrap().len(), half);
    let run = Run::create(&resumed, plan()).unwrap();
    assert_eq!(run.missing().count(), results().len() - half);
    let left: Vec<_> = run.missing().map(|cell| cell.id.clone()).collect();
    for result in results().iter().filter(|r| left.contains(&r.record.id)) {
        run.write_cell(result).unwrap();
    }
    assert_eq!(tree(&resumed), tree(&whole));
}

#[test]
fn what_is_left_of_a_run_that_was_killed_as_it_began_goes_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let plant = |folder: &str, file: &str| {
        let folder = dir.path().join(folder);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join(file), "{\"sch").unwrap();
        folder
    };
    let abandoned = plant(".writing-run-a1b2c3", "run.json");
    let others = [
        plant(".writing-run-notes", "mine.txt"),
        plant(".writing-another-a1b2c3", "run.json"),
        plant(".writing-run-d4e5f6", "run.json"),
    ];
    let held = worstcase_base::lock::FileLock::try_open(&others[2]).unwrap();
    write(&dir.path().join("run"));
    drop(held);
    assert!(!abandoned.exists());
    assert!(others.iter().all(|folder| folder.exists()));
}

/// A run of one small cell, of which every byte can be tried.
fn small(dir: &Path) -> PathBuf {
    let result = result(&subject("6.1", "rt"), &raw(&spec("shm", 1), &[1_000, 2_000, 9_000]));
    let run = Run::create(dir, plan_of(std::slice::from_ref(&result))).unwrap();
    run.write_cell(&result).unwrap();
    run.cell_dir(&result.record.id)
}

const CELL_FILES: [&str; 3] = ["record.json", "samples.parquet", "SHA256SUMS"];

#[test]
fn a_file_cut_anywhere_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let cell = small(dir.path());
    for name in CELL_FILES {
        let file = cell.join(name);
        let whole = fs::read(&file).unwrap();
        // Without its last line end a list of checksums still is whole.
        let cuts = whole.len() - usize::from(name == "SHA256SUMS");
        for length in 0..cuts {
            fs::write(&file, &whole[..length]).unwrap();
            let error = read_everything(dir.path()).expect_err(&format!("{name}: {length} of {}", whole.len()));
            let error = error.to_string();
            assert!(error.contains("is damaged"), "{error}");
            assert!(error.contains(&format!("put {} aside", cell.display())), "{error}");
        }
        fs::remove_file(&file).unwrap();
        assert!(
            read_everything(dir.path())
                .unwrap_err()
                .to_string()
                .contains("is missing")
        );
        fs::write(&file, &whole).unwrap();
    }
    read_everything(dir.path()).unwrap();
}

#[test]
fn a_changed_byte_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let cell = small(dir.path());
    let of_run = ["run.json", "SHA256SUMS"].map(|name| dir.path().join(name));
    for file in CELL_FILES.map(|name| cell.join(name)).into_iter().chain(of_run) {
        let whole = fs::read(&file).unwrap();
        for at in 0..whole.len() - 1 {
            let mut changed = whole.clone();
            changed[at] ^= 0x04;
            fs::write(&file, &changed).unwrap();
            assert!(read_everything(dir.path()).is_err(), "{} byte {at}", file.display());
        }
        fs::write(&file, &whole).unwrap();
    }
    read_everything(dir.path()).unwrap();
}

#[test]
fn a_cell_can_be_kept_elsewhere() {
    let dir = tempfile::tempdir().unwrap();
    let cell = small(dir.path());
    let read = folder::read_cell(&cell).unwrap();
    folder::write_cell(dir.path(), "copy", &read).unwrap();
    assert_eq!(tree(&cell), tree(&dir.path().join("copy")));
}

#[test]
fn a_record_in_anothers_folder_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let run = write(&dir.path().join("run"));
    let [a, b] = [0, 1].map(|i| run.cell_dir(&run.plan().cells[i].id));
    fs::remove_dir_all(&a).unwrap();
    fs::rename(&b, &a).unwrap();
    assert!(run.records().unwrap_err().to_string().contains("it is the record of"));
}

#[test]
fn another_run_is_never_written_over() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("run");
    drop(write(&dir));
    let refused = |change: &dyn Fn(&mut RunPlan)| {
        let mut other = plan();
        change(&mut other);
        let error = Run::create(&dir, other).unwrap_err();
        assert!(matches!(error, RunError::AnotherRun { .. }), "{error}");
        error.to_string()
    };
    type PlanChange<'a> = (&'a dyn Fn(&mut RunPlan), &'a str);
    let fields: [PlanChange; 5] = [
        (
            &|plan| plan.experiment.criterion = Some(Nanos(5_000)),
            "criterion (none there, 5us here)",
        ),
        (
            &|plan| plan.experiment.parts[0].seeds = Seeds::to(4),
            "seeds (5 there, 4 here)",
        ),
        (
            &|plan| plan.experiment.parts[0].loads = vec!["shm+fork".parse().unwrap()],
            "loads (shm, procread, fork there, shm+fork here)",
        ),
        (
            &|plan| plan.experiment.parts[0].timing.length = Some(CellLength::Samples(7)),
            "samples (1000 there, 7 here)",
        ),
        // The same words, and another kernel behind them.
        (
            &|plan| drop(plan.cells.remove(0)),
            "cells (6.1.0-50-amd64.none.shm.wakeup.s1 there, 6.1.0-50-amd64.none.shm.wakeup.s2 here)",
        ),
    ];
    for (change, field) in fields {
        let error = refused(change);
        assert!(
            error.contains(&format!("differs in its {field}; choose another folder")),
            "{error}"
        );
        assert_eq!(error.lines().count(), 1);
    }

    let full = tempfile::tempdir().unwrap();
    fs::write(full.path().join("thesis.tex"), "").unwrap();
    assert!(matches!(Run::create(full.path(), plan()), Err(RunError::NotEmpty(_))));
    assert!(matches!(Run::open(full.path()), Err(RunError::NotARun(_))));
    for name in ["20261122-0500", "20261123-0500"] {
        Run::create(&full.path().join(name), plan()).unwrap();
    }
    let error = Run::open(full.path()).unwrap_err().to_string();
    assert!(
        error.contains("the last is") && error.contains("/20261123-0500; name one of them"),
        "{error}"
    );
    // An empty folder is fine.
    let empty = tempfile::tempdir().unwrap();
    Run::create(empty.path(), plan()).unwrap();
}

#[test]
fn who_planned_it_and_what_is_told_of_it_does_not_matter() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("run");
    drop(write(&dir));
    let before = tree(&dir);
    let mut other = plan();
    other.tool_version = "9.9.9".into();
    other.title = "another title".into();
    other.claims.clear();
    // A study of the same content by another name.
    other.study = None;
    drop(Run::create(&dir, other).unwrap());
    assert!(tree(&dir) == before);
}

#[test]
fn two_writers_never_meet() {
    let dir = tempfile::tempdir().unwrap();
    let first = Run::create(dir.path(), plan()).unwrap();
    assert!(matches!(Run::create(dir.path(), plan()), Err(RunError::Busy(_))));
    // Readers may look at any time.
    assert!(matches!(
        Run::open(dir.path()).unwrap().write_cell(&results()[0]),
        Err(RunError::ReadOnly(_))
    ));
    drop(first);
    Run::create(dir.path(), plan()).unwrap();
}

#[test]
fn only_planned_cells_are_taken_and_each_once() {
    let dir = tempfile::tempdir().unwrap();
    let run = write(dir.path());
    assert!(matches!(run.write_cell(&results()[0]), Err(RunError::CellExists(_))));
    let stranger = result(&subject("7.2", "lazy"), &raw(&spec("shm", 1), &[1_000]));
    assert!(matches!(run.write_cell(&stranger), Err(RunError::UnknownCell { .. })));
}

#[test]
fn two_kernels_of_one_release_need_labels() {
    let mut plan = plan();
    let twin = CellEntry::new(&plan.cells[0].subject, &spec("shm", 1));
    plan.cells.push(twin);
    let dir = tempfile::tempdir().unwrap();
    let error = Run::create(dir.path(), plan).unwrap_err().to_string();
    assert!(error.contains("name each kernel, load and probe once"), "{error}");
}

#[test]
fn nothing_of_this_host_is_in_a_lab_record() {
    let dir = tempfile::tempdir().unwrap();
    write(&dir.path().join("run"));
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    for (name, bytes) in tree(&dir.path().join("run")) {
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains(dir.path().to_str().unwrap()), "{}", name.display());
        let host = host.trim();
        assert!(host.len() < 6 || !text.contains(host), "{}", name.display());
    }
}

/// A folder of another version is whole, and none of ours: one line says so.
#[test]
fn an_old_folder_is_refused_for_its_age() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    write(&run);
    let plan = fs::read_to_string(run.join("run.json")).unwrap();
    // What an old plan lacks must not come first.
    let old = plan
        .replace("worstcase-run/5", "worstcase-run/1")
        .replace("\"title\"", "\"name\"");
    fs::write(run.join("run.json"), &old).unwrap();
    let sum = worstcase_base::digest::sha256_hex(old.as_bytes());
    fs::write(run.join("SHA256SUMS"), format!("{sum}  run.json\n")).unwrap();
    let error = Run::open(&run).unwrap_err().to_string();
    let words = "run.json was written by another version of worstcase (it is 'worstcase-run/1', this one reads 'worstcase-run/5'); read it with that one, or measure again into another folder";
    assert!(error.ends_with(words), "{error}");
    assert_eq!(error.lines().count(), 1);
    // Older ones have no checksum of it.
    fs::remove_file(run.join("SHA256SUMS")).unwrap();
    assert_eq!(Run::open(&run).unwrap_err().to_string(), error);
}

/// The form before had published figures: its runs are read, with the claims of their study.
#[test]
fn a_folder_of_the_form_before_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    write(&run);
    let mut plan: serde_json::Value = serde_json::from_slice(&fs::read(run.join("run.json")).unwrap()).unwrap();
    plan["schema"] = "worstcase-run/4".into();
    plan["published"] = serde_json::json!([{ "what": "response", "figures": [] }]);
    plan.as_object_mut().unwrap().remove("claims");
    let rewritten = |plan: &serde_json::Value| {
        let old = plan.to_string();
        fs::write(run.join("run.json"), &old).unwrap();
        let sum = worstcase_base::digest::sha256_hex(old.as_bytes());
        fs::write(run.join("SHA256SUMS"), format!("{sum}  run.json\n")).unwrap();
        Run::open(&run)
    };
    let study = worstcase_plan::study::load("preemption-models").unwrap();
    assert_eq!(rewritten(&plan).unwrap().plan().claims, study.claims);
    // Of a study that is not there any more nothing stands beside.
    plan["study"]["study"] = "/nowhere/mine.toml".into();
    assert_eq!(rewritten(&plan).unwrap().plan().claims, []);
}

/// What fits its checksum is as it was written, and nobody is told to throw it away.
#[test]
fn what_is_whole_and_not_understood_is_of_another_version() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let cell = write(&run).cell_dir(&plan().cells[0].id);
    let change = |folder: &Path, name: &str, from: &str, to: &str| {
        let text = fs::read_to_string(folder.join(name)).unwrap();
        assert!(text.contains(from), "{text}");
        let (changed, sums) = (text.replace(from, to), folder.join("SHA256SUMS"));
        fs::write(folder.join(name), &changed).unwrap();
        let digest = |text: &str| worstcase_base::digest::sha256_hex(text.as_bytes());
        let listed = fs::read_to_string(&sums).unwrap();
        fs::write(&sums, listed.replace(&digest(&text), &digest(&changed))).unwrap();
    };
    for (folder, name, from, to) in [
        // A field that is lacking, a number that means something else, a plan with other names.
        (&cell, "record.json", "\"self_cost\"", "\"cost\""),
        (&cell, "record.json", "\"expected\": ", "\"expected\": 1"),
        (&run, "run.json", "\"subject\"", "\"machine\""),
        (&run, "run.json", "\"seed\": 1", "\"seed\": 77"),
    ] {
        change(folder, name, from, to);
        let error = read_everything(&run).unwrap_err().to_string();
        assert!(
            error.contains(&format!(
                "{name} was written by another version of worstcase: it is whole"
            )),
            "{error}"
        );
        assert!(!error.contains("delete") && !error.contains("damaged"), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
        change(folder, name, to, from);
        read_everything(&run).unwrap();
    }
}
