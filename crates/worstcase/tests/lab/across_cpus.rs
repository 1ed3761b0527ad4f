//! What `explain` tells of other CPUs: who sent an interrupt, what a wait was for, and wake-ups that begin there.

use crate::controller::{GENERIC, folder, shared};
use crate::culprits::{BreakdownAsJson, told_of};
use crate::failures::one_line;
use crate::smp::{ISOLATED, cells};
use std::collections::BTreeSet;
use std::path::Path;
use worstcase_analysis::breakdown::spans::{Since, SpanKind};
use worstcase_results::record::Run;

/// The names of all threads that ran from a due time to its sample.
fn tasks(breakdowns: &[BreakdownAsJson]) -> BTreeSet<&str> {
    let spans = breakdowns.iter().flat_map(|b| &b.spans);
    spans.map(|span| span.task.comm.as_str()).collect()
}

pub fn adds_up(breakdown: &BreakdownAsJson) {
    let sum: u64 = breakdown.spans.iter().map(|span| span.length_ns.0).sum();
    assert_eq!(sum, breakdown.sample.latency_ns.0);
}

#[test]
fn explain_follows_the_cpu_of_the_probe() {
    let folder = folder();
    let told = |words: &str, name: &str| {
        let run = folder.path().join(name);
        shared().run(&cells(words), &run).assert().success();
        told_of(&run, "--all -k 5")
    };
    let beside = told("--load fork --samples 100 --cpus 2", "beside");
    let apart = told("--load fork --samples 100 --cpus 2 --load-cpus 0", "apart");
    assert_eq!((beside.len(), apart.len()), (5, 5));
    beside.iter().chain(&apart).for_each(adds_up);
    let loaded = |breakdowns: &[BreakdownAsJson]| tasks(breakdowns).iter().any(|name| name.starts_with("load-fork"));
    assert!(loaded(&beside), "{:?}", tasks(&beside));
    assert!(!loaded(&apart), "{:?}", tasks(&apart));
    assert!(tasks(&apart).contains("probe"), "{:?}", tasks(&apart));
    assert!(!tasks(&apart).contains("swapper/0"), "{:?}", tasks(&apart));
}

/// A program on CPU 0 lets the kernel rewrite code that every CPU runs, which it tells them by interrupts.
#[test]
fn the_sender_of_another_cpus_interrupt_is_named() {
    let folder = folder();
    let run = folder.path().join("run");
    let switch = |on: u32| format!("echo {on} >/proc/sys/kernel/sched_schedstats");
    let load = format!("cmd:sh -c 'while :; do {}; {}; done'", switch(1), switch(0));
    let words = cells("--add /bin/sh:/bin/sh --samples 100 --cpus 2 --load-cpus 0");
    let mut measure = shared().run(&words, &run);
    measure.args(["--load", &load]).assert().success();
    // Which of the samples meet the interrupt depends on every byte of the guest.
    let breakdowns = told_of(&run, "--all -k 20");
    breakdowns.iter().for_each(adds_up);
    let spans = breakdowns.iter().flat_map(|b| &b.spans);
    let senders: Vec<_> = spans.filter_map(|span| span.sender.as_ref()).collect();
    assert!(senders.iter().all(|sender| sender.cpu == 0));
    // Others wake a thread of the kernel's on the probe's CPU.
    let rewriting = senders
        .iter()
        .filter(|sender| sender.by() == Some("text_poke_bp_batch"));
    let rewriting: Vec<_> = rewriting.collect();
    assert!(!rewriting.is_empty(), "{senders:?}");
    for sender in rewriting {
        assert_eq!(sender.task.comm.as_str(), "sh");
        assert_eq!(sender.system_call.as_deref(), Some("write"));
    }
}

/// The cells of a run of noise, as `explain` tells them.
fn entered(run: &Path) -> Vec<serde_json::Value> {
    let mut explain = shared().worstcase("explain --json");
    let done = explain.arg(run).assert().success();
    let said: serde_json::Value = serde_json::from_slice(&done.get_output().stdout).unwrap();
    assert_eq!(said["schema"], "worstcase-entered/1");
    said["cells"].as_array().unwrap().clone()
}

