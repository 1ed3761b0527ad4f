//! `worstcase host isolate` as a user types it, beside disturbers that are planted: each is named, with who sent it.
//!
//! The CPU that is observed belongs to a thread of this test. Nothing here asserts a time: this machine is shared.

use crate::program::copy_to;
use assert_cmd::cargo::cargo_bin;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use rustix::process::{Signal, kill_process};
use rustix::thread::{CpuSet, sched_setaffinity};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::Duration;

const PAGES: usize = 4 * 4096;

/// Two CPUs, and the rights to trace.
fn is_possible() -> Result<(), &'static str> {
    match worstcase_skips::is_root() && std::thread::available_parallelism().unwrap().get() >= 2 {
        true => Ok(()),
        false => Err("it needs two CPUs and root"),
    }
}

fn isolate(arguments: &[&str]) -> Command {
    let mut command = Command::new(cargo_bin("worstcase"));
    command.args(["host", "isolate", "--cpus", "1"]).args(arguments);
    command
}

fn output(arguments: &[&str]) -> Output {
    isolate(arguments).output().unwrap()
}

fn run_on(cpu: usize) {
    let mut cpus = CpuSet::new();
    cpus.set(cpu);
    sched_setaffinity(None, &cpus).unwrap();
}

/// Threads of this process: one keeps CPU 1 busy, others do something on a CPU a thousand times a second.
struct PlantedThreads {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl PlantedThreads {
    fn new() -> PlantedThreads {
        let mut planted = PlantedThreads {
            stop: Arc::default(),
            threads: Vec::new(),
        };
        planted.on(1, std::hint::spin_loop);
        planted
    }

    fn on(&mut self, cpu: usize, act: impl Fn() + Send + 'static) {
        let stop = self.stop.clone();
        self.threads.push(spawn(move || {
            run_on(cpu);
            while !stop.load(Ordering::Relaxed) {
                act();
            }
        }));
    }

    fn each_millisecond_on(&mut self, cpu: usize, act: impl Fn() + Send + 'static) {
        self.on(cpu, move || {
            sleep(Duration::from_millis(1));
            act();
        });
    }
}

impl Drop for PlantedThreads {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.threads.drain(..).for_each(|thread| thread.join().unwrap());
    }
}

fn unmap() {
    let (protection, flags) = (
        ProtFlags::READ | ProtFlags::WRITE,
        MapFlags::PRIVATE | MapFlags::POPULATE,
    );
    // SAFETY: the kernel chooses the place, nobody keeps a pointer into it, and it is unmapped once.
    unsafe {
        let pages = mmap_anonymous(std::ptr::null_mut(), PAGES, protection, flags).unwrap();
        munmap(pages, PAGES).unwrap();
    }
}

/// MEMBARRIER_CMD_PRIVATE_EXPEDITED, and what registers for it.
const BARRIER: i32 = 8;
const REGISTER: i32 = 16;

fn membarrier(command: i32) {
    // SAFETY: it takes three integers.
    let result = unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) };
    assert_eq!(result, 0);
}

/// The lines of the CPU that is observed.
fn lines(said: &Output) -> Vec<Value> {
    let answer: Value =
        serde_json::from_slice(&said.stdout).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&said.stderr)));
    assert_eq!(answer["schema"], "worstcase-isolate/2");
    answer["cpus"][0]["lines"].as_array().unwrap().clone()
}

fn has(lines: &[Value], kind: &str, name: &str, sent_by: &str) -> bool {
    lines.iter().any(|line| {
        line["kind"] == kind
            && line["name"].as_str().unwrap_or_default().starts_with(name)
            && line["sent_by"].as_str().unwrap_or_default().contains(sent_by)
            && line["count"].as_u64() > Some(0)
            && !line["remedy"].as_str().unwrap().is_empty()
    })
}

/// Whether this kernel tells who calls a function on another CPU: from 6.5 on.
fn tells_callers() -> bool {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let mut numbers = release
        .split(|c: char| !c.is_ascii_digit())
        .map(|n| n.parse().unwrap_or(0));
    let version: (u32, u32) = (numbers.next().unwrap(), numbers.next().unwrap());
    version >= (6, 5)
}

/// So often at most, until the kernel's workers have done so many of the planted items while it was watched.
const MOST_WATCHES: usize = 8;
const ENOUGH_READS: usize = 20;

