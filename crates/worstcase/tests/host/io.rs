//! `worstcase host run` with work on files.

use crate::run::{MeasuringController, one_cpu, until};
use crate::setup::MACHINE;
use assert_cmd::cargo::cargo_bin;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::PoisonError;

fn details<'a>(records: &'a [Value], probe: &str) -> &'a Value {
    let found = records.iter().find(|r| r["cell"]["probe"] == probe);
    let record = found.unwrap_or_else(|| panic!("no record of {probe}"));
    assert_eq!(
        record["accounting"]["taken"], record["accounting"]["expected"],
        "{probe}"
    );
    &record["details"]["io"]
}

#[test]
fn every_work_says_what_it_did() {
    const MIB: u64 = 1 << 20;
    let controller = MeasuringController::on_disk();
    let works = "io:1m+write/read/randread/randwrite,io:1m+bonnie,io+unpack";
    let records = controller.measured(&["--probe", works, "--quiet", "--seed", "7"]);
    assert_eq!(records.len(), 4 + 12 + 1);
    let bytes = |probe: &str| details(&records, probe)["bytes"].as_u64().unwrap();
    for (work, moved) in [
        ("write", MIB),
        ("read", MIB),
        ("putc", MIB),
        ("getc", MIB),
        ("write+bs8k", MIB),
        ("rewrite", 2 * MIB),
        ("randread", 2_000 * 4096),
        ("randwrite", 2_000 * 4096),
    ] {
        assert_eq!(bytes(&format!("io:1m+{work}")), moved, "{work}");
    }
    // One place in ten is written, too.
    let seeks = bytes("io:1m+seeks+seekers4") / 8192 - 8192 / 5;
    assert!((100..240).contains(&seeks), "{seeks}");
    // What is made is what is read, and what is removed is nothing.
    assert_eq!(bytes("io+create"), bytes("io+stat"));
    assert!(bytes("io+unpack") > 0 && bytes("io+rcreate") > 0);
    assert_eq!(bytes("io+delete") + bytes("io+rdelete"), 0);
    for (work, synced) in [
        ("write", true),
        ("read", false),
        ("seeks+seekers4", true),
        ("getc", false),
    ] {
        assert_eq!(
            details(&records, &format!("io:1m+{work}"))["sync_ns"].is_u64(),
            synced,
            "{work}"
        );
    }
    assert!(controller.left().is_empty(), "{:?}", controller.left());
    let shown = Command::new(assert_cmd::cargo::cargo_bin("worstcase"))
        .arg("show")
        .arg(controller.path("run"))
        .output()
        .unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("io: time of an operation (us)"), "{shown}");
    assert!(
        shown.contains("can an I/O scheduler make a difference here?"),
        "{shown}"
    );
}

/// Who reads a little has others beside, and each start reads all of its files.
#[test]
fn others_work_meanwhile_and_leave_nothing() {
    let works = "io:4m+mix,io:4m+randread+seekers2,io:4m+start,io+start+writers0";
    let measured = || {
        let controller = MeasuringController::on_disk();
        let records = controller.measured(&["--probe", works, "--samples", "20", "--quiet"]);
        (controller, records)
    };
    let beside = |records: &[Value], probe: &str, what: &str| details(records, probe)["beside"][what].as_u64();
    // On a busy machine the few samples can lie within one piece of the others' work.
    let is_seen = |records: &[Value]| {
        beside(records, "io:4m+mix", "read_bytes") > Some(0)
            && beside(records, "io:4m+start", "written_bytes") > Some(0)
    };
    let mut tries = std::iter::repeat_with(measured).take(20);
    let (controller, records) = tries.find(|(_, records)| is_seen(records)).expect("others at work");
    let beside = |probe: &str, what: &str| beside(&records, probe, what);
    assert_eq!(beside("io:4m+mix", "seeks"), Some(0));
    assert!(beside("io:4m+randread+seekers2", "seeks").is_some());
    assert_eq!(beside("io+start+writers0", "read_bytes"), None);
    for start in ["io:4m+start", "io+start+writers0"] {
        assert_eq!(details(&records, start)["bytes"], 20 * (8_900 << 10), "{start}");
    }
    let device = &details(&records, "io+start+writers0")["device"];
    let read = device["read_bytes"].as_u64().unwrap();
    assert!(read >= 20 * (8_900 << 10), "{read}");
    assert!(controller.left().is_empty(), "{:?}", controller.left());
}

