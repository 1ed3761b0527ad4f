//! Probes and loads on this machine, as root and as an ordinary user.
//!
//! Loads are forked and so need a process with one thread; this program is its own small test harness: each
//! test runs in a forked process. No test asserts how fast something is, only what must hold on any machine.

#[path = "machine/hackbench.rs"]
mod hackbench;
#[path = "machine/inversion.rs"]
mod inversion;
#[path = "machine/pick.rs"]
mod pick;
#[path = "machine/switch.rs"]
mod switch;
#[path = "machine/two_cpus.rs"]
mod two_cpus;

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use worstcase_cell::loads::LoadEnvironment;
use worstcase_cell::order::PolicyOrder;
use worstcase_cell::probes;
use worstcase_contract::Probe;
use worstcase_contract::loads::LoadSpec;
use worstcase_contract::{CellSpec, Nanos, RawRecord, Venue};
use worstcase_instruments::loads::{RunningLoad, Surroundings};
use worstcase_instruments::record::Work;
use worstcase_instruments::sys::process::{self, Exit, Pid, Waited};
use worstcase_instruments::sys::{clock, sched, signal};

/// The probes whose sample is the lateness of a timer.
const TIMED: [Probe; 2] = [Probe::Wakeup, Probe::Response];

const TESTS: &[(&str, fn())] = &[
    (
        "every_load_works_and_leaves_nothing",
        every_load_works_and_leaves_nothing,
    ),
    ("an_idle_cell_has_no_work", an_idle_cell_has_no_work),
    ("sampling_takes_no_page_fault", sampling_takes_no_page_fault),
    (
        "an_ordinary_user_measures_with_warnings",
        an_ordinary_user_measures_with_warnings,
    ),
    (
        "a_planted_stall_is_measured_and_its_periods_missed",
        a_planted_stall_is_measured_and_its_periods_missed,
    ),
    ("a_killed_parent_leaves_nothing", a_killed_parent_leaves_nothing),
    ("programs_that_hide_are_ended_too", programs_that_hide_are_ended_too),
    (
        "a_program_is_measured_once_it_is_ready",
        a_program_is_measured_once_it_is_ready,
    ),
    (
        "a_load_that_does_nothing_is_an_error",
        a_load_that_does_nothing_is_an_error,
    ),
    (
        "a_program_that_fails_is_an_error_in_its_words",
        a_program_that_fails_is_an_error_in_its_words,
    ),
    (
        "a_worker_that_is_killed_is_an_error",
        a_worker_that_is_killed_is_an_error,
    ),
    ("what_needs_a_lab_says_so", what_needs_a_lab_says_so),
    ("a_process_with_threads_is_refused", a_process_with_threads_is_refused),
];

