//! Machines of several CPUs: they repeat to the bit whatever the host does to QEMU, and everybody is where he was asked to be.

use crate::across_cpus::adds_up;
use crate::controller::{Controller, GENERIC, folder, script, shared};
use crate::culprits::told_of;
use crate::failures::one_line;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;
use worstcase_analysis::breakdown::spans::Since;
use worstcase_contract::bench::Details;
use worstcase_results::record::{Quantity, Record, Run};

/// A CPU of its own for the probe.
pub const ISOLATED: &str = "isolcpus=managed_irq,domain,1 nohz_full=1 rcu_nocbs=1";

pub fn cells(words: &str) -> String {
    format!("--kernel {GENERIC} --preempt full --seeds 1 {words}")
}

fn plain(cpus: &str) -> String {
    cells(&format!("--load fork --samples 100 --cpus {cpus}"))
}

/// Subject and digest of the samples of each cell.
pub fn samples(records: &[Record]) -> Vec<(String, String)> {
    let of = |r: &Record| (r.subject.id().to_string(), r.digest.clone());
    records.iter().map(of).collect()
}

/// The QEMUs that work below this folder.
fn machines(folder: &Path) -> Vec<u32> {
    let works_there = |id: &u32| fs::read_link(format!("/proc/{id}/cwd")).is_ok_and(|cwd| cwd.starts_with(folder));
    let ids = fs::read_dir("/proc").unwrap().flatten();
    let ids = ids.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter(works_there).collect()
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

/// Boots and measures while QEMU's threads are kicked and stopped. A boot must come to what the shared one came to, page for page.
pub fn boot_and_measure_disturbed(words: &str) -> Vec<Record> {
    disturbed(&Controller::held_to_shared(), words)
}

/// Measures so, on the snapshots of boots that were left in peace.
pub fn measure_disturbed(words: &str) -> Vec<Record> {
    disturbed(&Controller::on_shared_snapshots(), words)
}

fn disturbed(controller: &Controller, words: &str) -> Vec<Record> {
    let folder = folder();
    let (run, qemu) = (folder.path().join("run"), folder.path().join("qemu"));
    let kicked = "for word do shift; case \"$word\" in *plugin.so,*) word=\"$word,kicks=7\";; esac; \
                  set -- \"$@\" \"$word\"; done\nexec qemu-system-x86_64 \"$@\"";
    script(&qemu, kicked);
    let command = Command::new(assert_cmd::cargo::cargo_bin("worstcase"))
        .args(["lab", "run", "--jobs", "2", "--qemu"])
        .arg(&qemu)
        .arg("--output")
        .arg(&run)
        .args(words.split(' '))
        .env("WORSTCASE_CACHE", controller.cache())
        .stdout(Stdio::null())
        .spawn();
    disturb(command.unwrap(), controller.cache());
    Run::open(&run).unwrap().records().unwrap()
}

#[test]
fn cpus_repeat_to_the_bit_however_the_host_interferes() {
    let calm = shared().measure(&plain("1,2,4"));
    assert_eq!(calm.len(), 3);
    let digests: BTreeSet<_> = calm.iter().map(|r| &r.digest).collect();
    assert_eq!(digests.len(), 3, "another number of CPUs is another machine");

    // One CPU is disturbed in determinism.rs.
    let disturbed = boot_and_measure_disturbed(&plain("2,4"));
    assert_eq!(samples(&disturbed), samples(&calm)[1..]);
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

    // Where CPU 0 was when the first one was due is not seen: the log begins there.
    let seen = elsewhere.iter().filter(|row| row.index > 0);
    let latest = seen.max_by_key(|row| row.latency).unwrap();
    let told = told_of(&run, &format!("--sample {}", latest.index)).remove(0);
    adds_up(&told);
    assert_eq!(told.sample.since, Since::DueElsewhere);
    let (titles, cpus): (Vec<_>, Vec<_>) = told.spans.iter().map(|s| (s.what.name().title, s.cpu)).unzip();
    let sends = titles.iter().position(|title| *title == "send").unwrap();
    // What CPU 0 did before the first instruction that is known of it has no CPU.
    let known = usize::from(titles[0] == "interrupt pending" && cpus[0].is_none());
    assert!(
        known <= sends && cpus[known..=sends].iter().all(|cpu| *cpu == Some(0)),
        "{cpus:?}"
    );
    assert_eq!(titles[sends + 1], "waking interrupt", "{titles:?}");
    assert!(cpus[sends + 1..].iter().all(Option::is_none), "{cpus:?}");
    let sender = told.spans[sends].sender.as_ref().unwrap();
    assert!(
        sender.chain.iter().any(|frame| frame.function == "hrtimer_wakeup"),
        "{sender:?}"
    );
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
