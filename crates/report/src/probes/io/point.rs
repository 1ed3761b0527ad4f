//! The row of `io` for a point, and whether an I/O scheduler can make a difference there.

use serde::Serialize;
use worstcase_contract::Nanos;
use worstcase_contract::bench::{Bench, BesideDetails, Details, DeviceDetails, Io, IoDetails};
use worstcase_results::record::Record;
use worstcase_results::stats::SeedValues;
use worstcase_results::stats::points::{PointName, RoundFigures, points, rounds};

/// The figures of work with files.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct IoPoint {
    /// The name of the point.
    pub place: PointName,
    /// The work.
    pub(crate) io: Io,
    /// The number and the times of the operations.
    pub rounds: RoundFigures,
    /// Bytes a second of each seed. This field and the next are absent if a foreign file does not have them.
    pub(crate) bytes_a_second: Option<SeedValues>,
    /// Operations a second, of each seed.
    pub(crate) operations_a_second: Option<SeedValues>,
    /// The longest that the last fsync took, where there was one.
    pub(crate) sync: Option<Nanos>,
    /// The work of others meanwhile, if there were any.
    pub beside: Option<BesideRates>,
    /// Whether a scheduler can make a difference.
    pub(crate) schedulers: Schedulers,
}

/// The work of others in a second, over all seeds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct BesideRates {
    /// Bytes that readers read.
    pub read: f64,
    /// Bytes that writers wrote.
    pub written: f64,
    /// Operations of seekers.
    pub(crate) seeks: f64,
}

impl BesideRates {
    fn of(details: &[&IoDetails]) -> Option<BesideRates> {
        let all: Vec<(&BesideDetails, Nanos)> = details
            .iter()
            .filter_map(|d| Some((d.beside.as_ref()?, d.elapsed - d.sync.unwrap_or(Nanos(0)))))
            .collect();
        let time: u64 = all.iter().map(|(_, time)| time.0).sum();
        let rate = |of: fn(&BesideDetails) -> u64| {
            let sum: u64 = all.iter().map(|(beside, _)| of(beside)).sum();
            sum as f64 * 1e9 / time.max(1) as f64
        };
        (!all.is_empty()).then(|| BesideRates {
            read: rate(|b| b.read_bytes),
            written: rate(|b| b.written_bytes),
            seeks: rate(|b| b.seeks),
        })
    }
}

/// Whether an I/O scheduler can make a difference.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Schedulers {
    /// Another tool measured it, and does not say.
    NotTold {
        /// The name of the tool.
        tool: String,
    },
    /// There is no block device below the file system.
    NoDevice {
        /// The name of the file system.
        file_system: String,
    },
    /// The device did nothing: the page cache did it all.
    NothingToDo {
        /// The device.
        device: String,
    },
    /// The device had requests.
    Worked(DeviceQueue),
}

/// The requests of a device, of all seeds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct DeviceQueue {
    /// The device.
    pub device: String,
    /// The scheduler that it had.
    pub scheduler: String,
    /// The schedulers that the device offers.
    pub(crate) schedulers: Vec<String>,
    /// Requests, from the queue to their end, on average while there was one.
    pub(crate) average: f64,
    /// Share of the looks at a busy device that saw several in flight; none without such a look.
    pub(crate) several: Option<f64>,
    /// The most that a look saw.
    pub most: u64,
    /// Requests that the device takes at once, if it tells: it may choose among them by itself.
    pub device_queue: Option<u64>,
    /// Share of the time that the device was busy.
    pub busy: f64,
}

/// From this average on, or from this share of looks on, requests meet not only by chance.
const AVERAGE: f64 = 1.5;
const SHARE: f64 = 0.01;

impl Schedulers {
    /// The requests, if there were any.
    pub fn queue(&self) -> Option<&DeviceQueue> {
        match self {
            Schedulers::NotTold { .. } | Schedulers::NoDevice { .. } | Schedulers::NothingToDo { .. } => None,
            Schedulers::Worked(queue) => Some(queue),
        }
    }

    /// Whether there was something to choose from, and another process to choose.
    pub(crate) fn matter(&self) -> bool {
        self.queue().is_some_and(|queue| {
            let meet = queue.average >= AVERAGE || queue.several.is_some_and(|share| share >= SHARE);
            meet && queue.schedulers.len() > 1
        })
    }

