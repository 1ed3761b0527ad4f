//! Machines of several CPUs: they repeat to the bit whatever the host does to QEMU, and everybody is where he was asked to be.

use crate::controller::{Controller, GENERIC, folder, script, shared};
use crate::culprits::{BreakdownAsJson, told_of};
use crate::failures::one_line;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;
use worstcase_probe::bench::Details;
use worstcase_results::record::{Quantity, Record, Run};

/// A CPU of its own for the probe.
const ISOLATED: &str = "isolcpus=managed_irq,domain,1 nohz_full=1 rcu_nocbs=1";

fn cells(words: &str) -> String {
    format!("--kernel {GENERIC} --preempt full --seeds 1 {words}")
}

fn plain() -> String {
    cells("--load fork --samples 100 --cpus 1,2,4")
}

/// Number of CPUs and digest of the samples of each cell.
fn samples(records: &[Record]) -> Vec<(String, String)> {
    let of = |r: &Record| (r.subject.id().to_string(), r.digest.clone());
    records.iter().map(of).collect()
}

/// The QEMUs that have this folder on their command line.
fn machines(folder: &Path) -> Vec<u32> {
    let has = |id: &u32| {
        let line = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).into_owned();
        line.starts_with("qemu-system") && line.contains(folder.to_str().unwrap())
    };
    let ids = fs::read_dir("/proc").unwrap().flatten();
    let ids = ids.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter(has).collect()
}

fn signal(id: u32, signal: i32) {
    // SAFETY: of a QEMU that a test has started. One that has ended meanwhile is no more, and its number is not given away
    // so soon.
    unsafe { libc::kill(id as i32, signal) };
}

/// Stops a command's QEMUs and lets them go on, at moments that nobody chose, until the command ends.
fn disturb(mut command: Child, folder: &Path) {
    let mut random = std::process::id();
    let mut wait = |most: u32| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        sleep(Duration::from_millis(u64::from((random >> 16) % most)));
    };
    let mut stopped = 0;
    let status = loop {
        if let Some(status) = command.try_wait().unwrap() {
            break status;
        }
        let machines = machines(folder);
        machines.iter().for_each(|id| signal(*id, libc::SIGSTOP));
        stopped += machines.len();
        wait(20);
        machines.iter().for_each(|id| signal(*id, libc::SIGCONT));
        wait(40);
    };
    assert!(status.success(), "{status}");
    assert!(stopped > 10, "stopped {stopped} times only");
}

#[test]
fn cpus_repeat_to_the_bit_however_the_host_interferes() {
    let calm = shared().measure(&plain());
    assert_eq!(calm.len(), 3);
    let digests: BTreeSet<_> = calm.iter().map(|r| &r.digest).collect();
    assert_eq!(digests.len(), 3, "another number of CPUs is another machine");

    // QEMU's threads are kicked and stopped.
    let (controller, folder) = (Controller::fresh(), folder());
    let (run, qemu) = (folder.path().join("run"), folder.path().join("qemu"));
    let kicked = "for word do shift; case \"$word\" in *plugin.so,*) word=\"$word,kicks=7\";; esac; \
                  set -- \"$@\" \"$word\"; done\nexec qemu-system-x86_64 \"$@\"";
    script(&qemu, kicked);
    let command = Command::new(assert_cmd::cargo::cargo_bin("worstcase"))
        .args(["lab", "run", "--jobs", "2", "--qemu"])
        .arg(&qemu)
        .arg("--output")
        .arg(&run)
        .args(plain().split(' '))
        .env("WORSTCASE_CACHE", controller.cache())
        .stdout(Stdio::null())
        .spawn();
    disturb(command.unwrap(), controller.cache());
    let disturbed = Run::open(&run).unwrap().records().unwrap();
    assert_eq!(samples(&disturbed), samples(&calm));
}

/// Booted anew, the second one among busy CPUs, it is the same machine; so it is as `run` has measured it.
#[test]
fn two_cpus_boot_the_same_machine_again() {
    let cell = cells("--load fork --samples 100 --cpus 2");
    let calm = shared().measure(&cell);
    let verify = shared()
        .worstcase("lab verify --runs 2 --fresh-boots")
        .args(cell.replace("--seeds", "--seed").split(' '))
        .assert();
    let out = String::from_utf8(verify.success().get_output().stdout.clone()).unwrap();
    let same = format!("2 runs, one digest: {}\n", calm[0].digest);
    assert!(out.ends_with(&same), "{out} is not {same}");
}

