//! `worstcase host run` with the probes that have parameters.

use crate::run::{MeasuringController, processes_below, until};
use serde_json::Value;
use std::process::Stdio;

fn record_of<'a>(records: &'a [Value], probe: &str) -> &'a Value {
    let found = records.iter().find(|r| r["cell"]["probe"] == probe);
    found.unwrap_or_else(|| panic!("no record of {probe}"))
}

#[test]
fn rings_and_messages_become_records() {
    let controller = MeasuringController::new();
    let probe = "switch:2/4x0/4k,hackbench:1x3x10x100+sockets/pipes";
    let records = controller.measured(&["--probe", probe, "--samples", "3", "--quiet"]);
    assert_eq!(records.len(), 6);
    let ring = record_of(&records, "switch:4x4k");
    let switch = &ring["details"]["switch"];
    assert_eq!(switch["repetitions"].as_array().unwrap().len(), 3);
    assert!(switch["hops"].as_u64().unwrap() > 0);
    assert_eq!(ring["cell"]["method"]["cpus"].as_array().unwrap().len(), 1);
    assert_eq!(ring["cell"]["priority"], 0);
    let pipes = &record_of(&records, "hackbench:1x3x10x100+pipes")["details"]["hackbench"];
    assert_eq!((&pipes["processes"], &pipes["messages"]), (&6.into(), &90.into()));
    assert!(controller.left().is_empty(), "{:?}", controller.left());
}

/// What is more than a hundredth off the median, and nothing else; what was measured first stays.
#[test]
fn what_is_off_is_measured_again() {
    let controller = MeasuringController::new();
    let records = controller.measured(&["--probe", "switch:2x0+again1", "--samples", "8", "--quiet"]);
    let switch = &record_of(&records, "switch:2x0+again1")["details"]["switch"];
    let (first, again) = (
        switch["repetitions"].as_array().unwrap(),
        switch["again"].as_array().unwrap(),
    );
    assert_eq!(first.len(), 8);
    let mut totals: Vec<u64> = first.iter().map(|r| r["total_ns"].as_u64().unwrap()).collect();
    let by_place = totals.clone();
    totals.sort_unstable();
    let is_off = |total: u64| total.abs_diff(totals[3]) > totals[3] / 100;
    let expected: Vec<u64> = (0..8).filter(|at| is_off(by_place[*at as usize])).collect();
    let places: Vec<u64> = again.iter().map(|a| a["index"].as_u64().unwrap()).collect();
    assert_eq!(places, expected);
    for one in again {
        assert!((1..=3).contains(&one["tries"].as_u64().unwrap()), "{one}");
        let total = one["repetition"]["total_ns"].as_u64().unwrap();
        assert_eq!(one["still_off"].as_bool().unwrap(), is_off(total), "{one}");
    }
    assert!(controller.left().is_empty(), "{:?}", controller.left());
}

#[test]
fn processes_become_records() {
    let controller = MeasuringController::new();
    let records = controller.measured(&["--probe", "spawn", "--samples", "5", "--quiet"]);
    for (step, program) in [
        ("fork", Value::Null),
        ("exec", "/bin/true".into()),
        ("sh", "/bin/sh".into()),
    ] {
        let record = record_of(&records, &format!("spawn+{step}"));
        assert_eq!(record["details"]["spawn"]["program"], program);
        assert_eq!(record["accounting"]["taken"], 5);
    }
    assert!(controller.left().is_empty(), "{:?}", controller.left());
}

