//! The longest operation on files of a cell: what the lab's disk did meanwhile, in parts that add up to its time.
//!
//! The record has every request that was in the disk during that operation, and where in the device the operation was; no
//! replay is needed.

use serde::Serialize;
use worstcase_contract::Nanos;
use worstcase_contract::bench::{Details, DiskDetails, DiskRequest, Extent, IoDetails};
use worstcase_results::record::{CellId, Quantity, Record};

/// The use of an instant of the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OperationPart {
    /// Its request had not come to the disk, which served others.
    BeforeOthers,
    /// Its request had not come to the disk, which had nothing to do: the kernel worked, or its scheduler held the
    /// request back.
    BeforeIdle,
    /// Its request was in the disk, which served others.
    Queued,
    /// The arm moved for it.
    Seek,
    /// The platter turned until its place came.
    Rotation,
    /// Controller, interface and the data themselves.
    Transfer,
    /// Its request was done: the kernel and the process worked.
    After,
    /// The operation had no request of its own, and the disk served others.
    Others,
    /// The operation had no request of its own, and the disk had nothing to do.
    Idle,
}

/// A request that was in the disk meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ConcurrentRequest {
    /// The request; times are since the operation began, and below zero before it.
    pub arrived_ns: i64,
    /// When the disk turned to it.
    pub began_ns: i64,
    /// When it was done.
    pub ended_ns: i64,
    /// The request itself.
    pub request: DiskRequest,
    /// The request belongs to the operation.
    pub is_own: bool,
}

/// The longest operation of a cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Operation {
    /// The cell.
    pub cell: CellId,
    /// The duration of the operation.
    pub took_ns: Nanos,
    /// When it began, since the first did.
    pub from_ns: Nanos,
    /// The uses of its time, which add up to it.
    pub parts: Vec<(OperationPart, Nanos)>,
    /// The requests in the disk meanwhile, in the order of their ends.
    pub requests: Vec<ConcurrentRequest>,
    /// Sectors of the disk.
    disk_sectors: u64,
}

fn parts_of(record: &Record) -> Option<(&IoDetails, &DiskDetails, Nanos)> {
    let Some(Details::Io(io)) = &record.details else {
        return None;
    };
    let took = Nanos(record.summary(Quantity::Latency)?.max_ns);
    Some((io, io.disk.as_deref()?, took))
}

/// The longest operation of a cell of probe `io` in the lab.
pub fn longest(record: &Record) -> Option<Operation> {
    let (io, disk, took) = parts_of(record)?;
    let (from, until) = (io.longest_from, io.longest_from + took);
    let is_own = |r: &DiskRequest| r.arrived >= from && io.longest_at.iter().any(|at| overlaps(at, r));
    let inside: Vec<&DiskRequest> = disk
        .requests
        .iter()
        .filter(|r| r.ended > from && r.arrived < until)
        .collect();
    let own: Vec<&DiskRequest> = inside.iter().copied().filter(|r| is_own(r)).collect();
    let since = |at: Nanos| at.0 as i64 - from.0 as i64;
    Some(Operation {
        cell: record.id.clone(),
        took_ns: took,
        from_ns: from,
        parts: parts(from, until, &inside, &own),
        requests: inside
            .iter()
            .map(|r| ConcurrentRequest {
                arrived_ns: since(r.arrived),
                began_ns: since(r.began),
                ended_ns: since(r.ended),
                request: **r,
                is_own: is_own(r),
            })
            .collect(),
        disk_sectors: disk.sectors,
    })
}

fn overlaps(extent: &Extent, request: &DiskRequest) -> bool {
    let end = request.sector + u64::from(request.sectors);
    request.sector < extent.sector + extent.sectors && extent.sector < end
}

