//! Every load does its work on a stock kernel, and the books balance. (`cmd:` is in `programs`.)

use crate::controller::{GENERIC, RT, folder, shared};
use crate::culprits::{BreakdownAsJson, explained};
use worstcase_analysis::breakdown::cause::Mechanism;
use worstcase_results::record::Record;

pub const SAMPLES: u64 = 200;

pub fn is_whole(record: &Record) {
    let (books, id) = (record.accounting.periods().unwrap(), &record.id);
    assert_eq!(books.expected, SAMPLES, "{id}");
    assert_eq!(books.taken + books.missed, books.expected, "{id}");
    assert!(books.taken > SAMPLES / 2, "{id}: {books:?}");
    let latency = record.summary.latency.as_ref().expect("a latency");
    assert_eq!(latency.count, books.taken, "{id}");
    assert_eq!(record.warnings, Vec::<String>::new(), "{id}");
    assert!(record.instructions.expect("a lab record counts").0 > 1_000_000, "{id}");
    if record.cell.load == "idle" {
        assert!(record.work.is_empty());
    } else {
        // The first is the smallest unit; /proc/kallsyms, for one, is not read to its end in a short cell.
        assert!(
            record.work.first().is_some_and(|w| w.count > 0),
            "{id}: {:?}",
            record.work
        );
    }
}

#[test]
fn all_loads_work_on_the_generic_kernel() {
    let loads = "idle,shm,fork,exec,blockread,procread,find,apps:4,sockets,compile,\
                 timerfd,eventfd,pipes,rcu,receive,writeback,bpf,bpf:maps,perf,perf:8,statickeys,\
                 munmap,munmap:own,unmap,mprotect,memfd,seccomp:100@200,membarrier,membarrier:own,module,sysctl,cgroup";
    let records = shared().measure(&format!(
        "--kernel {GENERIC} --preempt none --load {loads} --samples {SAMPLES} --seeds 1"
    ));
    let measured: Vec<&str> = records.iter().map(|r| r.cell.load.as_str()).collect();
    assert_eq!(measured.join(","), loads);
    records.iter().for_each(is_whole);
}

/// The latest samples of a preemptible kernel under a load.
fn latest(load: &str, samples: u64) -> Vec<BreakdownAsJson> {
    let folder = folder();
    let cell = format!("--kernel {GENERIC} --preempt full --samples {samples} --seeds 1");
    explained(&cell, load, "", "--all -k 2", folder.path())
}

#[test]
fn a_big_area_given_back_empties_a_list_of_pages_with_interrupts_off() {
    for breakdown in latest("unmap", 4_000) {
        // The list is emptied by the call, or in a soft interrupt, or by the thread that has taken that over: that hangs on the
        // phase.
        let (mechanism, names) = match breakdown.cause.mechanism {
            Mechanism::SoftInterrupt => (Mechanism::SoftInterrupt, vec!["free_pcppages_bulk", "__free_one_page"]),
            _ => (Mechanism::InterruptsOff, vec!["free_pcppages_bulk", "__free_one_page"]),
        };
        breakdown.names_cause(mechanism, &names, 500_000..=u64::MAX);
    }
}

#[test]
fn a_filter_of_system_calls_is_tried_with_interrupts_off() {
    for breakdown in latest("seccomp", 1_000) {
        let names = ["do_seccomp", "for load-seccomp", "seccomp_cache_prepare_bitmap"];
        breakdown.names_cause(Mechanism::InterruptsOff, &names, 2_000_000..=u64::MAX);
    }
}

/// What one reads in the kernel's source is what the latest sample is explained by.
#[test]
fn a_load_holds_the_cpu_in_the_function_that_its_help_names() {
    let (off, held) = (Mechanism::InterruptsOff, Mechanism::PreemptionOff);
    for (load, mechanism, names, least) in [
        ("mprotect", held, ["change_protection", "for load-mprotect"], 90_000),
        (
            "exec",
            held,
            ["change_protection (called by mprotect_fixup)", "in execve"],
            60_000,
        ),
        ("eventfd", off, ["eventfd_write", "for load-eventfd"], 110_000),
        ("memfd", off, ["free_pcppages_bulk", "__free_one_page"], 1_000_000),
        ("bpf:maps", off, ["free_pcppages_bulk", "__free_one_page"], 500_000),
        ("perf:96", off, ["generic_exec_single", "for load-perf"], 40_000),
    ] {
        latest(load, 4_000)[0].names_cause(mechanism, &names, least..=u64::MAX);
    }
}

#[test]
fn the_rt_kernel_loads_its_own_modules() {
    let records = shared().measure(&format!("--kernel {RT} --load blockread --samples {SAMPLES} --seeds 1"));
    records.iter().for_each(is_whole);
    assert_eq!(records[0].subject.preempt.in_force, "rt");
}

#[test]
fn response_tells_how_long_interrupts_were_off() {
    let words =
        format!("--kernel {GENERIC} --preempt full --probe response --load procread --samples {SAMPLES} --seeds 1");
    let records = shared().measure(&words);
    is_whole(&records[0]);
    let summary = &records[0].summary;
    let max = |s: &Option<worstcase_results::record::Summary>| s.as_ref().expect("measured").max_ns;
    assert!(max(&summary.irq_latency) < max(&summary.latency));
    assert!(max(&summary.after_irq) <= max(&summary.latency));
}
