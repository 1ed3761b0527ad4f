//! The probe `io` on the lab's disk in virtual time.

use crate::controller::{folder, shared};
use crate::failures::one_line;
use crate::smp::{cells, measure_disturbed, samples};
use std::fs;
use worstcase_contract::bench::{Details, DiskAction, IoDetails};
use worstcase_results::record::Record;

fn io(record: &Record) -> &IoDetails {
    match &record.details {
        Some(Details::Io(details)) => details,
        other => panic!("{}: {other:?}", record.id),
    }
}

/// The schedulers of one kernel are subjects of their own, and each gives the same samples again.
#[test]
fn work_with_files_repeats_to_the_bit_under_every_scheduler() {
    let words = cells("--load idle --probe io:16m+randread --samples 200 --io-scheduler none,mq-deadline,kyber,bfq");
    let calm = shared().measure(&words);
    for (record, scheduler) in calm.iter().zip(["none", "mq-deadline", "kyber", "bfq"]) {
        let id = record.id.to_string();
        assert!(id.contains(&format!(".hdd.{scheduler}.")), "{id}");
        let device = io(record).device.as_ref().unwrap();
        assert_eq!((device.scheduler.as_str(), device.rotational), (scheduler, true));
        assert_eq!((device.device_queue, device.most > 0), (Some(32), true));
    }
    assert_eq!(samples(&measure_disturbed(&words)), samples(&calm));
}

/// What the disk says it did is what was asked of it.
#[test]
fn the_disk_tells_what_it_did() {
    let words = cells("--load idle --probe io:16m+write/read/randread+direct --samples 16");
    let records = shared().measure(&words);
    let done: Vec<_> = records.iter().map(|record| (record, io(record))).collect();
    for (record, io) in &done {
        let disk = io.disk.as_ref().unwrap();
        assert_eq!(disk.profile, "Seagate ST3000DM001");
        assert!(disk.first > 0 && disk.first <= disk.requests.len() as u64);
        // Of one that came before the first operation a part is not told.
        for request in disk.requests.iter().filter(|request| request.arrived.0 > 0) {
            let (from, to) = (request.began, request.ended);
            assert!(request.arrived <= from && from < to, "{}: {request:?}", record.id);
            assert!(
                request.seek + request.rotation <= to - from,
                "{}: {request:?}",
                record.id
            );
        }
        assert_eq!(
            io.bytes,
            record.accounting.taken()
                * if record.id.as_str().contains("randread") {
                    4_096
                } else {
                    1 << 20
                }
        );
    }
    let bytes = |nth: usize, action: DiskAction| -> u64 {
        let requests = &done[nth].1.disk.as_ref().unwrap().requests;
        let of_action = requests.iter().filter(|request| request.action == action);
        of_action.map(|request| u64::from(request.sectors) * 512).sum()
    };
    assert!(bytes(0, DiskAction::Write) >= 16 << 20 && done[0].1.disk.as_ref().unwrap().flushes > 0);
    assert!(bytes(1, DiskAction::Read) >= 16 << 20);
    assert_eq!(bytes(2, DiskAction::Read), 16 * 4_096);
}

/// A small reader beside a reader and a writer: the same to the bit, and its longest operation adds up.
#[test]
fn the_longest_operation_is_told_in_parts_that_add_up() {
    let folder = folder();
    let run = folder.path().join("run");
    let words = cells("--load idle --probe io:16m+mix,io:16m+randread+direct --samples 30 --io-scheduler bfq");
    shared().run(&words, &run).assert().success();
    let explain = |more: &str| {
        let words = format!("explain {} --json {more}", run.display());
        let output = shared().worstcase(&words).output().unwrap();
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()["operations"].clone()
    };
    let all = explain("--all");
    let ns = |value: &serde_json::Value| value.as_u64().unwrap();
    for (operation, record) in all.as_array().unwrap().iter().zip(shared().measure(&words)) {
        let took = ns(&operation["took_ns"]);
        assert_eq!(took, record.summary.latency.as_ref().unwrap().max_ns);
        assert_eq!(operation["cell"], record.id.as_str());
        let parts = operation["parts"].as_array().unwrap();
        assert_eq!(parts.iter().map(|part| ns(&part["ns"])).sum::<u64>(), took);
        let own = |request: &&serde_json::Value| request["is_own"] == true;
        let own: Vec<_> = operation["requests"].as_array().unwrap().iter().filter(own).collect();
        assert_eq!(own.len(), 1, "{operation}");
        assert_eq!(
            (&own[0]["of_disk"]["action"], &own[0]["of_disk"]["sectors"]),
            (&"read".into(), &8.into())
        );
    }
    assert_eq!(all.as_array().unwrap().len(), 2);
    assert_eq!(
        explain(""),
        serde_json::json!([all[0]]),
        "who has others beside waits longer"
    );
    let output = shared()
        .worstcase(&format!("explain {} --sample p99", run.display()))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("the longest operation is told"));
}

#[test]
fn a_disk_or_scheduler_that_cannot_be_is_one_line() {
    let folder = folder();
    let read = "--load idle --probe io:16m+read";
    let refused = |words: &str, code: i32, says: &[&str]| {
        let run = tempfile::tempdir_in(folder.path()).unwrap();
        one_line(shared().run(&cells(&format!("{read} {words}")), run.path()), code, says);
    };
    refused("--io-scheduler cfq", 2, &["has no 'cfq'", "it has none, mq-deadline"]);
    refused(
        "--io-scheduler bfq{slice_idel=0}",
        4,
        &["bfq has no setting 'slice_idel'", "slice_idle"],
    );
    refused("--disk /no/such.toml", 2, &["/no/such.toml", "No such file"]);
    let wrong = folder.path().join("wrong.toml");
    fs::write(&wrong, "name = \"x\"\nrpm = 1\n").unwrap();
    refused(
        &format!("--disk {}", wrong.display()),
        2,
        &["wrong.toml: line 2", "rpm"],
    );
    let wakeup = shared().run(
        &cells("--load idle --samples 10 --io-scheduler bfq"),
        &folder.path().join("run"),
    );
    one_line(wakeup, 2, &["bfq schedules for a disk, and wakeup needs none"]);
}
