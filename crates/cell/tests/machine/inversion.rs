//! The probe `inversion`: who ran when is counted, so that no test needs to know how fast this machine is.

use super::{Folder, cell, check_books};
use std::fs;
use worstcase_contract::CellSpec;
use worstcase_contract::Nanos;
use worstcase_contract::Probe;
use worstcase_contract::bench::{Bench, BenchError, BenchResult, Details, InversionDetails, Observer, Request};
use worstcase_contract::names;
use worstcase_contract::record::Sample;
use worstcase_instruments::sys::process::{self, Waited};
use worstcase_instruments::sys::{clock, memory, sched};

pub const TESTS: &[(&str, fn())] = &[
    (
        "inversion_happens_exactly_where_nothing_is_done_against_it",
        happens_exactly_where_nothing_is_done_against_it,
    ),
    ("inversion_samples_hold_the_work", samples_hold_the_work),
    ("inversion_leaves_nothing", leaves_nothing),
    ("inversion_locked_memory_stays_locked", locked_memory_stays_locked),
    (
        "inversion_rounds_that_were_not_begun_are_missed",
        rounds_that_were_not_begun_are_missed,
    ),
    ("inversion_ends_early", ends_early),
    ("inversion_refusals_say_the_remedy", refusals_say_the_remedy),
    ("inversion_is_a_cell", is_a_cell),
];

const PROTOCOLS: [&str; 3] = ["inherit", "none", "protect"];

/// Looks on: counts, and wants an end after so many samples or questions.
struct Onlooker {
    samples: Vec<Sample>,
    asked: u32,
    last_sample: usize,
    last_question: u32,
    sleeps: Nanos,
}

impl Onlooker {
    fn patient() -> Onlooker {
        Onlooker {
            samples: Vec::new(),
            asked: 0,
            last_sample: usize::MAX,
            last_question: u32::MAX,
            sleeps: Nanos(0),
        }
    }
}

impl Observer for Onlooker {
    fn sample(&mut self, sample: Sample) {
        self.samples.push(sample);
        clock::sleep_until(clock::monotonic() + self.sleeps);
    }

    fn wants_end(&mut self) -> bool {
        self.asked += 1;
        self.samples.len() >= self.last_sample || self.asked >= self.last_question
    }
}

fn request(repetitions: u32) -> Request<'static> {
    Request {
        repetitions,
        start: clock::monotonic() + Nanos::from_millis(100),
        period: Nanos::from_millis(4),
        priority: 98,
        cpus: &[],
        ..Request::default()
    }
}

fn bench(name: &str) -> Bench {
    names::parse(name).expect("a probe")
}

fn measure(name: &str, request: &Request<'_>, onlooker: &mut Onlooker) -> Result<BenchResult<Details>, BenchError> {
    let bench = bench(name);
    bench.check_machine(request)?;
    bench.measure(request, onlooker)
}

fn details(taken: &BenchResult<Details>) -> &InversionDetails {
    match &taken.details {
        Details::Inversion(details) => details,
        other => panic!("{other:?}"),
    }
}

fn happens_exactly_where_nothing_is_done_against_it() {
    worstcase_skips::needs_root!();
    for protocol in PROTOCOLS {
        for depth in 1..=8 {
            let name = format!("inversion:{depth}+{protocol}+section20us+middle200us");
            let mut onlooker = Onlooker::patient();
            let taken = measure(&name, &request(20), &mut onlooker).expect("measure");
            let rounds = taken.samples.len() as u32;
            let details = details(&taken);
            assert!(rounds > 0, "{name}: no round at all");
            assert_eq!(details.contended, rounds, "{name}");
            assert_eq!(details.inverted, if protocol == "none" { rounds } else { 0 }, "{name}");
            assert_eq!(taken.warnings, Vec::<String>::new(), "{name}");
            assert_eq!(onlooker.samples, taken.samples, "{name}");
            assert!(taken.samples.is_sorted_by(|a, b| a.index < b.index));
            assert!(taken.samples.iter().all(|s| s.index < 20));
        }
    }
}

/// Work is CPU time between the two instants of the sample, whatever else happens.
fn samples_hold_the_work() {
    worstcase_skips::needs_root!();
    for (name, work) in [
        ("inversion:1+inherit+section300us", 300),
        ("inversion:3+inherit+section300us", 300),
        ("inversion:2+protect+section300us", 300),
        ("inversion:2+none+section300us+middle1ms", 1_300),
    ] {
        let taken = measure(name, &request(10), &mut Onlooker::patient()).expect("measure");
        for sample in taken.samples {
            // CPU time is another clock, which may go a little faster.
            let least = Nanos::from_micros(work).0 * 99 / 100;
            assert!(sample.latency.0 >= least, "{name}: {}", sample.latency);
        }
    }
}

fn entries(folder: &str) -> usize {
    fs::read_dir(folder).expect("read the folder").count()
}

type State = (usize, usize, sched::Policy, Vec<String>);

