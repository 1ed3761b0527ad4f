use super::*;
use crate::StateFolder;
use rustix::process::getppid;
use rustix::thread::gettid;
use std::collections::BTreeMap;
use worstcase_instruments::sys::affinity;

#[test]
fn room_is_less_of_many_cpus_and_of_little_memory() {
    assert_eq!(room_kib(2, 8 << 20), [16 << 10; 2]);
    assert_eq!(room_kib(64, 512 << 20), [4 << 10; 2]);
    assert_eq!(room_kib(4, 24 << 10), [384; 2]);
}

#[test]
fn what_comes_too_late_is_a_loss_from_its_time_on() {
    let event = |at, what| CpuEvent {
        at: Nanos(at),
        cpu: 1,
        tid: 7,
        what,
        chain: &[],
    };
    let lost = |since, count| TracedChange::Lost {
        since: Nanos(since),
        count,
    };
    let told = |event| {
        let CpuEvent { at, cpu, what, .. } = on_time(event, Nanos(100));
        (at.0, cpu, what)
    };
    let waking = TracedChange::Waking { tid: 5 };
    assert_eq!(told(event(100, waking)), (100, 1, waking));
    assert_eq!(told(event(99, waking)), (100, 1, lost(99, 1)));
    assert_eq!(told(event(90, lost(40, 3))), (100, 1, lost(40, 3)));
    assert_eq!(told(event(120, lost(40, 3))), (120, 1, lost(40, 3)));
}

/// Both instances, recording this thread as the program, on the last CPU alone.
fn of_this_thread(room_kib: [u64; 2]) -> (tempfile::TempDir, Instances) {
    let state = tempfile::tempdir().unwrap();
    let journal = Journal::begin(&StateFolder::at(state.path()).unwrap(), "test").unwrap();
    let cpus = affinity::current().unwrap();
    affinity::set(&cpus[cpus.len() - 1..]).unwrap();
    let folder = InstanceFolder::find().unwrap();
    let mut instances = Instances::make(&cpus, room_kib, folder, journal, None).unwrap();
    instances.begin(&[own_tid()]).unwrap();
    (state, instances)
}

fn own_tid() -> u32 {
    gettid().as_raw_nonzero().get() as u32
}

fn calls(count: usize) {
    for _ in 0..count {
        std::hint::black_box(getppid());
    }
}

fn drained(instances: &mut Instances) -> Vec<(u32, Nanos, u32, TracedChange)> {
    let mut events = Vec::new();
    instances.drain(|event| events.push((event.cpu, event.at, event.tid, event.what)));
    events
}

#[test]
fn the_program_s_calls_are_recorded_beside_what_all_cpus_do() {
    worstcase_skips::needs_root!();
    let (_state, mut instances) = of_this_thread([1 << 10, 1 << 10]);
    let places = [&instances.all, &instances.program].map(|instance| instance.path().to_path_buf());
    assert!(instances.call_ns > Some(Nanos(0)));
    // Another thread is not the program's; one that it starts is.
    let started = std::thread::spawn(|| {
        calls(10);
        own_tid()
    });
    let started = started.join().unwrap();
    calls(1000);
    std::thread::sleep(std::time::Duration::from_millis(50));
    let events = drained(&mut instances);
    let mut entered: BTreeMap<u32, usize> = BTreeMap::new();
    for (_, _, tid, what) in &events {
        if matches!(what, TracedChange::SysEnter { .. }) {
            *entered.entry(*tid).or_default() += 1;
        }
    }
    assert_eq!(entered.keys().copied().collect::<Vec<_>>(), {
        let mut both = vec![own_tid(), started];
        both.sort_unstable();
        both
    });
    assert!(entered[&own_tid()] >= 1000 && entered[&started] >= 10, "{entered:?}");
    let switches = |(_, _, _, what): &&(u32, Nanos, u32, TracedChange)| matches!(what, TracedChange::Switch { .. });
    assert!(events.iter().filter(switches).count() > 2);
    assert_eq!(instances.lost(), 0);
    assert!(instances.bytes() > 40_000);
    instances.end().unwrap();
    assert!(!places.iter().any(|place| place.exists()));
}

#[test]
fn what_found_no_room_is_told_where_it_is_missing() {
    worstcase_skips::needs_root!();
    let (_state, mut instances) = of_this_thread([1 << 10, 64]);
    calls(100);
    let before = clock::monotonic();
    calls(20_000);
    let events = drained(&mut instances);
    let losses: Vec<_> = events
        .iter()
        .filter_map(|(_, at, _, what)| match what {
            TracedChange::Lost { since, count } => Some((*since, *at, *count)),
            _ => None,
        })
        .collect();
    let [(since, at, count)] = losses[..] else {
        panic!("{losses:?}")
    };
    assert!(since < before && at > before && count > 20_000, "{losses:?}");
    assert!(instances.lost() == count);
    calls(100);
    let after = drained(&mut instances);
    assert!(!after.iter().any(|(.., what)| matches!(what, TracedChange::Lost { .. })));
}

#[test]
fn a_flood_is_read_in_parts_and_what_is_left_of_it_is_a_loss() {
    worstcase_skips::needs_root!();
    let (_state, mut instances) = of_this_thread([1 << 10, 8 << 10]);
    // More than is read at once, less than there is room for.
    calls(40_000);
    let first = drained(&mut instances);
    assert!(instances.is_behind());
    let last = first.iter().map(|(_, at, ..)| *at).max().unwrap();
    assert!(instances.reached < last);
    let before = (instances.lost(), instances.reached);
    let mut left = Vec::new();
    let since = instances.leave_rest(|event| left.push(event.what));
    assert_eq!(since, Some(before.1));
    let losses = left.iter().map(|what| match what {
        TracedChange::Lost { since, count } if *since >= before.1 => *count,
        other => panic!("{other:?}"),
    });
    let count: u64 = losses.sum();
    assert!(count > 10_000 && instances.lost() == before.0 + count, "{count}");
    // Whoever goes on reads the rest.
    while instances.is_behind() {
        let rest = drained(&mut instances);
        assert!(!rest.is_empty());
    }
}
