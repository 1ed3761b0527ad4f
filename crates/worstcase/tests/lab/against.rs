//! A sample of a real machine against the lab: the recording is made by hand, the lab's paths are real.

use crate::controller::{GENERIC, folder, shared};
#[allow(dead_code, reason = "shared: not every test needs all of it")]
#[path = "../results/fixture.rs"]
mod fixture;

use fixture::{host, plan_of, raw, refitted, spec};
use serde_json::{Value, json};
use std::path::Path;
use worstcase_results::record::{CellResult, Run};

/// Due at this instant.
const DUE: u64 = 1_000_000;

/// The timer's interrupt came 3.3 ms late, into the load; then all went as it should.
fn recording() -> Value {
    let thread = |tid: u32, comm: &str, priority: i32| json!({ "tid": tid, "priority": priority, "comm": comm });
    let (load, probe) = (thread(9, "load-procread", 120), thread(7, "probe/0", 9));
    let switch =
        |from: &Value, asleep: bool, to: &Value| json!({ "Switch": { "from": from, "asleep": asleep, "to": to } });
    let event = |at: u64, tid: u32, what: Value| json!({ "at": at, "cpu": 0, "tid": tid, "what": what, "chain": [] });
    json!([{
        "index": 1,
        "ask": { "cpu": 0, "tid": 7, "due": DUE, "now": DUE + 3_360_000 },
        "parts": { "irq_latency": 3_333_000, "handler": 2_000, "scheduling": 20_000, "return_to_user": 5_000, "unexplained": 0 },
        "events": [
            event(DUE - 500_000, 7, switch(&probe, true, &load)),
            event(DUE + 3_333_000, 9, json!({ "Enter": "Timer" })),
            event(DUE + 3_335_000, 9, json!({ "Waking": { "tid": 7 } })),
            event(DUE + 3_336_000, 9, json!({ "Exit": "Timer" })),
            event(DUE + 3_355_000, 9, switch(&load, false, &probe)),
        ],
    }])
}

/// A run of this machine, of the series of the lab's kernel and not of the running one.
fn measured(path: &Path) {
    let mut here = host("6.1.200-here");
    here.preempt.in_force = "none".into();
    let mut told = raw(&spec("procread", 1), &[50_000, 3_360_000, 60_000]);
    told.environment.insert("steal_ns".into(), "10000000".into());
    let cell = refitted(&CellResult::new(here, &told, &[], None).unwrap());
    let run = Run::create(path, plan_of(std::slice::from_ref(&cell))).unwrap();
    let mut group = run.group().unwrap();
    let recording = serde_json::to_vec(&recording()).unwrap();
    group.replace(&cell, &[("captures.json", &recording)]).unwrap();
    group.publish().unwrap();
}

#[test]
fn a_stop_of_the_cpu_is_no_section_of_the_lab() {
    let controller = shared();
    let folder = folder();
    let (lab, here) = (folder.path().join("lab"), folder.path().join("here"));
    let words = format!("--kernel {GENERIC} --preempt none --load procread --samples 300 --seed 1");
    controller.run(&words, &lab).assert().success();
    measured(&here);
    let told = |words: &[&str]| {
        let mut command = controller.worstcase("explain");
        command.arg(&here).arg("--against").arg(&lab).args(words);
        String::from_utf8(command.assert().success().get_output().stdout.clone()).unwrap()
    };
    let text = told(&["--json"]);
    let one: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&one["schema"], &one["breakdown"]["schema"]),
        (&"worstcase-against/1".into(), &"worstcase-breakdown/2".into())
    );
    assert_eq!(
        one["machine"],
        json!({ "steal_ns": 10_000_000, "ordinary_ns": 60_000, "cpus": 4 })
    );
    assert_eq!(
        (&one["lab"]["cpus"], &one["ns_per_instruction"]),
        (&1.into(), &2.2.into())
    );
    assert_eq!(one["lab"]["cells"].as_array().unwrap().len(), 1);
    let spans = one["breakdown"]["spans"].as_array().unwrap().len();
    let judgements = one["judgements"].as_array().unwrap();
    assert_eq!((spans, &one["cause"]), (judgements.len(), &0.into()));
    let late = &judgements[0];
    assert_eq!(late["answer"], "longer", "{late}");
    let (instructions, allows) = (&late["longest"]["instructions"], &late["allows_ns"]);
    let (instructions, allows) = (instructions.as_u64().unwrap(), allows.as_u64().unwrap());
    assert!((1_000..50_000).contains(&instructions), "{instructions}");
    assert_eq!(allows, instructions * 22 / 10 + 60_000, "with the cell's median");
    // The rest is an ordinary way.
    assert!(
        judgements[1..].iter().all(|judged| judged["answer"] != "longer"),
        "{text}"
    );
    assert_eq!(told(&["--json"]), text, "it repeats");

    let words = told(&[]);
    for says in [
        "longer here than the lab's longest such section with interrupts off allows",
        "not this path, the CPU was stopped or slowed; steal of this record: 10000 us",
        "1 CPU (4 here)",
    ] {
        assert!(
            words.split_whitespace().collect::<Vec<_>>().join(" ").contains(says),
            "{says}: {words}"
        );
    }
    let several = told(&["--all"]);
    assert!(
        several.starts_with("1 sample against the lab, by what is blamed: 1 longer than it allows"),
        "{several}"
    );

    let page = folder.path().join("page.html");
    let mut report = controller.worstcase("report");
    report.arg(&here).arg("--against").arg(&lab).arg("-o").arg(&page);
    report.assert().success();
    assert!(
        std::fs::read_to_string(page)
            .unwrap()
            .contains("against the lab: longer here than")
    );
}
