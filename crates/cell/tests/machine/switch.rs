//! The probe `switch`: order, books, refusals, and that nothing is left, however it ends.

use super::children_of;
use std::collections::BTreeSet;
use std::fs;
use worstcase_contract::Nanos;
use worstcase_contract::bench::{Bench, BenchError, BenchResult, Details, Observer, Request, SwitchDetails};
use worstcase_contract::names;
use worstcase_contract::record::Sample;
use worstcase_instruments::sys::process::{self, Pid, Waited};
use worstcase_instruments::sys::rlimit::{Limit, Resource};
use worstcase_instruments::sys::sched::Policy;
use worstcase_instruments::sys::{affinity, clock, signal};

pub const TESTS: &[(&str, fn())] = &[
    (
        "switch_passes_a_token_through_everything",
        passes_a_token_through_everything,
    ),
    (
        "switch_happens_at_every_hop_on_one_cpu",
        happens_at_every_hop_on_one_cpu,
    ),
    (
        "switch_takes_as_long_as_the_members_spin",
        takes_as_long_as_the_members_spin,
    ),
    ("switch_ends_early", ends_early),
    ("switch_fails_if_a_member_is_killed", fails_if_a_member_is_killed),
    ("switch_leaves_nothing_if_it_is_killed", leaves_nothing_if_it_is_killed),
    ("switch_refuses_what_is_too_much", refuses_what_is_too_much),
    ("switch_raises_the_limit_of_open_files", raises_the_limit_of_open_files),
];

/// What this process is and has, and must be and have when measuring is over.
#[derive(Debug, PartialEq, Eq)]
struct State {
    files: usize,
    mappings: BTreeSet<String>,
    limit: Limit,
    policy: Policy,
    cpus: Vec<u32>,
    children: BTreeSet<Pid>,
}

fn state() -> State {
    // The heap may grow, all other memory is given back.
    let shared = |line: &&str| line.contains("/dev/zero") || line.contains("rw-s");
    State {
        files: fs::read_dir("/proc/self/fd").expect("files").count(),
        mappings: fs::read_to_string("/proc/self/maps")
            .expect("maps")
            .lines()
            .filter(shared)
            .map(String::from)
            .collect(),
        limit: Resource::Files.limit(),
        policy: Policy::current().expect("policy"),
        cpus: affinity::current().expect("affinity"),
        children: children_of(process::own_pid()),
    }
}

/// Asks for an end when `end` says so, given how often it was asked and how many samples there are.
struct Watch<F: FnMut(usize, usize) -> bool> {
    asked: usize,
    samples: usize,
    end: F,
}

impl<F: FnMut(usize, usize) -> bool> Observer for Watch<F> {
    fn sample(&mut self, sample: Sample) {
        assert_eq!(sample.index as usize, self.samples);
        self.samples += 1;
    }

    fn wants_end(&mut self) -> bool {
        self.asked += 1;
        (self.end)(self.asked, self.samples)
    }
}

fn request(repetitions: u32, cpus: &[u32]) -> Request<'_> {
    Request {
        repetitions,
        start: clock::monotonic(),
        period: Nanos::from_millis(1),
        priority: 50,
        cpus,
        ..Request::default()
    }
}

/// Measures, and looks that nothing is left.
fn measure(
    probe: &str,
    repetitions: u32,
    cpus: &[u32],
    end: impl FnMut(usize, usize) -> bool,
) -> Result<(BenchResult<Details>, SwitchDetails), BenchError> {
    let bench = names::parse(probe).expect(probe);
    let request = request(repetitions, cpus);
    let before = state();
    let mut watch = Watch {
        asked: 0,
        samples: 0,
        end,
    };
    bench.check_machine(&request)?;
    let taken = bench.measure(&request, &mut watch);
    assert_eq!(state(), before, "{probe}");
    assert_eq!(process::wait(-1, false).expect("wait"), Waited::NoChild, "{probe}");
    let taken = taken?;
    let Details::Switch(details) = taken.details.clone() else {
        panic!("{probe}: {:?}", taken.details);
    };
    assert_eq!(taken.samples.len(), watch.samples);
    Ok((taken, details))
}

