//! Schedulers of tasks that are loaded into the lab's kernels (`--scheduler`).

use crate::controller::{GENERIC, LOADS_SCHEDULERS, folder, shared};
use crate::culprits::told_of;
use crate::failures::one_line;
use crate::smp::{measure_disturbed, samples};
use std::fs;
use worstcase_analysis::breakdown::cause::Mechanism;
use worstcase_analysis::breakdown::spans::{Since, SpanKind};
use worstcase_results::record::{Record, Run};

fn cells(words: &str) -> String {
    format!("--kernel {LOADS_SCHEDULERS} --preempt full --seeds 1 {words}")
}

fn counted(record: &Record, name: &str) -> u64 {
    let scheduler = record
        .scheduler
        .as_ref()
        .unwrap_or_else(|| panic!("{}: none", record.id));
    scheduler.counters[name]
}

/// The argument of an article of 2004 in two figures: what a choice costs when ten and when five hundred tasks can run.
#[test]
fn the_cost_of_a_choice_grows_with_the_tasks_under_o_n_alone() {
    let words = cells("--load idle --probe pick:10/500 --samples 300 --scheduler eevdf,o-n,o-1");
    let calm = shared().measure(&words);
    assert_eq!(calm.len(), 6);
    let growth = |two: &[Record]| {
        let median = |record: &Record| record.summary.latency.as_ref().unwrap().median_ns.unwrap() as f64;
        median(&two[1]) / median(&two[0])
    };
    let [eevdf, o_n, o_1] = [0, 2, 4].map(|at| growth(&calm[at..at + 2]));
    assert!(eevdf < 1.5 && o_1 < 1.5 && o_n > 4.0, "{eevdf} {o_n} {o_1}");
    assert!(calm[0].scheduler.is_none(), "the kernel's own counts nothing");
    let looked = |record: &Record| counted(record, "tasks_looked_at") / counted(record, "picks");
    let few = looked(&calm[2]);
    let many = looked(&calm[3]);
    assert!((5..=20).contains(&few) && (250..=520).contains(&many), "{few} {many}");
    assert_eq!(samples(&measure_disturbed(&words)), samples(&calm));
}

/// On two CPUs o-n's one lock is waited for, more than the locks of o-1's two queues, and the digests repeat.
#[test]
fn the_one_lock_of_o_n_is_waited_for_on_two_cpus() {
    let words = cells("--load idle --probe hackbench:4x10x10 --samples 2 --cpus 2 --scheduler o-n,o-1");
    let calm = shared().measure(&words);
    let waited = |at: usize| counted(&calm[at], "lock_wait_ns") as f64 / counted(&calm[at], "picks") as f64;
    let (o_n, o_1) = (waited(0), waited(1));
    assert!(o_1 > 0.0 && o_n > 2.0 * o_1, "{o_n} {o_1} ns a pick");
    assert_eq!(samples(&measure_disturbed(&words)), samples(&calm));
}

/// An ordinary thread is due, its timer has a slack of 50 us to the nanosecond, others have their turn before one that is nicer,
/// and the policy's choice is named with the function that looked at all of them.
#[test]
fn a_turn_that_an_ordinary_thread_waits_for_names_the_choice() {
    let folder = folder();
    let run = folder.path().join("run");
    let words = cells("--load idle,cpu:20 --probe wakeup --policy other --nice 2 --samples 60 --scheduler o-n");
    shared().run(&words, &run).assert().success();
    let opened = Run::open(&run).unwrap();
    for record in opened.records().unwrap() {
        let told = told_of(&run, &format!("--cell {}", record.id)).remove(0);
        assert_eq!(told.sample.since, Since::DueWithSlack);
        assert_eq!(told.sample.scheduler.as_deref(), Some("o_n"));
        assert_eq!(
            (&told.spans[0].what, told.spans[0].length_ns.0),
            (&SpanKind::TimerSlack, 50_000)
        );
        let (cause, is_idle) = (&told.cause, record.cell.load == "idle");
        let expected = match is_idle {
            true => (Mechanism::WakeUpPath, "PR_SET_TIMERSLACK"),
            false => (Mechanism::OtherThread, "ordinary threads take turns"),
        };
        assert_eq!(cause.mechanism, expected.0, "{}", cause.sentence);
        assert!(cause.remedy.contains(expected.1), "{}", cause.remedy);
        assert!(
            cause.sentence.contains("The longest choice by o_n took"),
            "{}",
            cause.sentence
        );
        let looks = cause.sentence.contains("us of that in look (called by choose)");
        assert_eq!(looks, !is_idle, "{}", cause.sentence);
    }
}

const POLICIES: &str = r#"
schema = "worstcase-study/4"
name = "mine"
title = "Is it late?"
question = "Is it late?"
source = "our own"

[full]
kernels = [{ kernel = "debian:6.1", preempt = ["none", "full"] }]
loads = ["procread"]
probes = ["wakeup"]
seeds = 1
samples = 100

[[full.part]]

