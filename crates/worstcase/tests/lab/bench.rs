//! The probes with parameters in the lab: what they say is exact there.

use crate::controller::{GENERIC, shared};
use worstcase_contract::bench::Details;
use worstcase_results::record::Record;

fn measure(probe: &str, samples: u32) -> Record {
    let cell = format!("--kernel {GENERIC} --preempt full --load idle --seed 1 --samples {samples} --probe {probe}");
    let mut records = shared().measure(&cell);
    assert_eq!(records.len(), 1);
    records.remove(0)
}

/// Time of a hop, and of the same work alone.
fn hop(probe: &str) -> (f64, f64) {
    let record = measure(probe, 3);
    let Some(Details::Switch(details)) = &record.details else {
        panic!("{:?}", record.details);
    };
    let last = details.repetitions.last().unwrap();
    assert!(last.voluntary >= details.hops * 9 / 10, "{last:?}");
    let a_hop = |total: worstcase_contract::Nanos| total.0 as f64 / details.hops as f64;
    (a_hop(last.total), a_hop(last.hot))
}

#[test]
fn a_known_wait_in_each_hop_is_found() {
    let (plain, _) = hop("switch:2x0");
    let (spun, _) = hop("switch:2x0+spin20us");
    let found = spun - plain;
    // A turn of the wait asks for the thread's CPU time, one to two microseconds of instructions.
    assert!((20_000.0..23_000.0).contains(&found), "{found}");
}

#[test]
fn touching_is_part_of_the_overhead() {
    let ((small, small_alone), (large, large_alone)) = (hop("switch:2x0"), hop("switch:2x16k"));
    let (in_ring, alone) = (large - small, large_alone - small_alone);
    assert!(
        in_ring > 1_000.0 && (in_ring - alone).abs() < in_ring / 50.0,
        "{in_ring} {alone}"
    );
}

/// Twice, from nothing: no two runs differ in a single value.
#[test]
fn every_probe_repeats_to_the_bit() {
    let probes = "switch:4x4k+futex,hackbench:1x5x20x100+pipes+latency,inversion:3+none,jitter,spawn+sh";
    let cells = format!("--kernel {GENERIC} --preempt full --load fork --samples 4 --seed 1 --probe {probes}");
    let verified = shared()
        .worstcase("lab verify --runs 2")
        .args(cells.split(' '))
        .assert();
    let out = String::from_utf8(verified.success().get_output().stdout.clone()).unwrap();
    assert_eq!(out.matches("2 runs, one digest").count(), 5, "{out}");
}

#[test]
fn each_step_of_a_process_costs_more() {
    let median = |step: &str| {
        let record = measure(&format!("spawn+{step}"), 10);
        let Some(Details::Spawn(details)) = &record.details else {
            panic!("{:?}", record.details);
        };
        assert_eq!(details.program.is_some(), step != "fork");
        record.summary.latency.as_ref().unwrap().median_ns.unwrap()
    };
    let [fork, exec, sh] = ["fork", "exec", "sh"].map(median);
    assert!(
        fork > 50_000 && exec > 2 * fork && sh > exec + fork,
        "{fork} {exec} {sh}"
    );
}

#[test]
fn every_message_has_a_latency() {
    let record = measure("hackbench:1x5x20x100+latency", 2);
    let Some(Details::Hackbench(details)) = record.details else {
        panic!("{:?}", record.details);
    };
    assert_eq!((details.processes, details.messages, details.runs.len()), (10, 500, 2));
    let counted: u64 = details.message_latency.unwrap().iter().map(|(_, n)| n).sum();
    assert_eq!(counted, 1_000);
}

fn blocked(probe: &str) -> (u64, u32) {
    let record = measure(probe, 30);
    let Some(Details::Inversion(details)) = &record.details else {
        panic!("{:?}", record.details);
    };
    assert_eq!(u64::from(details.contended), record.accounting.taken());
    (record.summary.latency.unwrap().median_ns.unwrap(), details.inverted)
}

#[test]
fn a_known_section_is_what_one_waits_for() {
    let (short, none) = blocked("inversion:1+inherit");
    let (long, also_none) = blocked("inversion:1+inherit+section150us");
    assert_eq!((none, also_none), (0, 0));
    let found = long - short;
    assert!((99_000..101_000).contains(&found), "{found}");
    let (inverted, all) = blocked("inversion:1+none");
    assert_eq!(all, 30);
    let middle = inverted - short;
    assert!((995_000..1_010_000).contains(&middle), "{middle}");
}