fn main() -> ExitCode {
    worstcase_instruments::child_main();
    let filters: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let mut failed = 0;
    for (name, test) in TESTS
        .iter()
        .chain(hackbench::TESTS)
        .chain(inversion::TESTS)
        .chain(pick::TESTS)
        .chain(switch::TESTS)
        .chain(two_cpus::TESTS)
    {
        if !filters.is_empty() && !filters.iter().any(|f| name.contains(f.as_str())) {
            continue;
        }
        let ok = run_test(*test);
        println!("test {name} ... {}", if ok { "ok" } else { "FAILED" });
        failed += usize::from(!ok);
    }
    println!("test result: {failed} failed");
    if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn run_test(test: fn()) -> bool {
    let pid = process::fork(signal::SIGKILL, || {
        test();
        0
    })
    .expect("fork");
    reap_within(pid, Nanos::from_millis(120_000)) == Some(Exit::Code(0))
}

/// Waits for `pid`; kills it and gives `None` when that takes too long.
fn reap_within(pid: Pid, time: Nanos) -> Option<Exit> {
    let end = clock::monotonic() + time;
    loop {
        match process::wait(pid, false).expect("wait") {
            Waited::Ended(_, exit) => return Some(exit),
            Waited::NoChild => return None,
            Waited::Running if clock::monotonic() > end => {
                eprintln!("process {pid} takes too long");
                process::kill(pid, signal::SIGKILL).expect("kill");
                process::wait(pid, true).expect("wait");
                return None;
            }
            Waited::Running => clock::sleep_until(clock::monotonic() + Nanos::from_millis(2)),
        }
    }
}

/// A folder for one test, removed with everything in it.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        let path = std::env::temp_dir().join(format!("worstcase-test-{}", process::own_pid()));
        fs::create_dir(&path).expect("make a folder");
        Folder(path)
    }

    fn env(&self) -> LoadEnvironment {
        LoadEnvironment {
            surroundings: Surroundings {
                placement: None,
                work_dir: self.0.clone(),
                owns_machine: false,
            },
            policy: PolicyOrder::default(),
            program: Vec::new(),
            bodies: &[],
            begin: None,
            when_warm: None,
        }
    }

    fn is_empty(&self) -> bool {
        fs::read_dir(&self.0).expect("read the folder").count() == 0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn cell(probe: Probe, load: &str) -> CellSpec {
    CellSpec {
        probe,
        load: load.into(),
        period: Nanos::from_millis(1),
        periods: 200,
        seed: 1,
        warmup: Nanos::from_millis(5),
        priority: 98,
    }
}

fn run(cell: &CellSpec, env: &LoadEnvironment) -> Result<RawRecord, String> {
    let order = cell.order(Venue::Host).map_err(|e| e.to_string())?;
    probes::run(&order, env).map_err(|e| e.to_string())
}

fn check_books(record: &RawRecord) {
    assert_eq!(
        record.samples.len() as u64 + record.missed(),
        u64::from(record.expected)
    );
    assert!(record.samples.is_sorted_by(|a, b| a.index < b.index));
    assert!(record.samples.iter().all(|s| s.index < record.expected));
    assert_eq!(RawRecord::decode(&record.encode()).as_ref(), Ok(record));
}

fn start(load: &str, folder: &Folder) -> RunningLoad {
    let spec: LoadSpec = load.parse().expect("a load");
    folder.env().start(&spec.orders(), 1).expect("start the load")
}

fn children_of(pid: Pid) -> BTreeSet<Pid> {
    fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"))
        .unwrap_or_default()
        .split_ascii_whitespace()
        .map(|word| word.parse().expect("a process id"))
        .collect()
}

/// System V segments whose creator is gone: nobody will remove them.
fn orphaned_segments() -> Vec<String> {
    let table = fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
    let orphaned = |line: &&str| {
        let creator = line.split_ascii_whitespace().nth(4).unwrap_or("");
        !PathBuf::from(format!("/proc/{creator}")).exists()
    };
    table.lines().skip(1).filter(orphaned).map(String::from).collect()
}

fn every_load_works_and_leaves_nothing() {
    process::adopt_orphans(true).expect("subreaper");
    let segments = orphaned_segments();
    for probe in TIMED {
        for load in [
            "shm",
            "fork",
            "procread",
            "find",
            "sockets",
            "draw",
            "compile",
            "cpu:2",
            "proc",
            "timers:8",
            "timerfd",
            "rcu",
            "receive:8",
            "bpf",
            "munmap",
            "membarrier",
            "shm@50",
            "find@2000+compile+compile",
            "fork@100+procread@20",
            "rcu@5000+receive:3@100",
            "cmd:sh -c 'while :; do :; done'",
            "cmd:true",
            "cmd-ready:sh -c ': > $WORSTCASE_READY; while :; do :; done'",
        ] {
            let folder = Folder::new();
            // A machine that others use too may give a load no CPU for a while.
            let spec = CellSpec {
                periods: 1_500,
                ..cell(probe, load)
            };
            let record = run(&spec, &folder.env()).unwrap_or_else(|e| panic!("{probe} {load}: {e}"));
            check_books(&record);
            assert!(
                record.work.iter().any(|w| w.count > 0),
                "{probe} {load}: {:?}",
                record.work
            );
            assert!(folder.is_empty(), "{load} left files");
            assert_eq!(
                process::wait(-1, false).expect("wait"),
                Waited::NoChild,
                "{load} left children"
            );
        }
    }
    assert_eq!(orphaned_segments(), segments);
}

fn an_idle_cell_has_no_work() {
    for probe in TIMED {
        let folder = Folder::new();
        let record = run(&cell(probe, "idle"), &folder.env()).expect("measure");
        check_books(&record);
        assert!(record.work.is_empty());
        assert_eq!(record.start.0 % 10_000_000, cell(probe, "idle").phase().0);
        assert_eq!(
            record.spec.parse::<CellSpec>().expect("its own spec"),
            cell(probe, "idle")
        );
    }
}

fn sampling_takes_no_page_fault() {
    worstcase_skips::needs_root!();
    for probe in TIMED {
        for load in ["idle", "fork"] {
            let spec = CellSpec {
                period: Nanos(100_000),
                periods: 10_000, // the buffers span several pages, and the load gets the CPU on a busy machine too
                ..cell(probe, load)
            };
            let record = run(&spec, &Folder::new().env()).expect("measure");
            assert_eq!(record.warnings, Vec::<String>::new());
            let cost = record.self_cost;
            assert_eq!((cost.minor_faults, cost.major_faults), (0, 0), "{probe} {load}");
            assert!(cost.clock_read > Nanos(0) && cost.empty_sample > cost.clock_read && cost.cpu_time > Nanos(0));
        }
    }
}

fn an_ordinary_user_measures_with_warnings() {
    let folder = Folder::new();
    if process::is_root() {
        std::os::unix::fs::chown(&folder.0, Some(65534), Some(65534)).expect("chown");
        // SAFETY: no pointers are passed; this process does nothing but this test.
        assert_eq!(unsafe { libc::setresuid(65534, 65534, 65534) }, 0);
    }
    for probe in TIMED {
        for load in ["idle", "shm", "compile"] {
            let record = run(&cell(probe, load), &folder.env()).unwrap_or_else(|e| panic!("{load}: {e}"));
            check_books(&record);
            assert!(
                record
                    .warnings
                    .iter()
                    .any(|w| w.contains("NOT REAL-TIME: SCHED_FIFO at priority 98 is refused")),
                "{:?}",
                record.warnings
            );
        }
    }
}

/// Ground truth: a process of higher priority on the same CPU holds it for 20 ms at a time.
fn a_planted_stall_is_measured_and_its_periods_missed() {
    worstcase_skips::needs_root!();
    const STALL: Nanos = Nanos::from_millis(20);
    pin_to_first_cpu();
    let blocker = process::fork(signal::SIGKILL, || {
        sched::Policy::fifo(99).apply().expect("SCHED_FIFO");
        loop {
            clock::sleep_until(clock::monotonic() + Nanos::from_millis(40));
            let end = clock::monotonic() + STALL;
            while clock::monotonic() < end {}
        }
    })
    .expect("fork");
    for probe in TIMED {
        let record = run(&cell(probe, "idle"), &Folder::new().env()).expect("measure");
        check_books(&record);
        let longest = record.samples.iter().map(|s| s.latency).max().expect("samples");
        // One period may pass before the first due time in the stall.
        assert!(
            longest >= STALL - Nanos::from_millis(1),
            "{probe}: longest is {longest}"
        );
        assert!(record.missed() >= 18, "{probe}: only {} missed", record.missed());
    }
    process::kill(blocker, signal::SIGKILL).expect("kill");
    process::wait(blocker, true).expect("wait");
}

fn pin_to_first_cpu() {
    // SAFETY: cpu_set_t is plain data, for which all zeroes are the empty set; the size is its own.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(0, &mut set);
        assert_eq!(libc::sched_setaffinity(0, size_of_val(&set), &set), 0);
    }
}

