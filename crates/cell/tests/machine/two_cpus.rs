//! The probes `remote` and `shootdown`: what is counted, kept and given back. Where there is one CPU, they are refused.

use super::{Folder, cell, check_books};
use std::fs;
use worstcase_cell::order::MachineOrder;
use worstcase_contract::CellSpec;
use worstcase_contract::Nanos;
use worstcase_contract::bench::{BenchError, BenchResult, Details, Observer, Request};
use worstcase_contract::names;
use worstcase_contract::record::Sample;
use worstcase_instruments::sys::{affinity, clock, memory, sched};

pub const TESTS: &[(&str, fn())] = &[
    ("remote_wakes_a_thread_that_sleeps", wakes_a_thread_that_sleeps),
    (
        "shootdown_unmaps_beside_threads_that_run",
        unmaps_beside_threads_that_run,
    ),
    ("two_cpus_leave_nothing", leave_nothing),
    ("two_cpus_end_early", end_early),
    ("two_cpus_without_the_right_are_refused", without_the_right_are_refused),
    ("two_cpus_are_a_cell", are_a_cell),
];

/// Looks on, and wants an end after so many samples or questions.
#[derive(Default)]
struct Onlooker {
    samples: Vec<Sample>,
    asked: u32,
    last_sample: Option<usize>,
    last_question: Option<u32>,
}

impl Observer for Onlooker {
    fn sample(&mut self, sample: Sample) {
        self.samples.push(sample);
    }

    fn wants_end(&mut self) -> bool {
        self.asked += 1;
        self.last_sample.is_some_and(|last| self.samples.len() >= last)
            || self.last_question.is_some_and(|last| self.asked >= last)
    }
}

/// Two CPUs, the higher one first, if there are two and the right to a real-time priority.
fn two_cpus() -> Result<Vec<u32>, &'static str> {
    let cpus: Vec<u32> = affinity::current().expect("CPUs").into_iter().take(2).rev().collect();
    match worstcase_skips::is_root() && cpus.len() == 2 {
        true => Ok(cpus),
        false => Err("it needs two CPUs and root"),
    }
}

fn request(repetitions: u32, cpus: &[u32]) -> Request<'_> {
    Request {
        repetitions,
        start: clock::monotonic() + Nanos::from_millis(50),
        period: Nanos::from_millis(2),
        priority: 98,
        cpus,
        ..Request::default()
    }
}

fn measure(name: &str, request: &Request<'_>, onlooker: &mut Onlooker) -> Result<BenchResult<Details>, BenchError> {
    let bench = names::parse(name).expect("a probe");
    bench.measure(request, onlooker)
}

/// Samples that were asked for in order, each of them shown.
fn check(taken: &BenchResult<Details>, onlooker: &Onlooker, most: u32) {
    assert!(!taken.samples.is_empty(), "no round at all");
    assert_eq!(onlooker.samples, taken.samples);
    assert!(taken.samples.is_sorted_by(|a, b| a.index < b.index));
    assert!(taken.samples.iter().all(|s| s.index < most && s.latency.0 > 0));
}

fn wakes_a_thread_that_sleeps() {
    let cpus = worstcase_skips::or_skip!(two_cpus());
    for name in ["remote+futex", "remote+pipe", "remote+eventfd", "epoll", "epoll+across"] {
        let mut onlooker = Onlooker::default();
        let taken = measure(name, &request(50, &cpus), &mut onlooker).expect("measure");
        check(&taken, &onlooker, 50);
        let Details::Remote(details) = &taken.details else {
            panic!("{:?}", taken.details);
        };
        let send = details.send.expect("there are samples");
        assert!(
            send.min.0 > 0 && send.min <= send.median && send.median <= send.max,
            "{send:?}"
        );
        assert!(details.awake as usize <= taken.samples.len() / 2, "{details:?}");
        assert_eq!(
            taken.warnings.len(),
            usize::from(details.awake > 0),
            "{:?}",
            taken.warnings
        );
    }
}

fn unmaps_beside_threads_that_run() {
    let cpus = worstcase_skips::or_skip!(two_cpus());
    for (name, threads, pages) in [("shootdown:0", 0, 16), ("shootdown:1+pages300", 1, 300)] {
        let mut onlooker = Onlooker::default();
        let taken = measure(name, &request(50, &cpus), &mut onlooker).expect("measure");
        check(&taken, &onlooker, 50);
        let Details::Shootdown(details) = &taken.details else {
            panic!("{:?}", taken.details);
        };
        assert_eq!((details.threads, details.pages), (threads, pages));
        let rounds = taken.samples.len() as u32;
        match threads {
            0 => assert_eq!(details.all_ran, rounds),
            _ => assert!((1..=rounds).contains(&details.all_ran), "{details:?}"),
        }
    }
}