/// What was read before is not there: each block comes from the device.
#[test]
fn what_is_read_comes_from_the_device() {
    let controller = MeasuringController::on_disk();
    let records = controller.measured(&["--probe", "io:16m+read/buffered/cached", "--quiet"]);
    for work in ["read", "buffered"] {
        let device = &details(&records, &format!("io:16m+{work}"))["device"];
        if device.is_null() {
            worstcase_skips::skip!("no block device tells what it did here");
        }
        assert!(device["read_bytes"].as_u64().unwrap() >= 16 << 20, "{device}");
    }
    let cached = details(&records, "io:16m+cached");
    assert!(cached["bytes"].as_u64().unwrap() > 16 << 20);
    // As long as hdparm reads, and it is no work for the device.
    assert!(
        (1_900_000_000..).contains(&cached["elapsed_ns"].as_u64().unwrap()),
        "{cached}"
    );
}

#[test]
fn what_cannot_be_is_one_line() {
    let mut cases = vec![
        (
            "io:1024g+write",
            None,
            "choose another folder with --work-dir, or a smaller file",
            4,
        ),
        (
            "io:1m+write --samples 2",
            None,
            "1 operations are the whole file, not 2",
            4,
        ),
        ("io:1m+putc+direct", None, "leave direct out", 2),
        (
            "io --captures 3",
            None,
            "no timer wakes it; it takes no --timer, --distance or --captures",
            2,
        ),
    ];
    let in_memory = fs::read_to_string("/proc/mounts").unwrap_or_default();
    if in_memory.lines().any(|line| line.starts_with("tmpfs /dev/shm ")) {
        cases.push((
            "io:1m+write",
            Some("/dev/shm"),
            "is a tmpfs, whose files stay in memory",
            4,
        ));
    } else {
        worstcase_skips::skipped("/dev/shm is no tmpfs: files there are not tried", None);
    }
    for (probe, folder, says, code) in cases {
        let controller = MeasuringController::on_disk();
        let mut arguments: Vec<&str> = ["--quiet", "--probe"].into_iter().chain(probe.split(' ')).collect();
        let mut command = match folder {
            None => controller.command(&arguments),
            Some(folder) => {
                arguments.extend(["--work-dir", folder]);
                controller.without_work_dir(&arguments)
            }
        };
        let output = command.output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(errors.contains(says), "{probe}: {errors}");
        assert_eq!(output.status.code(), Some(code), "{probe}: {errors}");
        assert!(controller.left().is_empty(), "{:?}", controller.left());
    }
}