    fn of(records: &[&Record], details: &[&IoDetails]) -> Option<Schedulers> {
        if let Some(foreign) = records.iter().find_map(|r| r.foreign.as_ref()) {
            return Some(Schedulers::NotTold {
                tool: foreign.tool.clone(),
            });
        }
        let first = details.first()?;
        let devices: Vec<&DeviceDetails> = details.iter().filter_map(|d| d.device.as_ref()).collect();
        let Some(device) = devices.first() else {
            return Some(Schedulers::NoDevice {
                file_system: first.file_system.clone(),
            });
        };
        let sum = |of: fn(&DeviceDetails) -> u64| devices.iter().map(|d| of(d)).sum::<u64>();
        let requests = sum(|d| d.reads + d.writes);
        if requests == 0 {
            return Some(Schedulers::NothingToDo {
                device: device.name.clone(),
            });
        }
        let (busy, with_one) = (sum(|d| d.busy.0), sum(|d| d.with_one));
        let elapsed: u64 = details.iter().map(|d| d.elapsed.0).sum();
        Some(Schedulers::Worked(DeviceQueue {
            device: device.name.clone(),
            scheduler: device.scheduler.clone(),
            schedulers: device.schedulers.clone(),
            // The kernel counts busy time in ticks: there were requests, and none long enough for one.
            average: if busy == 0 {
                1.0
            } else {
                sum(|d| d.in_queue.0) as f64 / busy as f64
            },
            several: (with_one > 0).then(|| sum(|d| d.with_several) as f64 / with_one as f64),
            most: devices.iter().map(|d| d.most).max().unwrap_or(0),
            device_queue: device.device_queue,
            busy: busy as f64 / elapsed.max(1) as f64,
        }))
    }
}

/// The points of `io`, in the order of the records.
pub(super) fn ios(records: &[Record]) -> Vec<IoPoint> {
    points(records, |place, bench, of| match bench {
        Bench::Io(io) => point(place, io, of),
        _ => None,
    })
}

fn point(place: PointName, io: Io, records: &[&Record]) -> Option<IoPoint> {
    let with_details = records.iter().filter_map(|r| match &r.details {
        Some(Details::Io(d)) => Some((r.accounting.taken(), d.as_ref())),
        _ => None,
    });
    let all: Vec<(u64, &IoDetails)> = with_details.collect();
    let timed = || all.iter().filter(|(_, d)| d.elapsed > Nanos(0));
    let a_second = |count: fn(&(u64, &IoDetails)) -> u64| {
        let of = |one: &(u64, &IoDetails)| vec![count(one) as f64 * 1e9 / one.1.elapsed.0.max(1) as f64];
        SeedValues::new(timed().map(of))
    };
    let count = records.iter().map(|r| r.accounting.taken()).sum();
    let details: Vec<&IoDetails> = all.iter().map(|(_, d)| *d).collect();
    Some(IoPoint {
        place,
        io,
        rounds: rounds(records).unwrap_or(RoundFigures::untimed(count)),
        bytes_a_second: a_second(|(_, d)| d.bytes),
        operations_a_second: a_second(|(taken, _)| *taken).filter(|_| count > 0),
        sync: details.iter().filter_map(|d| d.sync).max(),
        beside: BesideRates::of(&details),
        schedulers: Schedulers::of(records, &details)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn details(device: Option<DeviceDetails>) -> IoDetails {
        IoDetails {
            bytes: 1 << 20,
            elapsed: Nanos::from_millis(1_000),
            sync: None,
            file_system: "ext4".into(),
            device,
            begun: Nanos(0),
            longest_from: Nanos(0),
            longest_at: Vec::new(),
            beside: None,
            disk: None,
        }
    }

    fn device(reads: u64, in_queue_ms: u64, most: u64) -> DeviceDetails {
        DeviceDetails {
            name: "sda".into(),
            scheduler: "bfq".into(),
            schedulers: vec!["none".into(), "bfq".into()],
            rotational: true,
            requests: 64,
            device_queue: Some(32),
            reads,
            writes: 0,
            read_bytes: 0,
            written_bytes: 0,
            busy: Nanos::from_millis(500),
            in_queue: Nanos::from_millis(in_queue_ms),
            looks: 100,
            with_one: 50,
            with_several: if most > 1 { 25 } else { 0 },
            most,
        }
    }

    #[test]
    fn a_scheduler_can_make_a_difference_where_requests_meet() {
        let of = |device| Schedulers::of(&[], &[&details(device)]).unwrap();
        assert_eq!(
            of(None),
            Schedulers::NoDevice {
                file_system: "ext4".into()
            }
        );
        assert!(matches!(of(Some(device(0, 0, 0))), Schedulers::NothingToDo { .. }));
        let one = of(Some(device(9, 510, 1)));
        let several = of(Some(device(9, 2_000, 7)));
        assert!(!one.matter() && several.matter());
        let Schedulers::Worked(queue) = several else {
            panic!("it had requests");
        };
        assert_eq!((queue.average, queue.several, queue.most), (4.0, Some(0.5), 7));
        let alone = DeviceQueue {
            schedulers: vec!["none".into()],
            ..queue
        };
        assert!(!Schedulers::Worked(alone).matter());
    }
}
