//! What the lab is for: it shows which preemption model bounds which load. In virtual time these are facts of the
//! kernels, not measurements of the controller.

use crate::controller::{GENERIC, RT, folder, shared};
use worstcase_results::record::{Record, Run};

/// The highest latency of a model under a load, over all seeds, in ns.
fn maximum(records: &[Record], model: &str, load: &str) -> u64 {
    let of_cell = |r: &&Record| r.subject.preempt.asked.as_deref() == Some(model) && r.cell.load == load;
    let latencies = records
        .iter()
        .filter(of_cell)
        .map(|r| r.summary.latency.as_ref().unwrap().max_ns);
    latencies
        .max()
        .unwrap_or_else(|| panic!("no cell of {model} under {load}"))
}

#[test]
fn preemption_bounds_long_system_calls_and_freed_memory() {
    let measure = |load, seeds| {
        let subjects = format!("--kernel {GENERIC} --kernel {RT} --preempt none,full,rt");
        shared().measure(&format!("{subjects} --load {load} --samples 400 --seeds {seeds}"))
    };
    let mut records = measure("procread", 2);
    records.extend(measure("shm", 3));
    assert_eq!(records.len(), 15);
    let max = |model, load| maximum(&records, model, load);
    let table = || {
        let line = |m| format!("{m}: procread {}, shm {}\n", max(m, "procread"), max(m, "shm"));
        ["none", "full", "rt"].map(line).concat()
    };
    assert!(max("none", "procread") > 10 * max("full", "procread"), "{}", table());
    assert!(max("none", "procread") > 10 * max("rt", "procread"), "{}", table());
    assert!(max("none", "shm") > 2 * max("full", "shm"), "{}", table());
    assert!(max("none", "shm") > 2 * max("rt", "shm"), "{}", table());
}

/// How many pages a kernel frees at once depends on how many there are.
#[test]
fn little_memory_makes_full_late_under_shm() {
    // Every second short cell misses the rare long path, so two seeds say nothing and ten do.
    let cells = format!("--kernel {GENERIC} --preempt full --load shm --samples 400 --seeds 10");
    let little = maximum(&shared().measure(&format!("{cells} --memory 256")), "full", "shm");
    let enough = maximum(&shared().measure(&cells), "full", "shm");
    assert!(little > 5 * enough, "256 MiB: {little} ns, 1 GiB: {enough} ns");
}

#[test]
fn boot_parameters_are_in_force_and_unknown_ones_are_told() {
    let folder = folder();
    let run = folder.path().join("run");
    let words = "random.trust_cpu=off random.trust_bootloader=off nobody_knows_this";
    let cell = format!("--kernel {GENERIC} --preempt full --load idle --samples 100 --seeds 1");
    let mut measure = shared().run(&cell, &run);
    measure.args(["--append", "", "--append", words]).assert().success();
    let records = Run::open(&run).unwrap().records().unwrap();
    let [plain, starved] = &records[..] else {
        panic!("two subjects")
    };
    let random = |record: &Record| record.environment["random"].clone();
    assert_eq!((random(plain), random(starved)), ("ready".into(), "starved".into()));
    assert_eq!(plain.warnings, [""; 0]);
    assert_eq!(
        starved.warnings,
        ["the kernel does not know the boot parameter 'nobody_knows_this'"]
    );
}

#[test]
fn a_slower_cpu_takes_as_much_longer() {
    let idle = |mips| {
        let words = format!("--kernel {RT} --load idle --samples 200 --seeds 1 --mips {mips}");
        let latency = shared().measure(&words).remove(0).summary.latency;
        latency.expect("samples").min_ns.unwrap()
    };
    let (fast, slow) = (idle(1000), idle(250));
    assert!(
        (3 * fast..5 * fast).contains(&slow),
        "{fast} ns at 1000 MIPS, {slow} at 250"
    );
}