[[full.part]]
kernels = [{ kernel = "debian:6.1", preempt = ["none"] }]
policy = "other"
"#;

/// A real-time thread waits for other things than an ordinary one.
#[test]
fn a_remedy_cites_no_thread_of_another_policy() {
    let folder = folder();
    let (study, run) = (folder.path().join("mine.toml"), folder.path().join("run"));
    fs::write(&study, POLICIES).unwrap();
    let mut command = shared().worstcase("study run");
    command.arg(&study).arg("-o").arg(&run).assert().success();
    let records = Run::open(&run).unwrap().records().unwrap();
    assert_eq!(records.len(), 3);
    let remedy_of = |part: &str| {
        let mut ids = records.iter().map(|record| record.id.to_string());
        let cell = ids.find(|id| id.contains(part)).unwrap();
        told_of(&run, &format!("--cell {cell}")).remove(0).cause.remedy
    };
    let cites = "amd64.full has a maximum of";
    let (real_time, ordinary) = (remedy_of(".none.procread"), remedy_of(".none.other"));
    assert!(real_time.contains(cites), "{real_time}");
    assert!(!ordinary.contains(cites), "{ordinary}");
}

/// A real-time thread never sleeps. From 6.12 on the fair server lets an ordinary one run before the probe, too, and the choice
/// shows that; before, real-time threads were held up, and no server is told of.
#[test]
fn the_fair_server_is_named_where_it_let_an_ordinary_thread_run_first() {
    let load = "cmd:sh -c 'while :; do :; done & exec chrt -f 50 sh -c \"while :; do :; done\"'";
    for (kernel, is_served) in [(LOADS_SCHEDULERS, true), (GENERIC, false)] {
        let folder = folder();
        let run = folder.path().join("run");
        let added = "--add /usr/bin/chrt --add /bin/sh:/bin/sh";
        let words = format!("--kernel {kernel} --preempt full --seeds 1 --time 2s {added}");
        shared().run(&words, &run).args(["--load", load]).assert().success();
        let cause = told_of(&run, "").remove(0).cause;
        assert_eq!(cause.mechanism, Mechanism::OtherThread, "{}", cause.sentence);
        let says = "an ordinary thread, ran first, in [user] sh: the kernel's fair server let it run before real-time threads, in \
                    fair_server_pick_task (called by pick_task_dl)";
        assert_eq!(cause.sentence.contains(says), is_served, "{}", cause.sentence);
        assert_eq!(
            cause.remedy.starts_with("no priority is above"),
            is_served,
            "{}",
            cause.remedy
        );
    }
}

/// Without its expired array the O(1) scheduler lets whoever has used up its time go on: a task of less right never runs,
/// and the kernel throws the scheduler out. That is an error, and no result of the scheduler that stands in for it.
#[test]
fn a_scheduler_that_starves_is_thrown_out_and_gives_no_result() {
    let broken = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../policies/bpf/tests/o-1-without-expired.bpf.o"
    );
    let words = |scheduler: &str| {
        // Half a minute of the machine's time passes before it is thrown out: few instructions at this speed.
        let probe = "--load cpu:2 --probe wakeup --policy other --nice 19 --samples 50 --mips 125";
        cells(&format!("{probe} --scheduler {scheduler}"))
    };
    assert_eq!(shared().measure(&words("o-1")).len(), 1);
    let folder = folder();
    one_line(
        shared().run(&words(broken), &folder.path().join("run")),
        4,
        &["the scheduler o_1 was thrown out", "runnable task stall"],
    );
}

/// The example of docs/schedulers.md: ten busy tasks have their turns of a tick (4 ms) each before ours; and it counts.
#[test]
fn a_policy_of_ones_own_is_measured() {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../policies/bpf/tests/example.bpf.o");
    let cell = "--load cpu:10 --probe wakeup --policy other --samples 500";
    let record = shared()
        .measure(&cells(&format!("{cell} --scheduler {example}")))
        .remove(0);
    let median = record.summary.latency.as_ref().unwrap().median_ns.unwrap();
    assert!((30_000_000..44_000_000).contains(&median), "{median}");
    assert!(counted(&record, "queued") >= 100);
    assert_eq!(record.scheduler.unwrap().name, "turns");
}

/// Each in one line, before or instead of a result.
#[test]
fn what_cannot_schedule_is_refused() {
    let (folder, controller) = (folder(), shared());
    let at = |name: &str| folder.path().join(name);
    let run = |words: &str| controller.run(words, &at("run"));
    one_line(
        run("--kernel debian:6.1 --preempt full --load idle --scheduler o-1"),
        2,
        &["--scheduler o-1: 6.1", "CFS"],
    );
    one_line(
        run(&cells("--load idle --scheduler ./none.bpf.o")),
        2,
        &["none.bpf.o: No such file"],
    );
    let text = at("mine.bpf.o");
    fs::write(&text, "int x;").unwrap();
    one_line(
        run(&cells(&format!("--load idle --scheduler {}", text.display()))),
        2,
        &["neither a compiled policy"],
    );
}
