//! Senders and receivers: every message comes, nothing is left, however it ends.

use crate::children_of;
use std::collections::BTreeSet;
use std::fs;
use worstcase_contract::Nanos;
use worstcase_contract::bench::{Bench, BenchError, BenchResult, Details, HackbenchDetails, Observer, Request};
use worstcase_contract::names;
use worstcase_contract::record::Sample;
use worstcase_instruments::sys::process::{self, Pid, Waited};
use worstcase_instruments::sys::rlimit::Resource;
use worstcase_instruments::sys::{affinity, sched, signal};

pub const TESTS: &[(&str, fn())] = &[
    ("hackbench_every_message_arrives", every_message_arrives),
    ("hackbench_ends_when_asked", ends_when_asked),
    ("hackbench_a_child_that_dies_is_an_error", a_child_that_dies_is_an_error),
    (
        "hackbench_children_are_ordinary_and_where_asked",
        children_are_ordinary_and_where_asked,
    ),
    ("hackbench_few_open_files_are_raised", few_open_files_are_raised),
    ("hackbench_refuses_what_cannot_be", refuses_what_cannot_be),
];

/// So many questions of whether to end are surely asked in the middle of a run of 12 senders and receivers: starting
/// them takes fewer, unless it takes more than half a second.
const IN_THE_MIDDLE: u32 = 10;
/// It takes many seconds.
const LONG: [&str; 3] = [
    "hackbench:2x3x1000000",
    "hackbench:2x3x1000000+pipes+latency",
    "hackbench:2x3x1000000+threads",
];

/// Counts questions, and does something at one of them.
struct Asked<F> {
    questions: u32,
    samples: Vec<Sample>,
    at: F,
}

impl<F: FnMut(u32) -> bool> Asked<F> {
    fn new(at: F) -> Asked<F> {
        Asked {
            questions: 0,
            samples: Vec::new(),
            at,
        }
    }
}

impl<F: FnMut(u32) -> bool> Observer for Asked<F> {
    fn sample(&mut self, sample: Sample) {
        self.samples.push(sample);
    }

    fn wants_end(&mut self) -> bool {
        self.questions += 1;
        (self.at)(self.questions)
    }
}

fn request(repetitions: u32, cpus: &[u32]) -> Request<'_> {
    Request {
        repetitions,
        start: Nanos(0),
        period: Nanos(0),
        priority: 0,
        cpus,
        ..Request::default()
    }
}

fn bench(name: &str) -> Bench {
    names::parse(name).expect(name)
}

fn measure(name: &str, repetitions: u32, observer: &mut dyn Observer) -> Result<BenchResult<Details>, BenchError> {
    let request = request(repetitions, &[]);
    bench(name).check_machine(&request)?;
    bench(name).measure(&request, observer)
}

fn details(taken: &BenchResult<Details>) -> &HackbenchDetails {
    match &taken.details {
        Details::Hackbench(details) => details,
        other => panic!("{other:?}"),
    }
}

/// The own open files, without the one that lists them.
fn open_files() -> BTreeSet<String> {
    let entries = fs::read_dir("/proc/self/fd").expect("list of open files");
    let target = |entry: fs::DirEntry| {
        let to = fs::read_link(entry.path()).ok()?;
        Some(format!("{:?} {to:?}", entry.file_name()))
    };
    let all = entries.flatten().filter_map(target);
    all.filter(|file| !file.contains("/fd\"")).collect()
}

/// Runs `test`; it must leave no child, no open file, no other policy, CPUs or limits.
fn leaves_nothing(name: &str, test: impl FnOnce()) {
    let state = || {
        (
            open_files(),
            sched::Policy::current().expect("policy"),
            affinity::current().expect("CPUs"),
            Resource::Files.limit(),
        )
    };
    let before = state();
    test();
    assert_eq!(process::wait(-1, false).expect("wait"), Waited::NoChild, "{name}");
    assert_eq!(state(), before, "{name}");
}

