//! Loads that are started and stopped as they should be.

use crate::bench::{Folder, LeftBehind, PATIENCE, assert_nothing_left, children_of, load, start, within};
use std::fs;
use std::path::Path;
use worstcase_contract::{Nanos, Venue};
use worstcase_host::loads::{LoadPlace, RunningHostLoad};
use worstcase_instruments::sys::{clock, process, signal};

/// Every load that a machine without extra kernel modules can run, in a small size.
pub const LOADS: &[&str] = &[
    "shm",
    "shm@50",
    "fork",
    "fork@200",
    "exec:64",
    "exec:3072@100",
    "procread",
    "procread@20",
    "find",
    "find@2000",
    "sockets",
    "compile",
    "disk:2",
    "disk:2@20",
    "proc",
    "desktop:1",
    "cpu",
    "memory:16@50",
    "timers:8",
    "timers:8@500",
    "timerfd",
    "rcu",
    "rcu@20000",
    "receive:8",
    "receive:8@200",
    "bpf",
    "bpf@100",
    "eventfd:100",
    "eventfd@1000",
    "pipes:16",
    "pipes@1000",
    "draw",
    "munmap",
    "unmap:4",
    "mprotect:4",
    "mprotect@100",
    "memfd:4",
    "seccomp@500",
    "membarrier",
    "cmd-ready:sh -c 'sleep 0.1; : > $WORSTCASE_READY; while :; do :; done'",
    "cmd:sh -c 'setsid sleep 1000 & while :; do :; done'",
    "cpu:1+find+disk:2+compile",
    "find@2000+compile+compile",
];

/// Loads that do nothing, or that not every machine or user can run.
const NOT_LISTED: [&str; 4] = ["idle", "blockread", "rtc", "perf"];

pub fn the_list_has_every_load_of_a_host() {
    let names = |text: &'static str| text.split('+').map(|one| one.split([':', '@']).next().unwrap_or(one));
    let listed: Vec<&str> = LOADS.iter().flat_map(|text| names(text)).collect();
    for info in worstcase_contract::loads::LOADS.iter() {
        let is_of_host = info.only.is_none_or(|only| only.venue == Venue::Host);
        let is_there = listed.contains(&info.name()) || NOT_LISTED.contains(&info.name());
        assert!(is_there || !is_of_host, "{}", info.name());
    }
}

pub fn every_load_works_and_leaves_nothing() {
    let before = LeftBehind::now();
    for text in LOADS {
        let folder = Folder::new();
        let place = folder.place();
        let mut running = start(text, &place);
        assert_eq!(
            running.notes().is_empty(),
            place.cgroup.is_some(),
            "{:?}",
            running.notes()
        );
        let then = running.work();
        assert!(then.iter().any(|w| w.count > 0), "{text}: {then:?}");
        let more = within(PATIENCE, || running.work_since(&then).is_ok());
        assert!(more, "{text} did no more than its first work: {then:?}");
        running.check().unwrap_or_else(|e| panic!("{text}: {e}"));
        if let Some(group) = &place.cgroup {
            let members = fs::read_to_string(group.join("cgroup.procs")).expect("members");
            assert!(!members.is_empty(), "{text}: nobody is in the group");
            assert!(
                !members.lines().any(|pid| pid == process::own_pid().to_string()),
                "{text}"
            );
        }
        running.stop().unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_nothing_left(text, &place, &before);
        assert!(std::env::var_os("WORSTCASE_LOADS").is_none());
    }
    let folder = Folder::new();
    let idle = start("idle", &folder.place());
    assert!(idle.work().is_empty() && idle.notes().is_empty());
    idle.stop().expect("stop");
    assert_nothing_left("idle", &folder.place(), &before);
}

/// So many operations or fewer, on a machine of any speed.
pub fn a_rate_is_never_exceeded() {
    for text in ["fork@50", "cpu:2@50", "memory:16@50", "procread@50"] {
        let folder = Folder::new();
        let begin = clock::monotonic();
        let running = start(text, &folder.place());
        clock::sleep_until(clock::monotonic() + Nanos::from_millis(500));
        let unit = usize::from(text.starts_with("procread"));
        let count = || running.work()[unit].count;
        assert!(within(PATIENCE, || count() > 0), "{text} does nothing");
        let count = count();
        let most = (clock::monotonic() - begin).0 * 50 / 1_000_000_000 + 2;
        assert!(count <= most, "{text}: {count} where {most} are due");
        running.stop().expect("stop");
    }
}

pub fn loads_at_once_are_told_apart() {
    let folder = Folder::new();
    let running = start("cpu:1@100+shm@10+cmd:sh -c 'while :; do :; done'", &folder.place());
    let units: Vec<String> = running.work().into_iter().map(|work| work.unit).collect();
    assert_eq!(
        units,
        ["cpu.rounds", "shm.segments", "shm.pages", "cmd.cpu_time_us", "cmd.runs"]
    );
    running.stop().expect("stop");
}