fn never(_: usize, _: usize) -> bool {
    false
}

fn one_cpu() -> [u32; 1] {
    [*affinity::current().expect("affinity").last().expect("a CPU")]
}

/// That members pass the token on in turn and equally often is looked at by themselves; here it must come out well.
fn passes_a_token_through_everything() {
    const REPETITIONS: u32 = 2;
    // On a host another thread waits for the controller meanwhile.
    let (held, hold) = std::sync::mpsc::channel::<()>();
    let thread = std::thread::spawn(move || hold.recv());
    let all = affinity::current().expect("affinity");
    for via in ["pipe", "eventfd", "futex"] {
        for threads in ["", "+threads"] {
            for cpus in [&[], &all[..1], &all[..]] {
                for shape in ["2x0", "5x4k", "3x100"] {
                    let probe = format!("switch:{shape}+{via}{threads}");
                    let (taken, details) = measure(&probe, REPETITIONS, cpus, never).expect(&probe);
                    assert_eq!(taken.samples.len(), REPETITIONS as usize);
                    assert_eq!(details.repetitions.len(), REPETITIONS as usize);
                    let members: u64 = shape.split('x').next().unwrap().parse().unwrap();
                    assert!(details.hops >= 10 * members && details.hops.is_multiple_of(members));
                    for (sample, r) in taken.samples.iter().zip(&details.repetitions) {
                        let hops = details.hops;
                        assert_eq!(sample.latency.0, (r.total.0 + hops / 2) / hops, "{probe}");
                        assert!(r.total > Nanos(0) && r.hot > Nanos(0) && r.cold > Nanos(0), "{probe}");
                        if cpus.len() == 1 {
                            assert!(r.migrations.is_none_or(|moves| moves == 0), "{probe}: {r:?}");
                        }
                    }
                }
            }
        }
    }
    drop(held);
    let _ = thread.join();
}

/// Where all share a CPU, none can have the token before another has given the CPU away.
fn happens_at_every_hop_on_one_cpu() {
    for via in ["pipe", "eventfd", "futex", "pipe+threads", "futex+threads"] {
        let probe = format!("switch:4x0+{via}");
        let (taken, details) = measure(&probe, 3, &one_cpu(), never).expect(&probe);
        assert_eq!(taken.warnings, Vec::<String>::new(), "{probe}");
        for r in &details.repetitions {
            let switches = r.voluntary + r.involuntary;
            assert!(switches + 4 >= details.hops, "{probe}: {r:?} of {} hops", details.hops);
        }
    }
}

/// Only who has the token spins: so long it takes at least, on any machine.
fn takes_as_long_as_the_members_spin() {
    for probe in ["switch:2x0+spin200us", "switch:3x0+threads+futex+spin1ms"] {
        let Ok(Bench::Switch(switch)) = names::parse(probe) else {
            panic!("{probe}");
        };
        let (_, details) = measure(probe, 2, &one_cpu(), never).expect(probe);
        for r in &details.repetitions {
            assert!(r.total.0 >= details.hops * switch.spin.0, "{probe}: {r:?}");
        }
    }
}

fn ends_early() {
    let (taken, details) = measure("switch:2x0", 10, &[], |_, samples| samples == 2).expect("two");
    assert_eq!((taken.samples.len(), details.repetitions.len()), (2, 2));
    let (taken, details) = measure("switch:2x0", 10, &[], |_, _| true).expect("none");
    assert_eq!((taken.samples.len(), details.repetitions.len()), (0, 0));
    for via in ["pipe", "eventfd", "futex", "pipe+threads", "futex+threads"] {
        let probe = format!("switch:4x0+{via}+spin1s");
        let begin = clock::monotonic();
        let (taken, details) = measure(&probe, 10, &[], |asked, _| asked > 3).expect(&probe);
        assert_eq!((taken.samples.len(), details.repetitions.len()), (0, 0), "{probe}");
        // Not how fast, but that it did not wait for a lap of 4 s.
        assert!(clock::monotonic() - begin < Nanos::from_millis(4_000), "{probe}");
    }
}

