//! `irq`: from a pulse on the parallel port to a process's answer.

use crate::controller::{GENERIC, RT, folder, link_kernel, newest, shared};
use crate::failures::one_line;
use worstcase_analysis::breakdown::spans::Breakdown;
use worstcase_contract::bench::Details;
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
        assert_eq!(record.accounting.taken() + record.missed().unwrap_or(0), 100);
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
    for probe in ["--cpus 2 --probe irq", "--probe irq+hpet"] {
        let cell = format!("--kernel {GENERIC} --preempt full --load fork --samples 50 --seed 1 {probe}");
        let mut verify = shared().worstcase("lab verify --runs 2");
        let verified = verify.args(cell.split(' ')).assert().success();
        let out = String::from_utf8(verified.get_output().stdout.clone()).unwrap();
        assert!(out.contains("2 runs, one digest"), "{out}");
    }
}

/// The spans of a median sample, with their lengths.
fn breakdown(cell: &str) -> Vec<(String, u64)> {
    let folder = folder();
    let run = folder.path().join("run");
    shared().run(cell, &run).assert().success();
    let mut explain = shared().worstcase("explain --sample p50 --json");
    let told = explain.arg(&run).assert().success();
    let told: Breakdown = serde_json::from_slice(&told.get_output().stdout).unwrap();
    assert!(told.notes().is_empty(), "{:?}", told.notes());
    let spans = told.spans().iter();
    spans
        .map(|s| (s.what.name().title.to_string(), s.length_ns.0))
        .collect()
}

/// An oscilloscope's method and a counter's: whatever interrupts, what comes behind its handler is the same.
#[test]
fn two_methods_agree_about_the_part_they_share() {
    let cell = format!("--kernel {GENERIC} --preempt full --load idle --samples 50 --seeds 1");
    let port = breakdown(&format!("{cell} --cpus 2 --load-cpus 1 --probe irq"));
    let counter = breakdown(&format!("{cell} --probe irq+hpet"));
    let shared = |of: &[(String, u64)]| -> Vec<(String, u64)> {
        const SHARED: [&str; 4] = ["wake-up", "leave idle", "schedule", "switch"];
        let spans = of.iter().filter(|(title, _)| SHARED.contains(&title.as_str()));
        spans.cloned().collect()
    };
    assert_eq!(shared(&port), shared(&counter));
    assert_eq!(shared(&port).len(), 4, "{port:?}");
    let titles = |of: &[(String, u64)]| of.iter().map(|(title, _)| title.clone()).collect::<Vec<_>>();
    // The instruction that sends it is not complete when it is seen.
    assert_eq!(
        titles(&port)[..4],
        ["send", "interrupt pending", "interrupt entry", "handler"]
    );
    assert_eq!(port[1].1, 1);
    assert_eq!(
        titles(&counter)[..3],
        ["interrupt pending", "interrupt entry", "handler"]
    );
    let answer = [
        "interrupt exit",
        "leave idle",
        "schedule",
        "switch",
        "return to user",
        "probe's code",
    ];
    for spans in [&port[1..], &counter[..]] {
        assert_eq!(titles(spans)[4..], answer, "{spans:?}");
    }
}

/// With PREEMPT_RT the probe preempts the handler's thread while that still holds the lock of those who wait.
#[test]
fn a_threaded_handler_is_told_with_the_lock_that_it_holds() {
    let told = breakdown(&format!(
        "--kernel {RT} --cpus 2 --load-cpus 1 --load idle --probe irq --samples 50 --seeds 1"
    ));
    for title in ["threaded handler", "lock's owner"] {
        assert!(told.iter().any(|(is, _)| is == title), "{told:?}");
    }
}

/// The simulated chip wakes a thread of its own, which wakes the probe; the kernel tells when it saw the edge.
#[test]
fn a_gpio_line_is_simulated_where_the_kernel_can() {
    let cell = "--preempt full --cpus 2 --load-cpus 1 --load idle --samples 50 --seeds 1 --probe irq+gpio";
    let folder = folder();
    let old = shared().run(&format!("--kernel {GENERIC} {cell}"), &folder.path().join("old"));
    let says = ["this kernel has no module 'gpio-sim'", "the load or the probe needs"];
    one_line(old, 4, &says);
    let with_gpio = newest().filter(|(_, series)| *series >= (7, 2));
    let (kernel, _) =
        worstcase_skips::or_skip!(with_gpio.ok_or("the archive has no kernel with gpio-sim, of 7.2 or newer"));
    link_kernel(shared().cache(), &kernel);
    let record = &shared().measure(&format!("--kernel {kernel} {cell}"))[0];
    let Some(Details::Irq(details)) = &record.details else {
        panic!("{:?}", record.details);
    };
    let (seen, least) = (
        details.seen.unwrap(),
        record.summary.latency.as_ref().unwrap().min_ns.unwrap(),
    );
    assert!(seen.min.0 > 1_000 && seen.min.0 < least, "{seen:?} {least}");
}

#[test]
fn a_flood_of_the_ports_interrupts_is_met_by_a_counter() {
    let cell = format!("--kernel {GENERIC} --preempt full --samples 100 --seeds 1 --probe irq+hpet");
    let max_under = |load: &str| max(&shared().measure(&format!("{cell} --load {load}"))[0]);
    let (idle, rtc, strobe) = (max_under("idle"), max_under("rtc"), max_under("strobe"));
    assert!(rtc > idle && strobe > idle, "{idle} {rtc} {strobe}");
    let folder = folder();
    let both = shared().run(
        &format!("--kernel {GENERIC} --cpus 2 --load strobe --probe irq"),
        &folder.path().join("both"),
    );
    one_line(both, 2, &["cannot share the parallel port", "irq+hpet"]);
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