pub fn a_users_tree_is_built_elsewhere() {
    let folder = Folder::new();
    let tree = folder.0.join("it's a tree+b@c");
    fs::create_dir_all(tree.join("sub")).expect("make a tree");
    fs::write(
        tree.join("Makefile"),
        "all:\n\ttest ! -e built.o\n\tcat sub/part > built.o\n\tpwd > \"$(TMPDIR)\"/$$$$\nclean:\n\trm -f built.o\n",
    )
    .expect("write");
    fs::write(tree.join("sub/part"), "part").expect("write");
    fs::write(tree.join("built.o"), "stale").expect("write");
    let place = folder.place();
    let text = format!("compile:{}", tree.display());
    let running = start(&text, &place);
    let built = || {
        running
            .work()
            .iter()
            .any(|work| work.unit == "builds" && work.count >= 2)
    };
    assert!(within(PATIENCE, built), "no second build: {:?}", running.work());
    running.stop().expect("stop");
    assert!(!place.work_dir.exists());
    assert_eq!(fs::read_to_string(tree.join("built.o")).expect("read"), "stale");

    fs::write(tree.join("Makefile"), "all:\n\t@echo out of luck >&2; exit 3\n").expect("write");
    let mut running = RunningHostLoad::start(&load(&text), 1, &place).expect("start");
    let mut error = String::new();
    let ended = within(PATIENCE, || {
        error = running.check().err().map(|e| e.to_string()).unwrap_or_default();
        !error.is_empty()
    });
    assert!(ended);
    assert!(
        error.starts_with("load 'compile' ended while it was needed: "),
        "{error}"
    );
    assert!(error.contains("make: ***") && error.lines().count() == 1, "{error}");
}

pub fn what_cannot_run_says_so_in_one_line() {
    let folder = Folder::new();
    let place = folder.place();
    let error = |text: &str, place: &LoadPlace| {
        let error = RunningHostLoad::start(&load(text), 1, place)
            .err()
            .unwrap_or_else(|| panic!("{text} runs"));
        assert!(!place.work_dir.exists(), "{text} left its folder");
        assert!(
            place.cgroup.as_ref().is_none_or(|group| !group.exists()),
            "{text} left its group"
        );
        assert_eq!(error.to_string().lines().count(), 1);
        error.to_string()
    };
    assert!(error("compile:/no/such/tree", &place).contains("there is no Makefile in /no/such/tree"));
    assert!(error("memory:1000000", &place).contains("ask for less"));
    assert!(error("disk:1000000", &place).contains("choose another work folder"));
    if Path::new("/dev/shm").is_dir() {
        let place = LoadPlace {
            work_dir: format!("/dev/shm/worstcase-test-{}", process::own_pid()).into(),
            cgroup: None,
            cpus: Vec::new(),
        };
        assert!(error("disk:1", &place).contains("is in memory"));
    }
    if !Path::new("/sys/kernel/config/nullb").exists() {
        assert!(error("cpu+blockread", &place).contains("modprobe null_blk"));
    }
}

pub fn a_folder_of_somebody_else_is_left_alone() {
    let folder = Folder::new();
    fs::write(folder.0.join("precious"), "x").expect("write");
    let place = LoadPlace {
        work_dir: folder.0.clone(),
        cgroup: None,
        cpus: Vec::new(),
    };
    let error = RunningHostLoad::start(&load("cpu"), 1, &place)
        .err()
        .expect("refused")
        .to_string();
    assert!(error.contains("it is there already"), "{error}");
    let traces = worstcase_host::loads::Traces::of(&load("cpu"), &place, 1);
    assert!(worstcase_host::loads::clean(&traces).is_err());
    assert!(folder.0.join("precious").exists());
}

pub fn an_ordinary_user_has_loads_too() {
    worstcase_skips::needs_root!();
    let before = LeftBehind::now();
    let folder = Folder(std::env::temp_dir().join(format!("worstcase-test-{}", process::own_pid())));
    fs::create_dir(&folder.0).expect("make a folder");
    std::os::unix::fs::chown(&folder.0, Some(65534), Some(65534)).expect("chown");
    // SAFETY: no pointers are passed; this process does nothing but this test.
    assert_eq!(unsafe { libc::setresuid(65534, 65534, 65534) }, 0);
    let place = folder.place();
    assert_eq!(place.cgroup, None);
    for text in [
        "cpu+memory:8+timers:4+proc",
        "desktop:1",
        "cmd:sh -c 'setsid sleep 1000 & while :; do :; done'",
    ] {
        let running = start(text, &place);
        assert!(running.notes()[0].contains("no control group of their own"));
        running.stop().expect("stop");
        assert_nothing_left(text, &place, &before);
    }
    // What the kernel may keep for root.
    for text in ["perf:4", "bpf:maps"] {
        match RunningHostLoad::start(&load(text), 1, &place) {
            Ok(running) => running.stop().expect("stop"),
            Err(e) => {
                let (name, said) = (text.split(':').next().unwrap_or(text), e.to_string());
                assert!(
                    said.starts_with(&format!("load '{name}' is not available here: ")),
                    "{said}"
                );
                assert!(said.contains("run as root") && said.lines().count() == 1, "{said}");
            }
        }
        assert_nothing_left(text, &place, &before);
    }
}

pub fn a_worker_that_is_killed_is_an_error() {
    let folder = Folder::new();
    let mut running = start("cpu:2+sockets", &folder.place());
    let worker = *children_of(process::own_pid()).first().expect("a worker");
    process::kill(worker, signal::SIGKILL).expect("kill");
    let mut error = String::new();
    let noticed = within(PATIENCE, || {
        error = running.check().err().map(|e| e.to_string()).unwrap_or_default();
        !error.is_empty()
    });
    assert!(noticed, "nobody noticed");
    assert_eq!(
        error,
        "load 'cpu' ended while it was needed: a worker ended by itself, signal 9"
    );
    running.stop().expect("stop");
}