/// Threads, descriptors, and what /proc says of this thread and its memory.
fn state() -> State {
    let status = fs::read_to_string("/proc/self/status").expect("status");
    let keeps = ["Cpus_allowed:", "VmLck:", "SigBlk:"];
    let kept = status.lines().filter(|line| keeps.iter().any(|k| line.starts_with(k)));
    (
        entries("/proc/self/task"),
        entries("/proc/self/fd"),
        sched::Policy::current().expect("policy"),
        kept.map(String::from).collect(),
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

fn leaves_nothing() {
    worstcase_skips::needs_root!();
    let before = state();
    for protocol in PROTOCOLS {
        let name = format!("inversion:4+{protocol}");
        measure(&name, &request(5), &mut Onlooker::patient()).expect("measure");
        assert_state(&before, &name);
        let mut impatient = Onlooker {
            last_sample: 2,
            ..Onlooker::patient()
        };
        measure(&name, &request(50), &mut impatient).expect("measure");
        assert_state(&before, &format!("{name}, ended early"));
        let elsewhere = Request {
            cpus: &[1_000_000],
            ..request(5)
        };
        measure(&name, &elsewhere, &mut Onlooker::patient()).expect_err("no such CPU");
        assert_state(&before, &format!("{name}, failed"));
    }
}

fn locked_memory_stays_locked() {
    worstcase_skips::needs_root!();
    memory::lock_all().expect("lock");
    measure("inversion:2+inherit", &request(3), &mut Onlooker::patient()).expect("measure");
    assert!(memory::is_locked(), "what the caller locked is not locked any more");
    memory::unlock_all();
    assert!(!memory::is_locked());
}

fn rounds_that_were_not_begun_are_missed() {
    worstcase_skips::needs_root!();
    // The next round waits until the observer has had its time, five periods.
    let mut slow = Onlooker {
        sleeps: Nanos::from_millis(20),
        ..Onlooker::patient()
    };
    let taken = measure("inversion:1+inherit", &request(40), &mut slow).expect("measure");
    assert!(taken.samples.len() <= 8, "{} rounds", taken.samples.len());
    assert!(taken.samples.is_sorted_by(|a, b| a.index + 5 <= b.index));
    assert!(taken.samples.iter().all(|s| s.index < 40));
    // All rounds of the past are missed; there is none before the start.
    let past = Request {
        start: Nanos(1),
        ..request(10)
    };
    let taken = measure("inversion:1+inherit", &past, &mut Onlooker::patient()).expect("measure");
    assert_eq!(taken.samples, []);
}

fn ends_early() {
    worstcase_skips::needs_root!();
    for protocol in PROTOCOLS {
        let name = format!("inversion:2+{protocol}");
        let mut impatient = Onlooker {
            last_sample: 3,
            ..Onlooker::patient()
        };
        let taken = measure(&name, &request(100_000), &mut impatient).expect("measure");
        assert_eq!(taken.samples, impatient.samples);
        assert_eq!((taken.samples.len(), details(&taken).contended), (3, 3), "{name}");
        // Before the first round, which would be a long time from now.
        let later = Request {
            start: clock::monotonic() + Nanos::from_millis(10_000_000),
            ..request(10)
        };
        let mut impatient = Onlooker {
            last_question: 2,
            ..Onlooker::patient()
        };
        let taken = measure(&name, &later, &mut impatient).expect("measure");
        assert_eq!((taken.samples.len(), impatient.asked), (0, 2), "{name}");
    }
}

fn refusals_say_the_remedy() {
    let refused = |name: &str, request: Request<'_>| {
        let error = bench(name).check_machine(&request).expect_err(name);
        (matches!(error, BenchError::Missing(_)), error.to_string())
    };
    let with = |period, priority| Request {
        period,
        priority,
        ..request(5)
    };
    let (missing, says) = refused("inversion:8", with(Nanos::from_millis(4), 10));
    assert!(!missing && says.contains("priority 11 at least"), "{says}");
    let (missing, says) = refused("inversion:1", with(Nanos::from_millis(1), 98));
    assert!(
        !missing && says.contains("--interval 2") && says.contains("us at least"),
        "{says}"
    );
    if process::is_root() {
        let elsewhere = Request {
            cpus: &[1_000_000],
            ..request(5)
        };
        let error = measure("inversion:2", &elsewhere, &mut Onlooker::patient()).expect_err("no such CPU");
        assert!(error.to_string().contains("cannot run on CPU 1000000"), "{error}");
        // SAFETY: no pointers are passed; this process does nothing but this test.
        assert_eq!(unsafe { libc::setresuid(65534, 65534, 65534) }, 0);
    }
    let before = state();
    let (missing, says) = refused("inversion:1", request(5));
    assert!(
        missing && says.contains("give CAP_SYS_NICE or `ulimit -r 98`"),
        "{says}"
    );
    let error = bench("inversion:1").measure(&request(5), &mut Onlooker::patient());
    assert!(matches!(error, Err(BenchError::Missing(_))), "{error:?}");
    assert_state(&before, "without the right");
}

/// Beside a load, which is forked from the same process before.
fn is_a_cell() {
    worstcase_skips::needs_root!();
    let spec = CellSpec {
        period: Nanos::from_millis(4),
        ..cell(Probe::Bench(bench("inversion:2+inherit")), "shm")
    };
    let record = super::run(&spec, &Folder::new().env()).expect("measure");
    check_books(&record);
    assert!(record.work.iter().any(|w| w.count > 0), "{:?}", record.work);
    assert!(matches!(record.details, Some(Details::Inversion(_))));
    assert_eq!(process::wait(-1, false).expect("wait"), Waited::NoChild);
}