fn threads_of(pid: Pid) -> usize {
    fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count)
}

fn fails_if_a_member_is_killed() {
    const MEMBERS: usize = 4;
    for via in ["pipe", "eventfd", "futex", "pipe+threads"] {
        let mut killed = false;
        let mut kill_one = |asked: usize, _| {
            let children = children_of(process::own_pid());
            let members: usize = children.iter().map(|pid| threads_of(*pid)).sum();
            if members == MEMBERS && !killed {
                let last = *children.last().expect("a member");
                process::kill(last, signal::SIGKILL).expect("kill");
                killed = true;
            }
            assert!(asked < 100, "nobody noticed");
            false
        };
        let probe = format!("switch:{MEMBERS}x0+{via}+spin1s");
        let error = measure(&probe, 1, &[], &mut kill_one).expect_err(&probe).to_string();
        assert!(
            error == "running the ring: a member ended with signal 9",
            "{probe}: {error}"
        );
    }
}

fn leaves_nothing_if_it_is_killed() {
    process::adopt_orphans(true).expect("subreaper");
    for via in ["futex", "pipe+threads"] {
        let parent = process::fork(signal::SIGKILL, || {
            let _ = measure(&format!("switch:4x0+{via}+spin1s"), 1, &[], never);
            0
        })
        .expect("fork");
        let end = clock::monotonic() + Nanos::from_millis(20_000);
        let members = || children_of(parent).iter().map(|pid| threads_of(*pid)).sum::<usize>();
        while members() < 4 {
            assert!(clock::monotonic() < end, "{via}: the ring does not start");
            clock::sleep_until(clock::monotonic() + Nanos::from_millis(1));
        }
        process::kill(parent, signal::SIGKILL).expect("kill");
        while process::wait(-1, false).expect("wait") != Waited::NoChild {
            assert!(clock::monotonic() < end, "{via}: members outlive who measures");
            clock::sleep_until(clock::monotonic() + Nanos::from_millis(1));
        }
    }
}

fn set_limit(resource: libc::__rlimit_resource_t, soft: u64, hard: u64) {
    let limit = libc::rlimit {
        rlim_cur: soft,
        rlim_max: hard,
    };
    // SAFETY: `limit` is a valid rlimit; this process does nothing but one test.
    assert_eq!(unsafe { libc::setrlimit(resource, &limit) }, 0);
}

fn refuses_what_is_too_much() {
    let refused = |probe: &str, cpus: &[u32]| measure(probe, 1, cpus, never).expect_err(probe).to_string();
    let error = refused("switch:1000x64m+futex", &[]);
    assert!(error.contains("MiB of memory, and the machine leaves"), "{error}");
    let error = refused("switch:2x0", &[1_023]);
    assert!(
        error.starts_with("keeping a member of the ring on its CPU: Invalid argument"),
        "{error}"
    );
    set_limit(libc::RLIMIT_NOFILE, 100, 100);
    let error = refused("switch:96x0", &[]);
    assert!(error.contains("the hard RLIMIT_NOFILE leaves 100"), "{error}");
    measure("switch:96x0+futex", 1, &[], never).expect("needs no files");
    if process::is_root() {
        // SAFETY: no pointers are passed; this process does nothing but this test.
        assert_eq!(unsafe { libc::setresuid(65534, 65534, 65534) }, 0);
    }
    set_limit(libc::RLIMIT_NPROC, 50, 50);
    let error = refused("switch:64x0+futex", &[]);
    assert!(error.contains("and RLIMIT_NPROC leaves"), "{error}");
}

fn raises_the_limit_of_open_files() {
    let hard = Resource::Files.limit().hard;
    set_limit(libc::RLIMIT_NOFILE, 40, hard);
    let (taken, _) = measure("switch:24x0", 1, &[], never).expect("raised");
    assert_eq!(taken.samples.len(), 1);
    assert_eq!(Resource::Files.limit(), Limit { soft: 40, hard });
}
