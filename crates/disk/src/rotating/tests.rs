use super::*;
use crate::{Disk, Kind};

pub(crate) fn rotating() -> Rotating {
    Rotating {
        rpm: 7_200,
        heads: 6,
        outer: 210_000_000,
        inner: 100_000_000,
        track_to_track: Nanos(1_000_000),
        average_seek: Nanos(8_500_000),
        full_stroke: Nanos(17_000_000),
        settle: Nanos(1_000_000),
        switch: Nanos(900_000),
        segment: 2 << 20,
        segments: 16,
        write_cache: 32 << 20,
        patience: Nanos::from_millis(1_500),
    }
}

pub(crate) fn profile() -> Profile {
    profile_of(rotating())
}

fn profile_of(of: Rotating) -> Profile {
    let profile = Profile {
        name: "test".into(),
        source: "none".into(),
        capacity: 3_000_000_000_000,
        queue_depth: 32,
        command: Nanos(100_000),
        interface: 600_000_000,
        kind: Kind::Rotating(of),
    };
    profile.check().unwrap();
    profile
}

fn request(id: u64, action: Action, sector: u64, sectors: u32) -> Request {
    Request {
        id,
        action,
        fua: false,
        sector,
        sectors,
    }
}

/// Runs requests, `depth` at once, each of which the one before it asks for; gives them all, and the time.
fn run(disk: &mut Disk, depth: usize, gap: Nanos, requests: impl IntoIterator<Item = Request>) -> (Vec<Ended>, Nanos) {
    let mut requests = requests.into_iter();
    let mut all = Vec::new();
    let mut now = Nanos(0);
    for request in requests.by_ref().take(depth) {
        disk.submit(now, request);
    }
    while let Some(at) = disk.next_event() {
        now = now.max(at);
        for ended in disk.advance(now) {
            assert_eq!(ended.parts.sum(), ended.ended - ended.arrived, "{ended:?}");
            all.push(ended);
            if let Some(next) = requests.next() {
                now = now + gap;
                disk.submit(now, next);
            }
        }
    }
    let last = all.last().map_or(Nanos(0), |ended| ended.ended);
    (all, last)
}

fn random(seed: u64, count: u64, action: Action) -> impl Iterator<Item = Request> {
    let mut random = SplitMix64::new(seed);
    let sectors = profile().capacity / SECTOR;
    (0..count).map(move |id| request(id, action, random.below(sectors / 8) * 8, 8))
}

fn in_order(from: u64, count: u64, action: Action) -> impl Iterator<Item = Request> {
    (0..count).map(move |id| request(id, action, from + id * 256, 256))
}

fn rate(ended: &[Ended], time: Nanos) -> u64 {
    let sectors: u64 = ended.iter().map(|ended| u64::from(ended.request.sectors)).sum();
    sectors * SECTOR * 1_000_000_000 / time.0
}

#[test]
fn a_random_read_is_a_seek_and_half_a_turn() {
    let mut disk = Disk::new(&profile(), 1);
    let (ended, time) = run(&mut disk, 1, Nanos(0), random(3, 4_000, Action::Read));
    let mean = |of: fn(&Ended) -> Nanos| ended.iter().map(|e| of(e).0).sum::<u64>() / ended.len() as u64;
    // More sectors are outside than inside, so the way is a little shorter than over all pairs of cylinders.
    let (seek, rotation) = (mean(|e| e.parts.seek), mean(|e| e.parts.rotation));
    assert!((8_000_000..8_600_000).contains(&seek), "{seek}");
    assert!((4_000_000..4_350_000).contains(&rotation), "{rotation}");
    let a_second = 4_000 * 1_000_000_000 / time.0;
    assert!((74..82).contains(&a_second), "{a_second}");
}

#[test]
fn a_longer_queue_is_served_faster() {
    let of = |depth| {
        let mut disk = Disk::new(&profile(), 1);
        let (_, time) = run(&mut disk, depth, Nanos(0), random(3, 3_000, Action::Read));
        3_000 * 1_000_000_000 / time.0
    };
    let (one, eight, many) = (of(1), of(8), of(32));
    assert!(eight > one * 13 / 10 && many > eight * 12 / 10, "{one} {eight} {many}");
}

#[test]
fn what_is_read_in_order_passes_without_a_lost_turn() {
    for gap in [Nanos(0), Nanos(20_000), Nanos(200_000)] {
        let mut disk = Disk::new(&profile(), 1);
        let (ended, time) = run(&mut disk, 1, gap, in_order(0, 2_000, Action::Read));
        let rate = rate(&ended, time);
        assert!((204_000_000..212_000_000).contains(&rate), "{gap}: {rate}");
    }
}

#[test]
fn what_is_written_in_order_too() {
    let mut disk = Disk::new(&profile(), 1);
    let writes = in_order(0, 4_000, Action::Write).chain([request(9_999, Action::Flush, 0, 0)]);
    let (ended, time) = run(&mut disk, 4, Nanos(0), writes);
    assert_eq!(ended.last().unwrap().request.action, Action::Flush);
    let rate = rate(&ended, time);
    assert!((200_000_000..212_000_000).contains(&rate), "{rate}");
}

#[test]
fn without_a_cache_a_small_write_loses_a_turn() {
    let of = Rotating {
        write_cache: 0,
        ..rotating()
    };
    let mut disk = Disk::new(&profile_of(of), 1);
    let writes = (0..200).map(|id| request(id, Action::Write, id * 8, 8));
    let (_, time) = run(&mut disk, 1, Nanos(0), writes);
    let each = time.0 / 200;
    assert!((8_000_000..8_700_000).contains(&each), "{each}");
}

#[test]
fn a_write_is_done_when_it_is_in_the_cache_and_safe_after_a_flush() {
    let mut disk = Disk::new(&profile(), 1);
    let writes = random(5, 50, Action::Write).chain([request(99, Action::Flush, 0, 0)]);
    let (ended, time) = run(&mut disk, 1, Nanos(0), writes);
    assert!(
        ended[..50]
            .iter()
            .all(|write| write.ended - write.arrived < Nanos(10_000_000))
    );
    assert!(time > Nanos(50 * 3_000_000), "{time}");
}

#[test]
fn what_is_still_to_be_written_is_read_from_the_cache() {
    let mut disk = Disk::new(&profile(), 1);
    let (ended, _) = run(
        &mut disk,
        1,
        Nanos(0),
        random(5, 20, Action::Write).chain(
            random(5, 20, Action::Read)
                .skip(18)
                .map(|r| Request { id: 100 + r.id, ..r }),
        ),
    );
    let last = ended.last().unwrap();
    assert_eq!(last.parts.seek, Nanos(0));
}

#[test]
fn nobody_waits_for_ever() {
    let mut disk = Disk::new(&profile(), 1);
    // One far away, and many near each other that never end.
    let far = request(0, Action::Read, profile().capacity / SECTOR - 80_000, 8);
    let mut random = SplitMix64::new(4);
    let near = (1..4_000).map(move |id| request(id, Action::Read, random.below(400_000) * 8, 8));
    let (ended, _) = run(&mut disk, 16, Nanos(0), [far].into_iter().chain(near));
    let far = ended.iter().find(|ended| ended.request.id == 0).unwrap();
    let waited = far.ended - far.arrived;
    assert!(waited < rotating().patience + Nanos::from_millis(100), "{waited}");
}

#[test]
fn the_same_requests_end_at_the_same_times() {
    let of = |seed| {
        let mut disk = Disk::new(&profile(), seed);
        run(&mut disk, 8, Nanos(7), random(3, 500, Action::Read)).0
    };
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
}
