//! `worstcase host watch`: no hole between two segments, and whatever ends it, what was written is a run and nothing is left.

use crate::run::{one_cpu, processes_below, until};
use assert_cmd::cargo::cargo_bin;
use rustix::process::Signal;
use serde_json::Value;
use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::BuildHasher;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;
use tempfile::TempDir;

struct Watch(TempDir);

impl Watch {
    fn new() -> Watch {
        Watch(tempfile::tempdir().unwrap())
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
        let records = self
            .segments()
            .into_iter()
            .flat_map(cells)
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
    let watch = Watch::new();
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

/// How many times; `WORSTCASE_KILLS=50` for a longer trial.
fn kills() -> u64 {
    let asked = std::env::var("WORSTCASE_KILLS").ok();
    asked.map_or(6, |n| n.parse().expect("WORSTCASE_KILLS is a number"))
}

#[test]
fn what_was_written_is_kept_after_kill_9_at_any_instant_and_nothing_is_left() {
    let watch = Watch::new();
    for nth in 0..kills() {
        let mut child = watch.start(&["--resume", "--load", "fork"]);
        // At any instant: while it starts, measures, writes, goes to the next segment.
        let instant = RandomState::new().hash_one(nth) % 3_000;
        std::thread::sleep(Duration::from_millis(instant));
        family(child.id()).into_iter().for_each(|pid| kill(pid, Signal::KILL));
        child.wait().unwrap();
        until("all are gone", || processes_below(watch.0.path()).is_empty());
        watch.assert_readable();
        let kept = watch.records().len();
        println!(
            "killed after {instant} ms: {} segments, {kept} records",
            watch.segments().len()
        );
    }
    let before = watch.segments().len();
    let child = watch.start(&["--resume", "--load", "fork"]);
    until("another segment", || watch.segments().len() > before);
    end(child);
    watch.assert_readable();
    assert_eq!(watch.left(), Vec::<PathBuf>::new());
    let gaps = watch.json()["gaps"].as_array().unwrap().clone();
    assert!(gaps.iter().all(|gap| gap["why"] == "killed"), "{gaps:?}");
    // Who was killed before it had begun leaves no gap.
    assert!(gaps.len() as u64 <= kills());
    // All but the last end early, and say so, unless the kill fell between two segments.
    let early = watch
        .records()
        .iter()
        .filter(|r| r["environment"]["ended_early"] == "1")
        .count();
    assert!(early <= gaps.len() + 1, "{early} of {}", watch.records().len());
}

#[test]
fn a_killed_controller_leaves_no_process() {
    let watch = Watch::new();
    let mut child = watch.start(&["--load", "fork"]);
    until("a segment is begun", || !watch.segments().is_empty());
    kill(child.id(), Signal::KILL);
    child.wait().unwrap();
    until("all are gone", || processes_below(watch.0.path()).is_empty());
    until("the guard has cleaned up", || {
        !watch.left().iter().any(|p| p.starts_with(watch.path("state")))
    });
    watch.assert_readable();
    assert_eq!(watch.json().get("ended"), None);
}

#[test]
fn only_so_many_segments_are_kept() {
    let watch = Watch::new();
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
    if !rustix::process::geteuid().is_root() {
        eprintln!("not done: needs root");
        return;
    }
    let watch = Watch::new();
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
    let watch = Watch::new();
    let output = watch.command(&["--time", "2s"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let before = watch.records();
    let output = watch.command(&["--time", "2s", "--resume"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("is over"), "{said}");
    assert_eq!(watch.records(), before);
}

#[test]
fn metrics_are_served_and_written() {
    let watch = Watch::new();
    let file = watch.path("x.prom");
    let mut child = watch.start(&["--metrics", "127.0.0.1:0", "--textfile", file.to_str().unwrap()]);
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    let line = said
        .find(|l| l.as_ref().unwrap().contains("metrics are at"))
        .unwrap()
        .unwrap();
    let address = line.split('/').nth(2).unwrap().to_string();
    let scrape = |accept: &str| {
        let mut stream = TcpStream::connect(&address).unwrap();
        write!(
            stream,
            "GET /metrics HTTP/1.1\r\nHost: x\r\nAccept: {accept}\r\nConnection: close\r\n\r\n"
        )
        .unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    };
    let count = |text: &str| {
        let line = text.lines().find(|l| l.starts_with("worstcase_latency_seconds_count{"));
        line.and_then(|l| l.rsplit(' ').next()?.parse::<u64>().ok())
            .unwrap_or(0)
    };
    until("samples are told", || count(&scrape("text/plain")) > 0);
    let open = scrape("application/openmetrics-text");
    assert!(
        open.contains("application/openmetrics-text") && open.trim_end().ends_with("# EOF"),
        "{open}"
    );
    let native = scrape("application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited");
    assert!(native.contains("encoding=delimited"), "{native}");

    Watch::new().refused(&["--metrics", &address], 2, "choose another port");
    end(child);
    let text = fs::read_to_string(&file).unwrap();
    assert!(count(&text) > 0 && !text.contains("# EOF"), "{text}");
    assert_eq!(watch.left(), Vec::<PathBuf>::new());
}

#[test]
fn what_cannot_be_watched_is_refused_in_one_line() {
    let fresh: [(&[&str], &str); 7] = [
        (&["--probe", "noise"], "a watch measures with wakeup"),
        (&["--load", "idle,fork"], "one load and one probe"),
        (&["--rotate", "1ms"], "--rotate: at least 1s"),
        (&["--checkpoint", "1ms"], "--checkpoint: at least 1s"),
        (&["--metrics", "127.0.0.1:1", "--cpus", "4000"], "choose from"),
        (&["--textfile", "/nowhere/x.prom"], "--textfile: cannot write"),
        (&["--metrics", "192.0.2.1:9750"], "cannot listen on"),
    ];
    for (arguments, word) in fresh {
        let watch = Watch::new();
        let arguments: Vec<&str> = arguments.to_vec();
        let output =
            match arguments.contains(&"--rotate") || arguments.contains(&"--checkpoint") || arguments.contains(&"4000")
            {
                // Options that the others have already.
                true => {
                    let mut command = Command::new(cargo_bin("worstcase"));
                    let command = command
                        .args(["host", "watch", "-o"])
                        .arg(watch.path("watch"))
                        .args(&arguments);
                    command.env("WORSTCASE_STATE", watch.path("state")).output().unwrap()
                }
                false => watch.command(&arguments).output().unwrap(),
            };
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(word), "{arguments:?}: {said}");
        assert!(!watch.path("watch").exists(), "{arguments:?}");
    }

    let watch = Watch::new();
    let child = watch.start(&[]);
    until("it is begun", || watch.path("watch/watch.json").exists());
    watch.refused(&["--resume"], 5, "another worstcase is watching");
    end(child);
    watch.refused(&[], 2, "add --resume");
    watch.refused(&["--resume", "--interval", "2ms"], 2, "differs in its interval");
    let file = watch.path("watch/watch.json");
    let text = fs::read_to_string(&file)
        .unwrap()
        .replace("worstcase-watch/1", "worstcase-watch/2");
    fs::write(&file, text).unwrap();
    watch.refused(&["--resume"], 2, "another version");
    fs::remove_file(&file).unwrap();
    watch.refused(&["--resume"], 2, "something else than a watch");
}