fn a_killed_parent_leaves_nothing() {
    process::adopt_orphans(true).expect("subreaper");
    let segments = orphaned_segments();
    for load in [
        "shm",
        "fork",
        "procread",
        "find",
        "sockets",
        "draw",
        "compile",
        "timerfd:2",
        "receive:8",
        "cmd:sh -c 'setsid sleep 1000 & while :; do :; done'",
    ] {
        let folder = Folder::new();
        let (mut reader, mut writer) = io::pipe().expect("pipe");
        let parent = process::fork(signal::SIGKILL, || {
            let mut load = start(load, &folder);
            load.wait_for_work().expect("work");
            writer.write_all(b"!").expect("write");
            clock::sleep_until(Nanos(u64::MAX / 2));
            0
        })
        .expect("fork");
        drop(writer);
        reader.read_exact(&mut [0]).expect("the load does not start");
        assert!(!children_of(parent).is_empty());
        process::kill(parent, signal::SIGKILL).expect("kill");
        // Every orphan becomes a child of this process: it is enough to wait until there is none.
        let end = clock::monotonic() + Nanos::from_millis(20_000);
        while process::wait(-1, false).expect("wait") != Waited::NoChild {
            let left = children_of(process::own_pid());
            assert!(clock::monotonic() < end, "{load}: {left:?} outlive their parent");
            clock::sleep_until(clock::monotonic() + Nanos::from_millis(1));
        }
    }
    assert_eq!(orphaned_segments(), segments);
}

fn programs_that_hide_are_ended_too() {
    process::adopt_orphans(true).expect("subreaper");
    let folder = Folder::new();
    let mut load = start(
        "cmd:sh -c '(setsid sleep 1000 &) ; setsid sh -c \"while :; do :; done\"'",
        &folder,
    );
    load.wait_for_work().expect("work");
    load.stop().expect("stop");
    assert_eq!(process::wait(-1, false).expect("wait"), Waited::NoChild);
}

