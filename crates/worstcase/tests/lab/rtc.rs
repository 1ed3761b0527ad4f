//! `jitter`, whose clock is a timer of the kernel, and the priorities of the threads that stand between such a timer and its
//! reader.

use crate::across_cpus::adds_up;
use crate::controller::{GENERIC, RT, folder, shared};
use crate::culprits::told_of;
use crate::failures::one_line;
use worstcase_results::record::Record;

const FORK: &str = "--load fork --probe jitter --samples 400 --seeds 2";

fn worst(records: &[Record]) -> u64 {
    let latencies = records.iter().map(|r| r.summary.latency.as_ref().unwrap().max_ns);
    latencies.max().unwrap()
}

/// Each sample is known from its due time on, and what differs from one to the next is the jitter.
#[test]
fn jitter_is_the_difference_of_two_latencies() {
    let folder = folder();
    let run = folder.path().join("run");
    let cell = format!("--kernel {GENERIC} --preempt full --load idle --probe jitter --samples 50 --seeds 1");
    shared().run(&cell, &run).assert().success();
    let mut show = shared().worstcase("show --samples");
    let done = show.arg(&run).assert().success();
    let text = String::from_utf8(done.get_output().stdout.clone()).unwrap();
    let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 50);
    let number = |row: &[&str], column: usize| row[column].parse::<i64>().unwrap();
    assert_eq!(rows[0][6], "", "nothing comes before the first");
    for pair in rows.windows(2) {
        assert_eq!(number(&pair[1], 2) - number(&pair[0], 2), 488_281);
        assert_eq!(number(&pair[1], 6), number(&pair[1], 3) - number(&pair[0], 3));
        let (latency, irq_latency) = (number(&pair[1], 3), number(&pair[1], 4));
        assert!((50..500).contains(&irq_latency) && latency > irq_latency, "{pair:?}");
    }
}

/// With PREEMPT_RT a thread runs the clock's timer, and others of its priority make it wait.
#[test]
fn a_priority_of_the_timers_thread_helps_and_its_wait_is_explained() {
    let folder = folder();
    let measure = |name: &str, chrt: &str| {
        let run = folder.path().join(name);
        let cells = format!("--kernel {RT} {chrt} {FORK}");
        shared().run(&cells, &run).assert().success();
        run
    };
    let (before, after) = (measure("before", ""), measure("after", "--chrt ktimers=90"));
    let breakdowns = [&before, &after].map(|run| told_of(run, "").remove(0));
    breakdowns.iter().for_each(adds_up);
    let [late, prompt] = breakdowns;
    let waited = |sentence: &str| sentence.contains("rcuc/0") && sentence.contains("before the probe was woken");
    assert!(waited(&late.cause.sentence), "{}", late.cause.sentence);
    assert!(!waited(&prompt.cause.sentence), "{}", prompt.cause.sentence);
    let (late, prompt) = (late.sample.latency_ns.0, prompt.sample.latency_ns.0);
    assert!(prompt + 10_000 < late, "{prompt} {late}");
}

#[test]
fn priorities_are_of_the_subject_and_told() {
    let records = shared().measure(&format!("--kernel {RT} --chrt ktimers=90,rcuc=3 {FORK}"));
    for record in &records {
        assert_eq!(
            record.environment.get("chrt").map(String::as_str),
            Some("ktimers/0=90 rcuc/0=3")
        );
        assert!(record.id.to_string().contains(".ktimers-90+rcuc-3."), "{}", record.id);
    }
    let plain = shared().measure(&format!("--kernel {RT} {FORK}"));
    assert!(worst(&records) < worst(&plain));
}

#[test]
fn a_thread_that_the_kernel_does_not_have_is_told() {
    let folder = folder();
    let cell = format!("--kernel {GENERIC} --preempt full --chrt ktimers=90 --load idle --samples 10 --seeds 1");
    let measure = shared().run(&cell, &folder.path().join("run"));
    one_line(
        measure,
        4,
        &["no thread of this kernel is called 'ktimers': there are ", "ksoftirqd"],
    );
}