/// Each stretch between two events has one part.
fn parts(from: Nanos, until: Nanos, inside: &[&DiskRequest], own: &[&DiskRequest]) -> Vec<(OperationPart, Nanos)> {
    let served = |r: &DiskRequest| [r.began, r.began + r.seek, r.began + r.seek + r.rotation, r.ended];
    let mut events = vec![from, until];
    for request in inside {
        events.extend([request.arrived, request.began, request.ended]);
    }
    own.iter().for_each(|request| events.extend(served(request)));
    events.retain(|at| (from..=until).contains(at));
    events.sort_unstable();
    events.dedup();
    let mut parts: Vec<(OperationPart, Nanos)> = Vec::new();
    for stretch in events.windows(2) {
        let part = part(stretch[0], inside, own);
        let time = stretch[1] - stretch[0];
        match parts.iter_mut().find(|(known, _)| *known == part) {
            Some((_, all)) => *all = *all + time,
            None => parts.push((part, time)),
        }
    }
    parts.sort_unstable_by_key(|(part, _)| *part);
    parts
}

fn part(at: Nanos, inside: &[&DiskRequest], own: &[&DiskRequest]) -> OperationPart {
    let is_served = |r: &&&DiskRequest| r.began <= at && at < r.ended;
    let is_busy = inside.iter().any(|r| is_served(&r));
    if let Some(request) = own.iter().find(is_served) {
        return match at {
            _ if at < request.began + request.seek => OperationPart::Seek,
            _ if at < request.began + request.seek + request.rotation => OperationPart::Rotation,
            _ => OperationPart::Transfer,
        };
    }
    if own.iter().any(|r| r.arrived <= at && at < r.began) {
        return OperationPart::Queued;
    }
    match (own.is_empty(), own.iter().all(|r| r.ended <= at), is_busy) {
        (true, _, true) => OperationPart::Others,
        (true, _, false) => OperationPart::Idle,
        (false, true, _) => OperationPart::After,
        (false, false, true) => OperationPart::BeforeOthers,
        (false, false, false) => OperationPart::BeforeIdle,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use worstcase_contract::bench::DiskAction;

    fn request(arrived: u64, began: u64, ended: u64, [seek, rotation]: [u64; 2]) -> DiskRequest {
        DiskRequest {
            action: DiskAction::Read,
            arrived: Nanos(arrived),
            began: Nanos(began),
            ended: Nanos(ended),
            seek: Nanos(seek),
            rotation: Nanos(rotation),
            sector: 8,
            sectors: 8,
        }
    }

    fn part_lengths(all: &[&DiskRequest], own: &[&DiskRequest]) -> Vec<(OperationPart, u64)> {
        let parts = parts(Nanos(100), Nanos(1_000), all, own);
        assert_eq!(parts.iter().map(|(_, time)| time.0).sum::<u64>(), 900);
        parts.into_iter().map(|(part, time)| (part, time.0)).collect()
    }

    #[test]
    fn every_instant_is_of_one_part() {
        let other = request(50, 60, 300, [0, 0]);
        let ahead = request(380, 400, 500, [10, 10]);
        let own = request(350, 500, 950, [200, 150]);
        assert_eq!(
            part_lengths(&[&other, &ahead, &own], &[&own]),
            [
                (OperationPart::BeforeOthers, 200),
                (OperationPart::BeforeIdle, 50),
                (OperationPart::Queued, 150),
                (OperationPart::Seek, 200),
                (OperationPart::Rotation, 150),
                (OperationPart::Transfer, 100),
                (OperationPart::After, 50)
            ]
        );
    }

    #[test]
    fn without_a_request_of_its_own_the_disk_is_busy_with_others_or_idle() {
        let other = request(200, 250, 700, [100, 100]);
        assert_eq!(
            part_lengths(&[&other], &[]),
            [(OperationPart::Others, 450), (OperationPart::Idle, 450)]
        );
        assert_eq!(part_lengths(&[], &[]), [(OperationPart::Idle, 900)]);
    }

    #[test]
    fn an_extent_and_a_request_share_a_sector_or_do_not() {
        let of = |sector, sectors| overlaps(&Extent { sector, sectors }, &request(0, 0, 0, [0, 0]));
        assert!(of(15, 1) && of(0, 9) && of(10, 2));
        assert!(!of(16, 8) && !of(0, 8));
    }
}