fn a_program_is_measured_once_it_is_ready() {
    let folder = Folder::new();
    let set_up = folder.0.join("set-up");
    let text = format!(
        "cmd-ready:sh -c 'sleep 0.2; : > {}; : > $WORSTCASE_READY; while :; do :; done'",
        set_up.display()
    );
    let mut load = start(&text, &folder);
    load.wait_for_work().expect("work");
    assert!(set_up.exists(), "it is measured before it is set up");
    assert!(std::env::var_os("WORSTCASE_READY").is_none());
    load.stop().expect("stop");
    fs::remove_file(set_up).expect("remove");
    assert!(folder.is_empty());
    let failed = run(&cell(Probe::Wakeup, "cmd-ready:sh -c 'exit 4'"), &folder.env());
    let error = failed.expect_err("it ends before it is ready").to_string();
    assert!(
        error.starts_with("load 'cmd-ready' ended while it was needed: 'sh' ended with exit code 4"),
        "{error}"
    );
}

fn a_load_that_does_nothing_is_an_error() {
    let folder = Folder::new();
    let mut load = start("shm", &folder);
    load.wait_for_work().expect("work");
    for worker in children_of(process::own_pid()) {
        process::kill(worker, libc::SIGSTOP).expect("stop");
        let stopped = || {
            fs::read_to_string(format!("/proc/{worker}/stat"))
                .expect("stat")
                .contains(") T ")
        };
        while !stopped() {
            clock::sleep_until(clock::monotonic() + Nanos::from_millis(1));
        }
    }
    let before: Vec<Work> = load.work();
    let error = load.work_since(&before).expect_err("nothing was done").to_string();
    assert_eq!(
        error,
        "load 'shm' did no work while measuring (counted: segments, pages)"
    );
    for worker in children_of(process::own_pid()) {
        process::kill(worker, libc::SIGCONT).expect("continue");
    }
    load.stop().expect("stop");
}

fn a_program_that_fails_is_an_error_in_its_words() {
    let folder = Folder::new();
    let error = |load: &str| {
        run(&cell(Probe::Wakeup, load), &folder.env())
            .expect_err(load)
            .to_string()
    };
    assert_eq!(
        error("cmd:sh -c 'echo first >&2; echo out of luck >&2; exit 3'"),
        "load 'cmd' ended while it was needed: 'sh' ended with exit code 3: out of luck"
    );
    assert!(error("cmd:/no/such/program x").contains("cannot run '/no/such/program': No such file"));
    assert!(error("cmd:sh -c 'kill -9 $$'").contains("ended with signal 9: nothing on its standard error"));
    assert!(error("nothing").contains("unknown load 'nothing'"));
    assert!(folder.is_empty());
}

fn a_worker_that_is_killed_is_an_error() {
    let folder = Folder::new();
    let mut load = start("sockets", &folder);
    load.wait_for_work().expect("work");
    let worker = *children_of(process::own_pid()).first().expect("a worker");
    process::kill(worker, signal::SIGKILL).expect("kill");
    let end = clock::monotonic() + Nanos::from_millis(600_000);
    let error = loop {
        match load.check() {
            Err(error) => break error.to_string(),
            Ok(()) => assert!(clock::monotonic() < end, "nobody noticed"),
        }
    };
    assert!(
        error.starts_with("load 'sockets' ended while it was needed:"),
        "{error}"
    );
    load.stop().expect("stop");
    assert_eq!(process::wait(-1, false).expect("wait"), Waited::NoChild);
}

fn what_needs_a_lab_says_so() {
    let folder = Folder::new();
    let error = |load: &str| {
        run(&cell(Probe::Wakeup, load), &folder.env())
            .expect_err(load)
            .to_string()
    };
    assert!(error("apps:2").starts_with("load 'apps' is there in the lab only: it drives the whole machine"));
    if !PathBuf::from("/sys/kernel/config/nullb").exists() {
        assert!(error("blockread").contains("'blockread' is not available here"));
        assert!(error("blockread").contains("modprobe null_blk"));
    }
}

fn a_process_with_threads_is_refused() {
    let (held, hold) = std::sync::mpsc::channel::<()>();
    let thread = std::thread::spawn(move || hold.recv());
    let spec: LoadSpec = "shm".parse().expect("a load");
    let refused = Folder::new().env().start(&spec.orders(), 1).err().expect("two threads");
    assert!(refused.to_string().contains("2 threads"), "{refused}");
    drop(held);
    let _ = thread.join();
}
