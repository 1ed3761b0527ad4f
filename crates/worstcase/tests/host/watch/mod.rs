//! `worstcase host watch`: no hole between two segments, and whatever ends it, what was written is a run and nothing is left.

mod killed;
mod options;
mod strangers;

use crate::run::{one_cpu, until};
use assert_cmd::cargo::cargo_bin;
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use tempfile::TempDir;

struct TestWatch(TempDir);

impl TestWatch {
    fn new() -> TestWatch {
        TestWatch(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(cargo_bin("worstcase"));
        command
            .args([
                "host",
                "watch",
                "--warmup",
                "10ms",
                "--rotate",
                "1s",
                "--checkpoint",
                "1s",
            ])
            .args(["--cpus", &one_cpu(), "-o"])
            .arg(self.path("watch"))
            .arg("--work-dir")
            .arg(self.0.path())
            .args(arguments)
            .env("WORSTCASE_STATE", self.path("state"))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn start(&self, arguments: &[&str]) -> Child {
        self.command(arguments).spawn().unwrap()
    }

    fn refused(&self, arguments: &[&str], code: i32, word: &str) {
        let output = self.command(arguments).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(
            said.contains(word) && said.lines().count() == 1,
            "{arguments:?}: {said}"
        );
    }

    fn json(&self) -> Value {
        serde_json::from_slice(&fs::read(self.path("watch/watch.json")).unwrap()).unwrap()
    }

    fn segments(&self) -> Vec<PathBuf> {
        let all = fs::read_dir(self.path("watch")).into_iter().flatten().flatten();
        let mut all: Vec<PathBuf> = all.map(|e| e.path()).filter(|p| p.join("cells").is_dir()).collect();
        all.sort();
        all
    }

    fn records(&self) -> Vec<Value> {
        let cells = |segment: PathBuf| fs::read_dir(segment.join("cells")).unwrap().flatten();
        // What begins with a dot is being written, or removed.
        let is_kept = |cell: &fs::DirEntry| !cell.file_name().to_string_lossy().starts_with('.');
        let records = self
            .segments()
            .into_iter()
            .flat_map(cells)
            .filter(is_kept)
            .map(|cell| cell.path().join("record.json"));
        records
            .map(|p| serde_json::from_slice(&fs::read(p).unwrap()).unwrap())
            .collect()
    }

    /// Everything that should not be there.
    fn left(&self) -> Vec<PathBuf> {
        let mut left = Vec::new();
        let mut folders = vec![self.0.path().to_path_buf()];
        while let Some(folder) = folders.pop() {
            for path in fs::read_dir(folder).unwrap().flatten().map(|e| e.path()) {
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                if name.starts_with('.') || name.starts_with("worstcase-") || name.ends_with(".journal") {
                    left.push(path.clone());
                }
                if path.is_dir() {
                    folders.push(path);
                }
            }
        }
        left
    }

    /// `worstcase show` reads every segment.
    fn assert_readable(&self) {
        for segment in self.segments() {
            let output = show(&segment, &[]);
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{}: {said}", segment.display());
        }
    }
}

fn show(segment: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(cargo_bin("worstcase"));
    command.arg("show").arg(segment).args(arguments).output().unwrap()
}

fn end(child: Child) -> Output {
    kill(child.id(), Signal::TERM);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

fn kill(pid: u32, signal: Signal) {
    // One that ended by itself is as good.
    let _ = rustix::process::kill_process(rustix::process::Pid::from_raw(pid as i32).unwrap(), signal);
}

/// A process and those that it started.
fn family(pid: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task"))
        .into_iter()
        .flatten()
        .flatten();
    let texts = tasks.map(|task| fs::read_to_string(task.path().join("children")).unwrap_or_default());
    let children: Vec<u32> = texts
        .flat_map(|text| {
            text.split_ascii_whitespace()
                .map(|pid| pid.parse().unwrap())
                .collect::<Vec<_>>()
        })
        .collect();
    [vec![pid], children.into_iter().flat_map(family).collect()].concat()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// When a segment's first sample was due, told by any of its samples.
fn start_of(segment: &Path) -> u64 {
    let output = show(segment, &["--samples"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let fields: Vec<&str> = text.lines().nth(1).unwrap().split(',').collect();
    let (index, due): (u64, u64) = (fields[1].parse().unwrap(), fields[2].parse().unwrap());
    due - index * 1_000_000
}

#[test]
fn segments_follow_each_other_without_a_hole_and_sigterm_keeps_the_last() {
    let watch = TestWatch::new();
    let child = watch.start(&[]);
    until("three segments are begun", || watch.records().len() >= 3);
    let output = end(child);
    let (segments, records) = (watch.segments(), watch.records());
    for pair in segments.windows(2) {
        assert_eq!(start_of(&pair[1]) - start_of(&pair[0]), 1_000_000_000, "{pair:?}");
    }
    let (last, whole) = records.split_last().unwrap();
    for record in &records {
        let books = &record["accounting"];
        let sum = number(&books["taken"]) + number(&books["missed"]) + number(&books["lost"]);
        assert_eq!(sum, number(&books["expected"]));
        if let Some(summary) = record["summary"]["latency"].as_object() {
            assert_eq!(summary["count"], books["taken"]);
        }
        assert!(number(&record["samples"]["rows"]) <= number(&books["taken"]));
        assert_eq!(record["samples"]["selection"]["largest"], 100);
    }
    for record in whole {
        assert_eq!(record["accounting"]["expected"], 1_000);
        assert!(record["environment"].get("ended_early").is_none());
    }
    assert!(number(&last["accounting"]["expected"]) <= 1_000);
    let lines = String::from_utf8(output.stdout).unwrap();
    assert_eq!(lines.lines().count(), records.len(), "{lines}");
    watch.assert_readable();
    assert_eq!(
        (watch.left(), watch.json()["ended"]["why"].as_str()),
        (vec![], Some("stopped"))
    );

    // It goes on, and the time in between is told.
    let child = watch.start(&["--resume"]);
    until("another segment", || watch.segments().len() > segments.len());
    let output = end(child);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("gap of ") && said.contains("it was stopped"), "{said}");
    assert_eq!(watch.json()["gaps"].as_array().unwrap().len(), 1);
}

#[test]
fn only_so_many_segments_are_kept() {
    let watch = TestWatch::new();
    let mut child = watch.start(&["--keep", "2"]);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let names: Vec<String> = (0..4)
        .map(|_| lines.next().unwrap().unwrap().split(':').next().unwrap().to_string())
        .collect();
    end(child);
    assert!(!watch.path("watch").join(&names[0]).exists(), "{names:?}");
    assert!(watch.segments().len() <= 2, "{:?}", watch.segments());
}

#[test]
fn what_led_to_the_latest_is_kept_with_each_segment_and_explained() {
    worstcase_skips::needs_root!();
    let watch = TestWatch::new();
    let child = watch.start(&["--captures", "2"]);
    until("three segments are begun", || watch.records().len() >= 3);
    end(child);
    for segment in &watch.segments()[..2] {
        let cell = fs::read_dir(segment.join("cells"))
            .unwrap()
            .flatten()
            .next()
            .unwrap()
            .path();
        let read = |name: &str| serde_json::from_slice::<Value>(&fs::read(cell.join(name)).unwrap()).unwrap();
        let (captures, record) = (read("captures.json"), read("record.json"));
        let latest = &captures.as_array().unwrap()[0];
        // Their numbers are those of this segment, too.
        assert_eq!(latest["index"], record["summary"]["latency"]["max_index"]);
        let output = Command::new(cargo_bin("worstcase"))
            .arg("explain")
            .arg(segment)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn its_time_includes_what_was_before() {
    let watch = TestWatch::new();
    let output = watch.command(&["--time", "2s"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let before = watch.records();
    let output = watch.command(&["--time", "2s", "--resume"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("is over"), "{said}");
    assert_eq!(watch.records(), before);
}