/// The names of all threads that ran from a due time to its sample.
fn tasks(breakdowns: &[BreakdownAsJson]) -> BTreeSet<&str> {
    let spans = breakdowns.iter().flat_map(|b| &b.spans);
    spans.map(|span| span.task.comm.as_str()).collect()
}

fn adds_up(breakdown: &BreakdownAsJson) {
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
    let breakdowns = told_of(&run, "--all -k 10");
    breakdowns.iter().for_each(adds_up);
    let spans = breakdowns.iter().flat_map(|b| &b.spans);
    let senders: Vec<_> = spans.filter_map(|span| span.sender.as_ref()).collect();
    assert!(!senders.is_empty());
    for sender in senders {
        assert_eq!((sender.cpu, sender.task.comm.as_str()), (0, "sh"));
        assert_eq!(sender.system_call.as_deref(), Some("write"));
        assert_eq!(sender.by(), Some("text_poke_bp_batch"), "{:?}", sender.chain);
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
    let words = cells("--load hotplug@20 --samples 1000 --cpus 3 --load-cpus 0-1");
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

#[test]
fn an_isolated_cpu_is_the_probe_s_and_its_timers_may_be_another_s() {
    let folder = folder();
    let run = folder.path().join("run");
    let mut measure = shared().run(&cells("--load fork --samples 200 --cpus 2"), &run);
    measure.args(["--append", ISOLATED]).assert().success();
    let opened = Run::open(&run).unwrap();
    let record = opened.records().unwrap().remove(0);
    let said = |key: &str| record.environment[key].as_str();
    assert_eq!((said("load_cpus"), said("probe_cpu")), ("0", "1"));
    assert_eq!(record.warnings, [""; 0]);

    // CPU 0 waits for some timers of a CPU that is to have no tick.
    let mut rows = Vec::new();
    opened.for_each_sample(&record, |row| rows.push(row)).unwrap();
    let elsewhere: Vec<_> = rows.iter().filter(|row| row.irq_latency.is_none()).collect();
    assert!(!elsewhere.is_empty() && elsewhere.len() < 100, "{}", elsewhere.len());
    assert_eq!(said("timers_elsewhere"), format!("{} of 200", elsewhere.len()));
    assert!(record.summary(Quantity::IrqLatency).is_none());
    assert!(record.summary(Quantity::Latency).is_some());
    let show = shared().worstcase("show --json").arg(&run).assert();
    show.success();

    let place = rows.iter().position(|row| row.irq_latency.is_none()).unwrap();
    let mut explain = shared().worstcase(&format!("explain --sample {}", rows[place].index));
    explain.arg(&run);
    one_line(explain, 2, &["was another CPU's", "--sample"]);
    told_of(&run, "--all -k 2").iter().for_each(adds_up);
}

#[test]
fn every_probe_works_on_two_cpus() {
    let probes = "response,noise,switch:2x0,hackbench:1x5x20x100";
    let records = shared().measure(&cells(&format!("--load idle --samples 3 --cpus 2 --probe {probes}")));
    let [response, noise, switch, hackbench] = &records[..] else {
        panic!("{} records", records.len())
    };
    assert_eq!(response.summary(Quantity::IrqLatency).unwrap().count, 3);
    let gaps = noise.accounting.gaps().unwrap();
    assert!(
        (6..=9).contains(&gaps.gaps) && gaps.observed_ns >= 30_000_000,
        "{gaps:?}"
    );
    assert_eq!(noise.cell.priority, 0);
    let Some(Details::Switch(details)) = &switch.details else {
        panic!("{:?}", switch.details)
    };
    let last = details.repetitions.last().unwrap();
    assert!(last.voluntary >= details.hops * 9 / 10, "all on one CPU: {last:?}");
    let Some(Details::Hackbench(details)) = &hackbench.details else {
        panic!("{:?}", hackbench.details)
    };
    assert_eq!((details.processes, details.runs.len()), (10, 3));
    for record in &records {
        assert_eq!(record.environment["probe_cpu"], "1");
        assert_eq!(record.environment["load_cpus"], "0,1");
    }
    // Spread over both: more CPU time passes than time.
    let run = details.runs.last().unwrap();
    assert!(run.cpu.0 > run.total.0, "{run:?}");
}

#[test]
fn a_kernel_that_uses_fewer_cpus_is_refused() {
    let folder = folder();
    let mut measure = shared().run(&cells("--load idle --samples 10 --cpus 2"), &folder.path().join("run"));
    measure.args(["--append", "maxcpus=1"]);
    one_line(measure, 2, &["the kernel uses 1 of 2 CPUs; ask for fewer (--cpus)"]);
}