type State = (usize, usize, sched::Policy, Vec<u32>, bool);

/// Threads, descriptors, policy and CPUs of this thread, and whether memory is locked.
fn state() -> State {
    let entries = |folder: &str| fs::read_dir(folder).expect("read the folder").count();
    (
        entries("/proc/self/task"),
        entries("/proc/self/fd"),
        sched::Policy::current().expect("policy"),
        affinity::current().expect("CPUs"),
        memory::is_locked(),
    )
}

/// A thread that has been joined may take a moment to vanish from /proc.
fn assert_state(before: &State, when: &str) {
    let end = clock::monotonic() + Nanos::from_millis(5_000);
    while state() != *before && clock::monotonic() < end {
        clock::sleep_until(clock::monotonic() + Nanos::from_millis(1));
    }
    assert_eq!(state(), *before, "{when}");
}

const ALL: [&str; 4] = ["remote+futex", "remote+pipe", "remote+eventfd", "shootdown:1"];

fn leave_nothing() {
    let cpus = worstcase_skips::or_skip!(two_cpus());
    for locked in [false, true] {
        if locked {
            memory::lock_on_touch().expect("lock");
        }
        let before = state();
        for name in ALL {
            measure(name, &request(5, &cpus), &mut Onlooker::default()).expect("measure");
            assert_state(&before, name);
            for missing in [[cpus[0], 1_000_000], [1_000_000, cpus[0]]] {
                let error = measure(name, &request(5, &missing), &mut Onlooker::default()).expect_err("no such CPU");
                assert!(error.to_string().contains("cannot run on CPU 1000000"), "{error}");
                assert_state(&before, &format!("{name}, failed"));
            }
        }
    }
}

fn end_early() {
    let cpus = worstcase_skips::or_skip!(two_cpus());
    for name in ALL {
        let mut impatient = Onlooker {
            last_sample: Some(3),
            ..Onlooker::default()
        };
        let taken = measure(name, &request(100_000, &cpus), &mut impatient).expect("measure");
        check(&taken, &impatient, 100_000);
        assert_eq!(taken.samples.len(), 3, "{name}");
        // Before the first round, which would be a long time from now.
        let later = Request {
            start: clock::monotonic() + Nanos::from_millis(10_000_000),
            ..request(10, &cpus)
        };
        let mut impatient = Onlooker {
            last_question: Some(2),
            ..Onlooker::default()
        };
        let taken = measure(name, &later, &mut impatient).expect("measure");
        assert_eq!((taken.samples.len(), impatient.asked), (0, 2), "{name}");
        // All rounds of the past are missed.
        let past = Request {
            start: Nanos(1),
            ..request(10, &cpus)
        };
        let taken = measure(name, &past, &mut Onlooker::default()).expect("measure");
        assert_eq!(taken.samples, [], "{name}");
    }
}

fn without_the_right_are_refused() {
    let cpus = worstcase_skips::or_skip!(two_cpus());
    // SAFETY: no pointers are passed; this process does nothing but this test.
    assert_eq!(unsafe { libc::setresuid(65534, 65534, 65534) }, 0);
    let before = state();
    for name in ALL {
        let error = measure(name, &request(5, &cpus), &mut Onlooker::default());
        let Err(BenchError::Missing(says)) = error else {
            panic!("{error:?}");
        };
        assert!(says.contains("give CAP_SYS_NICE or `ulimit -r 98`"), "{says}");
        assert_state(&before, name);
    }
}

/// Beside a load, on the CPUs that a machine of several has.
fn are_a_cell() {
    worstcase_skips::or_skip!(two_cpus());
    for name in ["remote+futex", "epoll+across", "shootdown:1"] {
        let spec = CellSpec {
            period: Nanos::from_millis(4),
            ..cell(name.parse().expect("a probe"), "shm")
        };
        let mut env = Folder::new().env();
        let refused = super::run(&spec, &env).expect_err("no second CPU");
        assert!(refused.to_string().contains("lab: --cpus 2"), "{refused}");
        env.surroundings.placement = MachineOrder::default().place().expect("CPUs");
        let record = super::run(&spec, &env).expect("measure");
        check_books(&record);
        assert!(record.details.is_some());
    }
}