fn every_message_arrives() {
    for (name, tasks, messages) in [
        ("hackbench:1x1x1x1", 2, 1),
        ("hackbench:3x4x50x100", 24, 2_400),
        ("hackbench:3x4x50x100+pipes", 24, 2_400),
        ("hackbench:3x4x50x100+threads", 24, 2_400),
        ("hackbench:3x4x50x100+threads+pipes", 24, 2_400),
        ("hackbench:2x3x50x8+latency", 12, 900),
        ("hackbench:2x3x50x4k+latency+pipes", 12, 900),
        ("hackbench:2x3x50x32k+latency+threads", 12, 900),
        ("hackbench:2x3x20x64k+pipes", 12, 360),
        ("hackbench:2x1x20x64k+latency", 4, 40),
    ] {
        leaves_nothing(name, || {
            let mut observer = Asked::new(|_| false);
            let taken = measure(name, 2, &mut observer).unwrap_or_else(|e| panic!("{name}: {e}"));
            // That each message was sent, received, and had every byte, `measure` counts itself.
            let details = details(&taken);
            assert_eq!((details.processes, details.messages), (tasks, messages), "{name}");
            assert_eq!(taken.warnings, Vec::<String>::new(), "{name}");
            assert_eq!(observer.samples, taken.samples, "{name}");
            let samples: Vec<Nanos> = taken.samples.iter().map(|sample| sample.latency).collect();
            let totals: Vec<Nanos> = details.runs.iter().map(|run| run.total).collect();
            assert_eq!(samples, totals, "{name}");
            assert_eq!(samples.len(), 2, "{name}");
            assert!(details.runs.iter().all(|run| run.cpu > Nanos(0)), "{name}");
            check_latency(name, details, totals.into_iter().max().expect("two"));
        });
    }
}

/// Each message counted once, and none took longer than its run.
fn check_latency(name: &str, details: &HackbenchDetails, longest: Nanos) {
    assert_eq!(details.message_latency.is_some(), name.contains("latency"), "{name}");
    if let Some(list) = &details.message_latency {
        assert!(list.is_sorted_by(|a, b| a.0 < b.0), "{name}");
        assert_eq!(
            list.iter().map(|(_, count)| count).sum::<u64>(),
            2 * details.messages,
            "{name}"
        );
        let last = list.last().expect("a message").0;
        assert!(0 < last && last < longest.0, "{name}: {last} ns of {longest}");
    }
}

fn ends_when_asked() {
    for name in LONG {
        for end in [1, 2, 4, IN_THE_MIDDLE] {
            leaves_nothing(name, || {
                let taken = measure(name, 3, &mut Asked::new(|n| n >= end)).expect(name);
                assert_eq!(taken.samples, [], "{name}");
                assert_eq!(details(&taken).runs, [], "{name}");
            });
        }
    }
    let name = "hackbench:1x2x5x8+latency";
    leaves_nothing(name, || {
        let mut taken_so_far = 0;
        let mut observer = EndsAfterFirst(&mut taken_so_far);
        let taken = measure(name, 3, &mut observer).expect(name);
        assert_eq!(taken.samples.len(), 1);
        assert_eq!(details(&taken).runs.len(), 1);
        let latencies = details(&taken).message_latency.as_ref().expect("latencies");
        assert_eq!(latencies.iter().map(|(_, count)| count).sum::<u64>(), 20);
    });
}

struct EndsAfterFirst<'a>(&'a mut u32);

impl Observer for EndsAfterFirst<'_> {
    fn sample(&mut self, _sample: Sample) {
        *self.0 += 1;
    }

    fn wants_end(&mut self) -> bool {
        *self.0 > 0
    }
}

fn own_children() -> BTreeSet<Pid> {
    children_of(process::own_pid())
}

fn a_child_that_dies_is_an_error() {
    for name in LONG {
        for victim in [0, 11] {
            leaves_nothing(name, || {
                let mut observer = Asked::new(|n| {
                    if n == IN_THE_MIDDLE {
                        let children = own_children();
                        let pid = children.iter().nth(victim).or(children.first()).expect("a child");
                        process::kill(*pid, signal::SIGKILL).expect("kill");
                    }
                    assert!(n < 100 * IN_THE_MIDDLE, "nobody noticed");
                    false
                });
                let error = measure(name, 1, &mut observer).expect_err(name).to_string();
                assert_eq!(
                    error, "the books do not balance: a sender or receiver failed: signal 9",
                    "{name}"
                );
            });
        }
    }
}

