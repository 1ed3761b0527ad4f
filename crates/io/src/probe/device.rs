//! Where files are: the file system, the block device below it, and what that does meanwhile.

use super::details::DeviceDetails;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use worstcase_instruments::sys::clock;
use worstcase_logs::Nanos;

/// How often the requests in flight are counted.
const LOOK: Nanos = Nanos::from_millis(1);
const SECTOR: u64 = 512;

/// Where a folder is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The kind of file system.
    pub file_system: String,
    /// The block device's folder in sysfs, if there is one.
    pub device: Option<PathBuf>,
}

impl Place {
    /// Of a folder that is there.
    pub fn of(folder: &Path) -> io::Result<Place> {
        let folder = fs::canonicalize(folder)?;
        let mounts = fs::read_to_string("/proc/self/mountinfo")?;
        let mount = mount_of(&mounts, &folder).ok_or(io::ErrorKind::NotFound)?;
        let by_folder = device_of(fs::metadata(&folder)?.dev());
        let by_source = || device_of(fs::metadata(mount.source).ok()?.rdev());
        Ok(Place {
            file_system: mount.kind.into(),
            device: by_folder.or_else(by_source),
        })
    }

    /// Whether what is written there stays in memory.
    pub(crate) fn is_in_memory(&self) -> bool {
        matches!(self.file_system.as_str(), "tmpfs" | "ramfs" | "devtmpfs" | "rootfs")
    }
}

struct Mount<'a> {
    kind: &'a str,
    source: &'a str,
}

/// The last mount on the longest part of a path.
fn mount_of<'a>(mounts: &'a str, path: &Path) -> Option<Mount<'a>> {
    let read = |line: &'a str| {
        let (place, what) = line.split_once(" - ")?;
        let on = place.split(' ').nth(4)?.replace("\\040", " ");
        let mut what = what.split(' ');
        let mount = Mount {
            kind: what.next()?,
            source: what.next()?,
        };
        path.starts_with(&on).then_some((on.len(), mount))
    };
    let found = mounts.lines().filter_map(read).max_by_key(|(length, _)| *length);
    found.map(|(_, mount)| mount)
}

/// The whole disk that a device number belongs to; of a device that only hands on to one other, that one.
fn device_of(number: u64) -> Option<PathBuf> {
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    let device = fs::canonicalize(format!("/sys/dev/block/{major}:{minor}")).ok()?;
    let disk = match device.join("partition").exists() {
        true => device.parent()?.to_path_buf(),
        false => device,
    };
    let below: Vec<PathBuf> = fs::read_dir(disk.join("slaves"))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    match below.as_slice() {
        [one] => {
            let numbers = fs::read_to_string(one.join("dev")).ok()?;
            let (major, minor) = numbers.trim().split_once(':')?;
            device_of(rustix::fs::makedev(major.parse().ok()?, minor.parse().ok()?))
        }
        _ => Some(disk),
    }
}

/// What a device has done since it was there, from its file `stat`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Stat {
    reads: u64,
    read_sectors: u64,
    writes: u64,
    written_sectors: u64,
    busy_ms: u64,
    in_queue_ms: u64,
}

impl Stat {
    fn parse(text: &str) -> Option<Stat> {
        let fields: Vec<u64> = text
            .split_ascii_whitespace()
            .map_while(|field| field.parse().ok())
            .collect();
        match fields.as_slice() {
            &[
                reads,
                _,
                read_sectors,
                _,
                writes,
                _,
                written_sectors,
                _,
                _,
                busy_ms,
                in_queue_ms,
                ..,
            ] => Some(Stat {
                reads,
                read_sectors,
                writes,
                written_sectors,
                busy_ms,
                in_queue_ms,
            }),
            _ => None,
        }
    }

    fn of(device: &Path) -> Stat {
        let text = fs::read_to_string(device.join("stat")).unwrap_or_default();
        Stat::parse(&text).unwrap_or_default()
    }
}

/// Looks at a device while something is done.
#[derive(Debug)]
pub(super) struct Watched {
    device: PathBuf,
    before: Stat,
    is_over: Arc<AtomicBool>,
    counting: Option<JoinHandle<Counts>>,
}

/// Of the requests in flight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    looks: u64,
    with_one: u64,
    with_several: u64,
    most: u64,
}

impl Counts {
    fn add(&mut self, in_flight: u64) {
        self.looks += 1;
        self.with_one += u64::from(in_flight > 0);
        self.with_several += u64::from(in_flight > 1);
        self.most = self.most.max(in_flight);
    }
}

