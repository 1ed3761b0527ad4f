//! What `io` tells beside its samples.

use serde::{Deserialize, Serialize};
use worstcase_logs::Nanos;

/// What work with files gave. A sample is the time of one operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IoDetails {
    /// Bytes read and written by all operations.
    pub bytes: u64,
    /// From the first operation until everything was on the device; 0 where a foreign file does not tell it.
    #[serde(rename = "elapsed_ns")]
    pub elapsed: Nanos,
    /// How much of that the last fsync took, where there is one.
    #[serde(rename = "sync_ns")]
    pub sync: Option<Nanos>,
    /// The file system.
    pub file_system: String,
    /// The block device below it, where there is one.
    pub device: Option<DeviceDetails>,
    /// When the first operation began, on CLOCK_MONOTONIC.
    #[serde(rename = "begun_ns")]
    pub begun: Nanos,
    /// When the longest operation began, since the first did.
    #[serde(rename = "longest_from_ns")]
    pub longest_from: Nanos,
    /// Where on the device it was, if it was in one file and the file system tells.
    #[serde(default)]
    pub longest_at: Vec<Extent>,
    /// What others did from the first operation to the last, where there were any.
    #[serde(default)]
    pub beside: Option<BesideDetails>,
    /// The lab's disk, which tells everything.
    #[serde(default)]
    pub disk: Option<Box<DiskDetails>>,
}

/// Sectors of a device, of 512 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// The first.
    pub sector: u64,
    /// How many.
    pub sectors: u64,
}

/// What others did that worked with files meanwhile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BesideDetails {
    /// Bytes that readers read.
    pub read_bytes: u64,
    /// Bytes that writers wrote, into the page cache or further.
    pub written_bytes: u64,
    /// Operations of seekers.
    pub seeks: u64,
}

/// What the lab's disk did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskDetails {
    /// The profile's name.
    pub profile: String,
    /// Its capacity in sectors of 512 bytes: the scale of the requests' places.
    pub sectors: u64,
    /// Flushes that it completed.
    pub flushes: u64,
    /// Time in which the arm moved.
    #[serde(rename = "seek_ns")]
    pub seek: Nanos,
    /// Time in which it waited for the platter.
    #[serde(rename = "rotation_ns")]
    pub rotation: Nanos,
    /// The first requests, in the order of their ends, and after these those that were in the disk during the longest operation.
    pub requests: Vec<DiskRequest>,
    /// How many of them are the first.
    pub first: u64,
}

/// A request of the lab's disk. Times are since the first operation began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskRequest {
    /// What it asked for.
    pub action: DiskAction,
    /// When it came.
    #[serde(rename = "arrived_ns")]
    pub arrived: Nanos,
    /// When the disk turned to it.
    #[serde(rename = "began_ns")]
    pub began: Nanos,
    /// When it was done.
    #[serde(rename = "ended_ns")]
    pub ended: Nanos,
    /// Of that the arm moved so long.
    #[serde(rename = "seek_ns")]
    pub seek: Nanos,
    /// The disk waited so long for the platter.
    #[serde(rename = "rotation_ns")]
    pub rotation: Nanos,
    /// The first sector.
    pub sector: u64,
    /// Sectors.
    pub sectors: u32,
}

/// What a disk is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DiskAction {
    /// To read.
    Read,
    /// To write.
    Write,
    /// To have everything written on the platter.
    Flush,
    /// To forget.
    Discard,
}

/// What a block device was, and did meanwhile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceDetails {
    /// Its name.
    pub name: String,
    /// The I/O scheduler that it had.
    pub scheduler: String,
    /// Those that it could have.
    pub schedulers: Vec<String>,
    /// Whether the kernel takes it for a rotating disk.
    pub rotational: bool,
    /// Requests that the scheduler may have at once.
    pub requests: u64,
    /// Requests that the device itself takes at once, if it tells.
    pub device_queue: Option<u64>,
    /// Reads that it completed.
    pub reads: u64,
    /// Writes that it completed.
    pub writes: u64,
    /// Bytes that it read.
    pub read_bytes: u64,
    /// Bytes that it wrote.
    pub written_bytes: u64,
    /// Time in which it had a request, to the millisecond.
    #[serde(rename = "busy_ns")]
    pub busy: Nanos,
    /// Time of all requests, from the queue to their end, to the millisecond.
    #[serde(rename = "in_queue_ns")]
    pub in_queue: Nanos,
    /// How often its requests in flight were counted.
    pub looks: u64,
    /// How often there was one at least.
    pub with_one: u64,
    /// How often there were several.
    pub with_several: u64,
    /// The most.
    pub most: u64,
}
