//! How far the models are from their data sheets: `cargo run --example validate --features profiles -p worstcase-disk`.

use worstcase_disk::{Action, Disk, Profile, Request, SECTOR, profiles};
use worstcase_logs::Nanos;
use worstcase_logs::prng::SplitMix64;

/// Requests of one kind, so many at once: sectors a second, requests a second, and the mean time of the arm.
struct Rates {
    bytes: f64,
    requests: f64,
    seek_ms: f64,
}

fn run(profile: &Profile, depth: u64, requests: impl IntoIterator<Item = Request>) -> Rates {
    let mut disk = Disk::new(profile, 1);
    let mut requests = requests.into_iter();
    requests
        .by_ref()
        .take(depth as usize)
        .for_each(|request| disk.submit(Nanos(0), request));
    let mut last = Nanos(0);
    while let Some(now) = disk.next_event() {
        for ended in disk.advance(now) {
            last = ended.ended;
            requests.by_ref().take(1).for_each(|request| disk.submit(now, request));
        }
    }
    let counters = disk.counters();
    let (count, bytes) = (
        counters.reads + counters.writes,
        counters.read_bytes + counters.written_bytes,
    );
    let seconds = last.0 as f64 / 1e9;
    Rates {
        bytes: bytes as f64 / seconds / 1e6,
        requests: count as f64 / seconds,
        seek_ms: counters.seek.0 as f64 / 1e6 / count as f64,
    }
}

fn random(profile: &Profile, action: Action, count: u64) -> impl Iterator<Item = Request> {
    let places = profile.capacity / SECTOR / 8;
    let mut random = SplitMix64::new(7);
    (0..count).map(move |id| request(id, action, random.below(places) * 8, 8))
}

fn in_order(from: u64, action: Action) -> impl Iterator<Item = Request> {
    let flush = (action == Action::Write).then(|| request(8_000, Action::Flush, 0, 0));
    (0..8_000)
        .map(move |id| request(id, action, from + id * 256, 256))
        .chain(flush)
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

fn main() {
    for name in profiles::NAMES {
        let profile = profiles::builtin(name).expect("it is built in");
        let text = profiles::file(name).expect("it is built in");
        let sheet = profiles::sheet(text).expect("it was read before");
        let end = profile.capacity / SECTOR - 8_000 * 256 - 1;
        let reads = |depth| run(&profile, depth, random(&profile, Action::Read, 5_000)).requests;
        let one = run(&profile, 1, random(&profile, Action::Read, 5_000));
        println!("\n{name}: {}\n", profile.name);
        println!("| quantity | data sheet | model | off |\n| --- | --- | --- | --- |");
        let row = |what: &str, sheet: Option<f64>, model: f64| {
            let (said, off) = sheet.map_or(("-".into(), "-".into()), |sheet| {
                (format!("{sheet}"), format!("{:+.1} %", (model / sheet - 1.0) * 100.0))
            });
            println!("| {what} | {said} | {model:.1} | {off} |");
        };
        if one.seek_ms > 0.0 {
            row("average seek, ms", sheet.average_seek_ms, one.seek_ms);
        }
        row(
            "read, MB/s",
            sheet.read_mb_s,
            run(&profile, 4, in_order(0, Action::Read)).bytes,
        );
        row(
            "read at the end, MB/s",
            sheet.read_at_end_mb_s,
            run(&profile, 4, in_order(end, Action::Read)).bytes,
        );
        row(
            "write, MB/s",
            sheet.write_mb_s,
            run(&profile, 4, in_order(0, Action::Write)).bytes,
        );
        row(
            "random reads a second, 1 at a time",
            sheet.random_read_iops_1,
            one.requests,
        );
        row("random reads a second, 8 at a time", sheet.random_read_iops_8, reads(8));
        row(
            "random reads a second, 32 at a time",
            sheet.random_read_iops_32,
            reads(32),
        );
        row(
            "random reads a second, 128 at a time",
            sheet.random_read_iops_128,
            reads(128),
        );
        let writes = run(&profile, 1, random(&profile, Action::Write, 20_000)).requests;
        row("random writes a second, 1 at a time", sheet.random_write_iops_1, writes);
    }
}