/// What enters a CPU is told to the last instruction: by the tick, and by another CPU that rewrites the kernel's code.
#[test]
fn what_enters_a_cpu_is_told_with_who_sent_it() {
    let folder = folder();
    let run = folder.path().join("run");
    let words = cells("--probe noise --load statickeys@1000+munmap:own@1000 --time 50ms --cpus 2 --load-cpus 0");
    let mut measure = shared().run(&words, &run);
    measure.args(["--append", "", "--append", ISOLATED]).assert().success();
    let opened = Run::open(&run).unwrap();
    let cells = entered(&run);
    assert_eq!(cells.len(), 2);
    for (cell, record) in cells.iter().zip(opened.records().unwrap()) {
        let gaps = record.accounting.gaps().unwrap();
        let rows = cell["rows"].as_array().unwrap();
        let row = |name: &str| rows.iter().find(|row| row["name"] == name);
        let told: u64 = rows.iter().map(|row| row["instructions"].as_u64().unwrap()).sum();
        // The rest of a gap is the thread's own turn of its loop.
        let own = gaps.gaps * 2 * record.self_cost.unwrap().empty_sample_ns;
        assert!(
            told <= gaps.noise_ns && gaps.noise_ns <= told + own,
            "{told}, {own}: {gaps:?}"
        );
        for (function, sender, times) in [
            ("do_sync_core", "text_poke_bp_batch, load-statickeys in write(2)", 150),
            ("flush_tlb_func", "flush_tlb_mm_range, load-munmap in munmap(2)", 50),
        ] {
            let call = row(&format!("call from another CPU: {function}")).unwrap();
            assert_eq!(call["sent_by"], sender, "{call}");
            assert!(call["times"].as_u64().unwrap().abs_diff(times) <= 6, "{call}");
        }
        let isolated = !cell["append"].as_str().unwrap().is_empty();
        assert_eq!(row("timer interrupt: tick_sched_timer").is_none(), isolated, "{rows:?}");
    }
    let refused = ["--sample", "p99"];
    let says = ["all gaps are told at once"];
    let mut explain = shared().worstcase("explain");
    explain.arg(&run).args(refused);
    one_line(explain, 2, &says);
}

/// A CPU that goes away stops all others, and waits a millisecond meanwhile.
#[test]
fn what_another_cpu_did_while_this_one_waited_for_it_is_told() {
    let folder = folder();
    let run = folder.path().join("run");
    // The latest sample of several seeds is so near the beginning of the stop that the log has the call chains.
    let words = format!(
        "--kernel {GENERIC} --preempt full --seeds 3 --load hotplug@20 --samples 1000 --cpus 3 --load-cpus 0-1"
    );
    shared().run(&words, &run).assert().success();
    let told = told_of(&run, "").remove(0);
    adds_up(&told);
    let longest = told.spans.iter().max_by_key(|span| span.length_ns).unwrap();
    let cpus: Vec<u32> = longest.waited_for.iter().map(|other| other.cpu).collect();
    assert_eq!(cpus, [0, 1]);
    let leaving = &longest.waited_for[1];
    let is_there = |name: &str| leaving.chain.iter().any(|frame| frame.function == name);
    assert!(is_there("take_cpu_down") && is_there("fixup_irqs"), "{leaving:?}");
    let most = leaving.most.as_ref().unwrap();
    assert_eq!(most.function, "delay_tsc");
    // From when the sample was due until the stop is over.
    let (waited, whole) = (most.total_ns.0, longest.length_ns.0);
    assert!(waited <= whole && waited > whole * 9 / 10, "{waited} of {whole}");
    let sentence = &told.cause.sentence;
    assert!(sentence.contains("; meanwhile CPU 1, migration/1 ("), "{sentence}");
}

/// The parts of a wake-up from another CPU add up to what the probe measured, and so do those of an unmapping.
#[test]
fn a_remote_wake_up_and_a_shootdown_are_explained_in_parts() {
    let folder = folder();
    let run = folder.path().join("run");
    let words = "--load idle --samples 50 --cpus 2 --probe remote+futex,shootdown:1";
    shared().run(&cells(words), &run).assert().success();
    let told = told_of(&run, "--all -k 50");
    told.iter().for_each(adds_up);
    let (woken, called): (Vec<_>, Vec<_>) = told.iter().partition(|b| b.sample.since == Since::Woken);
    assert_eq!((woken.len(), called.len()), (50, 50));
    let parts = |b: &BreakdownAsJson| b.spans.iter().map(|s| s.what.name().title).collect::<Vec<_>>();
    let path = [
        "send",
        "waking interrupt",
        "leave idle",
        "schedule",
        "switch",
        "return to user",
        "probe's code",
    ];
    for b in &woken {
        let told = parts(b);
        assert!(path.iter().all(|part| told.contains(part)), "{told:?}");
        assert_eq!(
            (b.spans[0].cpu, b.spans[0].system_call.as_deref()),
            (Some(0), Some("futex"))
        );
        let own: u64 = b.spans.iter().filter(|s| s.cpu.is_none()).map(|s| s.length_ns.0).sum();
        assert!(
            b.spans[0].length_ns.0 + own >= b.sample.latency_ns.0 - 1_000,
            "more than the quantum is on the way"
        );
        assert!(!told.contains(&"unexplained"), "{told:?}");
    }
    for b in &called {
        let told = parts(b);
        assert!(
            told.contains(&"system call") && told.contains(&"calls other CPUs"),
            "{told:?}"
        );
        let calls = b.spans.iter().find(|s| s.what == SpanKind::CallsCpus).unwrap();
        assert!(
            calls.chain.iter().any(|frame| frame.function == "flush_tlb_mm_range"),
            "{:?}",
            calls.chain
        );
    }
}