/// Whatever the caller is: here SCHED_FIFO, if that is allowed.
fn children_are_ordinary_and_where_asked() {
    if process::is_root() {
        sched::Policy::fifo(1).apply().expect("SCHED_FIFO");
    }
    let all = affinity::current().expect("CPUs");
    let last = all[all.len() - 1];
    for name in LONG {
        for (cpus, option, expected) in [
            (vec![], "", all.clone()),
            (vec![last], "", vec![last]),
            (vec![], "+cpus1", vec![all[0]]),
        ] {
            let name = format!("{name}{option}");
            leaves_nothing(&name, || {
                let mut observer = Asked::new(|n| {
                    if n == IN_THE_MIDDLE {
                        let children = own_children();
                        assert_eq!(children.len(), if name.contains("threads") { 1 } else { 12 });
                        children.iter().for_each(|child| check_tasks_of(*child, &expected));
                    }
                    n >= IN_THE_MIDDLE
                });
                bench(&name).measure(&request(1, &cpus), &mut observer).expect(&name);
            });
        }
    }
}

fn check_tasks_of(child: Pid, cpus: &[u32]) {
    for task in fs::read_dir(format!("/proc/{child}/task")).expect("tasks").flatten() {
        let read = |file: &str| fs::read_to_string(task.path().join(file)).expect(file);
        let stat = read("stat");
        // Field 41 of proc(5), counted behind the name, which is the second.
        let policy = stat.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(38));
        assert_eq!(policy, Some("0"), "{stat}");
        let status = read("status");
        let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed:"));
        let mask = list.expect("CPUs").trim().replace(',', "");
        let allowed: Vec<u32> = (0..4 * mask.len() as u32).filter(|cpu| bit(&mask, *cpu)).collect();
        assert_eq!(allowed, cpus);
    }
}

/// Of a hexadecimal number of any length.
fn bit(mask: &str, number: u32) -> bool {
    let digit = mask.as_bytes()[mask.len() - 1 - number as usize / 4] as char;
    digit.to_digit(16).expect("a digit") >> (number % 4) & 1 == 1
}

fn limit_open_files(soft: u64, hard: u64) {
    let limit = libc::rlimit {
        rlim_cur: soft,
        rlim_max: hard,
    };
    // SAFETY: `limit` is valid; this process does nothing but this test.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) }, 0);
}

fn few_open_files_are_raised() {
    limit_open_files(20, 200);
    let name = "hackbench:4x20x2x10+threads";
    leaves_nothing(name, || {
        measure(name, 1, &mut Asked::new(|_| false)).expect(name);
    });
    let error = measure("hackbench:5x20+threads", 1, &mut Asked::new(|_| false))
        .expect_err("200 files")
        .to_string();
    assert!(
        error.contains("and the hard RLIMIT_NOFILE leaves 200: raise it"),
        "{error}"
    );
}

fn refuses_what_cannot_be() {
    let refusal = |name: &str| match bench(name).check_machine(&request(1, &[])) {
        Err(BenchError::Limit(words)) => words,
        other => panic!("{name}: {other:?}"),
    };
    assert!(refusal("hackbench:1+cpus5000").contains("asks for 5000 CPUs, and may run on"));
    assert!(refusal("hackbench:1x2x100x4097+pipes+latency").contains("more than 4096 bytes mix"));
    assert!(refusal("hackbench:1x2x100x64k+latency").contains("more than 32768 bytes mix"));
    assert!(refusal("hackbench:1000x1000").contains("needs 2000000 processes or threads, and kernel."));
    if process::is_root() {
        let limit = libc::rlimit {
            rlim_cur: 20,
            rlim_max: 20,
        };
        // SAFETY: `limit` is valid, no other pointers are passed; this process does nothing but this test.
        unsafe {
            assert_eq!(libc::setrlimit(libc::RLIMIT_NPROC, &limit), 0);
            assert_eq!(libc::setresuid(65534, 65534, 65534), 0);
        }
        let words = refusal("hackbench:1");
        assert!(
            words.contains("needs 50 processes or threads, and RLIMIT_NPROC leaves"),
            "{words}"
        );
    }
}
