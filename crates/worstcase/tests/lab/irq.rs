//! `irq`: from a pulse on the parallel port to a process's answer.

use crate::controller::{GENERIC, RT, folder, shared};
use crate::failures::one_line;
use worstcase_probe::bench::Details;
use worstcase_results::record::Record;

fn measure(kernel: &str, load: &str) -> Record {
    let cell = format!("--kernel {kernel} --cpus 2 --load-cpus 1 --load {load} --probe irq --samples 100 --seeds 1");
    let mut records = shared().measure(&cell);
    assert_eq!(records.len(), 1);
    records.remove(0)
}

fn max(record: &Record) -> u64 {
    record.summary.latency.as_ref().unwrap().max_ns
}

/// A pulse comes whatever runs: also while the kernel does not let go of the CPU.
#[test]
fn an_edge_meets_what_cannot_be_preempted() {
    let none = measure(&format!("{GENERIC} --preempt none"), "procread");
    let full = measure(&format!("{GENERIC} --preempt full"), "procread");
    assert!(
        max(&none) > 50_000 && max(&full) < 20_000,
        "{} {}",
        max(&none),
        max(&full)
    );
    for record in [&none, &full] {
        assert_eq!((record.accounting.taken(), record.missed().unwrap_or(0)), (100, 0));
        let Some(Details::Irq(details)) = &record.details else {
            panic!("{:?}", record.details);
        };
        assert_eq!(details.awake, 0);
        assert!(record.id.to_string().contains(".parport."), "{}", record.id);
    }
}

/// With PREEMPT_RT a thread handles the port's interrupt: that is a switch more.
#[test]
fn a_threaded_handler_takes_longer() {
    let median = |record: &Record| record.summary.latency.as_ref().unwrap().median_ns.unwrap();
    let hard = median(&measure(&format!("{GENERIC} --preempt full"), "idle"));
    let threaded = median(&measure(RT, "idle"));
    assert!(hard > 3_000 && threaded > hard + 2_000, "{hard} {threaded}");
}

#[test]
fn runs_repeat_to_the_bit() {
    let cell = format!("--kernel {GENERIC} --preempt full --cpus 2 --load fork --probe irq --samples 50 --seed 1");
    let mut verify = shared().worstcase("lab verify --runs 2");
    let verified = verify.args(cell.split(' ')).assert().success();
    let out = String::from_utf8(verified.get_output().stdout.clone()).unwrap();
    assert!(out.contains("2 runs, one digest"), "{out}");
}

#[test]
fn one_cpu_is_refused_and_other_cells_have_no_port() {
    let folder = folder();
    let cell = format!("--kernel {GENERIC} --preempt full --load idle --samples 50 --seeds 1");
    let one = shared().run(&format!("{cell} --probe irq"), &folder.path().join("one"));
    one_line(one, 4, &["irq has its pulses from another CPU", "--cpus 2"]);
    let other = shared().measure(&format!("{cell} --cpus 2 --probe wakeup"));
    assert!(!other[0].id.to_string().contains("parport"), "{}", other[0].id);
}