#[test]
fn planted_disturbers_are_named_with_who_sent_them() {
    worstcase_skips::or_skip!(is_possible());
    let mut planted = PlantedThreads::new();
    membarrier(REGISTER);
    planted.each_millisecond_on(0, || membarrier(BARRIER));
    planted.each_millisecond_on(0, unmap);
    let read = Arc::new(AtomicUsize::new(0));
    let reads = read.clone();
    planted.each_millisecond_on(0, move || {
        // It has a work item run on every CPU.
        fs::read("/proc/sys/vm/stat_refresh").unwrap();
        reads.fetch_add(1, Ordering::Relaxed);
    });
    // A timer, and a thread, on the CPU itself.
    planted.each_millisecond_on(1, || {});
    let watched = || {
        let before = read.load(Ordering::Relaxed);
        let lines = lines(&output(&["--time", "2s", "--occupy", "none", "--json"]));
        (lines, read.load(Ordering::Relaxed) - before >= ENOUGH_READS)
    };
    let is_seen = |lines: &[Value]| has(lines, "work", "refresh_vm_stats", "read(2)");
    // On a busy machine the kernel's workers may wait for the CPU for seconds, also while it is watched and not only before.
    let (lines, has_worked) = (1..MOST_WATCHES)
        .map(|_| watched())
        .find(|(lines, _)| is_seen(lines))
        .unwrap_or_else(watched);
    drop(planted);
    let is_there = |kind, name, sent_by| assert!(has(&lines, kind, name, sent_by), "{kind} {name}: {lines:#?}");
    is_there("timer", "hrtimer_wakeup", "");
    assert!(is_seen(&lines) || !has_worked, "{lines:#?}");
    assert!(lines.iter().any(|line| line["kind"] == "tick"), "{lines:#?}");
    if tells_callers() {
        is_there("call", "flush_tlb_func", "in munmap(2)");
        is_there("call", "ipi_mb", "membarrier_private_expedited, ");
        is_there("call", "ipi_mb", "in membarrier(2)");
    }
}

/// The program that CPU 1 belongs to, and its lines.
fn watched(arguments: &[&str]) -> (String, Vec<Value>) {
    let said = output(&[arguments, &["--time", "1s", "--json"]].concat());
    let lines = lines(&said);
    let answer: Value = serde_json::from_slice(&said.stdout).unwrap();
    let program = answer["cpus"][0]["program"].as_str().unwrap_or_default();
    (program.to_string(), lines)
}

#[test]
fn threads_of_the_program_that_end_are_no_entries() {
    worstcase_skips::or_skip!(is_possible());
    let mut planted = PlantedThreads::new();
    let ended = Arc::new(AtomicUsize::new(0));
    let count = ended.clone();
    planted.each_millisecond_on(1, move || {
        spawn(|| {}).join().unwrap();
        count.fetch_add(1, Ordering::Relaxed);
    });
    let (_, lines) = watched(&["--pid", &std::process::id().to_string()]);
    drop(planted);
    assert!(ended.load(Ordering::Relaxed) > 0);
    let is_ended = |line: &&Value| line["cause"] == "thread that has ended";
    // Another program's may end on this machine meanwhile.
    let most = lines
        .iter()
        .filter(is_ended)
        .filter_map(|line| line["count"].as_u64())
        .sum::<u64>();
    assert!(most < 20, "{most} of {ended:?}: {lines:#?}");
}

#[test]
fn the_cpu_belongs_to_the_program_that_is_named() {
    worstcase_skips::or_skip!(is_possible());
    let planted = PlantedThreads::new();
    let script = "while :; do :; done";
    let mut other = Command::new("taskset")
        .args(["-c", "1", "sh", "-c", script])
        .spawn()
        .unwrap();
    let name = || fs::read_to_string(format!("/proc/{}/comm", other.id())).unwrap();
    // Before it is the shell it is a copy of this process, then taskset.
    while name() != "sh\n" {
        sleep(Duration::from_millis(1));
    }
    let by_id = watched(&["--pid", &other.id().to_string()]);
    let own = watched(&["--pid", &std::process::id().to_string()]);
    let by_name = watched(&["--comm", "sh"]);
    other.kill().unwrap();
    other.wait().unwrap();
    drop(planted);
    assert_eq!((by_id.0.as_str(), by_name.0.as_str()), ("sh", "sh"));
    assert_ne!(own.0, by_id.0);
    assert!(has(&own.1, "thread", "sh", ""), "{:#?}", own.1);
}

#[test]
fn three_verdicts_with_their_exit_codes() {
    worstcase_skips::or_skip!(is_possible());
    let code = |arguments: &[&str]| {
        let all = [&["--time", "300ms", "--occupy", "all"], arguments].concat();
        let said = output(&all);
        (said.status.code(), String::from_utf8(said.stdout).unwrap())
    };
    let (failed, said) = code(&["--criterion", "0"]);
    assert_eq!(failed, Some(1), "{said}");
    assert!(said.contains("\nFAIL "), "{said}");
    let (passed, said) = code(&["--criterion", "1000000", "--exclude", "steal"]);
    assert_eq!(passed, Some(0), "{said}");
    assert!(
        said.contains("\nPASS ") && said.contains("a thread of worstcase kept it busy"),
        "{said}"
    );
}