#[test]
fn a_blocked_threads_breakdown_names_the_owner_and_its_inheritance() {
    let run = crate::controller::folder();
    let path = run.path().join("run");
    let words =
        format!("lab run --kernel {GENERIC} --preempt full --seed 1 --samples 5 --probe inversion:1/2+inherit -o");
    shared().worstcase(&words).arg(&path).assert().success();
    let told = shared().worstcase("explain").arg(&path).assert().success();
    let text = String::from_utf8(told.get_output().stdout.clone())
        .unwrap()
        .replace('\n', " ");
    assert!(text.contains("futex_lock_pi"), "{text}");
    assert!(text.contains("worstcase-low"), "{text}");
    assert!(text.contains("with the probe's priority, which it inherited"), "{text}");
    let census = shared().worstcase("census").arg(&path).assert().code(2);
    let error = String::from_utf8(census.get_output().stderr.clone()).unwrap();
    assert!(error.contains("nothing of this probe is due by a timer"), "{error}");
}

/// The cells of one run on two CPUs: the time of each, and its details. Another run gives the same, bit for bit.
fn between_cpus(probes: &str) -> Vec<(u64, Details)> {
    let cells =
        format!("--kernel {GENERIC} --preempt full --cpus 2 --load idle --seed 1 --samples 100 --probe {probes}");
    let records = shared().measure(&cells);
    let verified = shared()
        .worstcase("lab verify --runs 2")
        .args(cells.split(' '))
        .assert();
    let out = String::from_utf8(verified.success().get_output().stdout.clone()).unwrap();
    for record in &records {
        assert!(out.contains(&record.digest), "{out} has no {}", record.digest);
        assert_eq!(record.accounting.taken(), 100);
        assert_eq!(record.warnings, [""; 0]);
        assert_eq!(record.environment["probe_cpu"], "1");
    }
    let told = |r: Record| (r.summary.latency.unwrap().median_ns.unwrap(), r.details.unwrap());
    records.into_iter().map(told).collect()
}

/// Waking takes the waker's call and the way to the other CPU; a word in memory is the shortest.
#[test]
fn a_thread_on_another_cpu_is_woken_from_sleep() {
    let told = between_cpus("remote+futex/pipe");
    let [(futex, Details::Remote(by_futex)), (pipe, Details::Remote(by_pipe))] = told.as_slice() else {
        panic!("{told:?}");
    };
    assert_eq!((by_futex.awake, by_pipe.awake), (0, 0));
    let (by_futex, by_pipe) = (by_futex.send.unwrap(), by_pipe.send.unwrap());
    assert!(by_futex.median < by_pipe.median && futex < pipe, "{told:?}");
    // The waker is back in user code before the other CPU has left idle and run the sleeper.
    assert!(*futex > by_futex.max.0 && *pipe > by_pipe.max.0, "{told:?}");
}

/// What other CPUs must be told costs, and each page costs.
#[test]
fn unmapping_takes_longer_while_a_thread_runs_on_another_cpu() {
    let told = between_cpus("shootdown:0/1,shootdown:0+pages8");
    let [(alone, _), (beside, Details::Shootdown(details)), (less, _)] = told.as_slice() else {
        panic!("{told:?}");
    };
    assert_eq!((details.threads, details.all_ran), (1, 100));
    assert!(beside > alone && alone > less, "{told:?}");
}

#[test]
fn one_cpu_is_refused_with_the_remedy() {
    for (probe, says) in [
        ("remote+futex", "remote+futex wakes a thread on another CPU"),
        ("shootdown:1", "shootdown:1 needs 2 CPUs"),
    ] {
        let words = format!("lab run --kernel {GENERIC} --preempt full --samples 5 --seed 1 --probe {probe} -o");
        let folder = crate::controller::folder();
        let refused = shared()
            .worstcase(&words)
            .arg(folder.path().join("run"))
            .assert()
            .failure();
        let error = String::from_utf8(refused.get_output().stderr.clone()).unwrap();
        assert!(error.contains(says) && error.contains("lab: --cpus 2"), "{error}");
    }
}