#[test]
fn a_killed_measurement_leaves_no_file() {
    for instant in ["made", "measured"] {
        let controller = MeasuringController::on_disk();
        let mut command = controller.command(&["--probe", "io:2g+read", "--quiet"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let size = || {
            let left = controller.left().into_iter();
            left.filter_map(|path| fs::metadata(path.join("io/file")).ok())
                .map(|is| is.len())
                .max()
                .unwrap_or(0)
        };
        until("the file grows", || {
            size() > if instant == "made" { 1 << 20 } else { 512 << 20 }
        });
        child.kill().unwrap();
        child.wait().unwrap();
        until("all is removed", || controller.left().is_empty());
    }
}

/// The queue of the disk that a folder is on, if it has several schedulers and this user may choose.
fn queue(folder: &Path) -> Option<(PathBuf, Vec<String>)> {
    let place = worstcase_contract::bench::io::Place::of(folder).unwrap();
    let queue = place.device?.join("queue");
    let (_, all) = worstcase_contract::bench::io::schedulers(&fs::read_to_string(queue.join("scheduler")).ok()?);
    let may = fs::OpenOptions::new().write(true).open(queue.join("scheduler")).is_ok();
    (may && all.len() > 1).then_some((queue, all))
}

/// The scheduler, its settings, and what the kernel sets anew with another.
fn settings(queue: &Path) -> BTreeMap<PathBuf, String> {
    let own = fs::read_dir(queue.join("iosched"))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path());
    let all = own.chain(["scheduler", "nr_requests", "wbt_lat_usec"].map(|name| queue.join(name)));
    all.filter_map(|path| Some((path.clone(), fs::read_to_string(path).ok()?)))
        .collect()
}

#[test]
fn schedulers_take_turns_and_the_disk_has_its_own_again() {
    let _machine = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    let controller = MeasuringController::on_disk();
    let queue = queue(controller.folder()).ok_or("there is no disk whose scheduler can be chosen");
    let (queue, all) = worstcase_skips::or_skip!(queue);
    let before = settings(&queue);
    let records = controller.measured(&["--probe", "io:1m+write", "--io-scheduler", &all.join(","), "--quiet"]);
    assert_eq!(settings(&queue), before);
    assert_eq!(records.len(), all.len());
    for record in &records {
        let chosen = &record["subject"]["machine"]["io_scheduler"];
        assert_eq!(&record["details"]["io"]["device"]["scheduler"], chosen);
        assert!(
            record["id"].as_str().unwrap().contains(chosen.as_str().unwrap()),
            "{record}"
        );
    }
    // Killed while another one is chosen.
    let other = all
        .iter()
        .find(|name| !before[&queue.join("scheduler")].contains(&format!("[{name}]")))
        .unwrap();
    let killed = MeasuringController::on_disk();
    let mut command = killed.command(&["--probe", "io:1g+read", "--io-scheduler", other, "--quiet"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until("it is chosen", || settings(&queue) != before);
    child.kill().unwrap();
    child.wait().unwrap();
    until("the disk has its own again", || {
        settings(&queue) == before && killed.left().is_empty()
    });
}

#[test]
fn a_watch_measures_with_the_scheduler_that_is_asked_for_and_sets_it_back() {
    let _machine = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    let controller = MeasuringController::on_disk();
    let queue = queue(controller.folder()).ok_or("there is no disk whose scheduler can be chosen");
    let (queue, all) = worstcase_skips::or_skip!(queue);
    let before = settings(&queue);
    let is_another = |name: &&String| !before[&queue.join("scheduler")].contains(&format!("[{name}]"));
    let other = all.iter().find(is_another).unwrap();
    let watch = controller.path("watch");
    let mut command = Command::new(cargo_bin("worstcase"));
    command
        .args([
            "host",
            "watch",
            "--quiet",
            "--cpus",
            &one_cpu(),
            "--warmup",
            "10ms",
            "--rotate",
            "1s",
        ])
        .args(["--checkpoint", "1s", "--time", "3s", "--io-scheduler", other, "-o"])
        .arg(&watch)
        .arg("--work-dir")
        .arg(controller.folder())
        .env("WORSTCASE_STATE", controller.path("state"));
    let mut child = command.stdout(Stdio::null()).spawn().unwrap();
    let chosen = format!("[{other}]");
    until("it is chosen", || {
        settings(&queue)[&queue.join("scheduler")].contains(&chosen)
    });
    assert!(child.wait().unwrap().success());
    assert_eq!(settings(&queue), before);
    let cells = fs::read_dir(&watch).unwrap().flatten().filter_map(|segment| {
        let cell = fs::read_dir(segment.path().join("cells")).ok()?.flatten().next()?;
        fs::read(cell.path().join("record.json")).ok()
    });
    let records: Vec<Value> = cells.map(|json| serde_json::from_slice(&json).unwrap()).collect();
    assert!(!records.is_empty());
    for record in records {
        assert_eq!(record["subject"]["machine"]["io_scheduler"], other.as_str(), "{record}");
        assert!(record["origin"].to_string().contains(other.as_str()), "{record}");
    }
}

#[test]
fn a_scheduler_that_is_not_there_is_one_line() {
    let controller = MeasuringController::on_disk();
    let of = |scheduler: &str| {
        let output = controller.run(&["--probe", "io:1m+write", "--io-scheduler", scheduler, "--quiet"]);
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, said) = of("bfq{slice_idle}");
    assert!(said.contains("a setting is NAME=VALUE"), "{said}");
    assert_eq!(code, Some(2));
    let (code, said) = of("nosuch");
    assert!(
        said.contains("has no 'nosuch', but ") || said.contains("has no block device"),
        "{said}"
    );
    assert_eq!(code, Some(3), "{said}");
}