impl Watched {
    /// Begins to look, if nobody else counts its requests.
    pub(crate) fn begin(device: PathBuf, is_watched: bool) -> Watched {
        let is_over = Arc::new(AtomicBool::new(false));
        let (path, over) = (device.join("inflight"), is_over.clone());
        // Without a thread nothing is counted, and the record says of how many looks it is.
        let look = || {
            std::thread::Builder::new()
                .name("looks".into())
                .spawn(move || count(&path, &over))
        };
        let counting = (!is_watched).then(look).and_then(Result::ok);
        Watched {
            before: Stat::of(&device),
            device,
            is_over,
            counting,
        }
    }

    /// What it was and did.
    pub fn end(self) -> DeviceDetails {
        self.is_over.store(true, Ordering::Relaxed);
        let counts = self.counting.and_then(|thread| thread.join().ok()).unwrap_or_default();
        let (before, after) = (self.before, Stat::of(&self.device));
        let of = |field: fn(&Stat) -> u64| field(&after).saturating_sub(field(&before));
        let (scheduler, schedulers) = schedulers(&read(&self.device.join("queue/scheduler")));
        DeviceDetails {
            name: name(&self.device),
            scheduler,
            schedulers,
            rotational: read(&self.device.join("queue/rotational")).trim() == "1",
            requests: read(&self.device.join("queue/nr_requests")).trim().parse().unwrap_or(0),
            device_queue: read(&self.device.join("device/queue_depth")).trim().parse().ok(),
            reads: of(|s| s.reads),
            writes: of(|s| s.writes),
            read_bytes: of(|s| s.read_sectors) * SECTOR,
            written_bytes: of(|s| s.written_sectors) * SECTOR,
            busy: Nanos::from_millis(of(|s| s.busy_ms)),
            in_queue: Nanos::from_millis(of(|s| s.in_queue_ms)),
            looks: counts.looks,
            with_one: counts.with_one,
            with_several: counts.with_several,
            most: counts.most,
        }
    }
}

fn count(path: &Path, is_over: &AtomicBool) -> Counts {
    let mut counts = Counts::default();
    while !is_over.load(Ordering::Relaxed) {
        let text = read(path);
        counts.add(
            text.split_ascii_whitespace()
                .filter_map(|n| n.parse::<u64>().ok())
                .sum(),
        );
        clock::sleep_until(clock::monotonic() + LOOK);
    }
    counts
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

fn name(device: &Path) -> String {
    device.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// `mq-deadline kyber [bfq] none`: the one that is in force, and all.
pub fn schedulers(text: &str) -> (String, Vec<String>) {
    let words = text.split_ascii_whitespace();
    let all: Vec<String> = words.clone().map(|word| word.trim_matches(['[', ']']).into()).collect();
    let chosen = words.clone().find_map(|word| word.strip_prefix('[')?.strip_suffix(']'));
    (chosen.unwrap_or("none").into(), all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_is_the_longest_and_last() {
        let mounts = "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n30 22 0:30 / /tmp rw - tmpfs tmp rw\n\
                      31 30 8:17 / /tmp/a\\040b rw,x shared:1 - xfs /dev/sdb1 rw\n32 30 8:33 / /tmp/a\\040b rw - btrfs /dev/sdc rw\n";
        let of = |path: &str| mount_of(mounts, Path::new(path)).map(|m| (m.kind, m.source));
        assert_eq!(of("/home/x"), Some(("ext4", "/dev/sda1")));
        assert_eq!(of("/tmp/x"), Some(("tmpfs", "tmp")));
        assert_eq!(of("/tmp/a b/c"), Some(("btrfs", "/dev/sdc")));
    }

    #[test]
    fn the_kernel_s_lines_are_read() {
        assert_eq!(
            schedulers("mq-deadline kyber [bfq] none\n"),
            (
                "bfq".into(),
                ["mq-deadline", "kyber", "bfq", "none"].map(String::from).to_vec()
            )
        );
        assert_eq!(schedulers("none\n").0, "none");
        let stat = Stat::parse(" 4 1 80 3 19 1 91 59 0 17 408 11 16 67 28 32 64\n").unwrap();
        assert_eq!(
            (stat.reads, stat.read_sectors, stat.writes, stat.written_sectors),
            (4, 80, 19, 91)
        );
        assert_eq!((stat.busy_ms, stat.in_queue_ms), (17, 408));
        assert_eq!(Stat::parse("1 2 3"), None);
    }

    #[test]
    fn requests_in_flight_are_counted() {
        let mut counts = Counts::default();
        [0, 1, 3, 1].into_iter().for_each(|n| counts.add(n));
        assert_eq!(
            (counts.looks, counts.with_one, counts.with_several, counts.most),
            (4, 3, 1, 3)
        );
    }
}