#[test]
fn inversion_is_judged_on_its_own() {
    worstcase_skips::needs_root!();
    let controller = MeasuringController::new();
    let output = controller.run(&["--probe", "inversion:1/2+inherit/none", "--samples", "20", "--quiet"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let records = controller.records();
    for (probe, inverted) in [("inversion:2+inherit", 0), ("inversion:2+none", 20)] {
        let record = record_of(&records, probe);
        let taken = record["accounting"]["taken"].as_u64().unwrap();
        let expected = if inverted == 0 { 0 } else { taken };
        assert_eq!(record["details"]["inversion"]["inverted"], expected, "{probe}");
    }
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("Verdict: is every latency within 100 us"), "{text}");
}

/// Cells of both probes, where there are two CPUs.
#[test]
fn wake_ups_and_unmappings_between_cpus_become_records() {
    worstcase_skips::needs_root!();
    if std::thread::available_parallelism().unwrap().get() < 2 {
        worstcase_skips::skip!("there is no second CPU");
    }
    let controller = MeasuringController::new();
    let probe = "remote,shootdown:0/1+pages32";
    let records = controller.measured(&["--probe", probe, "--samples", "50", "--quiet"]);
    assert_eq!(records.len(), 5);
    for via in ["futex", "pipe", "eventfd"] {
        let record = record_of(&records, &format!("remote+{via}"));
        assert!(record["details"]["remote"]["send"]["min_ns"].as_u64().unwrap() > 0);
        assert_eq!(record["cell"]["method"]["cpus"].as_array().unwrap().len(), 2);
        assert_eq!(record["cell"]["period_ns"], 1_000_000);
    }
    for threads in [0, 1] {
        let record = record_of(&records, &format!("shootdown:{threads}+pages32"));
        let details = &record["details"]["shootdown"];
        assert_eq!((&details["threads"], &details["pages"]), (&threads.into(), &32.into()));
        assert_eq!(record["cell"]["method"]["cpus"].as_array().unwrap().len(), threads + 1);
    }
    assert!(controller.left().is_empty(), "{:?}", controller.left());
}

#[test]
fn what_cannot_be_is_refused_in_one_line() {
    for (arguments, code, says) in [
        (&["--probe", "switch:1x0"][..], 2, "processes: 2 to 4096"),
        (&["--probe", "switch:2x0", "--timer", "posix"], 2, "no timer wakes it"),
        (
            &["--probe", "hackbench", "--interval", "1ms"],
            2,
            "switch and hackbench have none",
        ),
        (
            &["--probe", "switch:2x0", "--time", "1s"],
            2,
            "switch and hackbench take a number of samples",
        ),
        (
            &["--probe", "remote+pipe", "--cpus", "0"],
            4,
            "remote+pipe wakes a thread on another CPU, and there is one CPU only: give it two (lab: --cpus 2; host: --cpus 0,1)",
        ),
        (
            &["--probe", "shootdown:1", "--cpus", "0"],
            4,
            "shootdown:1 needs 2 CPUs, one to measure on and one for each thread, and has 1: give it as many",
        ),
        (&["--probe", "irq+gpio"], 2, "which lines of this machine?"),
        (
            &["--probe", "irq:9999x0x1+gpio"],
            4,
            "cannot use the GPIO lines: /dev/gpiochip9999: ",
        ),
        (
            &["--probe", "irq:9999+serial"],
            4,
            "cannot use the serial port: /dev/ttyS9999: ",
        ),
        (
            &["--probe", "irq", "--cpus", "0"],
            3,
            "/proc/sys/dev/parport/parport0/irq: ",
        ),
        (&["--probe", "remote:2"], 2, "no numbers: remote, or e.g. remote+futex"),
        (&["--probe", "remote", "--timer", "posix"], 2, "no timer wakes it"),
        (&["--probe", "hackbench:1+cpus60000"], 3, "no 60000 of them"),
        (&["--probe", "switch:4000x64m"], 4, "switch:4000x64m needs"),
    ] {
        let output = MeasuringController::new().run(arguments);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {error}");
        let said = error
            .lines()
            .find(|line| line.contains("error: ") || line.starts_with("worstcase: "));
        assert!(said.unwrap_or_default().contains(says), "{arguments:?}: {error}");
    }
}

#[test]
fn a_killed_measurement_leaves_no_process() {
    let controller = MeasuringController::new();
    let mut command = controller.command(&["--probe", "hackbench:4x25x100000x100", "--quiet"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let folder = controller.path("state");
    until("senders run", || processes_below(&folder).len() > 20);
    child.kill().unwrap();
    child.wait().unwrap();
    until("all of them ended", || processes_below(&folder).is_empty());
    assert!(controller.left().is_empty(), "{:?}", controller.left());
}
