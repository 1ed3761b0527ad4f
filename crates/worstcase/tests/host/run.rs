//! `worstcase host run`: what is measured is kept whole, whatever ends it, and nothing is left behind.
//!
//! Nothing here asserts a time: this machine is shared.

use assert_cmd::cargo::cargo_bin;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub struct MeasuringController(TempDir);

impl MeasuringController {
    pub fn new() -> MeasuringController {
        MeasuringController(tempfile::tempdir().unwrap())
    }

    /// Where the folder for temporary files may be in memory.
    pub fn on_disk() -> MeasuringController {
        MeasuringController(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn folder(&self) -> &Path {
        self.0.path()
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.without_work_dir(arguments);
        command.arg("--work-dir").arg(self.0.path());
        command
    }

    pub fn without_work_dir(&self, arguments: &[&str]) -> Command {
        let mut command = self.anywhere();
        command.arg("-o").arg(self.path("run")).args(arguments);
        command
    }

    fn anywhere(&self) -> Command {
        let mut command = Command::new(cargo_bin("worstcase"));
        command
            .args(["host", "run", "--warmup", "10ms"])
            .env("WORSTCASE_STATE", self.path("state"));
        command
    }

    /// Runs into a folder that the arguments name.
    pub fn run_elsewhere(&self, arguments: &[&str]) -> Output {
        let mut command = self.anywhere();
        command.arg("--work-dir").arg(self.0.path()).args(arguments);
        command.output().unwrap()
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs, and gives the records in order of their CPUs.
    pub fn measured(&self, arguments: &[&str]) -> Vec<Value> {
        let output = self.run(arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        self.records()
    }

    pub fn records(&self) -> Vec<Value> {
        let cells = fs::read_dir(self.path("run/cells")).unwrap().flatten();
        let mut paths: Vec<PathBuf> = cells.map(|e| e.path().join("record.json")).collect();
        paths.sort();
        let read = |p: &PathBuf| serde_json::from_slice(&fs::read(p).unwrap()).unwrap();
        paths.iter().map(read).collect()
    }

    /// What is left of the measurement but its run folder.
    pub fn left(&self) -> Vec<PathBuf> {
        let all = fs::read_dir(self.0.path()).unwrap().flatten().map(|e| e.path());
        let mut left: Vec<PathBuf> = all
            .filter(|p| p.file_name().unwrap().to_string_lossy().starts_with("worstcase-"))
            .collect();
        let journals = fs::read_dir(self.path("state"))
            .into_iter()
            .flatten()
            .flatten()
            .map(|e| e.path());
        left.extend(journals.filter(|p| p.extension().is_some_and(|e| e == "journal")));
        left
    }
}

/// A CPU that this process may use.
pub fn one_cpu() -> String {
    let allowed = rustix::thread::sched_getaffinity(None).unwrap();
    let mut cpus = 0..rustix::thread::CpuSet::MAX_CPU;
    cpus.find(|cpu| allowed.is_set(*cpu)).unwrap().to_string()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn assert_balanced(record: &Value) {
    let books = &record["accounting"];
    assert_eq!(
        number(&books["expected"]),
        number(&books["taken"]) + number(&books["missed"]) + number(&books["lost"]),
        "{books}"
    );
    assert_eq!(number(&books["taken"]), number(&record["samples"]["rows"]));
}

#[test]
fn every_period_is_a_sample_or_missed_with_each_timer() {
    for timer in ["nanosleep", "timerfd", "posix", "setitimer"] {
        let controller = MeasuringController::new();
        let records = controller.measured(&["--timer", timer, "--time", "300ms", "--cpus", &one_cpu()]);
        assert_eq!(records.len(), 1);
        assert_eq!(records[0]["accounting"]["expected"], 300, "{timer}");
        assert_eq!(records[0]["cell"]["method"]["timer"], timer);
        assert!(number(&records[0]["accounting"]["taken"]) > 0, "{timer}");
        assert_balanced(&records[0]);
        assert_eq!(controller.left(), Vec::<PathBuf>::new());
    }
}

#[test]
fn root_makes_no_work_folder_where_others_could_replace_it() {
    worstcase_skips::needs_root!();
    let (controller, state) = (MeasuringController::new(), tempfile::tempdir().unwrap());
    fs::set_permissions(controller.0.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let output = controller
        .command(&["--load", "cpu", "--time", "100ms"])
        .env("WORSTCASE_STATE", state.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("root cannot make a work folder in"), "{said}");
    assert!(said.contains("others can write to"), "{said}");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(controller.left(), Vec::<PathBuf>::new());
}

#[test]
fn a_load_works_while_it_is_measured() {
    let controller = MeasuringController::new();
    let records = controller.measured(&[
        "--load",
        "fork+proc",
        "--time",
        "500ms",
        "--policy",
        "other",
        "--cpus",
        "0",
    ]);
    let work = records[0]["work"].as_array().unwrap();
    assert!(
        work.iter()
            .any(|w| w["unit"].as_str().unwrap().contains("fork") && number(&w["count"]) > 0),
        "{work:?}"
    );
    assert_eq!(records[0]["cell"]["priority"], 0);
    assert_eq!(controller.left(), Vec::<PathBuf>::new());
}

#[test]
fn gaps_are_part_of_what_was_spun() {
    let controller = MeasuringController::new();
    let records = controller.measured(&[
        "--probe",
        "noise",
        "--time",
        "500ms",
        "--cpus",
        "0",
        "--threshold",
        "100ns",
    ]);
    let noise = &records[0]["accounting"];
    assert_eq!(
        (&noise["of"], &records[0]["cell"]["periods"]),
        (&"gaps".into(), &5.into())
    );
    assert!(number(&noise["noise_ns"]) <= number(&noise["observed_ns"]), "{noise}");
    assert_eq!(noise["gaps"], records[0]["samples"]["rows"]);
    if let Some(causes) = records[0]["causes"].as_array() {
        let told: u64 = causes.iter().map(|c| number(&c["total_ns"])).sum();
        assert_eq!(told, number(&noise["noise_ns"]), "causes add up to the gaps");
    }
}

#[test]
fn jitter_has_a_value_for_each_period_that_follows_a_sample() {
    let controller = MeasuringController::new();
    let records = controller.measured(&[
        "--probe",
        "jitter",
        "--time",
        "300ms",
        "--cpus",
        "0",
        "--timer",
        "nanosleep",
    ]);
    assert_balanced(&records[0]);
    let taken = number(&records[0]["accounting"]["taken"]);
    let jitter = number(&records[0]["summary"]["jitter"]["count"]);
    assert!(jitter > 0 && jitter < taken, "{jitter} of {taken}");
}

#[test]
fn parts_add_up_to_the_latency_or_it_is_said_what_is_missing() {
    let controller = MeasuringController::new();
    let output = controller.run(&["--probe", "response", "--time", "500ms", "--cpus", &one_cpu()]);
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr);
        assert!(words.lines().last().unwrap().contains("root"), "{words}");
        assert_eq!(output.status.code(), Some(3), "{words}");
        worstcase_skips::skip!(words);
    }
    let record = &controller.records()[0];
    let mean = |part: &str| number(&record["summary"][part]["mean_ns"]);
    let parts: u64 = ["irq_latency", "handler", "scheduling", "return", "unexplained"]
        .map(mean)
        .iter()
        .sum();
    // Each mean is rounded down.
    assert!(
        parts <= mean("latency") && mean("latency") - parts <= 5,
        "{parts} of {}",
        mean("latency")
    );
    assert!(
        controller
            .path("run/cells")
            .join(record["id"].as_str().unwrap())
            .join("captures.json")
            .exists()
    );
}

#[test]
fn why_the_dearer_recorder_was_taken_is_told() {
    worstcase_skips::needs_root!();
    let controller = MeasuringController::new();
    // A folder in which no instance can be made.
    let place = "cd /; umount -q /sys/kernel/tracing; mount -t tracefs tracefs /sys/kernel/tracing && \
                 mount -t tmpfs none /sys/kernel/tracing/instances && exec \"$0\" \"$@\"";
    let mut own = std::process::Command::new("unshare");
    own.args(["--mount", "sh", "-c", place])
        .arg(assert_cmd::cargo::cargo_bin("worstcase"))
        .args(["host", "run", "--probe", "response", "--time", "200ms", "--seeds", "1"])
        .args(["--cpus", &one_cpu(), "--output"])
        .arg(controller.path("run"));
    let output = own.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let record = &controller.records()[0];
    assert_eq!(record["environment"]["trace_recorder"], "perf");
    let warnings = record["warnings"].to_string();
    assert!(
        warnings.contains("perf recorded, at a higher cost: cannot write "),
        "{warnings}"
    );
}

#[test]
fn ctrl_c_ends_it_with_a_full_record() {
    let controller = MeasuringController::new();
    let child = start(&controller, &["--time", "1h", "--load", "fork", "--cpus", &one_cpu()]);
    signal(&child, rustix::process::Signal::INT);
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("interrupted: ending the measurement"), "{said}");
    let records = controller.records();
    assert_balanced(&records[0]);
    assert!(number(&records[0]["accounting"]["taken"]) > 0);
    assert_eq!(records[0]["environment"]["ended_early"], "1");
    assert_eq!(controller.left(), Vec::<PathBuf>::new());

    let again = ["--time", "1h", "--load", "fork", "--cpus", &one_cpu(), "--resume"];
    let output = controller.run(&again);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("nothing was measured"), "{said}");
    assert!(said.contains("ended early stay as they are: 1"), "{said}");
}

/// The process that measures for this one.
fn worker_of(child: &Child) -> rustix::process::Pid {
    let parent = format!("PPid:\t{}", child.id());
    let is_worker = |process: &PathBuf| {
        let status = fs::read_to_string(process.join("status")).unwrap_or_default();
        let command = fs::read_to_string(process.join("cmdline")).unwrap_or_default();
        status.lines().any(|line| line == parent) && command.contains("host-worker")
    };
    let mut processes = fs::read_dir("/proc").unwrap().flatten().map(|e| e.path());
    let worker = processes.find(is_worker).unwrap();
    let id = worker.file_name().unwrap().to_str().unwrap().parse().unwrap();
    rustix::process::Pid::from_raw(id).unwrap()
}

#[test]
fn a_measuring_process_that_does_not_answer_keeps_nobody_from_ending_it() {
    let controller = MeasuringController::new();
    let child = start(&controller, &["--time", "1h", "--load", "fork", "--cpus", &one_cpu()]);
    rustix::process::kill_process(worker_of(&child), rustix::process::Signal::STOP).unwrap();
    signal(&child, rustix::process::Signal::TERM);
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    // By itself: it was no signal that ended it.
    assert!(output.status.code().is_some(), "{}: {said}", output.status);
    assert!(
        said.contains("after it was asked to end, and was killed: what it took is lost"),
        "{said}"
    );
    assert!(said.contains("ended early, 0 of 1 measurements are kept"), "{said}");
    until("all are gone", || processes_below(controller.0.path()).is_empty());
    assert_eq!(controller.left(), Vec::<PathBuf>::new());
}

#[test]
fn nothing_is_left_after_kill_9() {
    for load in ["shm", "fork", "disk:8", "desktop:2"] {
        let controller = MeasuringController::new();
        let mut child = start(&controller, &["--time", "1h", "--load", load, "--cpus", &one_cpu()]);
        signal(&child, rustix::process::Signal::KILL);
        child.wait().unwrap();
        until(load, || controller.left().is_empty());
        until(load, || processes_below(controller.0.path()).is_empty());
    }
}

#[test]
fn what_cannot_be_measured_is_refused_in_one_line() {
    let refused = [
        (vec!["--cpus", "4000"], "choose from"),
        (vec!["--cpus", "x"], "write it like"),
        (vec!["--load", "nothing"], "unknown load 'nothing'"),
        (vec!["--interval", "1us"], "an interval is 10 us to 60 s"),
        (vec!["--time", "0s"], "shorter than one interval"),
        (vec!["--load", "apps:3"], "lab only"),
        (vec!["--timer", "rtc"], "--timer rtc"),
        (vec!["--priority", "100"], "priority"),
        (vec!["--probe", "timerlat", "--timer", "posix"], "take no --timer"),
        (vec!["--probe", "timerlat", "--interval", "50us"], "from 100us"),
    ];
    for (arguments, word) in refused {
        let controller = MeasuringController::new();
        let output = controller.run(&arguments);
        let words = String::from_utf8_lossy(&output.stderr).to_string();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {words}");
        assert!(words.contains(word), "{arguments:?}: {words}");
        assert!(!controller.path("run").exists(), "{arguments:?}");
    }
}

#[test]
fn timerlat_measures_or_it_is_said_what_is_missing() {
    let controller = MeasuringController::new();
    let output = controller.run(&["--probe", "timerlat", "--time", "500ms", "--cpus", &one_cpu()]);
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{words}");
        assert_eq!(words.lines().count(), 1, "{words}");
        let remedies = ["use --probe response", "as root", "end that first"];
        assert!(remedies.iter().any(|remedy| words.contains(remedy)), "{words}");
        worstcase_skips::skip!(words);
    }
    assert_balanced(&controller.records()[0]);
}

/// Starts a measurement, and returns when it takes samples.
fn start(controller: &MeasuringController, arguments: &[&str]) -> Child {
    let mut command = controller.command(arguments);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let has_samples = || {
        let cells = fs::read_dir(controller.path("run/cells"))
            .into_iter()
            .flatten()
            .flatten();
        let files = cells.flat_map(|e| fs::read_dir(e.path()).into_iter().flatten().flatten());
        files.map(|e| e.metadata().map_or(0, |m| m.len())).sum::<u64>() > 0
    };
    until("samples are taken", has_samples);
    child
}

fn signal(child: &Child, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(pid, signal).unwrap();
}

/// Processes of the measurement, known by the folder they work in.
pub fn processes_below(folder: &Path) -> Vec<PathBuf> {
    let folder = folder.to_string_lossy().to_string();
    let all = fs::read_dir("/proc").unwrap().flatten().map(|e| e.path());
    let is_ours = |p: &PathBuf| {
        let command = fs::read(p.join("cmdline")).unwrap_or_default();
        let environment = fs::read(p.join("environ")).unwrap_or_default();
        let text = format!(
            "{}{}",
            String::from_utf8_lossy(&command),
            String::from_utf8_lossy(&environment)
        );
        text.contains(&folder)
    };
    all.filter(is_ours).collect()
}

pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(600);
    while !is_so() {
        assert!(Instant::now() < end, "{what}: not within ten minutes");
        std::thread::sleep(Duration::from_millis(10));
    }
}