#[test]
fn ctrl_c_tells_what_was_seen_and_is_no_answer() {
    worstcase_skips::or_skip!(is_possible());
    let mut command = isolate(&["--time", "600s", "--criterion", "1000000", "--exclude", "steal"]);
    let child = command.stdout(Stdio::piped()).spawn().unwrap();
    sleep(Duration::from_secs(3));
    kill_process(rustix::process::Pid::from_child(&child), Signal::INT).unwrap();
    let said = child.wait_with_output().unwrap();
    let text = String::from_utf8(said.stdout).unwrap();
    assert_eq!(said.status.code(), Some(130), "{text}");
    assert!(text.starts_with("CPU 1 was entered "), "{text}");
    assert!(text.contains("it was ended early"), "{text}");
}

/// Children of a process that are there.
fn children(of: &Child) -> Vec<u32> {
    let path = format!("/proc/{0}/task/{0}/children", of.id());
    let text = fs::read_to_string(path).unwrap_or_default();
    text.split_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

#[test]
fn kill_9_at_many_instants_leaves_nobody() {
    worstcase_skips::or_skip!(is_possible());
    for instant in [100, 560, 600, 700, 900, 1300] {
        let mut child = isolate(&["--time", "600s", "--occupy", "all"]).spawn().unwrap();
        sleep(Duration::from_millis(instant));
        let occupants = children(&child);
        child.kill().unwrap();
        child.wait().unwrap();
        let is_there = |pid: &u32| {
            let name = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            name.contains("host-occupant")
        };
        for _ in 0..100 {
            if occupants.iter().any(is_there) {
                sleep(Duration::from_millis(50));
            }
        }
        assert!(!occupants.iter().any(is_there), "{instant} ms: {occupants:?}");
    }
}

#[test]
fn the_answer_is_kept_and_never_written_over() {
    worstcase_skips::or_skip!(is_possible());
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("kept");
    let arguments = ["--time", "100ms", "--json", "-o", kept.to_str().unwrap()];
    let said = output(&arguments);
    assert_eq!(fs::read(kept.join("isolate.json")).unwrap(), said.stdout);
    let again = output(&arguments);
    assert_eq!(again.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&again.stderr).contains("is there already"));
}

#[test]
fn what_cannot_be_observed_is_one_line() {
    let refused = |arguments: &[&str]| {
        let mut command = Command::new(cargo_bin("worstcase"));
        let said = command.args(["host", "isolate"]).args(arguments).output().unwrap();
        let line = String::from_utf8(said.stderr).unwrap();
        assert_eq!(line.lines().count(), 1, "{line}");
        (said.status.code(), line)
    };
    let (code, line) = refused(&["--cpus", "4095"]);
    assert!(line.contains("CPUs 4095 are not online"), "{line}");
    assert_eq!(code, Some(2));
    let (code, line) = refused(&["--cpus", "0", "--time", "0s"]);
    assert!(line.contains("observes nothing"), "{line}");
    assert_eq!(code, Some(2));
    let (code, line) = refused(&["--cpus", "0", "--comm", "nobody-has-this"]);
    assert!(line.contains("no thread is called"), "{line}");
    assert_eq!(code, Some(2));
    if !Path::new("/sys/devices/system/cpu/nohz_full").exists() {
        let (code, line) = refused(&[]);
        assert!(line.contains("no CPU of this machine is isolated"), "{line}");
        assert_eq!(code, Some(2));
    }
}

#[test]
fn without_root_it_is_refused_in_one_line() {
    worstcase_skips::or_skip!(is_possible());
    use std::os::unix::process::CommandExt;
    let state = tempfile::tempdir().unwrap();
    std::os::unix::fs::chown(state.path(), Some(65534), Some(65534)).unwrap();
    let program = state.path().join("worstcase");
    copy_to(&program);
    let mut command = Command::new(program);
    command.args(["host", "isolate", "--cpus", "1", "--time", "100ms", "--occupy", "none"]);
    let said = command
        .uid(65534)
        .gid(65534)
        .env("WORSTCASE_STATE", state.path())
        .output()
        .unwrap();
    let line = String::from_utf8(said.stderr).unwrap();
    assert_eq!(said.status.code(), Some(3), "{line}");
    assert_eq!(line.lines().count(), 1, "{line}");
    assert!(line.contains("as root"), "{line}");
}
