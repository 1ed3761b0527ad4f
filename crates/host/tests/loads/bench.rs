//! The harness, and what all tests ask of the machine.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use worstcase_contract::Nanos;
use worstcase_contract::loads::LoadSpec;
use worstcase_host::loads::{LoadPlace, RunningHostLoad, cgroup};
use worstcase_instruments::sys::process::{self, Exit, Pid, Waited};
use worstcase_instruments::sys::{clock, signal};

/// A test's name, and what it does; it fails by a panic.
pub type Test = (&'static str, fn());

/// How long a test waits for what is going to happen: far longer than the busiest machine takes.
pub const PATIENCE: Nanos = Nanos::from_millis(600_000);
const LONGEST_TEST: Nanos = Nanos::from_millis(3_600_000);

pub fn main(tests: &[Test]) -> ExitCode {
    let filters: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let mut failed = 0;
    process::adopt_orphans(true).expect("subreaper");
    for (name, test) in tests {
        if !filters.is_empty() && !filters.iter().any(|f| name.contains(f.as_str())) {
            continue;
        }
        let begin = clock::monotonic();
        let pid = process::fork(signal::SIGKILL, || {
            process::adopt_orphans(true).expect("subreaper");
            test();
            0
        })
        .expect("fork");
        let ok = reap_within(pid, LONGEST_TEST) == Some(Exit::Code(0));
        kill_descendants();
        let seconds = (clock::monotonic() - begin).0 as f64 / 1e9;
        println!("test {name} ... {} ({seconds:.1} s)", if ok { "ok" } else { "FAILED" });
        failed += usize::from(!ok);
    }
    println!("test result: {failed} failed");
    ExitCode::from(u8::from(failed > 0))
}

/// What a failed test has left behind becomes a child of this process, one generation after the other.
fn kill_descendants() {
    loop {
        let children = children_of(process::own_pid());
        if children.is_empty() {
            return;
        }
        for child in children {
            process::kill(child, signal::SIGKILL).expect("kill");
            process::wait(child, true).expect("wait");
        }
    }
}

/// Waits for `pid`; kills it and gives `None` when that takes too long.
pub fn reap_within(pid: Pid, time: Nanos) -> Option<Exit> {
    let mut exit = None;
    let in_time = within(time, || match process::wait(pid, false).expect("wait") {
        Waited::Ended(_, how) => {
            exit = Some(how);
            true
        }
        Waited::NoChild => true,
        Waited::Running => false,
    });
    if !in_time {
        eprintln!("process {pid} takes too long");
        process::kill(pid, signal::SIGKILL).expect("kill");
        process::wait(pid, true).expect("wait");
    }
    exit
}

/// Asks until it is so, or `time` has passed.
pub fn within(time: Nanos, mut is_so: impl FnMut() -> bool) -> bool {
    let end = clock::monotonic() + time;
    loop {
        if is_so() {
            return true;
        }
        if clock::monotonic() > end {
            return false;
        }
        clock::sleep_until(clock::monotonic() + Nanos::from_millis(1));
    }
}

/// A folder of one test, removed with everything in it.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Folder {
        // Where cargo keeps this test's files: a real file system, which /tmp need not be.
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("loads test-{}", process::own_pid()));
        fs::create_dir_all(&path).expect("make a folder");
        Folder(path)
    }

    /// A place for loads in it, with a group where that can be.
    pub fn place(&self) -> LoadPlace {
        LoadPlace {
            work_dir: self.0.join("work"),
            cgroup: cgroup::propose(),
            cpus: Vec::new(),
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub fn load(text: &str) -> LoadSpec {
    text.parse().expect("a load")
}

pub fn start(text: &str, place: &LoadPlace) -> RunningHostLoad {
    let mut running = RunningHostLoad::start(&load(text), 1, place).unwrap_or_else(|e| panic!("starting {text}: {e}"));
    running.wait_for_work().unwrap_or_else(|e| panic!("{text}: {e}"));
    running
}

pub fn children_of(pid: Pid) -> BTreeSet<Pid> {
    fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"))
        .unwrap_or_default()
        .split_ascii_whitespace()
        .map(|word| word.parse().expect("a process id"))
        .collect()
}

/// What the machine holds that a load could have left.
#[derive(Debug, PartialEq, Eq)]
pub struct LeftBehind {
    segments: Vec<String>,
    devices: Vec<PathBuf>,
}

impl LeftBehind {
    /// System V segments whose creator is gone, and null_blk devices.
    pub fn now() -> LeftBehind {
        let is_gone = |creator: Pid| !PathBuf::from(format!("/proc/{creator}")).exists();
        let orphaned = Self::segments().into_iter().filter(|(_, creator)| is_gone(*creator));
        let devices = fs::read_dir("/sys/kernel/config/nullb");
        LeftBehind {
            segments: orphaned.map(|(id, _)| id).collect(),
            devices: devices
                .into_iter()
                .flatten()
                .flatten()
                .map(|entry| entry.path())
                .collect(),
        }
    }

    pub fn segments_by(maker: Pid) -> usize {
        Self::segments().iter().filter(|(_, creator)| *creator == maker).count()
    }

    /// Identity and creator of every segment.
    fn segments() -> Vec<(String, Pid)> {
        let table = fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
        let row = |row: &str| {
            let fields: Vec<&str> = row.split_ascii_whitespace().collect();
            (fields[1].into(), fields[4].parse().expect("a process id"))
        };
        table.lines().skip(1).map(row).collect()
    }
}

/// That loads at `place` are gone with all they made; every process of theirs is a child of this one by now.
pub fn assert_nothing_left(what: &str, place: &LoadPlace, before: &LeftBehind) {
    assert_eq!(
        process::wait(-1, false).expect("wait"),
        Waited::NoChild,
        "{what} left processes: {:?}",
        children_of(process::own_pid())
    );
    assert!(!place.work_dir.exists(), "{what} left its folder");
    if let Some(group) = &place.cgroup {
        assert!(!group.exists(), "{what} left its control group");
    }
    // Others on this machine may have such things for a moment.
    let as_before = within(PATIENCE, || LeftBehind::now() == *before);
    assert!(
        as_before,
        "{what} left something: {before:?}, now {:?}",
        LeftBehind::now()
    );
}
