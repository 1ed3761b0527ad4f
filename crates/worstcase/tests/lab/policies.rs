//! Latency of an ordinary task, which waits for its turn.

use crate::across_cpus::adds_up;
use crate::controller::{LOADS_SCHEDULERS, folder, shared};
use crate::culprits::told_of;
use crate::smp::{ISOLATED, cells};
use worstcase_analysis::breakdown::spans::SpanKind;
use worstcase_results::record::Run;

#[test]
fn an_ordinary_probe_waits_for_other_tasks_which_explain_names() {
    let folder = folder();
    let measured = |words: &str, name: &str| {
        let run = folder.path().join(name);
        let words = cells(&format!("--load cpu:20 --samples 100 {words}"));
        shared().run(&words, &run).assert().success();
        let record = Run::open(&run).unwrap().records().unwrap().remove(0);
        (run, record)
    };
    let (_, fifo) = measured("", "fifo");
    let (run, other) = measured("--policy other --nice 10", "other");
    assert_eq!((fifo.cell.priority, other.cell.priority), (98, 0));
    assert!(other.id.to_string().contains("other-nice10"), "{}", other.id);
    let breakdowns = told_of(&run, "--all -k 1");
    breakdowns.iter().for_each(adds_up);
    let spans = breakdowns.iter().flat_map(|b| &b.spans);
    let waited = spans.filter(|span| matches!(span.what, SpanKind::OtherThread { .. }));
    let first = waited.map(|span| span.task.comm.as_str()).next();
    assert_eq!(first, Some("load-cpu"));
}

/// For ordinary threads the kernel has a server, whose timer enters even a CPU of their own, once a second.
#[test]
fn a_thread_that_never_sleeps_is_entered_more_often_if_it_is_an_ordinary_one() {
    let words = format!(
        "--kernel {LOADS_SCHEDULERS} --preempt full --seed 1 --cpus 2 --load-cpus 0 --probe noise --load idle --time 5s"
    );
    let measured = |policy: &str| {
        let folder = folder();
        let run = folder.path().join("run");
        let mut measure = shared().run(&format!("{words} --policy {policy}"), &run);
        measure.args(["--append", ISOLATED]).assert().success();
        let record = Run::open(&run).unwrap().records().unwrap().remove(0);
        let told = record.subject.virtual_machine().unwrap().policy.unwrap();
        assert_eq!(told.to_string(), policy);
        (record.cell.priority, record.accounting.gaps().unwrap().gaps)
    };
    let ((ordinary, often), (real_time, seldom)) = (measured("other"), measured("fifo"));
    assert_eq!((ordinary, real_time), (0, 98));
    // The server's timer may be under way when the thread begins.
    assert!(often >= 4 && seldom <= 2, "{often}, {seldom}");
}
